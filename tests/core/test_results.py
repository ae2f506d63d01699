"""Lines of results are read back as they were written."""

from __future__ import annotations

from typing import Any

import pytest

from classify.answers import BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.decision import ResponseInfo
from classify.errors import InvalidInput, ProviderError
from classify.evaluation import Evaluation, TotalUsage
from classify.evidence import Evidence, OrderSeen, SeenToken
from classify.results import Result, parse_result, result_line, results_of

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
