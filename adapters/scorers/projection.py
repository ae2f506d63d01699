"""From a classifier's answer to one number between 0 and 1.

Pure: a scorer uses it when an answer comes, re-projection when it lies in a file. It knows nothing
of models.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from typing import Literal, TypeAlias, TypeGuard

from pydantic import BaseModel, ConfigDict

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, ScoreAnswer
from classify.errors import InvalidInput
from classify.json_values import is_object
from classify.questions import Choice, Question, Score
from classify.validation import unknown_name

Rule: TypeAlias = Literal["selected", "expected", "correct", "level", "truth"]
"""scores[the chosen option]; the sum of p * scores; the probability of the correct options; the
expected level over the highest; P(true)."""
Options: TypeAlias = str | int | bool | Collection[str | int | bool]
"""Options of a question: names, levels' indices, True or False."""
Interval: TypeAlias = tuple[float, float]


class Projection(BaseModel):
    """Which number an answer becomes."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    rule: Rule
    scores: dict[str, float] | None = None
    """Option -> its score, for the rules "selected" and "expected"."""
    correct: tuple[str, ...] | None = None
    """The options whose probabilities add up, for the rule "correct"."""


def projection_of(
    name: str,
    question: Question,
    *,
    scores: Mapping[str, float] | None = None,
    correct: Options | None = None,
    projection: Literal["expected"] | None = None,
) -> Projection:
    """Return how answers to the question `name` become scores.

    Raises ScorerDefinitionError where the settings do not fit the question.
    """
    _check_settings(name, question, scores=scores, correct=correct, projection=projection)
    if correct is not None:
        return Projection(rule="correct", correct=_correct(name, question, correct))
    if isinstance(question, Choice):
        checked = _scores(name, question, scores)
        return Projection(rule="selected" if projection is None else "expected", scores=checked)
    return Projection(rule="level" if isinstance(question, Score) else "truth")


def projected(projection: Projection, answer: Answer, question: Question) -> float:
    """Return the score of an answer, in [0, 1].

    Probabilities that sum to another number than 1, by their rounding, count by their shares of
    that sum. Raises InvalidInput where the rule needs probabilities and the model gave only its
    choice, or nothing but zeros.
    """
    if isinstance(answer, ChoiceAnswer) and projection.rule == "selected":
        return _weights(projection)[answer.choice]
    if isinstance(answer, ScoreAnswer) and projection.rule == "level":
        return answer.score / (len(question.options) - 1)
    if isinstance(answer, BooleanAnswer) and projection.rule == "truth":
        return answer.probability
    if answer.probabilities is None:
        raise InvalidInput(
            f"the rule {projection.rule!r} needs the probability of every option, and the model "
            f"gave none with its answer; use a model that does, or scores alone"
        )
    whole = math.fsum(answer.probabilities.values())
    if not whole:
        raise InvalidInput(
            f"the rule {projection.rule!r} needs the probability of an option at least, and all "
            "are 0 in the answer"
        )
    weights = _weights(projection)
    total = math.fsum(p * weights.get(option, 0.0) for option, p in answer.probabilities.items())
    return min(total / whole, 1.0)  # equal sums, of other orders, may differ in the last place


def projected_bounds(projection: Projection, answer: Answer, question: Question) -> Interval | None:
    """Return the interval that the score is known to lie in; None where nothing is known of it.

    It follows from the bounds of the options' probabilities, which sum to 1.
    """
    if isinstance(answer, ScoreAnswer) and projection.rule == "level" and answer.score_range:
        low, high = answer.score_range
        return low / (len(question.options) - 1), high / (len(question.options) - 1)
    if answer.bounds is None:
        return None
    if projection.rule == "selected":
        # Any option may be the most probable whose upper bound reaches every lower bound.
        floor = max(low for low, _ in answer.bounds.values())
        weights = _weights(projection)
        possible = [weights[option] for option, (_, high) in answer.bounds.items() if high >= floor]
        return min(possible), max(possible)
    weights = _level_weights(question) if projection.rule == "level" else _weights(projection)
    rows = [(weights.get(option, 0.0), *bound) for option, bound in answer.bounds.items()]
    return _extreme(sorted(rows)), _extreme(sorted(rows, reverse=True))


def _extreme(rows: Iterable[tuple[float, float, float]]) -> float:
    """Return the sum of p * weight where the options listed first get all they can."""
    rows = list(rows)
    rest = 1.0 - math.fsum(low for _, low, _ in rows)
    total = 0.0
    for weight, low, high in rows:
        given = low + min(max(rest, 0.0), high - low)
        rest -= given - low
        total += weight * given
    return min(max(total, 0.0), 1.0)


def _weights(projection: Projection) -> Mapping[str, float]:
    if projection.scores is not None:
        return projection.scores
    return dict.fromkeys(projection.correct or ("true",), 1.0)


def _level_weights(question: Question) -> Mapping[str, float]:
    highest = len(question.options) - 1
    return {option: int(option) / highest for option in question.options}


def _check_settings(
    name: str,
    question: Question,
    *,
    scores: object,
    correct: object,
    projection: object,
) -> None:
    if projection not in (None, "expected"):
        raise ScorerDefinitionError(f"projection must be 'expected' or None, got {projection!r}")
    given = "scores" if scores is not None else "projection" if projection is not None else None
    if correct is not None and given is not None:
        raise ScorerDefinitionError(f"give question {name!r} either correct or {given}, not both")
    if given is not None and not isinstance(question, Choice):
        raise ScorerDefinitionError(
            f"{given} is for choice questions, and {name!r} is a {question.type} question, whose "
            f"answer is a number already: leave {given} out"
        )


def _correct(name: str, question: Question, given: Options) -> tuple[str, ...]:
    named = [given] if isinstance(given, str | int) else list(given)
    options = tuple(str(o).lower() if isinstance(o, bool) else str(o) for o in named)
    for option in options:
        if option not in question.options:
            raise ScorerDefinitionError(
                f"correct of question {name!r}: {unknown_name('option', option, question.options)}"
            )
    if not options or len(set(options)) == len(question.options):
        raise ScorerDefinitionError(
            f"correct of question {name!r} must name some of its options "
            f"{list(question.options)!r} and not all, got {list(options)!r}"
        )
    return tuple(option for option in question.options if option in options)


def _scores(name: str, question: Choice, scores: object) -> dict[str, float]:
    if not is_object(scores):
        raise ScorerDefinitionError(
            f"choice question {name!r} needs scores, option -> number from 0 to 1 for each of "
            f"{list(question.options)!r}, or correct; got {scores!r}"
        )
    given: dict[str, object] = {str(option): score for option, score in scores.items()}
    numbers = {option: float(score) for option, score in given.items() if _is_number(score)}
    problems = {
        "Missing": [option for option in question.options if option not in given],
        "Unknown": [option for option in given if option not in question.options],
        "Non-numeric": [option for option in given if option not in numbers],
        "Outside 0-1": [option for option, score in numbers.items() if not 0.0 <= score <= 1.0],
    }
    found = [f"{problem}: {', '.join(which)}" for problem, which in problems.items() if which]
    if found:
        raise ScorerDefinitionError(
            f"scores of question {name!r} must give every option, and no other, a number from 0 "
            f"to 1. {'. '.join(found)}"
        )
    return {option: numbers[option] for option in question.options}


def _is_number(value: object) -> TypeGuard[Real]:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
