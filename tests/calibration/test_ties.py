"""What differs only by the rounding of sums and logs is one score, one block and one threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

import classify.calibration as c
from classify.calibration.abstention import ConfidencePolicy, confidences
from classify.calibration.arrays import (
    Floats,
    log_probabilities,
    same_log_odds,
    same_probabilities,
)
from classify.calibration.mean_map import expected_levels, nearest_levels

PARTS = [(a, b, 20 - a - b) for a in range(1, 19) for b in range(1, 20 - a)]
SPOKEN: Floats = np.array(PARTS) / 20
"""All answers of three options that a model may give in steps of 5 %."""


def test_the_same_confidence_is_one_whatever_the_other_options_have() -> None:
    """0.6, 0.1, 0.3 and 0.6, 0.25, 0.15 are normalised by sums that differ in the last digit."""
    assert len(np.unique(confidences(np.log(SPOKEN)))) == len(np.unique(SPOKEN.max(axis=1))) == 12


def test_ranks_of_confidences_pool_what_is_equal() -> None:
    """AUROC is the mean rank of the right answers (Mann and Whitney), ties at half."""
    rng = np.random.default_rng(0)
    rows: Floats = SPOKEN[rng.integers(len(SPOKEN), size=400)]
    y = np.array([rng.choice(3, p=row) for row in rows])

    found = c.metrics(np.log(rows), y, seed=0)

    right = rows.argmax(axis=1) == y
    confidence: Floats = np.max(rows, axis=1).round(6)
    ranks: Floats = np.asarray(rankdata(confidence), dtype=np.float64)
    m = int(right.sum())
    expected = (float(ranks[right].sum()) - m * (m + 1) / 2) / (m * (len(y) - m))
    assert found.auroc is not None
    assert found.auroc.value == pytest.approx(expected, abs=1e-12)


@given(
    st.lists(st.sampled_from([-20.0, -1.0, 0.0]), min_size=90, max_size=90),
    st.permutations(range(3)),
)
@settings(max_examples=60, deadline=None)
def test_the_order_of_the_options_moves_no_block(logs: list[float], order: list[int]) -> None:
    """The sum over other options is rounded by their order, and a tie that breaks moves blocks."""
    log_p = np.array(logs).reshape(30, 3)
    y = np.arange(30) % 3

    for fit in (c.fit_isotonic, c.fit_venn_abers):
        plain = fit(log_p, y).apply(log_p)
        turned = fit(log_p[:, order], np.argsort(order)[y]).apply(log_p[:, order])

        np.testing.assert_allclose(np.exp(turned), np.exp(plain)[:, order], atol=1e-9)


def test_blocks_of_one_mean_are_one_block() -> None:
    """1 of 3 and 2 of 6: pseudo-counts would move two small blocks further than one of nine."""
    log_p = np.log([[0.3, 0.7]] * 3 + [[0.4, 0.6]] * 6 + [[0.9, 0.1]] * 2)
    y = np.array([0, 1, 1, 0, 0, 1, 1, 1, 1, 0, 0])

    lower = np.exp(c.fit_isotonic(log_p, y).apply(log_p))[:9, 0]

    np.testing.assert_allclose(lower, (3 + 0.5) / (9 + 1))


def test_a_threshold_given_by_hand_holds_for_the_confidence_it_names() -> None:
    """0.9 read from a file and exp(log 0.9) need not be the same double."""
    policy = ConfidencePolicy(threshold=0.9, guarantee="by hand")

    assert policy.decides_alone(np.log([[0.9, 0.06, 0.04], [0.89, 0.07, 0.04]])).tolist() == [
        True,
        False,
    ]


@given(st.floats(0.0, 1.0))
def test_steps_are_small_and_stay_in_range(p: float) -> None:
    """The end of the scale is kept, and steps near 0 are small beside it."""
    (rounded,) = same_probabilities(np.array([p]))

    assert 0.0 <= rounded <= 1.0
    assert rounded == pytest.approx(p, rel=1e-12, abs=1e-300)


@given(st.floats(-700.0, 700.0))
def test_log_odds_turn_round_with_their_options(odds: float) -> None:
    """Or true and false could not be exchanged."""
    there, back = same_log_odds(np.array([odds, -odds]))

    assert there == -back == pytest.approx(odds, abs=2.0**-37)


def test_the_same_expected_level_is_one_level() -> None:
    """0.1, 0.3, 0.6 and 0.25, 0, 0.75 both expect 1.5, and the logs of either are rounded."""
    in_20ths, log_p = np.array(PARTS) @ np.arange(3), log_probabilities(np.log(SPOKEN))

    found = expected_levels(log_p)

    assert len(np.unique(found)) == len(np.unique(in_20ths))
    np.testing.assert_allclose(found, in_20ths / 20, atol=1e-12)
    # Halves go to the higher level, all of them.
    assert nearest_levels(log_p).tolist() == ((in_20ths + 10) // 20).tolist()


def test_a_map_of_means_gives_one_answer_to_one_expected_level() -> None:
    """Where rows of one level have ratings apart, a block must not end between them."""
    log_p, level = np.log(SPOKEN), np.array(PARTS) @ np.arange(3)
    people = np.where(level < 20, 0.25, 1.0) + np.arange(len(level)) % 2 / 2

    means = expected_levels(c.fit_mean_map(log_p, people).apply(log_p))

    for each in np.unique(level):
        np.testing.assert_allclose(means[level == each], means[level == each][0], atol=1e-9)


@pytest.mark.parametrize("levels", [(0.0, 1.0, 2.0), (-1.0, 0.0, 1.0), (-0.3, 0.1, 0.5)])
def test_levels_around_zero_tie_as_others_do(levels: tuple[float, float, float]) -> None:
    """0.35 of -0.3, 0.55 of 0.1 and 0.1 of 0.5 expect 0, or what rounding leaves of it."""
    exact = np.array(PARTS) @ np.arange(3)
    y = np.arange(len(PARTS)) * 5 % 3

    found = c.metrics(np.log(SPOKEN), y, seed=0, kind="score", levels=levels)
    length = np.arange(len(PARTS)) % 11
    bias = c.bias_report(
        np.log(SPOKEN), seed=0, item=np.arange(len(PARTS)), length=length, levels=levels
    )

    assert found.ordinal is not None and found.ordinal.spearman is not None
    assert found.ordinal.spearman.value == pytest.approx(spearmanr(exact, y).statistic, abs=1e-12)
    assert bias.length is not None
    assert bias.length.value == pytest.approx(spearmanr(exact, length).statistic, abs=1e-12)


def test_scores_that_differ_by_rounding_are_one_score_to_the_isotonic_mean() -> None:
    """As where somebody adds up levels times their probabilities."""
    levels = np.array([1.0, 2.0, 4.0])
    scores, exact = SPOKEN @ levels, np.array(PARTS) @ levels
    people = np.arange(len(scores)) % 7 + exact

    found = c.fit_isotonic_mean(scores, people).apply(scores)

    expected = c.fit_isotonic_mean(exact, people).apply(exact)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_bins_of_equal_mass_hold_the_whole_of_a_tie_in_every_option() -> None:
    """The bins of the error over all options are those of the numbers that were spoken."""
    rng = np.random.default_rng(2)
    rows: Floats = SPOKEN[rng.integers(len(SPOKEN), size=300)]
    y = np.array([rng.choice(3, p=row) for row in rows])
    in_20ths = np.rint(rows * 20)

    found = c.classwise_calibration_error(np.log(rows), y, bins=c.EqualMass(5))

    expected = np.mean(
        [
            c.expected_calibration_error(in_20ths[:, k] / 20, y == k, bins=c.EqualMass(5)).value
            for k in range(3)
        ]
    )
    assert found.value == pytest.approx(expected, abs=1e-12)
