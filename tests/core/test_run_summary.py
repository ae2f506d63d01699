"""The summary of a results file: every mean with its count, failures counted apart."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, mannwhitneyu

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.decision import ResponseInfo
from classify.display.summary_views import run_facts
from classify.display.views import tokens_text
from classify.evaluation import TotalUsage
from classify.evidence import Evidence, OrderSeen
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result, RowError
from classify.row_labels import Label
from classify.run_summary import RunSummary, summarize
from classify.summary_figures import Mean, auroc, correlation, proportion

QUESTIONS: Mapping[str, Question] = {
    "topic": Choice(criteria={"a": None, "b": None}),
    "mood": Score(criteria=["bad", "fine", "good"]),
    "urgent": Boolean(),
}


def _result(answers: dict[str, AnyAnswer], labels: dict[str, Label] | None = None) -> Result:
    return Result(id="r", index=0, key="k", answers=answers, labels=labels or {})


def _failed(kind: str) -> Result:
    return Result(id="r", index=0, key="k", error=RowError(type=kind, message=f"{kind} happened"))


def _choice(option: str, p: float = 0.75, **fields: object) -> ChoiceAnswer:
    other = "b" if option == "a" else "a"
    values = {"choice": option, "probabilities": {option: p, other: 1.0 - p}, **fields}
    return ChoiceAnswer.model_validate(values)


def _score(*probabilities: float) -> ScoreAnswer:
    expected = sum(level * p for level, p in enumerate(probabilities))
    shares = {str(level): p for level, p in enumerate(probabilities)}
    return ScoreAnswer(score=expected, probabilities=shares)


def _refused(kind: str) -> NoVerdict:
    return NoVerdict.model_validate({"kind": kind, "cause": "refusal", "message": "no"})


def _summary(*results: Result) -> RunSummary:
    return summarize(results, QUESTIONS)


def test_failures_and_no_verdicts_are_counted_beside_every_mean() -> None:
    """A mean over three of ten rows must not look like one over ten."""
    results = [_result({"topic": _choice("a")}) for _ in range(3)]
    results += [_failed("DeadlineExceeded")] * 5 + [_failed("BadRow")]
    results += [_result({"topic": _refused("choice")})]

    summary = _summary(*results)

    assert (10, 4, 6) == (summary.rows, summary.answered, summary.failed)
    assert {"DeadlineExceeded": 5, "BadRow": 1} == summary.errors
    assert "DeadlineExceeded happened" == summary.first_errors["DeadlineExceeded"]
    topic = summary.questions["topic"]
    assert (3, 10, {"refusal": 1}) == (topic.answered, topic.rows, topic.no_verdicts)
    assert Mean(0.75, 3) == topic.mean_confidence
    assert {"a": 3, "b": 0} == topic.distribution


def test_accuracy_is_over_answered_rows_with_a_label() -> None:
    """Rows without an answer are neither right nor wrong, and their number is shown."""
    labels: dict[str, Label] = {"topic": "a"}
    summary = _summary(
        _result({"topic": _choice("a")}, labels),
        _result({"topic": _choice("b")}, labels),
        _result({"topic": _refused("choice")}, labels),
        _result({"topic": _choice("b")}),
    )

    topic = summary.questions["topic"]
    assert topic.accuracy is not None
    assert (1, 2, 0.5) == (topic.accuracy.count, topic.accuracy.n, topic.accuracy.value)
    assert 3 == topic.labelled


def test_scores_are_compared_as_numbers_and_by_their_likeliest_level() -> None:
    """A label between two levels has an error, and no level to be right about."""
    summary = _summary(
        _result({"mood": _score(0.0, 0.0, 1.0)}, {"mood": 2.0}),
        _result({"mood": _score(0.5, 0.5, 0.0)}, {"mood": 1.5}),
        _result({"mood": _score(0.0, 1.0, 0.0)}, {"mood": 0.0}),
    )

    mood = summary.questions["mood"]
    assert mood.accuracy is not None
    assert (1, 2) == (mood.accuracy.count, mood.accuracy.n)
    assert mood.mean_absolute_error is not None
    assert mood.mean_absolute_error.value == pytest.approx(2 / 3)
    assert 3 == mood.mean_absolute_error.n
    assert mood.correlation == pytest.approx(np.corrcoef([2, 0.5, 1], [2, 1.5, 0])[0, 1])
    assert mood.mean_value is not None
    assert mood.mean_value.value == pytest.approx(3.5 / 3)


def test_booleans_are_true_from_a_half() -> None:
    """And ranked by their probability."""
    pairs = [(0.9, True), (0.5, True), (0.4, False), (0.6, False)]

    summary = _summary(
        *(_result({"urgent": BooleanAnswer(probability=p)}, {"urgent": t}) for p, t in pairs)
    )

    urgent = summary.questions["urgent"]
    assert urgent.accuracy is not None
    assert 3 == urgent.accuracy.count
    assert 0.75 == urgent.auroc
    assert {"true": 3, "false": 1} == urgent.distribution


def test_slots_of_a_tree_are_no_orders() -> None:
    """One listing of many options cannot flip."""
    root, group = (
        OrderSeen(labels={}, probabilities={}, label_mass=1.0, path=path, prompt_hash="h")
        for path in ((), ("A",))
    )
    answer = _choice("a", evidence=Evidence(orders=(root, group)))

    assert _summary(_result({"topic": answer})).questions["topic"].flipped is None


def test_order_flips_and_mixed_methods_are_shown() -> None:
    """Answers obtained in different ways are not comparable."""
    order = OrderSeen(labels={}, probabilities={}, label_mass=1.0, prompt_hash="h")
    steady, flipped = (Evidence(orders=(order, order), flips=n) for n in (0, 1))

    summary = _summary(
        _result({"topic": _choice("a", evidence=steady, method="logprobs", label_mass=0.5)}),
        _result({"topic": _choice("a", evidence=flipped, method="logprobs", label_mass=1.0)}),
        _result({"topic": _choice("a", method="sampled")}),
    )

    topic = summary.questions["topic"]
    assert topic.flipped is not None
    assert (1, 2) == (topic.flipped.count, topic.flipped.n)
    assert {"logprobs": 2, "sampled": 1} == topic.methods
    assert Mean(0.75, 2) == topic.mean_label_mass


def test_unknown_usage_is_never_zero() -> None:
    """A provider that says nothing has not answered for free."""
    unknown = _result({}).model_copy(update={"usage": TotalUsage()})
    known = unknown.model_copy(
        update={
            "usage": TotalUsage(input_tokens=5, output_tokens=1, total_tokens=6),
            "response": ResponseInfo(model_id="m"),
            "warnings": ("rounded", "rounded"),
        }
    )

    assert _summary(unknown).usage.input_tokens is None
    both = _summary(unknown, known)
    assert (5, 1, 1) == (both.usage.input_tokens, both.usage.output_tokens, both.usage.rows_unknown)
    assert ({"m": 1}, {"rounded": 1}) == (both.models, both.warnings)


def test_unknown_output_is_no_output_of_zero() -> None:
    """Five tokens in and nothing said of the output is not "5 in, 0 out"."""

    def told(*usages: TotalUsage) -> str:
        rows = [_result({}).model_copy(update={"usage": usage}) for usage in usages]
        return dict(run_facts(_summary(*rows)))["tokens"]

    only_in, both = TotalUsage(input_tokens=5), TotalUsage(input_tokens=5, output_tokens=1)
    assert told(only_in) == "at least 5 in, out unknown: 1 rows did not tell both"
    assert told(only_in, both, TotalUsage()) == "at least 10 in, 1 out: 2 rows did not tell both"
    assert told(TotalUsage(output_tokens=2)).startswith("at least in unknown, 2 out")
    assert told(both, both) == "10 in, 2 out"
    assert told(TotalUsage()) == "unknown"
    assert tokens_text(only_in) == "5 tokens in, out unknown"
    assert tokens_text(TotalUsage(input_tokens=5, output_tokens=0)) == "5 tokens in, 0 out"


def test_an_empty_file_has_a_summary_and_all_of_it_is_json() -> None:
    """Means of nothing are null."""
    values = json.loads(json.dumps(_summary().to_json(), allow_nan=False))

    assert (0, 0) == (values["rows"], values["failed"])
    assert values["questions"]["topic"]["accuracy"] is None


@given(st.integers(1, 500), st.data())
def test_the_interval_is_wilsons(n: int, data: st.DataObject) -> None:
    """As scipy computes it."""
    count = data.draw(st.integers(0, n))
    reference = binomtest(count, n).proportion_ci(method="wilson")

    share = proportion(count, n)

    assert share is not None
    assert 0.0 <= share.low <= share.value <= share.high <= 1.0
    np.testing.assert_allclose(
        [share.low, share.high], [reference.low, reference.high], rtol=1e-9, atol=1e-12
    )


_ranked = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=40)


@given(_ranked)
def test_auroc_is_the_rank_statistic(pairs: list[tuple[int, bool]]) -> None:
    """Mann and Whitney's U over the number of pairs, ties counting half."""
    scores, truths = [float(s) for s, _ in pairs], [t for _, t in pairs]
    true = [s for s, t in zip(scores, truths, strict=True) if t]
    false = [s for s, t in zip(scores, truths, strict=True) if not t]

    value = auroc(scores, truths)

    if not true or not false:
        assert value is None
    else:
        u = float(mannwhitneyu(true, false, method="asymptotic").statistic)
        assert value == pytest.approx(u / (len(true) * len(false)))


def test_a_correlation_with_what_does_not_vary_is_none() -> None:
    """It would be nan."""
    assert correlation([1.0, 1.0], [0.0, 2.0]) is None
    assert correlation([1.0], [0.0]) is None
    # Five times this is 9.500000000000002, and its mean another number.
    assert correlation([1.9000000000000001] * 5, [2, 2, 2, 2, 1.5]) is None
    assert correlation([2, 2, 2, 2, 1.5], [1.9000000000000001] * 5) is None
