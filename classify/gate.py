"""Check an envelope of answers before anything reaches the user.

Tolerances: half a unit of the last decimal that the model declares to round to, else 1e-6. It
knows nothing of how the answers came about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

from pydantic import BaseModel, ValidationError

from classify.answers import (
    Answer,
    BooleanAnswer,
    ChoiceAnswer,
    NoVerdict,
    ScoreAnswer,
    distribution,
)
from classify.decision import DecisionResponse, ResponseInfo, Rounding
from classify.errors import InvalidAnswer, InvalidInput
from classify.json_values import check_json, is_list, is_object
from classify.language_model import Usage
from classify.questions import Choice, Question, Score

_UNDECLARED = 1e-6
# Sums of exact decimals miss their bound by a few units in the last place.
_ROUNDOFF = 1e-12

Raw: TypeAlias = Mapping[str, Any]
M = TypeVar("M", bound=BaseModel)


def check_response(
    response: DecisionResponse, questions: Mapping[str, Question]
) -> dict[str, Answer | NoVerdict]:
    """Return the answers in the order of the questions; raises InvalidAnswer for a broken one."""
    if not isinstance(response, DecisionResponse):
        raise InvalidAnswer(f"the model must return a DecisionResponse, got {response!r}")
    rounding = _check_rounding(response.rounding)
    _check_envelope(response)
    answers = response.answers
    if not isinstance(answers, Mapping):
        raise InvalidAnswer(f"answers must be an object of question id: answer, got {answers!r}")
    if set(answers) != set(questions):
        raise InvalidAnswer(
            f"answers must be to exactly the questions {sorted(questions)!r}, "
            f"got {sorted(map(str, answers))!r}"
        )
    return {
        name: _check_answer(name, question, answers[name], rounding)
        for name, question in questions.items()
    }


def copied_answers(response: DecisionResponse) -> dict[object, dict[str, object]]:
    """Return a copy of a response's plain answers that a transform cannot change in place."""
    answers: object = getattr(response, "answers", None)
    return {
        name: {str(k): dict(v) if is_object(v) else v for k, v in answer.items()}
        for name, answer in (answers.items() if is_object(answers) else ())
        if is_object(answer)
    }


def without_outdated(response: DecisionResponse, before: Mapping[object, Raw]) -> DecisionResponse:
    """Drop what answers still say of the numbers that they had `before` a transform."""
    answers: object = getattr(response, "answers", None)
    if not isinstance(response, DecisionResponse) or not is_object(answers):
        return response
    kept = {
        name: _kept({str(k): v for k, v in answer.items()}, before[name])
        if is_object(answer) and name in before
        else answer
        for name, answer in answers.items()
    }
    return replace(response, answers=cast(Mapping[str, Raw], kept))  # checked next


def _kept(answer: Raw, before: Raw) -> Raw:
    shares = "probabilities"
    changed = {
        "bounds": _differ(_bounded(answer), _bounded(before)),
        "score_range": _differ(answer.get("score"), before.get("score")),
        "tie": _differ(answer.get(shares), before.get(shares)) and not _tied(answer),
    }
    return {
        field: value
        for field, value in answer.items()
        if not changed.get(field, False) or _differ(value, before.get(field))
    }


def _differ(value: object, before: object) -> bool:
    try:
        return bool(value != before)
    except ValueError:  # an array, which is refused next
        return True


def _bounded(answer: Raw) -> object:
    """Return the numbers that bounds are of: the raw ones where an answer has them."""
    p = answer.get("probability")
    own = {"true": p, "false": 1.0 - p} if _is_number(p) else answer.get("probabilities")
    raw = answer.get("raw_probabilities")
    return own if raw is None else raw


def _tied(answer: Raw) -> bool:
    p, choice = answer.get("probabilities"), answer.get("choice")
    if not is_object(p) or not isinstance(choice, str) or choice not in p:
        return False
    return sum(not _differ(share, p[choice]) for share in p.values()) > 1


def _check_answer(
    name: str, question: Question, given: object, rounding: Rounding
) -> Answer | NoVerdict:
    if not is_object(given):
        raise InvalidAnswer(f"answer {name!r} must be an object, got {given!r}")
    answer: Raw = {str(key): value for key, value in given.items()}
    kind = answer.get("type")
    tolerance = _tolerance(rounding.probability_decimals)
    _check_distribution(name, question, answer, "raw_probabilities", tolerance)
    if kind == "no_verdict":
        _check_kind(name, question, answer.get("kind", question.type))
        _check_json(f"answer {name!r}: message", answer.get("message"))
        _check_distribution(name, question, answer, "probabilities", tolerance)
        return _build(name, NoVerdict, {**answer, "kind": question.type})
    _check_kind(name, question, kind)
    # Its own kind of number, and not what this package computes under that name.
    answer = {"provider_confidence" if k == "confidence" else k: v for k, v in answer.items()}
    _check_bounds(name, question, answer.get("bounds"))
    checked: Answer
    if isinstance(question, Choice):
        _check_choice(name, question, answer, tolerance)
        checked = _build(name, ChoiceAnswer, answer)
    elif isinstance(question, Score):
        _check_score(name, question, answer, rounding)
        checked = _build(name, ScoreAnswer, answer)
    else:
        _check_unit(f"answer {name!r}: probability", answer.get("probability"))
        checked = _build(name, BooleanAnswer, answer)
    _check_said_of(name, checked, rounding)
    return checked


def _check_kind(name: str, question: Question, kind: object) -> None:
    if kind != question.type:
        raise InvalidAnswer(
            f"answer {name!r} has the type {kind!r}, which does not match the {question.type} "
            "question"
        )


def _check_bounds(name: str, question: Question, bounds: object) -> None:
    for option, ends in bounds.items() if is_object(bounds) else ():
        if option not in question.options:
            raise InvalidAnswer(f"answer {name!r}: bounds of the unknown option {option!r}")
        low, high = ends if is_list(ends) and len(ends) == 2 else (None, None)
        if (
            not _is_number(low)
            or not _is_number(high)
            or not -_ROUNDOFF <= low <= high <= 1.0 + _ROUNDOFF
        ):
            raise InvalidAnswer(
                f"answer {name!r}: the bounds of {option!r} must be two numbers between 0 and 1, "
                f"the lower first, got {ends!r}"
            )


def _check_choice(name: str, question: Choice, answer: Raw, tolerance: float) -> None:
    choice = answer.get("choice")
    if not isinstance(choice, str) or choice not in question.criteria:
        raise InvalidAnswer(
            f"answer {name!r} chose the unknown option {choice!r}, not one of "
            f"{list(question.options)!r}"
        )
    p = _check_distribution(name, question, answer, "probabilities", tolerance)
    if p is not None and p[choice] < max(p.values()) - tolerance - _ROUNDOFF:
        best = max(p, key=p.__getitem__)
        raise InvalidAnswer(
            f"answer {name!r} chose {choice!r} with probability {p[choice]!r}, but {best!r} has "
            f"{p[best]!r}"
        )


def _check_score(name: str, question: Score, answer: Raw, rounding: Rounding) -> None:
    score, top = answer.get("score"), len(question.criteria) - 1
    if not _is_number(score) or not 0.0 <= score <= top:
        raise InvalidAnswer(
            f"answer {name!r}: score {score!r} is outside the question range, 0 to {top}"
        )
    tolerance = _tolerance(rounding.probability_decimals)
    p = _check_distribution(name, question, answer, "probabilities", tolerance)
    if p is None:
        return
    mean = math.fsum(int(level) * share for level, share in p.items())
    allowed = _tolerance(rounding.score_decimals) + len(p) * tolerance + _ROUNDOFF
    if abs(mean - score) > allowed:
        raise InvalidAnswer(
            f"answer {name!r}: score {score!r} is not the weighted mean of its probabilities, "
            f"{mean!r}"
        )


def _check_distribution(
    name: str, question: Question, answer: Raw, field: str, tolerance: float
) -> Mapping[str, float] | None:
    given = answer.get(field)
    if given is None:
        return None
    options = question.options
    if not is_object(given) or set(given) != set(options):
        raise InvalidAnswer(
            f"answer {name!r}: {field} must be a complete distribution over "
            f"{list(options)!r}, got {given!r}"
        )
    p = {
        option: _check_unit(f"answer {name!r}: {field}[{option!r}]", given[option])
        for option in options
    }
    total = math.fsum(p.values())
    # Rounding may take a whole distribution away, and then there is none.
    if not total or abs(total - 1.0) > 1e-6 + len(options) * tolerance + _ROUNDOFF:
        raise InvalidAnswer(f"answer {name!r}: the sum of its {field} is {total!r}, not 1")
    return p


def _check_said_of(name: str, answer: Answer, rounding: Rounding) -> None:
    """Raise InvalidAnswer where an answer's own numbers belie what it says of them."""
    allowed = _tolerance(rounding.probability_decimals) + _ROUNDOFF
    p = distribution(answer)
    # Bounds are statements about the raw probabilities.
    raw = answer.raw_probabilities or p or {}
    for option, (low, high) in (answer.bounds or {}).items():
        if option in raw and not low - allowed <= raw[option] <= high + allowed:
            raise InvalidAnswer(
                f"answer {name!r}: the bounds of {option!r}, {low!r} to {high!r}, leave out its "
                f"probability, {raw[option]!r}"
            )
    if isinstance(answer, ChoiceAnswer) and answer.tie and p is not None:
        best = p[answer.choice]
        if not any(abs(p[o] - best) <= allowed for o in p if o != answer.choice):
            raise InvalidAnswer(
                f"answer {name!r}: tie is True, and no other option has the {best!r} of "
                f"{answer.choice!r}"
            )
    if isinstance(answer, ScoreAnswer) and answer.score_range is not None:
        low, high = answer.score_range
        allowed = _tolerance(rounding.score_decimals) + _ROUNDOFF
        if not low - allowed <= answer.score <= high + allowed:
            raise InvalidAnswer(
                f"answer {name!r}: score_range, {low!r} to {high!r}, leaves out the score, "
                f"{answer.score!r}"
            )


def _build(name: str, kind: type[M], answer: Raw) -> M:
    try:
        built = kind.model_validate(answer)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        field = ".".join(map(str, problem["loc"]))
        raise InvalidAnswer(f"answer {name!r}: {field}: {problem['msg']}") from None
    if is_object(answer.get("evidence")):  # a model's own: its texts may be any
        written = built.model_dump(mode="json", include={"evidence"})
        _check_json(f"answer {name!r}: evidence", written["evidence"])
    return built


def _check_rounding(rounding: object) -> Rounding:
    if rounding is None:
        return Rounding()
    if not isinstance(rounding, Rounding):
        raise InvalidAnswer(f"rounding must be a Rounding, got {rounding!r}")
    for field in ("probability_decimals", "score_decimals"):
        value = getattr(rounding, field)
        if value is not None and (
            isinstance(value, bool) or not isinstance(value, int) or value < 0
        ):
            raise InvalidAnswer(f"rounding.{field} must be a non-negative integer, got {value!r}")
    return rounding


def _check_envelope(response: DecisionResponse) -> None:
    _check_usage(response.usage)
    warnings = response.warnings
    if not is_list(warnings) or not all(isinstance(warning, str) for warning in warnings):
        raise InvalidAnswer(f"warnings must be a list of texts, got {warnings!r}")
    _check_json("warnings", warnings)
    info = response.response
    if info is not None and not isinstance(info, ResponseInfo):
        raise InvalidAnswer(f"response must be a ResponseInfo, got {info!r}")
    if info is not None:
        _check_json("response", {"id": info.id, "model_id": info.model_id})
    if info is not None and not isinstance(info.timestamp, datetime | None):
        raise InvalidAnswer(f"response.timestamp must be a datetime, got {info.timestamp!r}")
    metadata = response.provider_metadata
    if not isinstance(metadata, Mapping | None):
        raise InvalidAnswer(f"provider_metadata must be an object, got {metadata!r}")
    _check_json("provider_metadata", metadata)


def _check_json(what: str, value: object) -> None:
    try:
        check_json(value, what)
    except InvalidInput as error:
        raise InvalidAnswer(str(error)) from None


def _check_usage(usage: object) -> None:
    if usage is None:
        return
    if not isinstance(usage, Usage):
        raise InvalidAnswer(f"usage must be a Usage, got {usage!r}")
    for field in Usage.__slots__:
        count = getattr(usage, field)
        if count is not None and (not _is_number(count) or count != int(count)):
            raise InvalidAnswer(f"usage.{field} must be a finite whole number, got {count!r}")


def _check_unit(what: str, value: object) -> float:
    if not _is_number(value) or not 0.0 <= value <= 1.0:
        raise InvalidAnswer(f"{what} must be a number between 0 and 1, got {value!r}")
    return value


def _is_number(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _tolerance(decimals: int | None) -> float:
    # From some 300 decimals on, no float has them.
    return _UNDECLARED if decimals is None else 0.5 * 10.0 ** -min(decimals, 400)
