"""Table 2A of the reference's behaviour, row by row; the ids are the table's numbers."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from classify.answers import BooleanAnswer, ChoiceAnswer, ScoreAnswer
from classify.classifier import Classifier
from classify.decision import DecisionRequest, DecisionResponse, Rounding
from classify.errors import (
    DeadlineExceeded,
    InvalidAnswer,
    InvalidInput,
    ProviderError,
    UnsupportedQuestion,
)
from classify.evaluation import Evaluation
from classify.language_model import Usage
from classify.testing.scripted import RawAnswer, ScriptedModel

CHOICE: Mapping[str, Any] = {"type": "choice", "criteria": {"a": None, "b": None}}
CHOICE_3: Mapping[str, Any] = {"type": "choice", "criteria": {"a": None, "b": None, "c": None}}
SCORE_2: Mapping[str, Any] = {"type": "score", "criteria": ["bad", "good"]}
SCORE_3: Mapping[str, Any] = {"type": "score", "criteria": ["bad", "fair", "good"]}
BOOLEAN: Mapping[str, Any] = {"type": "boolean"}


def asked(question: Mapping[str, Any], answer: RawAnswer, **envelope: Any) -> Evaluation:
    """Ask one question and let the model answer it."""
    model = ScriptedModel(lambda _: DecisionResponse({"q": answer}, **envelope))
    return asyncio.run(Classifier("c", model, {"q": question}).evaluate("text"))


def yes(_: DecisionRequest) -> dict[str, RawAnswer]:
    """Answer a boolean question."""
    return {"q": {"type": "boolean", "probability": 0.8}}


def test_2a_01_absent_instructions_are_the_question_id() -> None:
    """The model is asked something even where the author wrote only an id; usage is summed."""
    model = ScriptedModel(
        lambda _: DecisionResponse(
            {"is it polite": {"type": "boolean", "probability": 0.8}}, usage=Usage(4, 2)
        )
    )
    classifier = Classifier("c", model, {"is it polite": BOOLEAN})

    evaluation = asyncio.run(classifier.evaluate("text"))

    assert model.requests[0].questions["is it polite"].instructions is None
    assert evaluation.usage.total_tokens == 6
    assert evaluation.answers["is it polite"] == BooleanAnswer(probability=0.8)


def test_2a_02_an_envelope_without_usage_or_response_is_filled_in() -> None:
    """What the provider did not say stays unknown; the total, the model and the time are given."""
    before = datetime.now(UTC)

    evaluation = asked(BOOLEAN, {"type": "boolean", "probability": 0.8})

    assert (evaluation.usage.input_tokens, evaluation.usage.output_tokens) == (None, None)
    assert evaluation.usage.total_tokens == 0
    assert evaluation.response.model_id == "scripted"
    stamp = evaluation.response.timestamp
    assert stamp is not None and before <= stamp <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        pytest.param({}, "non-empty object", id="2A-04"),
        pytest.param(
            {"q": {"type": "score", "criteria": ["x"]}}, "at least two levels", id="2A-05"
        ),
        pytest.param(
            {"q": {"type": "score", "criteria": [None, "x"]}}, "criterion 0 is missing", id="2A-06"
        ),
        pytest.param(
            {"q": {"type": "boolean", "criteria": {"maybe": "x"}}}, "true and false", id="2A-12"
        ),
    ],
)
def test_unusable_questions_never_reach_the_model(questions: Any, message: str) -> None:
    """Nothing is spent on questions that cannot be asked: built with, or given with a call."""
    model = ScriptedModel(yes)

    with pytest.raises(TypeError, match=message):
        Classifier("c", model, questions)
    with pytest.raises(InvalidInput, match=message):
        asyncio.run(Classifier("c", model).evaluate("text", questions))
    assert model.requests == []


def test_2a_07_a_state_that_is_no_json_never_reaches_the_model() -> None:
    """NaN cannot be sent, so nothing is."""
    model = ScriptedModel(yes)

    with pytest.raises(TypeError, match="JSON-compatible"):
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate({"x": math.nan}))
    assert model.requests == []


def test_2a_09_an_unsupported_kind_is_refused_when_built() -> None:
    """The error carries the question, its kind, the provider and the model."""
    model = ScriptedModel(yes, supported_question_types=frozenset({"boolean"}))

    with pytest.raises(UnsupportedQuestion, match="'q' is a choice question") as raised:
        Classifier("c", model, {"q": CHOICE})
    assert (raised.value.question, raised.value.kind) == ("q", "choice")
    assert (raised.value.provider, raised.value.model) == ("scripted", "scripted")


def test_2a_09_an_unsupported_kind_is_refused_per_call_too() -> None:
    """Questions given with the call are checked by the same rule, before any request."""
    model = ScriptedModel(yes, supported_question_types=frozenset({"boolean"}))

    with pytest.raises(UnsupportedQuestion, match="'q' is a choice question"):
        asyncio.run(Classifier("c", model).evaluate("text", {"q": CHOICE}))
    assert model.requests == []


def test_2a_10_no_questions_anywhere_is_an_error_of_the_call() -> None:
    """A classifier without questions is fine until it is asked nothing."""
    with pytest.raises(TypeError, match="questions are required"):
        asyncio.run(Classifier("c", ScriptedModel(yes)).evaluate("text"))


def test_questions_in_both_places_are_an_error() -> None:
    """The reference lets one silently win (0.8); ours refuses."""
    classifier = Classifier("c", ScriptedModel(yes), {"q": BOOLEAN})

    with pytest.raises(InvalidInput, match="not both"):
        asyncio.run(classifier.evaluate("text", {"q": BOOLEAN}))


@pytest.mark.parametrize("id", ["", "  ", None, 3], ids=["empty", "blank", "none", "number"])
def test_a_classifier_needs_an_id(id: Any) -> None:
    """The id is how results name what made them."""
    with pytest.raises(TypeError, match="non-empty string"):
        Classifier(id, ScriptedModel(yes))


def test_2a_11_one_option_is_enough() -> None:
    """A choice question may have a single option."""
    evaluation = asked(
        {"type": "choice", "criteria": {"only": None}}, {"type": "choice", "choice": "only"}
    )

    assert evaluation.answers["q"] == ChoiceAnswer(choice="only")


def test_2a_12_a_boolean_criterion_may_be_null() -> None:
    """Null means "no description"."""
    question = {"type": "boolean", "criteria": {True: None}}

    evaluation = asked(question, {"type": "boolean", "probability": 0.5})

    assert evaluation.answers["q"] == BooleanAnswer(probability=0.5)


HALF: RawAnswer = {"type": "boolean", "probability": 0.5}


@pytest.mark.parametrize(
    ("question", "answer", "envelope", "message"),
    [
        pytest.param(
            BOOLEAN,
            {"type": "choice", "choice": "a"},
            {},
            "does not match",
            id="2A-15",
        ),
        *(
            pytest.param(
                BOOLEAN,
                {"type": "boolean", "probability": p},
                {},
                "between 0 and 1",
                id=f"2A-16 {repr(p)[:9]}",
            )
            for p in (2, -0.1, math.nan, math.inf, "0.8", True, None, 10**400)
        ),
        pytest.param(CHOICE, {"type": "choice", "choice": "z"}, {}, "unknown option", id="2A-17"),
        pytest.param(
            CHOICE, {"type": "choice", "choice": ["a"]}, {}, "unknown option", id="2A-17 list"
        ),
        pytest.param(
            CHOICE,
            {"type": "choice", "choice": "a", "probabilities": {"a": 0.7, "b": 0.30001}},
            {},
            "sum",
            id="2A-21",
        ),
        pytest.param(
            CHOICE_3,
            {"type": "choice", "choice": "a", "probabilities": dict.fromkeys("abc", 0.33)},
            {},
            "sum",
            id="2A-22 undeclared",
        ),
        pytest.param(
            CHOICE,
            {"type": "choice", "choice": "a", "probabilities": {"a": 0.49, "b": 0.50}},
            {"rounding": Rounding(probability_decimals=2)},
            "chose 'a' with probability 0.49, but 'b' has 0.5",
            id="2A-24",
        ),
        pytest.param(
            CHOICE,
            {"type": "choice", "choice": "a", "probabilities": {"a": 1.0}},
            {},
            "complete distribution",
            id="2A-25",
        ),
        pytest.param(
            CHOICE,
            {"type": "choice", "choice": "a", "probabilities": {"a": 1.0, "b": 0.0, "z": 0.0}},
            {},
            "complete distribution",
            id="2A-25 extra",
        ),
        pytest.param(
            SCORE_2,
            {"type": "score", "score": 0.8, "probabilities": {"0": 0.5, "1": 0.5}},
            {},
            "weighted mean",
            id="2A-27",
        ),
        pytest.param(
            SCORE_3,
            {
                "type": "score",
                "score": 1.60001,
                "probabilities": {"0": 0.1, "1": 0.2, "2": 0.7},
            },
            {},
            "weighted mean",
            id="2A-29 beyond",
        ),
        *(
            pytest.param(
                SCORE_3,
                {"type": "score", "score": score},
                {},
                "outside the question range, 0 to 2",
                id=f"2A-30 {score!r}",
            )
            for score in (2.0001, -0.1, math.nan, "1", True)
        ),
        *(
            pytest.param(BOOLEAN, HALF, {"rounding": rounding}, "rounding", id=f"2A-31 {name}")
            for name, rounding in {
                "-1": Rounding(probability_decimals=-1),
                "1.5": Rounding(score_decimals=1.5),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
                "foo": {"foo": 2},
            }.items()
        ),
        *(
            pytest.param(BOOLEAN, HALF, {"usage": usage}, "input_tokens", id=f"2A-32 {name}")
            for name, usage in {
                "text": Usage("52", 1),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
                "nan": Usage(math.nan, 1),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            }.items()
        ),
    ],
)
def test_a_broken_answer_never_reaches_the_user(
    question: Mapping[str, Any], answer: RawAnswer, envelope: Mapping[str, Any], message: str
) -> None:
    """One gate for every decision model, and it names what is wrong."""
    with pytest.raises(InvalidAnswer, match=message):
        asked(question, answer, **envelope)


@pytest.mark.parametrize(
    "answers",
    [
        pytest.param({}, id="2A-13 missing"),
        pytest.param({"q": HALF, "extra": HALF}, id="2A-14 extra"),
        pytest.param({"p": HALF}, id="2A-14 other"),
    ],
)
def test_answers_are_to_exactly_the_questions(answers: Mapping[str, RawAnswer]) -> None:
    """A missing answer and an invented one are the same fault."""
    classifier = Classifier("c", ScriptedModel(lambda _: answers), {"q": BOOLEAN})

    with pytest.raises(TypeError, match="exactly the questions"):
        asyncio.run(classifier.evaluate("text"))


@pytest.mark.parametrize(
    ("question", "answer", "rounding"),
    [
        *(
            pytest.param(
                CHOICE,
                {"type": "choice", "choice": picked, "probabilities": {"a": 0.5, "b": 0.5}},
                None,
                id=f"2A-19 {picked}",
            )
            for picked in "ab"
        ),
        pytest.param(
            CHOICE,
            {"type": "choice", "choice": "a", "probabilities": {"a": 0.7, "b": 0.300002}},
            None,
            id="2A-20",
        ),
        pytest.param(
            CHOICE_3,
            {"type": "choice", "choice": "a", "probabilities": dict.fromkeys("abc", 0.33)},
            Rounding(probability_decimals=2),
            id="2A-22",
        ),
        pytest.param(
            CHOICE,
            {"type": "choice", "choice": "a", "probabilities": {"a": 0.495, "b": 0.505}},
            Rounding(probability_decimals=1),
            id="2A-24 one decimal",
        ),
        pytest.param(
            SCORE_3,
            {"type": "score", "score": 1.5, "probabilities": {"0": 0, "1": 0.5, "2": 0.5}},
            None,
            id="2A-26",
        ),
        pytest.param(
            SCORE_3,
            {"type": "score", "score": 1.6, "probabilities": {"0": 0.1, "1": 0.2, "2": 0.7}},
            None,
            id="2A-29",
        ),
    ],
)
def test_what_rounding_allows_is_accepted(
    question: Mapping[str, Any], answer: RawAnswer, rounding: Rounding | None
) -> None:
    """Rounded services are not punished for the decimals that they declare."""
    found = asked(question, answer, rounding=rounding).answers["q"]

    assert isinstance(found, ChoiceAnswer | ScoreAnswer)
    assert found.probabilities == answer["probabilities"]


def failing(error: Exception, *, times: int) -> ScriptedModel:
    """Return a model that fails some times and then says yes."""

    def answer(request: DecisionRequest) -> dict[str, RawAnswer]:
        if len(model.requests) <= times:
            raise error
        return yes(request)

    model = ScriptedModel(answer)
    return model


def busy() -> ProviderError:
    """Return a failure that may pass, at once."""
    return ProviderError("busy", status=503, retryable=True, retry_after=0.0)


def test_2a_34_a_passing_failure_is_tried_again() -> None:
    """Retryable once, then fine: two calls, and the count is in the result."""
    model = failing(busy(), times=1)

    evaluation = asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text"))

    assert (len(model.requests), evaluation.attempts) == (2, 2)


def test_2a_35_a_plain_error_passes_through_unchanged() -> None:
    """A programmer's error is neither retried nor wrapped."""
    error = RuntimeError("bug")
    model = failing(error, times=9)

    with pytest.raises(RuntimeError, match="bug") as raised:
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text"))
    assert raised.value is error
    assert len(model.requests) == 1


def test_2a_36_the_providers_last_error_is_raised() -> None:
    """Status and the retryable flag survive, and nothing is wrapped around them."""
    error = busy()
    model = failing(error, times=9)

    with pytest.raises(ProviderError, match="busy") as raised:
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text", max_retries=1))
    assert raised.value is error
    assert (error.status, error.retryable, error.attempts) == (503, True, 2)
    assert len(model.requests) == 2


def test_2a_37_no_retries_is_one_call() -> None:
    """Zero retries means one call."""
    model = failing(busy(), times=9)

    with pytest.raises(ProviderError, match="busy"):
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text", max_retries=0))
    assert len(model.requests) == 1


@pytest.mark.parametrize("retries", [-1, 1.5, "2", True], ids=repr)
def test_2a_37_retries_are_a_whole_number(retries: Any) -> None:
    """Anything else is refused before a request."""
    model = ScriptedModel(yes)

    with pytest.raises(InvalidInput, match="max_retries must be a non-negative integer"):
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("t", max_retries=retries))
    assert model.requests == []


@pytest.mark.parametrize("moment", ["before", "during", "delay"])
def test_2a_39_cancelling_ends_it_with_no_further_call(moment: str) -> None:
    """Before the request, while the model is asked and in the delay before a retry."""

    def answer(request: DecisionRequest) -> dict[str, RawAnswer]:
        task = asyncio.current_task()
        assert task is not None
        if moment == "during":
            task.cancel()
            return yes(request)
        asyncio.get_running_loop().call_soon(task.cancel)
        raise ProviderError("busy", status=503, retryable=True, retry_after=60.0)

    model = ScriptedModel(answer)
    classifier = Classifier("c", model, {"q": BOOLEAN})

    async def cancelled() -> None:
        task = asyncio.create_task(classifier.evaluate("text"))
        if moment == "before":
            task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert len(model.requests) == (0 if moment == "before" else 1)


def test_2a_40_cancelling_wins_over_an_answer() -> None:
    """A reason to stop that arrives with the answer is still a reason to stop."""

    def answer(request: DecisionRequest) -> dict[str, RawAnswer]:
        task = asyncio.current_task()
        assert task is not None
        task.cancel("enough")
        return yes(request)

    classifier = Classifier("c", ScriptedModel(answer), {"q": BOOLEAN})

    async def evaluated() -> str:
        try:
            await classifier.evaluate("text")
        except asyncio.CancelledError as stopped:
            return str(stopped)
        return "answered"

    assert asyncio.run(evaluated()) == "enough"


def test_the_deadline_ends_the_delay_before_a_retry() -> None:
    """A minute's Retry-After does not outlive a deadline of a hundredth of a second."""
    model = failing(
        ProviderError("busy", status=429, retryable=True, retry_after=60.0),
        times=9,
    )

    with pytest.raises(DeadlineExceeded, match=r"timeout=0\.01 seconds"):
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text", timeout=0.01))
    assert len(model.requests) == 1


@pytest.mark.parametrize("timeout", [0, -1.0, math.nan, math.inf, "5"], ids=repr)
def test_a_deadline_is_a_positive_number(timeout: Any) -> None:
    """Refused before a request, naming the field."""
    model = ScriptedModel(yes)

    with pytest.raises(InvalidInput, match="timeout must be a positive number"):
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text", timeout=timeout))
    assert model.requests == []


def test_a_timeout_of_the_models_own_is_not_the_deadline() -> None:
    """A model that raises TimeoutError has a fault of its own."""
    own = TimeoutError("mine")

    def answer(_: DecisionRequest) -> dict[str, RawAnswer]:
        raise own

    model = ScriptedModel(answer)
    with pytest.raises(TimeoutError, match="mine") as raised:
        asyncio.run(Classifier("c", model, {"q": BOOLEAN}).evaluate("text", timeout=60.0))
    assert raised.value is own


def test_2a_41_transform_runs_before_the_check() -> None:
    """The hook may change an answer, and what it returns is still checked."""

    def lowered(to: float) -> Classifier:
        return Classifier(
            "c",
            ScriptedModel(yes),
            {"q": BOOLEAN},
            transform=lambda _: DecisionResponse({"q": {"type": "boolean", "probability": to}}),
        )

    assert asyncio.run(lowered(0.1).evaluate("text")).answers["q"] == BooleanAnswer(probability=0.1)
    with pytest.raises(InvalidAnswer, match="between 0 and 1"):
        asyncio.run(lowered(1.1).evaluate("text"))


@pytest.mark.parametrize(
    "error",
    [busy(), InvalidAnswer("broken"), None],
    ids=["provider", "answer", "fine"],
)
def test_2a_42_nothing_is_logged_and_no_text_is_in_an_error(
    error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    """What people wrote stays out of logs and messages, whatever happens."""
    caplog.set_level(logging.DEBUG, logger="classify")
    model = failing(error, times=9) if error else ScriptedModel(lambda _: {"q": {"type": "choice"}})
    question = {"type": "boolean", "criteria": {"true": "SECRET criterion"}}

    with pytest.raises((ProviderError, InvalidAnswer)) as raised:
        asyncio.run(Classifier("c", model, {"q": question}).evaluate("SECRET state", max_retries=0))

    assert "SECRET" not in str(raised.value)
    assert [record for record in caplog.records if record.name.startswith("classify")] == []
