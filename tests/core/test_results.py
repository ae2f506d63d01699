"""Lines of results are read back as they were written."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.classifier import Classifier
from classify.decision import (
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    ResponseInfo,
    Rounding,
)
from classify.errors import CapabilityError, InvalidInput, ProviderError
from classify.evaluation import Evaluation, TotalUsage
from classify.evidence import Evidence, OrderSeen, SeenToken
from classify.language_model import Alternative, LanguageModel, Position, Reply, Usage
from classify.questions import Boolean, Choice, Question, Score
from classify.results import (
    Result,
    parse_result,
    result_line,
    results_of,
    reused_result,
    row_result,
    unanswered,
)
from classify.rows import Row
from classify.testing.scripted import ScriptedLanguageModel, ScriptedModel

HALF = {"type": "boolean", "probability": 0.5}
HALVES = {"true": 0.5, "false": 0.5}


def test_an_alternative_without_probability_is_read_back() -> None:
    """Constrained decoding gives tokens of no probability at all, and their lines are no damage."""
    order = OrderSeen(
        labels={"A": "yes"},
        probabilities={"yes": 1.0},
        label_mass=1.0,
        alternatives=(SeenToken(token="A", logprob=0.0), SeenToken(token="B", logprob=None)),
        prompt_hash="0" * 64,
    )
    answer = ChoiceAnswer(
        choice="yes", probabilities={"yes": 1.0}, evidence=Evidence(orders=(order,))
    )
    result = Result(id="a", index=0, key="k", answers={"q": answer})

    assert parse_result(result_line(result)) == result


class Written(NamedTuple):
    """A classifier whose answers hold what is hard to write."""

    model: DecisionModel | LanguageModel
    question: Question
    options: Mapping[str, Any] = MappingProxyType({})


HARD = '\x00\x1b[1m\u2028\ufeff</script>e\u0301\U0001f600"\\'
SHARES = {HARD: 0.75, "b": 0.25}


def _says(answer: Mapping[str, object], **more: Any) -> ScriptedModel:
    return ScriptedModel(lambda _: DecisionResponse({"q": answer}, **more))


def _shows(logprobs: Mapping[str, float], **more: Any) -> ScriptedLanguageModel:
    seen = tuple(Alternative(token, logprob) for token, logprob in logprobs.items())
    first = seen[0].token
    return ScriptedLanguageModel(
        lambda _, __: Reply(first, (Position(first, seen),), finish_reason="length", **more)
    )


def _scores(*logprobs: float) -> ScriptedLanguageModel:
    return ScriptedLanguageModel(
        scores=lambda _, texts: [(-0.5, *(() if k == 0 else logprobs)) for k in range(len(texts))]
    )


_AB = Choice(criteria={"a": None, "b": None})
_LEVELS = Score(criteria=["x", "y", "z"])
_METADATA = {"n": (10**3999, -0.0, 5e-324), HARD: MappingProxyType({"none": None, "": [True, 1.0]})}


@pytest.mark.parametrize(
    "written",
    [
        Written(
            _says({"type": "choice", "choice": HARD, "probabilities": SHARES}),
            Choice(criteria={HARD: None, "b": None}),
        ),
        Written(_says({"type": "choice", "choice": "a"}), _AB),
        Written(
            _says({"type": "score", "score": 1.2345678901234567, "confidence": 1e308}), _LEVELS
        ),
        Written(_says({"type": "no_verdict", "cause": "declined", "message": HARD}), _AB),
        Written(_says({"type": "boolean", "probability": 1 - 2**-53}), Boolean()),
        Written(_says({"type": "boolean", "probability": 5e-324}), Boolean()),
        Written(_says(HALF, provider_metadata=_METADATA), Boolean()),
        Written(_says(HALF, rounding=Rounding(2), warnings=(HARD, "")), Boolean()),
        Written(_says(HALF, response=ResponseInfo(HARD, datetime(2026, 1, 1), HARD)), Boolean()),
        Written(_says(HALF, usage=Usage(10**40, None)), Boolean()),
        Written(_shows({"A": -0.1, "B": -math.inf, HARD: -9999.0, "\ud83d": -3.0}), _AB),
        Written(_shows({"A": -0.1}, model=HARD, system_fingerprint=HARD, response_id=HARD), _AB),
        Written(_shows({"zz": -0.1}), _AB),
        Written(_shows({"A": -math.inf, "B": -math.inf}), _AB),
        Written(_shows({"A": -0.1, "B": -3.0}), _AB, {"orders": 2, "prior": "content-free"}),
        Written(_scores(), _AB),
        Written(_scores(-math.inf, -2.0), _AB),
        Written(_scores(-math.inf), Boolean()),
        Written(_scores(-1e308), _LEVELS),
    ],
    ids=[
        *("choice", "choice alone", "score", "declined", "nearly 1", "nearly 0", "metadata"),
        *("rounding", "response", "usage", "slot", "names", "no label", "no mass", "orders"),
        *("words", "impossible words", "impossible word", "unlikely words"),
    ],
)
def test_whatever_was_answered_is_read_back_as_it_was(written: Written) -> None:
    """From JSON and from a line of results: words without probability were damage when read."""
    classifier = Classifier("c", written.model, {"q": written.question}, **written.options)
    evaluation = classifier.evaluate_sync("text")

    assert Evaluation.model_validate_json(evaluation.model_dump_json()) == evaluation
    assert Evaluation.model_validate(evaluation.model_dump(mode="json")) == evaluation
    result = results_of([evaluation])[0]
    read = parse_result(result_line(result))
    assert read == result
    assert read.evaluation("c") == evaluation


@pytest.mark.parametrize(
    "error",
    [
        ProviderError("no \ud83d", status=400, code="\udcff"),
        CapabilityError("\ud83d"),
        ValueError("\ud83d"),
    ],
    ids=["failed", "cannot", "own"],
)
def test_an_error_with_half_a_surrogate_pair_is_a_line(error: Exception) -> None:
    """A server quoted a text that had been cut, and the whole run stopped."""

    def fail(_: DecisionRequest) -> DecisionResponse:
        raise error

    outcomes = Classifier("c", ScriptedModel(fail), {"q": Boolean()}).evaluate_many_sync(["a"])
    result = results_of(outcomes)[0]

    assert parse_result(result_line(result)) == result
    assert result.error is not None and "\ud83d" not in result.error.message


def test_a_hand_over_of_an_older_file_is_read_back() -> None:
    """It kept what the policy saw and not what was raw."""
    old = {"type": "no_verdict", "kind": "boolean", "cause": "uncertain", "message": "unsure"}
    line = {"id": "0", "index": 0, "key": None, "answers": {"q": {**old, "probabilities": HALVES}}}

    answer = Result.model_validate(line).answers["q"]

    assert isinstance(answer, NoVerdict)
    assert (answer.probabilities, answer.raw_probabilities) == (HALVES, None)


def _evaluated(response: DecisionResponse) -> Evaluation:
    return Classifier("c", ScriptedModel(lambda _: response), {"q": Boolean()}).evaluate_sync("x")


def test_what_a_decision_model_adds_is_kept_where_it_adds_something() -> None:
    """Its confidence, rounding and metadata were lost with the file; others need no such fields."""
    answer = {"type": "boolean", "probability": 0.25, "confidence": 81.5}
    said = DecisionResponse(
        {"q": answer}, rounding=Rounding(2), provider_metadata={"region": {"name": "eu", "b": None}}
    )
    row = Row(0, "line 1", "r", "x")

    for response in (said, DecisionResponse({"q": HALF})):
        result = row_result(_evaluated(response), unanswered(row, key="k", with_state=True))
        line = result_line(result)

        assert parse_result(line) == result == reused_result(result, result)
        moved = reused_result(result, unanswered(replace(row, id="s"), key="k", with_state=True))
        assert moved.evaluation("c") == result.evaluation("c")
        assert result.evaluation("c").rounding == response.rounding
        assert result.evaluation("c").provider_metadata == response.provider_metadata
        assert (b"provider_" in line, b"rounding" in line) == (response is said,) * 2
        kept = result.answers["q"]
        assert isinstance(kept, BooleanAnswer)
        assert kept.provider_confidence == (81.5 if response is said else None)


def test_outcomes_are_results_with_their_labels() -> None:
    """What measures results takes evaluations made in Python too, failures included."""
    answer = BooleanAnswer(probability=0.25)
    evaluation = Evaluation(
        classifier_id="c", answers={"q": answer}, usage=TotalUsage(), response=ResponseInfo()
    )
    failed = ProviderError("gone", status=410)

    first, second = results_of([evaluation, failed], labels=[{"q": True}, {"q": None}])

    assert ("0", 0, {"q": answer}, {"q": True}) == (
        first.id,
        first.index,
        first.answers,
        first.labels,
    )
    assert {} == second.labels
    assert second.error is not None and second.error.status == 410


@pytest.mark.parametrize("given", [{"labels": []}, {"ids": ["a", "b"]}], ids=["labels", "ids"])
def test_as_many_labels_as_outcomes(given: dict[str, Any]) -> None:
    """A shift by one would label every row wrongly."""
    with pytest.raises(InvalidInput, match="as many as the 1 outcomes"):
        results_of([ProviderError("gone")], **given)
