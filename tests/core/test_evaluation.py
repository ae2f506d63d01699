"""Results as JSON: written, read back, and equal to the last bit."""

from __future__ import annotations

import asyncio
import json
import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer, distribution
from classify.classifier import Classifier
from classify.decision import DecisionResponse, ResponseInfo, Rounding
from classify.evaluation import Evaluation
from classify.language_model import Alternative, Position, Prompt, Reply, Sampling, Usage
from classify.testing.scripted import ScriptedLanguageModel, ScriptedModel

QUESTIONS: dict[str, Any] = {
    "topic": {"type": "choice", "criteria": {"zebra": None, "ant": "small"}},
    "level": {"type": "score", "criteria": ["bad", "fair", "good"]},
    "polite": {"type": "boolean"},
    "silent": {"type": "boolean", "instructions": "say nothing"},
}


def reply(prompt: Prompt, _: Sampling) -> Reply:
    """Answer with thirds, which no decimal writes out, and once with prose."""
    tokens = ["A", "B", "0", "1", "2", "Yes", "No"]
    if "say nothing" in str(prompt):
        tokens = ["Hm"]
    found = tuple(Alternative(token, math.log((k + 1) / 30)) for k, token in enumerate(tokens))
    return Reply(
        tokens[0], (Position(tokens[0], (*found, Alternative("X", -math.inf))),), usage=Usage(3)
    )


def evaluated(**options: Any) -> Evaluation:
    """Return an evaluation with every kind of answer in it."""
    classifier = Classifier(
        "c", ScriptedLanguageModel(reply), QUESTIONS, min_coverage=0.0, **options
    )
    return asyncio.run(classifier.evaluate({"text": "x"}))


@pytest.mark.parametrize("orders", [1, 2])
def test_an_evaluation_survives_json_bit_for_bit(orders: int) -> None:
    """What a results file holds is what was computed: every float, every map in its order."""
    evaluation = evaluated(orders=orders)

    written = evaluation.model_dump_json()
    again = Evaluation.model_validate_json(written)

    assert again == evaluation
    assert again.model_dump_json() == written
    assert list(again.answers) == list(QUESTIONS)


def test_the_json_is_plain() -> None:
    """Standard JSON, without NaN or Infinity: any reader reads it."""

    def refuse(constant: str) -> float:
        raise AssertionError(f"{constant} is no JSON")

    read = json.loads(evaluated().model_dump_json(), parse_constant=refuse)

    assert {name: a["type"] for name, a in read["answers"].items()} == {
        "topic": "choice",
        "level": "score",
        "polite": "boolean",
        "silent": "no_verdict",
    }
    assert list(read["answers"]["topic"]["probabilities"]) == ["zebra", "ant"]
    assert set(read["answers"]["polite"]["probabilities"]) == {"true", "false"}


@given(st.floats(0.0, 1.0))
def test_a_boolean_says_both_sides(p: float) -> None:
    """Its distribution follows from P(true), and is computed again when it is read back."""
    answer = BooleanAnswer(probability=p)

    assert answer.probabilities == {"true": p, "false": 1.0 - p}
    assert BooleanAnswer.model_validate_json(answer.model_dump_json()) == answer


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_every_float_survives(p: float, q: float) -> None:
    """The shortest text that names a float names it exactly."""
    answer = ChoiceAnswer(choice="a", probabilities={"a": p, "b": q}, bounds={"a": (p, q)})

    assert ChoiceAnswer.model_validate_json(answer.model_dump_json()) == answer


def test_an_answer_is_frozen_and_closed() -> None:
    """Nobody edits a result, and a typing error is no new field."""
    answer = ScoreAnswer(score=1.0)

    with pytest.raises(ValidationError, match="frozen"):
        answer.score = 2.0  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(ValidationError, match="Extra inputs"):
        ScoreAnswer.model_validate({"score": 1.0, "scoer": 2.0})


def test_what_the_model_said_of_itself_is_kept() -> None:
    """Rounding, warnings, metadata and the response's identity; never headers or a body."""
    model = ScriptedModel(
        lambda _: DecisionResponse(
            {"q": {"type": "boolean", "probability": 0.5}},
            usage=Usage(5, 2, 3, 1),
            warnings=["careful"],
            rounding=Rounding(2, 1),
            provider_metadata={"region": {"name": "eu"}},
            response=ResponseInfo(id="r1", model_id="scripted-2"),
        )
    )
    evaluation = asyncio.run(Classifier("c", model, {"q": {"type": "boolean"}}).evaluate("x"))

    assert evaluation.warnings == ("careful",)
    assert evaluation.rounding == Rounding(2, 1)
    assert evaluation.provider_metadata == {"region": {"name": "eu"}}
    assert (evaluation.response.id, evaluation.response.model_id) == ("r1", "scripted-2")
    assert evaluation.usage.model_dump() == {
        "input_tokens": 5,
        "output_tokens": 2,
        "cached_tokens": 3,
        "reasoning_tokens": 1,
        "total_tokens": 7,
    }
    assert Evaluation.model_validate_json(evaluation.model_dump_json()) == evaluation


def test_usage_is_summed_over_the_requests() -> None:
    """Four questions of three input tokens; what was not reported stays unknown."""
    usage = evaluated().usage

    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens) == (12, None, 12)


def test_a_number_of_tokens_below_zero_is_unknown() -> None:
    """The answer is kept, and the warning says why the count is not."""

    def odd(prompt: Prompt, sampling: Sampling) -> Reply:
        negative = "say nothing" in str(prompt)
        return replace(reply(prompt, sampling), usage=Usage(-5 if negative else 3, 1))

    classifier = Classifier("c", ScriptedLanguageModel(odd), QUESTIONS, min_coverage=0.0)
    read = asyncio.run(classifier.evaluate("x"))
    assert (read.usage.input_tokens, read.usage.output_tokens) == (9, 4)
    assert read.warnings[-1] == (
        "question 'silent': the provider reported a number of tokens below 0, taken as unknown"
    )

    answers = {"q": {"type": "boolean", "probability": 0.5}}
    decided = Classifier(
        "c",
        ScriptedModel(lambda _: DecisionResponse(answers, usage=Usage(-1, 2), warnings=["odd"])),
        {"q": {"type": "boolean"}},
    ).evaluate_sync("x")
    assert (decided.usage.input_tokens, decided.usage.output_tokens) == (None, 2)
    assert decided.warnings == (
        "odd",
        "the provider reported a number of tokens below 0, taken as unknown",
    )


def test_a_distribution_is_known_or_not() -> None:
    """An answer without one says None."""
    assert distribution(ChoiceAnswer(choice="a")) is None
    assert distribution(BooleanAnswer(probability=0.25)) == {"true": 0.25, "false": 0.75}


def test_a_no_verdict_is_never_a_score() -> None:
    """It has no field that an average could pick up by mistake."""
    fields = set(NoVerdict.model_fields)

    assert fields.isdisjoint({"score", "probability", "choice"})
