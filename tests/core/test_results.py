"""Lines of results are read back as they were written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.classifier import Classifier
from classify.decision import DecisionResponse, ResponseInfo, Rounding
from classify.errors import InvalidInput, ProviderError
from classify.evaluation import Evaluation, TotalUsage
from classify.evidence import Evidence, OrderSeen, SeenToken
from classify.questions import Boolean
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
from classify.testing.scripted import ScriptedModel

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
