"""Two results files over the same rows: pairs, changes, and which of them is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.calibration.file_answers import FileAnswers, file_answers
from classify.calibration.label_file import RowLabels
from classify.calibration.results_comparison import ResultsComparison, compare_results
from classify.calibration.row_pairs import pair_rows
from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result, RowError, state_key
from classify.row_labels import Label

URGENT: dict[str, Question] = {"q": Boolean()}
TONE: dict[str, Question] = {"q": Score(criteria=["bad", "fair", "good"])}
TOPIC: dict[str, Question] = {"q": Choice(criteria={"b": None, "a": None})}
LOST = NoVerdict(kind="boolean", cause="refusal", message="no")


def result(
    identity: str,
    answer: AnyAnswer | None,
    *,
    state: JSON = "the text",
    with_state: bool = True,
    fingerprint: str = "f",
    labels: Mapping[str, Label] | None = None,
) -> Result:
    """Return a row's result, of a state of its own; None for a row that failed."""
    read: JSON = [identity, state]
    made = Result(
        id=identity,
        index=0,
        key=state_key(fingerprint, read),
        answers={} if answer is None else {"q": answer},
        error=RowError(type="ProviderError", message="m") if answer is None else None,
        labels=dict(labels or {}),
    )
    return made.model_copy(update={"state": read}) if with_state else made


def answered(results: Sequence[Result], questions: Mapping[str, Question]) -> FileAnswers:
    """Read results as a file of the run with the fingerprint "f"."""
    return file_answers(results, questions, fingerprint="f", other="g")


def yes(*probabilities: float) -> list[Result]:
    """Return rows "0", "1" and so on with these P(true)."""
    return [result(str(n), BooleanAnswer(probability=p)) for n, p in enumerate(probabilities)]


def compared(
    first: Sequence[Result],
    second: Sequence[Result],
    questions: Mapping[str, Question] = URGENT,
    labels: Mapping[str, Sequence[RowLabels]] | None = None,
) -> ResultsComparison:
    """Compare two lists of results."""
    return compare_results(
        answered(first, questions), answered(second, questions), questions, labels=labels
    )


def said(*truths: bool) -> dict[str, list[RowLabels]]:
    """Return what a person said of the rows "0", "1" and so on."""
    return {str(n): [RowLabels({"q": truth})] for n, truth in enumerate(truths)}


def test_rows_are_paired_by_id_and_the_others_counted() -> None:
    """In whatever order the files have them."""
    a = answered(
        [result("x", None), result("y", LOST), result("only a", None), result("x", None)], {}
    )
    b = answered([result("y", None), result("x", None), result("only b", LOST)], {})

    found = pair_rows(a, b)

    assert ((0, 1), (1, 0)) == found.pairs
    assert (2, 1, 1) == (found.only_first, found.only_second, found.repeated)


def test_rows_of_one_id_about_different_states_are_no_pair() -> None:
    """Their answers may well differ; they are counted, and paired only where that is wanted."""
    a = answered([result("x", LOST, state="old"), result("y", LOST)], URGENT)
    b = answered([result("x", LOST, state="new"), result("y", LOST)], URGENT)

    found, all_of_them = pair_rows(a, b), pair_rows(a, b, by_id_alone=True)

    assert (((1, 1),), 1) == (found.pairs, found.differing)
    assert (2, 1) == (all_of_them.n, all_of_them.differing)


@pytest.mark.parametrize(
    ("state", "differing"), [pytest.param("old", 0, id="same"), pytest.param("new", 1, id="other")]
)
def test_a_state_that_was_left_out_is_told_by_its_key(state: str, differing: int) -> None:
    """The key holds the state and the fingerprint of the run, which its record has."""
    a = answered([result("x", LOST, state="old"), result("y", LOST)], URGENT)
    kept = [result("x", LOST, state=state, fingerprint="g", with_state=False), result("y", LOST)]
    b = file_answers(kept, URGENT, fingerprint="g", other="f")

    found = pair_rows(a, b)

    assert (differing, 0) == (found.differing, found.unchecked)


def test_states_that_neither_file_holds_are_counted_as_unchecked() -> None:
    """Two fingerprints: nothing tells whether the keys are of one state."""
    a = answered([result("x", LOST, with_state=False)], URGENT)
    other = [result("x", LOST, with_state=False, fingerprint="g")]
    b = file_answers(other, URGENT, fingerprint="g", other="f")

    found = pair_rows(a, b)

    assert (1, 1) == (found.n, found.unchecked)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        pytest.param([], "B has no rows", id="empty"),
        pytest.param([result("z", LOST)], "no row of A .* has its id in B", id="other ids"),
        pytest.param([result("x", LOST, state=1)], "another state in B.*--by-id-alone", id="state"),
    ],
)
def test_files_without_a_pair_are_refused(second: list[Result], message: str) -> None:
    """With the way out."""
    a = answered([result("x", LOST)], URGENT)

    with pytest.raises(InvalidInput, match=message):
        pair_rows(a, answered(second, URGENT))


def test_only_rows_with_a_verdict_in_both_are_compared_and_the_causes_counted() -> None:
    """A failed row and a refusal are no answers that changed."""
    first = [*yes(0.9, 0.9, 0.1), result("3", LOST), result("4", None)]
    second = [*yes(0.2, 0.9), result("2", None), result("3", LOST), result("4", LOST)]

    found = compared(first, second).questions["q"]

    assert (5, 2) == (found.pairs, found.n)
    assert {"no verdict, refusal": 1, "failed": 1} == found.missing.first
    assert {"no verdict, refusal": 2, "failed": 1} == found.missing.second
    assert 2 == found.missing.both
    assert found.changed is not None and (0.5, 2) == (found.changed.value, found.changed.n)


def test_no_verdict_in_common_leaves_every_number_undefined() -> None:
    """And says so."""
    found = compared([result("0", LOST)], yes(0.5)).questions["q"]

    assert (0, None, None) == (found.n, found.changed, found.movement)
    assert ("no row has a verdict in both",) == found.notes


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_total_variation_of_a_boolean_is_the_distance_of_its_probabilities(
    pairs: list[tuple[float, float]],
) -> None:
    """(|dp| + |d(1 - p)|) / 2; the furthest row comes first."""
    moved = compared(yes(*(a for a, _ in pairs)), yes(*(b for _, b in pairs)))

    found = moved.questions["q"].movement
    assert found is not None
    apart = np.array([abs(a - b) for a, b in pairs])
    np.testing.assert_allclose(found.distances, apart, atol=1e-12)
    assert found.mean.value == pytest.approx(apart.mean())
    assert all(np.diff(apart[found.furthest]) <= 1e-12)


def test_options_are_compared_by_name_whatever_their_order() -> None:
    """The same distribution written in another order is no change."""
    first = [result("0", ChoiceAnswer(choice="a", probabilities={"a": 0.7, "b": 0.3}))]
    second = [result("0", ChoiceAnswer(choice="a", probabilities={"b": 0.3, "a": 0.7}))]

    found = compared(first, second, TOPIC).questions["q"]

    assert found.movement is not None and 0.0 == found.movement.mean.value
    assert found.changed is not None and 0.0 == found.changed.value


def test_kappa_and_the_table_are_those_of_the_two_raters() -> None:
    """Of 50 items 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: kappa 0.4, as in the textbooks."""
    pairs = [(0.9, 0.9)] * 20 + [(0.9, 0.1)] * 5 + [(0.1, 0.9)] * 10 + [(0.1, 0.1)] * 15

    found = compared(yes(*(a for a, _ in pairs)), yes(*(b for _, b in pairs))).questions["q"]

    assert found.table is not None and ((20, 5), (10, 15)) == found.table.counts
    assert found.kappa is not None and found.kappa.value == pytest.approx(0.4)
    assert found.test is not None
    assert found.test.p_value == pytest.approx(binomtest(5, 15).pvalue)


def test_scores_shift_by_the_mean_difference_of_the_second_less_the_first() -> None:
    """Level weights are quadratic: neighbours disagree a quarter as much as the ends."""
    levels = [(0.2, 1.2), (1.0, 1.0), (1.8, 2.0)]
    first = [result(str(n), ScoreAnswer(score=a)) for n, (a, _) in enumerate(levels)]
    second = [result(str(n), ScoreAnswer(score=b)) for n, (_, b) in enumerate(levels)]

    found = compared(first, second, TONE).questions["q"]

    assert found.shift is not None and found.shift.difference is not None
    assert [1.0, 1.4] == pytest.approx([found.shift.first, found.shift.second])
    assert found.shift.difference.value == pytest.approx(0.4)
    assert found.movement is None  # no distributions, only expectations
    assert found.kappa is not None and "quadratic" in found.kappa.rule


@pytest.mark.parametrize("ids", ["one", "three"])
def test_rows_that_repeat_an_item_are_no_more_evidence_than_one(ids: str) -> None:
    """Each row three times: the same values, tests and ends of intervals."""
    random = np.random.default_rng(0)
    first, second = (yes(*random.random(25)) for _ in range(2))
    own = [0, 0, 0] if ids == "one" else [0, 1, 2]

    def again(side: list[Result]) -> list[Result]:
        return [row.model_copy(update={"id": f"{row.id}, {n}"}) for n in own for row in side]

    once = compared(first, second).questions["q"]
    thrice = compared(again(first), again(second)).questions["q"]

    assert (25, 75) == (once.n, thrice.n)
    assert once.kappa is not None and thrice.kappa is not None
    assert thrice.kappa.high == pytest.approx(once.kappa.high)
    assert once.ac is not None and thrice.ac is not None
    assert thrice.ac.low == pytest.approx(once.ac.low)
    assert once.test is not None and thrice.test is not None
    assert thrice.test.p_value == pytest.approx(once.test.p_value)
    assert once.movement is not None and thrice.movement is not None
    assert thrice.movement.mean.low == pytest.approx(once.movement.mean.low)
    assert once.shift is not None and thrice.shift is not None
    assert once.shift.difference is not None and thrice.shift.difference is not None
    assert thrice.shift.difference.high == pytest.approx(once.shift.difference.high)


def test_shares_and_means_count_readings_and_agreement_counts_the_item_once() -> None:
    """As the page on calibration says: one item of four was read three times, and changed."""
    order = [0, 0, 0, 1, 2, 3]
    first, second = (
        [side[place].model_copy(update={"id": f"{n}"}) for n, place in enumerate(order)]
        for side in (yes(0.9, 0.9, 0.2, 0.1), yes(0.3, 0.9, 0.2, 0.1))
    )
    once = compared(yes(0.9, 0.9, 0.2, 0.1), yes(0.3, 0.9, 0.2, 0.1)).questions["q"]

    found = compared(first, second, labels=said(True, True, True, True, False, False))

    question, labelled = found.questions["q"], found.labelled["q"]
    assert question.changed is not None and question.movement is not None
    assert (question.changed.value, question.changed.n) == (0.5, 6)
    assert question.movement.mean.value == pytest.approx(0.3)
    assert question.kappa is not None and once.kappa is not None
    assert question.kappa.value == pytest.approx(once.kappa.value)
    assert labelled.accuracy is not None
    assert (labelled.accuracy.first.value, labelled.accuracy.second.value) == (1.0, 0.5)


@pytest.mark.parametrize("again", [1, 2])
def test_a_run_against_itself_is_not_sure_that_nothing_can_change(again: int) -> None:
    """Ten rows that agree, once or twice, leave room for the 28 to 31 % of rows nobody saw."""
    rows = yes(*[0.9, 0.2] * 5) * again

    found = compared(rows, rows, labels=said(*[True, False] * 5))

    question, labelled = found.questions["q"], found.labelled["q"]
    assert question.movement is not None and question.shift is not None
    assert question.shift.difference is not None
    assert labelled.accuracy is not None and labelled.log_loss is not None
    for each in (
        question.changed,
        question.movement.mean,
        question.shift.difference,
        labelled.accuracy.second,
        labelled.accuracy.difference,
    ):
        assert each is not None and each.low is not None and each.high is not None
        assert each.high - each.low > 0.25
    assert labelled.log_loss.difference.rule == "none of n varied 95%"
    if again == 1:
        assert labelled.accuracy.difference.rule.endswith("interval 95%, no pair differed")


def test_pairs_that_the_model_was_asked_for_once_are_counted() -> None:
    """A copied file shows no noise of the model; a second run of the same answers does."""

    def at(seconds: float) -> list[Result]:
        return [row.model_copy(update={"seconds": seconds}) for row in yes(0.9, 0.2)]

    copied = compared([*at(1.5), *yes(0.3)], [*at(1.5), *yes(0.3)], labels=None)

    assert (3, 2) == (copied.pairing.n, copied.asked_once)
    assert 0 == compared(at(1.5), at(1.25)).asked_once
    assert 0 == compared(yes(0.9), yes(0.9)).asked_once


def test_against_labels_both_are_measured_on_the_same_rows() -> None:
    """Only A right once, only B right three times: McNemar's exact p is 0.625."""
    first = yes(0.9, 0.1, 0.1, 0.1, 0.9)
    second = yes(0.1, 0.9, 0.9, 0.9, 0.9)

    found = compared(first, second, labels=said(*[True] * 5)).labelled["q"]

    assert (5, 5, 1, 3) == (found.labelled, found.n, found.only_first, found.only_second)
    assert found.accuracy is not None and found.test is not None and found.log_loss is not None
    assert (0.4, 0.8) == (found.accuracy.first.value, found.accuracy.second.value)
    assert found.accuracy.difference.value == pytest.approx(0.4)
    assert found.test.p_value == pytest.approx(binomtest(1, 4).pvalue)
    assert found.log_loss.first.value == pytest.approx(-np.log([0.9, 0.1, 0.1, 0.1, 0.9]).mean())


def test_a_truth_given_no_probability_costs_its_floor_and_is_counted() -> None:
    """One row must not make the difference infinite."""
    found = compared(yes(0.0, 0.5), yes(0.5, 0.5), labels=said(True, True)).labelled["q"]

    assert found.log_loss is not None and (1, 0) == found.zeros
    assert found.log_loss.first.value == pytest.approx((np.log(1e6) + np.log(2)) / 2)


def test_labels_of_several_people_are_tested_item_by_item() -> None:
    """Three labels of one item are no three pieces of evidence."""
    thrice = {name: [RowLabels({"q": True})] * 3 for name in ("0", "1", "2")}
    rows = yes(0.1, 0.1, 0.1), yes(0.9, 0.9, 0.9)

    once = compared(*rows, labels={name: one[:1] for name, one in thrice.items()}).labelled["q"]
    found = compared(*rows, labels=thrice).labelled["q"]

    assert (9, 3) == (found.n, found.items)
    assert found.test is not None and once.test is not None
    assert found.test.p_value == pytest.approx(once.test.p_value)
    assert "sign flips" in found.test.rule and "McNemar" in once.test.rule


def test_weights_of_labels_weigh_the_accuracies() -> None:
    """A row that stands for three counts three times, and a weight of 0 not at all."""
    weights = (3.0, 1.0, 0.0)
    labels = {str(n): [RowLabels({"q": True}, weight)] for n, weight in enumerate(weights)}

    found = compared(yes(0.9, 0.1, 0.1), yes(0.1, 0.9, 0.9), labels=labels).labelled["q"]

    assert found.accuracy is not None and 2 == found.n
    assert (0.75, 0.25) == (found.accuracy.first.value, found.accuracy.second.value)


def test_a_mean_of_levels_counts_for_the_error_and_for_no_accuracy() -> None:
    """It names no option that an answer could be."""
    first = [result(str(n), ScoreAnswer(score=2.0)) for n in range(2)]
    second = [result(str(n), ScoreAnswer(score=1.0)) for n in range(2)]
    labels = {"0": [RowLabels({"q": 1.5})], "1": [RowLabels({"q": 1.0})]}

    found = compared(first, second, TONE, labels=labels).labelled["q"]

    assert found.accuracy is not None and 1 == found.accuracy.first.n
    assert found.error is not None
    assert (0.75, 0.25) == (found.error.first.value, found.error.second.value)


def test_labels_of_rows_that_are_in_no_pair_are_counted() -> None:
    """A misspelt id must not silently shrink the comparison; where all are, there is none."""
    labels = {"0": [RowLabels({"q": True})], "zz": [RowLabels({"q": True})]}

    found = compared(yes(0.5), yes(0.5), labels=labels)

    assert (1, ("zz",)) == (found.labelled["q"].n, found.without_pair)
    with pytest.raises(InvalidInput, match=r"'zz'\) names a row of both A and B, whose ids"):
        compared(yes(0.5), yes(0.5), labels={"zz": [RowLabels({"q": True})]})


def test_where_the_files_labels_differ_the_first_files_count() -> None:
    """And it is said how often."""
    first = [result("0", BooleanAnswer(probability=0.9), labels={"q": True})]
    second = [result("0", BooleanAnswer(probability=0.9), labels={"q": False})]

    found = compared(first, second)

    assert 1 == found.label_conflicts
    accuracy = found.labelled["q"].accuracy
    assert accuracy is not None and 1.0 == accuracy.first.value


def test_p_values_of_several_questions_are_raised_by_holm() -> None:
    """Two questions: the smaller p counts double."""
    questions: dict[str, Question] = {"q": Boolean(), "r": Boolean()}
    answers = [(0.9, 0.1)] * 8
    rows = [
        [
            result(str(n), BooleanAnswer(probability=pair[side])).model_copy(
                update={
                    "answers": {
                        "q": BooleanAnswer(probability=pair[side]),
                        "r": BooleanAnswer(probability=0.5),
                    }
                }
            )
            for n, pair in enumerate(answers)
        ]
        for side in (0, 1)
    ]

    found = compared(rows[0], rows[1], questions)

    assert found.adjusted["q"] == pytest.approx(2 * binomtest(0, 8).pvalue)
    assert 1.0 == found.adjusted["r"]
