"""Agreement of several raters with ratings missing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from classify.calibration.estimate import Estimate
from classify.calibration.rater_agreement import (
    Metric,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from classify.errors import CalibrationError

LEVELS = (1, 2, 3, 4)
METRICS: tuple[Metric, ...] = ("nominal", "ordinal", "interval", "ratio")
seeds = st.integers(0, 10_000)


def ratings(seed: int) -> NDArray[np.float64]:
    """Return ratings (3, 15) with about a fifth missing, that agree more often than chance."""
    random = np.random.default_rng(seed)
    truth = random.integers(1, 5, 15)
    noise = random.integers(1, 5, (3, 15))
    found = np.where(random.random((3, 15)) < 0.6, truth, noise).astype(np.float64)
    found[random.random((3, 15)) < 0.2] = np.nan
    found[:2, :2] = [[1, 2], [1, 3]]
    return found


def alpha_by_pairs(rated: NDArray[np.float64], metric: Metric) -> float:
    """Return alpha from its definition: mean distance within items over that of all ratings."""
    units = [column[~np.isnan(column)] for column in rated.T]
    units = [unit for unit in units if unit.size > 1]
    every = np.concatenate(units)

    def distance(a: float, b: float) -> float:
        if metric == "nominal":
            return float(a != b)
        if metric == "ordinal":
            low, high = min(a, b), max(a, b)
            between = ((every >= low) & (every <= high)).sum()
            return float(between - ((every == low).sum() + (every == high).sum()) / 2) ** 2
        return (a - b) ** 2 if metric == "interval" else ((a - b) / (a + b)) ** 2

    within = sum(
        sum(distance(a, b) for a in unit for b in unit) / (unit.size - 1) for unit in units
    )
    across = sum(distance(a, b) for a in every for b in every) / (every.size - 1)
    return float(1.0 - within / across)


@given(seeds, st.sampled_from(METRICS))
@settings(deadline=None)
def test_alpha_is_one_minus_observed_over_expected_disagreement(seed: int, metric: Metric) -> None:
    """Recomputed pair by pair from Krippendorff's definition."""
    rated = ratings(seed)

    found = krippendorff_alpha(rated, levels=LEVELS, metric=metric)

    assert found.value == pytest.approx(alpha_by_pairs(rated, metric), abs=1e-9)


@given(seeds)
@settings(deadline=None)
def test_the_order_of_raters_and_items_changes_nothing(seed: int) -> None:
    """Raters are interchangeable in all three."""
    rated = ratings(seed)
    moved = np.random.default_rng(seed).permutation(rated.T).T[::-1]

    for coefficient in (krippendorff_alpha, gwet_ac, fleiss_kappa):
        one, other = (coefficient(x, levels=LEVELS) for x in (rated, moved))
        assert (one.value, one.low) == pytest.approx((other.value, other.low))


@given(seeds)
@settings(deadline=None)
def test_weights_repeat_items(seed: int) -> None:
    """Value and interval."""
    rated = ratings(seed)

    for coefficient in (krippendorff_alpha, gwet_ac, fleiss_kappa):
        weighted = coefficient(rated, levels=LEVELS, weights=[2.0] * rated.shape[1])
        repeated = coefficient(np.hstack([rated, rated]), levels=LEVELS)
        assert (weighted.value, weighted.low) == pytest.approx((repeated.value, repeated.low))


def test_ac1_says_something_where_kappa_breaks_down() -> None:
    """29 of 30 pairs agree on the common level; kappa calls that chance, AC1 does not."""
    rated = [[1] * 30, [1] * 29 + [2]]

    assert gwet_ac(rated, levels=(1, 2)).value > 0.95
    assert fleiss_kappa(rated, levels=(1, 2)).value < 0.0


def test_one_level_only_is_full_ac1_with_doubt_and_no_alpha() -> None:
    """Ten agreements in ten do not prove that no eleventh could differ."""
    rated = [[1] * 10, [1] * 10]

    found = gwet_ac(rated, levels=(1, 2))

    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.6 < found.low < 0.8
    with pytest.raises(CalibrationError, match="alpha, nominal is undefined: all ratings are one"):
        krippendorff_alpha(rated, levels=(1, 2))


@pytest.mark.parametrize("n", [5, 60, 1_000_000])
def test_full_agreement_is_never_certain(n: int) -> None:
    """One item of the rare level, so that chance nearly explains all and rounding is magnified."""
    rated = np.ones((3, n), dtype=np.int64)
    rated[:, 0] = 2

    for coefficient in (krippendorff_alpha, gwet_ac, fleiss_kappa):
        found = coefficient(rated, levels=(1, 2))
        assert found.value == pytest.approx(1.0)
        assert found.high - found.low > 1.0 / n


@pytest.mark.parametrize("coefficient", [krippendorff_alpha, gwet_ac, fleiss_kappa])
def test_disagreement_without_exception_is_not_certain(
    coefficient: Callable[..., Estimate],
) -> None:
    """Of 30 items on which two raters part, one in nine may be of another kind (Wilson, 0 of 30).

    Alpha counts half an item more as agreed; its interval was once as wide as that alone.
    """
    found = coefficient([[1] * 30, [2] * 30], levels=(1, 2))

    assert found.low <= found.value < -0.95
    assert found.high - found.value > 2.0 * 0.1135  # twice, for chance agrees on a half


def test_unequal_numbers_of_raters_have_the_interval_of_irrcac() -> None:
    """Krippendorff's own example: two to four raters an item; irrCAC 0.4.4 puts the end at 0.41906.

    It takes pa for pa', which differ by one part in the number of ratings.
    """
    rated: list[list[int | None]] = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]

    found = krippendorff_alpha(rated, levels=(1, 2, 3, 4, 5))

    assert found.low == pytest.approx(0.4190622, abs=2e-3)


@pytest.mark.parametrize("metric", METRICS)
def test_the_interval_of_alpha_is_that_of_leaving_items_out(metric: Metric) -> None:
    """The jackknife knows no formula: half of six raters missing, and distances made of ratings."""
    random = np.random.default_rng(1)
    truth = random.choice(4, size=300, p=[0.1, 0.15, 0.25, 0.5])
    off = np.clip(truth + random.integers(-2, 3, (6, 300)), 0, 3)
    rated = np.where(random.random((6, 300)) < 0.6, truth, off) + 1.0
    rated[random.random((6, 300)) < 0.5] = np.nan

    def alpha(kept: NDArray[np.float64]) -> Estimate:
        return krippendorff_alpha(kept, levels=LEVELS, metric=metric)

    left_out = np.array([alpha(np.delete(rated, item, axis=1)).value for item in range(300)])
    found = alpha(rated)

    n = found.n
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.05)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_interval_of_ordinal_alpha_knows_that_items_move_the_distances(seed: int) -> None:
    """Distances taken for fixed make it 5 % narrower or wider."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, size=150, p=[0.3, 0.65, 0.05])
    noise = random.integers(0, 4, (10, 150))
    rated = np.where(random.random((10, 150)) < 0.8, truth, noise) + 1.0

    def alpha(kept: NDArray[np.float64]) -> Estimate:
        return krippendorff_alpha(kept, levels=LEVELS, metric="ordinal")

    left_out = np.array([alpha(np.delete(rated, item, axis=1)).value for item in range(150)])
    found = alpha(rated)

    error = np.sqrt(149 / 150 * ((left_out - left_out.mean()) ** 2).sum())
    assert found.high - found.low == pytest.approx(2 * 1.976 * error, rel=0.02)


@pytest.mark.parametrize("coefficient", [gwet_ac, fleiss_kappa])
def test_the_interval_where_most_items_have_one_rating_is_that_of_leaving_items_out(
    coefficient: Callable[..., Estimate],
) -> None:
    """A judge rated all, people a third: Gwet's formula makes the interval twice too wide."""
    random = np.random.default_rng(2)
    judge = random.choice(4, size=300, p=[0.1, 0.15, 0.25, 0.5])
    people = np.where(random.random(300) < 0.7, judge, random.integers(0, 4, 300)).astype(
        np.float64
    )
    people[100:] = np.nan
    rated = np.stack([judge, people]) + 1.0

    left_out = np.array(
        [coefficient(np.delete(rated, item, axis=1), levels=LEVELS).value for item in range(300)]
    )
    found = coefficient(rated, levels=LEVELS)

    error = np.sqrt(299 / 300 * ((left_out - left_out.mean()) ** 2).sum())
    assert (found.n, found.total) == (100, 300)
    assert found.high - found.low == pytest.approx(2 * 1.984 * error, rel=0.05)


def test_items_rated_once_are_left_out_and_counted() -> None:
    """Three items, of which two have two ratings."""
    rated: list[list[int | None]] = [[1, 2, 3], [1, 3, None]]

    found = krippendorff_alpha(rated, levels=LEVELS)

    assert (found.n, found.total) == (2, 3)


@pytest.mark.parametrize(
    ("rated", "message"),
    [
        ([[1, None], [None, 2]], "no item was rated by two raters"),
        ([[1, 2]], r"\(raters, items\) with at least two raters"),
        ([[1], [2]], "of one item has no interval"),
    ],
    ids=["no pair", "one rater", "one item"],
)
def test_too_little_to_agree_on_is_refused(rated: list[list[int | None]], message: str) -> None:
    """Never a nan."""
    with pytest.raises(CalibrationError, match=message):
        krippendorff_alpha(rated, levels=LEVELS)


def test_interval_distances_need_numbers() -> None:
    """Words have an order, not a distance."""
    with pytest.raises(CalibrationError, match="metric='interval' needs numeric levels"):
        krippendorff_alpha(
            [["bad", "good"], ["good", "good"]], levels=("bad", "good"), metric="interval"
        )


@pytest.mark.parametrize("parts", range(2, 30))
def test_one_item_in_parts_has_no_interval_however_they_add_up(parts: int) -> None:
    """Nine ninths are more than 1 by rounding, and were two items nearly."""
    rated = np.array([[1.0] * parts, [1.0] * (parts - 1) + [2.0]])

    with pytest.raises(CalibrationError, match="of one item has no interval"):
        gwet_ac(rated, levels=LEVELS, weights=[1.0 / parts] * parts)
