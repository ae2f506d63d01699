"""May the judge replace a person: the alternative annotator test."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import false_discovery_control, ttest_1samp

from classify.calibration.annotator_test import alt_test, benjamini_yekutieli
from classify.errors import CalibrationError

LEVELS = (0, 1, 2)


def people(n: int = 60, *, errors: float = 0.25) -> NDArray[np.int64]:
    """Return three people (3, n) who miss the truth, 1, with this probability."""
    random = np.random.default_rng(11)
    return np.where(random.random((3, n)) < errors, random.choice([0, 2], (3, n)), 1)


def test_wins_are_counted_as_the_paper_defines_them() -> None:
    """Item by item: a tie is a win of both. Two items each of tie, judge better, person better."""
    rated = [[1, 1, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
    judge = [1, 1, 1, 1, 0, 0]

    trial = alt_test(judge, rated, levels=LEVELS, epsilon=0.2).trials[0]

    assert [trial.judge_wins, trial.annotator_wins] == pytest.approx([4 / 6, 4 / 6])
    assert trial.p_value == pytest.approx(
        ttest_1samp([0, 0, -1, -1, 1, 1], 0.2, alternative="less").pvalue
    )


def test_a_judge_that_is_always_right_passes() -> None:
    """As good as all three."""
    found = alt_test([1] * 60, people(), levels=LEVELS, epsilon=0.1)

    assert (found.winning_rate, found.passes) == (1.0, True)
    assert "the judge may replace an annotator: as good as 3 of 3" in str(found)
    assert "(60 used of 60)" in str(found)


def test_each_trial_says_how_many_items_it_stands_on() -> None:
    """The second person rated four of five: "n used of N" is of the trial, not of the test."""
    rated: list[list[int | None]] = [[1, 1, 0, 0, 1], [1, 1, 1, None, 1], [1, 1, 1, 1, 1]]

    trial = alt_test([1, 1, 1, 1, 0], rated, levels=LEVELS, epsilon=0.2).trials[1]

    assert (trial.n, trial.total) == (4, 5)
    assert str(trial).startswith("against annotator 1 the judge is not shown to be as good: wins")
    assert str(trial).endswith("(4 used of 5)")


def test_a_judge_that_guesses_does_not_pass() -> None:
    """Not even at the handicap against experts."""
    guesses = np.random.default_rng(1).integers(0, 3, 60)

    found = alt_test(guesses, people(errors=0.1), levels=LEVELS, epsilon=0.2)

    assert (found.winning_rate, found.passes) == (0.0, False)
    assert "may not replace" in str(found)


def test_distance_counts_where_levels_are_ordered() -> None:
    """A judge who is one off beats a person who is two off, though neither hits the level."""
    rated = [[0] * 40, [2] * 40, [2] * 40]
    judge = [1] * 40

    same = alt_test(judge, rated, levels=LEVELS, epsilon=0.1).trials[0]
    near = alt_test(judge, rated, levels=LEVELS, epsilon=0.1, alignment="squared distance").trials[
        0
    ]

    assert (same.judge_wins, same.annotator_wins) == (1.0, 1.0)
    assert (near.judge_wins, near.annotator_wins) == (1.0, 0.0)


def test_missing_ratings_are_left_out_and_counted() -> None:
    """An item counts if the judge, the person and another rated it."""
    rated = people().astype(np.float64)
    rated[0, :10] = math.nan
    rated[:, 10] = math.nan
    judge = np.ones(60)
    judge[11] = math.nan

    found = alt_test(judge, rated, levels=LEVELS, epsilon=0.1)

    assert [trial.n for trial in found.trials] == [48, 58, 58]
    assert (found.n, found.total) == (58, 60)


def test_no_difference_in_few_items_is_no_proof() -> None:
    """With no spread the t-test would say 0; five items without a loss happen at 0.8^5."""
    rated = [[1] * 5] * 3

    found = alt_test([1] * 5, rated, levels=LEVELS, epsilon=0.2)

    assert found.trials[0].p_value == pytest.approx(0.8**5)
    assert not found.passes
    assert "fewer than 30 items for 3 of 3 annotators: use 50 to 100" in found.warnings


@pytest.mark.parametrize("seed", range(5))
def test_rejections_are_those_of_scipys_adjusted_p_values(seed: int) -> None:
    """Benjamini and Yekutieli."""
    p = np.random.default_rng(seed).beta(0.3, 3.0, 8)

    rejected = benjamini_yekutieli(p.tolist(), false_discovery=0.05)

    assert list(rejected) == (false_discovery_control(p, method="by") <= 0.05).tolist()


def test_people_who_share_nothing_cannot_be_replaced() -> None:
    """There is no one to agree with."""
    nothing = math.nan
    with pytest.raises(CalibrationError, match="no person shares two items"):
        alt_test([1, 1], [[1, nothing], [nothing, 1]], levels=LEVELS, epsilon=0.1)


def test_the_judge_rates_the_same_items() -> None:
    """Lengths are not guessed."""
    with pytest.raises(CalibrationError, match="judge must have 60 items"):
        alt_test([1, 1], people(), levels=LEVELS, epsilon=0.1)
