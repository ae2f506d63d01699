"""Labels between two levels: what uses them, and what says that it cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau, spearmanr

from classify.answers import BooleanAnswer, ScoreAnswer
from classify.calibration.all_metrics import every_metric
from classify.calibration.arrays import Floats
from classify.calibration.calibrators import CALIBRATORS
from classify.calibration.from_results import calibrate_results, labelled_metrics
from classify.calibration.held_out_answers import HeldOutAnswers
from classify.calibration.label_file import RowLabels
from classify.calibration.mean_map import expected_levels, fit_mean_map, with_means
from classify.calibration.rated_results import METHOD, calibrate_means
from classify.calibration.rating_errors import rating_metrics
from classify.calibration.result_labels import LabelledAnswers, labelled_results
from classify.errors import CalibrationError
from classify.questions import Boolean, Score
from classify.results import Result
from classify.row_labels import Label

STARS = Score(criteria=("poor", "fair", "good"))


def answered(labels: list[Label | None], spoken: Floats | None = None) -> LabelledAnswers:
    """Return a run with these labels over a score: as spoken, or with a mean rising by the row."""
    if spoken is None:
        spoken = np.array([distribution(n / len(labels)) for n in range(len(labels))])
    results = [
        Result(
            id=f"r{n}",
            index=n,
            key=str(n),
            labels={} if label is None else {"stars": label},
            answers={
                "stars": ScoreAnswer(
                    score=2.0 * n / len(labels),
                    label_mass=1.0,
                    method="logprobs",
                    probabilities=spread,
                )
            },
        )
        for n, label in enumerate(labels)
        for spread in [dict(zip("012", spoken[n].tolist(), strict=True))]
    ]
    return labelled_results(results, {"stars": STARS}, model="m")["stars"]


def distribution(share: float) -> Floats:
    """Return probabilities of three levels whose mean rises with the share."""
    return np.array([(1 - share) ** 2, 2 * share * (1 - share), share**2]) * 0.9 + 0.1 / 3


rows = st.lists(st.lists(st.floats(0.01, 1.0), min_size=4, max_size=4), min_size=1, max_size=5).map(
    np.array
)


@given(rows, st.floats(0.0, 3.0))
def test_a_distribution_is_moved_to_its_mean(p: Floats, mean: float) -> None:
    """To a millionth of a level, and no level loses all its probability."""
    moved = with_means(np.log(p), np.full(len(p), mean))

    assert np.isfinite(moved).all()
    np.testing.assert_allclose(expected_levels(moved), np.clip(mean, 1e-6, 3 - 1e-6), atol=1e-9)


@given(rows)
def test_a_mean_that_is_right_already_changes_nothing(p: Floats) -> None:
    """The nearest distribution of that mean is the one that was there."""
    log_p = np.log(p / p.sum(axis=1, keepdims=True))

    np.testing.assert_allclose(with_means(log_p, expected_levels(log_p)), log_p, atol=1e-9)


def test_the_map_goes_through_json_and_gives_peoples_means() -> None:
    """On the rows of the fit the means of tied groups are those of the people."""
    log_p = np.log(np.array([distribution(0.2)] * 4 + [distribution(0.8)] * 4))
    people = [0.2, 0.4, 0.0, 0.2, 1.5, 1.9, 1.7, 1.3]

    fitted = fit_mean_map(log_p, people)
    again = CALIBRATORS.validate_json(fitted.model_dump_json())

    means = expected_levels(again.apply(log_p))
    np.testing.assert_allclose(means, [0.2] * 4 + [1.6] * 4, atol=1e-6)


def test_a_rating_beyond_the_levels_is_named_alone() -> None:
    """Of a thousand ratings only the bad one helps."""
    log_p = np.log(np.full((3, 3), 1.0 / 3.0))

    with pytest.raises(CalibrationError, match=r"ratings\[1\] .* from 0 to 2, got \S*2\.5\S*$"):
        fit_mean_map(log_p, [0.5, 2.5, 3.0])


def test_ranks_of_expected_levels_pool_what_is_equal() -> None:
    """0.1, 0.3, 0.6 and 0.2, 0.1, 0.7 both expect 1.5: correlations are those of the 20ths."""
    parts = np.array([(a, b, 20 - a - b) for a in range(1, 19) for b in range(1, 20 - a)])
    people = np.random.default_rng(1).integers(0, 9, len(parts)) / 4
    level = parts @ np.arange(3)

    found = rating_metrics(answered(people.tolist(), parts / 20))

    assert found.spearman is not None and found.tau_b is not None
    assert found.spearman.value == pytest.approx(spearmanr(level, people).statistic, abs=1e-12)
    assert found.tau_b.value == pytest.approx(kendalltau(level, people).statistic, abs=1e-12)


def test_the_order_of_rows_does_not_matter_to_the_map() -> None:
    """Folds, held-out errors and their intervals are those of the same rows in another order."""
    random = np.random.default_rng(4)
    parts = np.array([(a, b, 20 - a - b) for a in range(1, 19) for b in range(1, 20 - a)])[::2]
    people = np.clip(parts @ np.arange(3) / 40 + random.normal(0.1, 0.3, len(parts)), 0, 2).round(1)
    first = calibrate_means("stars", answered(people.tolist(), parts / 20))

    for _ in range(3):
        order = random.permutation(len(parts))
        again = calibrate_means("stars", answered(people[order].tolist(), parts[order] / 20))

        for one, other in ((first.before, again.before), (first.after, again.after)):
            for name in ("mae", "bias"):
                a, b = getattr(one, name), getattr(other, name)
                assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), abs=1e-9)
        assert again.artefact.calibrator.method == first.artefact.calibrator.method == METHOD
        np.testing.assert_allclose(
            again.artefact.calibrator.apply(np.log(parts / 20)),
            first.artefact.calibrator.apply(np.log(parts / 20)),
            atol=1e-9,
        )


def test_labels_between_levels_are_used_by_means_and_counted_elsewhere() -> None:
    """Nothing is lost: each number says how many of how many it stands on."""
    answers = answered([0.0, 0.4, 1.0, 1.6, 2.0, None])

    rated, exact = rating_metrics(answers), labelled_metrics(answers)

    assert (5, 6, 3, 6) == (rated.mae.n, rated.mae.total, exact.accuracy.n, exact.accuracy.total)
    assert "label between two levels: 2" in answers.used
    assert "5 used of 6" in str(rated.mae)


def test_means_of_raters_calibrate_a_score() -> None:
    """People's numbers are a bent line of the model's: the map finds it on rows left out."""
    n = 120
    shares = np.arange(n) / n
    people = [round(float(2.0 * share**3), 2) for share in shares]

    found = calibrate_means("stars", answered([*people]))

    assert "isotonic-mean" == found.artefact.calibrator.method
    assert found.after.mae.value < 0.2 * found.before.mae.value
    assert f"{n} labelled rows used of {n}" == found.used
    with pytest.raises(CalibrationError, match=r"'stars' has no held-out answers .* two levels"):
        found.artefact.policy(alpha=0.1)


def test_few_ratings_keep_the_raw_scores() -> None:
    """An artefact that changes nothing, and says what is missing."""
    found = calibrate_means("stars", answered([0.5, 1.0, 1.5, 2.0]))

    assert "identity" == found.artefact.calibrator.method
    assert found.artefact.report.notes == ("4 rated items are too few; rate at least 20",)


def test_only_scores_have_a_mean() -> None:
    """The question is named."""
    with pytest.raises(CalibrationError, match="maps scores, and 'ok' is a boolean"):
        calibrate_means("ok", replace(answered([None]), question=Boolean()))
    with pytest.raises(CalibrationError, match="requested must be one of 'auto', 'isotonic-mean'"):
        calibrate_means("stars", answered([0.5, 1.5] * 15), requested="temperature")


@pytest.mark.parametrize("zeros", [False, True], ids=["losses", "floored losses"])
def test_an_artefact_keeps_each_metric_as_it_was_measured(zeros: bool) -> None:
    """Under the name that `classify metrics --all` prints, with rule, rows and interval."""
    answers = answered([0.0, 1.0, 2.0] * 10)
    if zeros:
        log_p = answers.log_p.copy()
        log_p[0, int(answers.y[0])] = -np.inf
        answers = replace(answers, log_p=log_p)

    found = calibrate_results("stars", answers)

    kept = {metric.name: metric for metric in found.artefact.metrics}
    loss = "log loss, floored" if zeros else "log loss"
    assert list(kept) == [loss, "Brier", "smooth ECE", "debiased error", "ECE, classwise"]
    everything = every_metric(answers)
    assert set(kept) < {each.name for group in everything.groups for each in group.metrics}
    before, after = found.before.brier, found.after.brier
    brier = kept["Brier"]
    assert (brier.before, brier.after) == (before.value, after.value)
    assert (brier.rules, brier.n) == ((before.rule, after.rule), 30)
    assert brier.intervals == ((before.low, before.high), (after.low, after.high))
    assert ("floor 1e-06" in kept[loss].rules[0]) == zeros
    assert all(all(metric.rules) for metric in kept.values())


def test_the_error_of_means_is_kept_with_its_interval() -> None:
    """As the metrics of single levels are."""
    found = calibrate_means("stars", answered([0.5, 1.5] * 15))

    error, bias = found.artefact.metrics

    assert (error.name, bias.name) == ("MAE", "mean bias")
    assert error.rules == (found.before.mae.rule, found.after.mae.rule)
    assert error.intervals[0] == (found.before.mae.low, found.before.mae.high)


def test_no_threshold_is_promised_on_weighted_labels() -> None:
    """An exact binomial count of errors knows no weights; zeros are rows that are not there."""
    log_p, y = np.log([[0.9, 0.1]] * 4), np.array([0, 0, 1, 0])

    same = HeldOutAnswers.of(log_p, y, weights=np.array([2.0, 2.0, 0.0, 2.0]))
    unequal = HeldOutAnswers.of(log_p, y, weights=np.array([2.0, 2.0, 1.0, 2.0]))

    assert (False, (False, False, False)) == (same.weighted, same.wrong)
    assert unequal.weighted
    artefact = calibrate_results("stars", answered([0.0, 1.0] * 15)).artefact
    weighted = artefact.model_copy(update={"held_out": unequal})
    with pytest.raises(CalibrationError, match="'stars' had different weights"):
        weighted.policy(alpha=0.2)


def test_an_answer_is_right_where_most_of_its_labels_say_so() -> None:
    """A tie is wrong, and the order of labels and of items says nothing."""
    log_p = np.log([[0.9, 0.1]] * 3 + [[0.8, 0.2]] * 2 + [[0.3, 0.7]])
    y, items = np.array([0, 1, 0, 0, 1, 1]), np.array([4, 4, 4, 7, 7, 9])

    found = HeldOutAnswers.of(log_p, y, items=items)

    assert (False, True, False) == found.wrong
    np.testing.assert_allclose(found.confidence, (0.9, 0.8, 0.7))
    backwards = HeldOutAnswers.of(log_p[::-1], y[::-1], items=items[::-1])
    assert found == backwards


def test_two_raters_promise_the_same_whoever_is_listed_first() -> None:
    """The ten items on which they differ are wrong, whatever the answer."""
    rows = [
        Result(
            id=f"r{n}",
            index=n,
            key=str(n),
            answers={"ok": BooleanAnswer(probability=0.2 + 0.012 * n)},
        )
        for n in range(50)
    ]
    raters = [
        {f"r{n}": RowLabels({"ok": (n >= 25) != (odd and n % 5 == 0)}) for n in range(50)}
        for odd in (False, True)
    ]

    promises = list[HeldOutAnswers | None]()
    for first, second in (raters, raters[::-1]):
        labels = {name: (first[name], second[name]) for name in first}
        answers = labelled_results(rows, {"ok": Boolean()}, labels=labels)["ok"]
        promises.append(calibrate_results("ok", answers).artefact.held_out)

    assert promises[0] == promises[1]
    assert promises[0] is not None and len(promises[0].wrong) == 50
    assert all(promises[0].wrong[::5])
    assert not any(promises[0].wrong[1:20:5])
