"""Rank correlations against scipy, and their weighted forms against repetition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import kendalltau, permutation_test, rankdata, spearmanr

from classify.calibration.measurement import Measurement
from classify.calibration.rank_correlation import kendall_tau_b, mid_ranks, spearman
from classify.errors import CalibrationError

pairs = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 20)), min_size=1, max_size=40)


@given(pairs)
@settings(deadline=None)
def test_they_equal_scipy(drawn: list[tuple[int, int]]) -> None:
    """Weights of one go through our own counting of pairs, so this checks it."""
    x, y = zip(*[*drawn, (0, 1), (3, 2), (3, 0)], strict=True)
    ones = np.ones(len(x))

    assert kendall_tau_b(x, y, weights=ones).value == pytest.approx(kendalltau(x, y).statistic)
    assert spearman(x, y, weights=ones).value == pytest.approx(spearmanr(x, y).statistic)
    if len(x) > 8:
        assert spearman(x, y).p_value == pytest.approx(spearmanr(x, y).pvalue, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        pytest.param([1, 2, 3], [4, 5, 6], id="three in order"),
        pytest.param([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 5, 4], id="six, one pair exchanged"),
        pytest.param([1, 1, 2, 3, 3, 3, 7], [5, 2, 2, 2, 1, 0, 0], id="seven with ties"),
    ],
)
def test_of_few_rows_all_orders_are_counted(x: list[int], y: list[int]) -> None:
    """Student's p-value of three rows in order was 0, where one order of three is as good."""
    ranks, others = rankdata(x), rankdata(y)

    def strength(order: NDArray[np.float64]) -> float:
        return abs(float(np.corrcoef(order, others)[0, 1]))

    expected = permutation_test(
        (ranks,),
        strength,
        permutation_type="pairings",
        alternative="greater",
        n_resamples=50_000,
    )

    assert spearman(x, y).p_value == pytest.approx(expected.pvalue, abs=1e-12)


def test_many_distinct_values_are_counted_right() -> None:
    """Ten bits of ranks: every level of the counting is used."""
    random = np.random.default_rng(0)
    x, y = random.random(700), random.random(700)

    found = kendall_tau_b(x, y, weights=np.ones(700))

    assert found.value == pytest.approx(kendalltau(x, y).statistic, abs=1e-12)


def test_a_perfect_order_is_one() -> None:
    """And its reverse minus one, not a rounding beyond it."""
    x = np.arange(50.0)

    assert spearman(x, x**3).value == kendall_tau_b(x, x**3).value == pytest.approx(1.0)
    assert spearman(x, -x).value == pytest.approx(-1.0)
    assert kendall_tau_b(x, -x).value == pytest.approx(-1.0)


def test_ties_share_the_middle_rank() -> None:
    """Weight below plus half of the tie's own."""
    assert mid_ranks(np.array([5.0, 1.0, 5.0]), np.ones(3)).tolist() == [2.0, 0.5, 2.0]


@pytest.mark.parametrize("correlate", [spearman, kendall_tau_b], ids=["spearman", "tau-b"])
@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        pytest.param([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], "same value in every row", id="constant"),
        pytest.param([1.0], [1.0], "same value in every row", id="one-row"),
        pytest.param([1.0, np.nan], [1.0, 2.0], "must be finite", id="nan"),
        pytest.param([np.inf, 0.0], [-np.inf, 1.0], "must be finite", id="infinities"),
        pytest.param([1.0, 2.0], [1.0], "equally long", id="lengths"),
    ],
)
def test_undefined_correlations_are_refused(
    correlate: Callable[..., Measurement], x: list[float], y: list[float], message: str
) -> None:
    """Other libraries return nan here, with or without a warning."""
    with pytest.raises(CalibrationError, match=message):
        correlate(x, y)


def test_values_whose_sum_is_too_large_are_finite_all_the_same() -> None:
    """What is looked at first is the sum; a value is refused for itself alone."""
    x = [1e308, 1.5e308, 1.2e308]

    assert spearman(x, x).value == pytest.approx(1.0)
