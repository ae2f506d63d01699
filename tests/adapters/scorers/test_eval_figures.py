"""Averages beside what they are over, and their intervals against other people's formulas."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.classifier_scorer import create_classifier_scorer
from classify.adapters.scorers.eval_figures import Figures, figures, interval
from classify.adapters.scorers.eval_outcomes import Failure, Scoring
from classify.adapters.scorers.eval_report import EvalReport
from classify.adapters.scorers.evals import run_evals_sync
from classify.adapters.scorers.report_cards import eval_report_card
from classify.adapters.scorers.thresholds import WithThreshold
from classify.classifier import Classifier
from classify.decision import DecisionRequest
from classify.questions import Boolean
from classify.testing import ScriptedModel

FAILED = Scoring(failure=Failure("scorer", "E", "m"))


def of(*items: float | Sequence[Scoring | None], bounded: bool = True) -> Figures:
    """Return the figures of items, each a score or a list of its trials' outcomes."""
    trials = [[Scoring(score=i)] if isinstance(i, int | float) else i for i in items]
    return figures(trials, direction="higher", bounded=bounded)


def test_what_is_missing_is_counted_by_its_kind() -> None:
    """A failed target, a failed scorer and nothing to score are three things, and none is 0."""
    found = of(1.0, [None], [FAILED], [Scoring(not_scorable="why")])
    assert (found.mean, found.n, found.of, found.failed, found.not_scorable) == (1.0, 1, 4, 2, 1)


def test_scores_that_came_about_differently_are_told() -> None:
    """A mean over logprobs and shares of draws is of two kinds of numbers."""
    read = Scoring(score=1.0, methods=("logprobs",))
    drawn = Scoring(score=0.8, methods=("sampled",))
    assert of([read], [drawn], [drawn], [FAILED]).mixed == (
        "answers by different methods: sampled 2, logprobs 1; they are not comparable"
    )
    assert of([read], [read]).mixed == of(1.0, 0.5).mixed == ""


@pytest.mark.parametrize("again", [False, True])
def test_an_evaluation_knows_how_its_answers_were_obtained(tmp_path: Path, again: bool) -> None:
    """Also of items that an earlier run left in a file; and its card says it."""

    def answer(request: DecisionRequest) -> Any:
        method = "sampled" if request.state in ("3", "5") else "logprobs"
        return {"q": {"type": "boolean", "probability": 0.5, "method": method}}

    classifier = Classifier("c", ScriptedModel(answer), {"q": Boolean()})
    scorer = create_classifier_scorer("s", classifier, "q", lambda step: str(step.run.input))

    def run(existing: Any) -> EvalReport:
        data = [{"input": n} for n in range(8)]
        output = tmp_path / "evals.jsonl"
        return run_evals_sync(str, data, [scorer], output=output, existing=existing, version="1")

    report = run("error")
    report = run("resume") if again else report
    assert all(item.reused for item in report.items) is again
    assert report.scores["s"].methods == {"logprobs": 6, "sampled": 2}
    assert "logprobs 6, sampled 2; they are not comparable" in str(eval_report_card(report))


def test_every_item_counts_the_same_however_many_of_its_trials_failed() -> None:
    """Else the items that never fail would decide."""
    found = of([Scoring(score=1.0), FAILED], [Scoring(score=0.0), Scoring(score=0.0)])
    assert (found.mean, found.n, found.of) == (0.5, 3, 4)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_the_interval_of_a_mean_is_student_s(values: list[float]) -> None:
    """As scipy has it, cut off at 0 and 1, and none where nothing varies."""
    from scipy import stats

    found = interval(values)
    if all(value in (0.0, 1.0) for value in values):
        wilson = stats.binomtest(int(sum(values)), len(values)).proportion_ci(method="wilson")
        ends = [float(wilson.low), float(wilson.high)]
    elif min(values) == max(values):
        assert found is None
        return
    else:
        scale = float(stats.sem(values))
        if scale < 1e-12:  # all but equal: scipy's own rounding decides
            return
        mean = sum(values) / len(values)
        t = stats.t.interval(0.95, len(values) - 1, loc=mean, scale=scale)
        ends = [float(t[0]), float(t[1])]
    assert found is not None
    low, high = ends
    assert found.low == pytest.approx(max(low, 0.0), abs=1e-9)
    assert found.high == pytest.approx(min(high, 1.0), abs=1e-9)


@pytest.mark.parametrize("values", [[], [0.5]], ids=["none", "one"])
def test_one_score_has_no_interval(values: list[float]) -> None:
    """Nothing is known of how others would vary."""
    assert interval(values) is None


def test_scores_without_bounds_are_not_cut_off() -> None:
    """Their mean may lie anywhere."""
    found = of(1.0, 9.0, bounded=False).interval
    assert found is not None
    assert (found.low < 0.0, found.high > 9.0) == (True, True)


@pytest.mark.parametrize(
    ("items", "text"),
    [
        pytest.param([0.5, 0.7], "0.600 [0.000, 1.000] (2 of 2)", id="interval"),
        pytest.param([0.5], "0.500 (1 of 1)", id="one"),
        pytest.param([[None]], "no score (0 of 1)", id="none"),
    ],
)
def test_figures_read_as_a_mean_beside_what_it_is_over(items: list[Any], text: str) -> None:
    """The number alone hides that most failed."""
    assert str(of(*items)) == text


def test_a_report_is_json_without_what_was_judged() -> None:
    """It may be posted where the items may not."""
    scorer = create_scorer("s").generate_score(lambda _: 0.5)
    report = run_evals_sync(
        _same,
        [{"input": "private"}],
        [WithThreshold(scorer, 0.4)],
        gates=[WithThreshold(scorer, 0.6)],
    )
    text = json.dumps(report.to_json())
    found = json.loads(text)
    assert found["verdict"] == "failed"
    assert found["gates"][0]["limits"] == {"min": 0.6, "max": None}
    assert found["thresholds"][0]["passed"] is True
    assert found["summary"] == {
        "total_items": 1,
        "trials": 1,
        "failed_targets": 0,
        "failures": 0,
    }
    assert "private" not in text


def _same(input: str) -> str:
    return input
