"""The gate: what the table of the reference leaves out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.answers import ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.decision import DecisionResponse, ResponseInfo, Rounding
from classify.errors import InvalidAnswer
from classify.gate import check_response
from classify.language_model import Usage
from classify.question_sets import parse_questions
from classify.questions import Boolean, Choice, Question, Score

QUESTIONS: Mapping[str, Question] = {"q": Boolean()}
HALF: Mapping[str, object] = {"type": "boolean", "probability": 0.5}
DECLINED: Mapping[str, object] = {"type": "no_verdict", "cause": "declined"}


@pytest.mark.parametrize(
    ("response", "message"),
    [
        pytest.param({"q": HALF}, "must return a DecisionResponse", id="plain answers"),
        pytest.param(DecisionResponse([HALF]), "answers must be an object", id="list"),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        pytest.param(DecisionResponse({"q": 0.5}), "'q' must be an object", id="number"),  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
        pytest.param(DecisionResponse({"q": {"probability": 0.5}}), "the type None", id="no type"),
        pytest.param(
            DecisionResponse({"q": {**HALF, "colour": "red"}}), "'q': colour", id="unknown field"
        ),
        *(
            pytest.param(DecisionResponse({"q": {**HALF, "evidence": evidence}}), message, id=id)
            for evidence, message, id in (
                ({"seconds": math.nan}, "'q': evidence.seconds", "evidence that is not finite"),
                ({"reason": "\ud83d"}, "'q': evidence.reason", "half a pair in evidence"),
                ({"attempts": 10**5000}, "'q': evidence.attempts", "long number in evidence"),
            )
        ),
        pytest.param(
            DecisionResponse({"q": {"type": "no_verdict", "cause": "tired", "message": "x"}}),
            "'q': cause",
            id="unknown cause",
        ),
        pytest.param(
            DecisionResponse(
                {"q": {"type": "no_verdict", "kind": "score", "cause": "refusal", "message": "x"}}
            ),
            "does not match the boolean question",
            id="no verdict of another kind",
        ),
        pytest.param(DecisionResponse({"q": HALF}, warnings="careful"), "warnings", id="warning"),
        pytest.param(DecisionResponse({"q": HALF}, warnings=[3]), "warnings", id="warnings"),  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
        pytest.param(
            DecisionResponse({"q": HALF}, response=ResponseInfo(timestamp="now")),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            "response.timestamp must be a datetime",
            id="timestamp",
        ),
        pytest.param(
            DecisionResponse({"q": HALF}, response={"id": "r"}),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            "must be a ResponseInfo",
            id="response",
        ),
        pytest.param(
            DecisionResponse({"q": HALF}, usage={"input_tokens": 3}),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            "usage must be a Usage",
            id="usage",
        ),
        pytest.param(
            DecisionResponse({"q": HALF}, usage=Usage(output_tokens=1.5)),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            "output_tokens",
            id="half a token",
        ),
        pytest.param(
            DecisionResponse({"q": HALF}, provider_metadata=[1]),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            "provider_metadata must be an object",
            id="metadata",
        ),
        pytest.param(
            DecisionResponse({"q": HALF}, provider_metadata={"x": math.nan}),
            "provider_metadata.x",
            id="metadata nan",
        ),
    ],
)
def test_nothing_in_an_envelope_is_believed(response: Any, message: str) -> None:
    """Whatever the model's author got wrong, the error is InvalidAnswer and names the field."""
    with pytest.raises(InvalidAnswer, match=message):
        check_response(response, QUESTIONS)


def test_token_counts_may_be_negative() -> None:
    """The reference checks that they are finite numbers, no more."""
    check_response(DecisionResponse({"q": HALF}, usage=Usage(-1, 2)), QUESTIONS)


def test_answers_come_in_the_order_of_the_questions() -> None:
    """A model that answers in another order changes nothing for the user."""
    questions: dict[str, Question] = {"first": Boolean(), "second": Boolean()}

    answers = check_response(DecisionResponse({"second": HALF, "first": HALF}), questions)

    assert list(answers) == ["first", "second"]


def test_a_no_verdict_passes_the_gate() -> None:
    """Having no answer is an answer; its kind is the question's."""
    raw = {"type": "no_verdict", "cause": "declined", "message": "not mine"}

    answers = check_response(DecisionResponse({"q": MappingProxyType(raw)}), QUESTIONS)

    assert answers["q"] == NoVerdict(kind="boolean", cause="declined", message="not mine")


def test_only_the_only_options_are_options() -> None:
    """An option whose name looks like a number is still text."""
    questions = parse_questions({"q": Choice(criteria={"1": None, "2": None})})

    with pytest.raises(InvalidAnswer, match="unknown option 1"):
        check_response(DecisionResponse({"q": {"type": "choice", "choice": 1}}), questions)


weights = st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=12)


@given(weights)
def test_any_normalised_distribution_passes(mass: list[float]) -> None:
    """Rounding errors of float64 never look like a broken distribution, of choices or scores."""
    p = {str(k): share / math.fsum(mass) for k, share in enumerate(mass)}
    questions: dict[str, Question] = {
        "c": Choice(criteria=dict.fromkeys(p)),
        "s": Score(criteria=[f"level {k}" for k in p]),
    }
    best = max(p, key=p.__getitem__)
    mean = sum(int(k) * share for k, share in p.items())

    answers = check_response(
        DecisionResponse(
            {
                "c": {"type": "choice", "choice": best, "probabilities": p},
                "s": {"type": "score", "score": min(mean, len(p) - 1), "probabilities": p},
            }
        ),
        questions,
    )

    assert answers["c"] == ChoiceAnswer(choice=best, probabilities=p)
    assert isinstance(answers["s"], ScoreAnswer)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param({"bounds": {"true": [0.9, 0.1]}}, "the lower first", id="upside down"),
        pytest.param({"bounds": {"true": [0.1, 1.5]}}, "between 0 and 1", id="above one"),
        pytest.param({"bounds": {"true": [math.nan, 1]}}, "between 0 and 1", id="nan"),
        pytest.param({"bounds": {"maybe": [0, 1]}}, "unknown option 'maybe'", id="unknown"),
        pytest.param({"label_mass": 2.0}, "label_mass", id="label mass"),
    ],
)
def test_bounds_and_label_mass_are_probabilities(fields: dict[str, Any], message: str) -> None:
    """Reports and policies compute with them."""
    with pytest.raises(InvalidAnswer, match=message):
        check_response(DecisionResponse({"q": {**HALF, **fields}}), QUESTIONS)


CHOSEN: Mapping[str, Any] = {
    "type": "choice",
    "choice": "a",
    "probabilities": {"a": 0.9, "b": 0.1},
}
RATED: Mapping[str, Any] = {"type": "score", "score": 1.0, "probabilities": {"0": 0.0, "1": 1.0}}
NONE: Mapping[str, Any] = {"type": "no_verdict", "cause": "declined", "message": "not mine"}
KINDS: Mapping[str, Question] = {
    "choice": Choice(criteria={"a": None, "b": None}),
    "score": Score(criteria=["bad", "good"]),
    "boolean": Boolean(),
}


@pytest.mark.parametrize(
    ("kind", "answer", "message"),
    [
        ("choice", {**CHOSEN, "bounds": {"a": (0.1, 0.2)}}, "0.1 to 0.2, leave out .* 0.9"),
        ("choice", {**CHOSEN, "bounds": {"b": (0.5, 0.9)}}, "bounds of 'b', .* 0.1"),
        ("boolean", {**HALF, "bounds": {"false": (0.6, 1.0)}}, "bounds of 'false', .* 0.5"),
        (
            "choice",
            {**CHOSEN, "bounds": {"a": (0.8, 1.0)}, "raw_probabilities": {"a": 0.6, "b": 0.4}},
            "bounds of 'a', 0.8 to 1.0, .* 0.6",
        ),
        ("choice", {**CHOSEN, "tie": True}, "tie is True, .* 0.9 of 'a'"),
        (
            "choice",
            {**CHOSEN, "raw_probabilities": {"a": 0.5}},
            r"raw_.*\['a', 'b'\], got {'a': 0.5}",
        ),
        (
            "choice",
            {**CHOSEN, "raw_probabilities": {"a": 0.5, "b": 0.1}},
            "raw_prob.* is 0.6, not 1",
        ),
        ("choice", {**CHOSEN, "raw_probabilities": {"a": 2, "b": -1}}, r"raw_prob.*\['a'\].* 2"),
        ("score", {**RATED, "score_range": (0.0, 0.5)}, "score_range, 0.0 to 0.5, .* 1.0"),
        ("choice", {**NONE, "label_mass": 2.0}, "label_mass"),
        ("choice", {**NONE, "probabilities": {"z": 1.0}}, "probabilities must be a complete"),
        (
            "choice",
            {**NONE, "raw_probabilities": {"z": 1.0}},
            "raw_probabilities must be a complete",
        ),
    ],
)
def test_what_an_answer_says_of_its_numbers_must_fit_them(
    kind: str, answer: Mapping[str, Any], message: str
) -> None:
    """Priors, policies and reports compute with all of it, and one failed with a KeyError."""
    with pytest.raises(InvalidAnswer, match=message):
        check_response(DecisionResponse({"q": answer}), {"q": KINDS[kind]})


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("choice", {**CHOSEN, "bounds": {"a": (0.9, 0.9), "b": (0.0, 0.1)}}),
        (
            "choice",
            {**CHOSEN, "bounds": {"a": (0.5, 0.7)}, "raw_probabilities": {"a": 0.6, "b": 0.4}},
        ),
        ("choice", {**CHOSEN, "probabilities": {"a": 0.5, "b": 0.5}, "tie": True}),
        ("choice", {"type": "choice", "choice": "a", "tie": True}),
        ("boolean", {**HALF, "bounds": {"true": (0.4, 0.5), "false": (0.5, 0.6)}}),
        ("score", {**RATED, "score_range": (1.0, 1.0)}),
    ],
)
def test_what_fits_the_numbers_passes(kind: str, answer: Mapping[str, Any]) -> None:
    """Bounds are of the raw probabilities where both are given."""
    found = check_response(DecisionResponse({"q": answer}), {"q": KINDS[kind]})["q"]
    for name in ("bounds", "tie", "score_range"):
        assert getattr(found, name, None) == answer.get(name, getattr(found, name, None))


def test_bounds_may_miss_a_rounded_probability_by_half_a_unit() -> None:
    """.92 stands for .915, which is in them; .93 does not."""
    rounding = Rounding(probability_decimals=2)

    def check(p: float) -> None:
        shares = {"a": p, "b": 1.0 - p}
        answer = {**CHOSEN, "probabilities": shares, "bounds": {"a": (0.9, 0.915)}}
        check_response(DecisionResponse({"q": answer}, rounding=rounding), {"q": KINDS["choice"]})

    check(0.92)
    with pytest.raises(InvalidAnswer, match=r"leave out its probability, 0\.93"):
        check(0.93)


def test_a_distribution_that_rounding_took_away_is_none() -> None:
    """200 options of .005 at 2 decimals: within the tolerance of 1, and nothing is left."""
    options = [f"o{n}" for n in range(200)]
    answer = {"type": "choice", "choice": "o0", "probabilities": dict.fromkeys(options, 0.0)}
    response = DecisionResponse({"q": answer}, rounding=Rounding(probability_decimals=2))
    with pytest.raises(InvalidAnswer, match=r"sum of its probabilities is 0\.0, not 1"):
        check_response(response, {"q": Choice(criteria=dict.fromkeys(options))})


@pytest.mark.parametrize(
    "response",
    [
        pytest.param(DecisionResponse({"q": HALF}, warnings=["\ud800"]), id="warning"),
        pytest.param(
            DecisionResponse({"q": HALF}, response=ResponseInfo(id="\ud800")), id="response"
        ),
        pytest.param(
            DecisionResponse(
                {"q": {"type": "no_verdict", "cause": "declined", "message": "\ud800"}}
            ),
            id="message",
        ),
    ],
)
def test_text_that_no_file_can_hold_is_refused(response: DecisionResponse) -> None:
    """Writing the result would fail, and with it the run."""
    with pytest.raises(InvalidAnswer, match="surrogate"):
        check_response(response, QUESTIONS)


def test_more_decimals_than_a_float_has_are_no_error() -> None:
    """The tolerance is zero then, which an exact distribution meets."""
    answer = {"type": "choice", "choice": "a", "probabilities": {"a": 0.75, "b": 0.25}}
    response = DecisionResponse({"q": answer}, rounding=Rounding(probability_decimals=10**400))
    questions: Mapping[str, Question] = {"q": Choice(criteria={"a": None, "b": None})}
    assert isinstance(check_response(response, questions)["q"], ChoiceAnswer)
