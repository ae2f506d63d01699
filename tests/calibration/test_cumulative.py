"""KS, Kuiper and Spiegelhalter follow their laws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import norm

from classify.calibration.arrays import Floats, Ints
from classify.calibration.cumulative import (
    brownian_maximum_tail,
    brownian_range_tail,
    kolmogorov_smirnov,
    kuiper,
    spiegelhalter,
)
from classify.calibration.measurement import Measurement
from classify.errors import CalibrationError


def rows(seed: int, n: int = 200) -> tuple[Floats, Ints]:
    """Return probabilities and outcomes drawn from them."""
    random = np.random.default_rng(seed)
    p = random.random(n)
    return p, (random.random(n) < p).astype(np.int64)


@pytest.mark.parametrize(
    "measure",
    [
        pytest.param(kolmogorov_smirnov, id="ks"),
        pytest.param(kuiper, id="kuiper"),
        pytest.param(spiegelhalter, id="spiegelhalter"),
    ],
)
def test_p_values_are_uniform_under_calibration(measure: Callable[..., Measurement]) -> None:
    """A fifth of 400 calibrated sets lie below .2; a walk of 200 steps runs a little cautious."""
    found = [measure(*rows(seed)).p_value for seed in range(400)]

    assert 0.12 < np.mean(np.array(found) <= 0.2) < 0.26


@pytest.mark.parametrize("x", [0.8, 1.2, 1.49, 1.51, 2.5], ids=str)
def test_the_maximum_of_brownian_motion_by_simulation(x: float) -> None:
    """Both series, on either side of where one hands over to the other."""
    steps = np.random.default_rng(0).choice([-1.0, 1.0], size=(4_000, 1_000)).cumsum(axis=1)
    found = (np.abs(steps).max(axis=1) / np.sqrt(1_000) > x).mean()

    assert brownian_maximum_tail(x) == pytest.approx(found, abs=0.04)


@pytest.mark.parametrize("x", [1.2, 1.6, 1.99, 2.01, 3.0], ids=str)
def test_the_range_of_brownian_motion_by_simulation(x: float) -> None:
    """Both series, on either side of where one hands over to the other."""
    walks = np.random.default_rng(1).choice([-1.0, 1.0], size=(4_000, 1_000)).cumsum(axis=1)
    ranges = np.maximum(walks.max(axis=1), 0) - np.minimum(walks.min(axis=1), 0)

    assert brownian_range_tail(x) == pytest.approx((ranges / np.sqrt(1_000) > x).mean(), abs=0.05)


def test_the_series_meet() -> None:
    """A jump where the formulas change would show as a kink in p-values."""
    assert brownian_maximum_tail(1.5) == pytest.approx(brownian_maximum_tail(1.5 + 1e-9), abs=1e-8)
    assert brownian_range_tail(2.0) == pytest.approx(brownian_range_tail(2.0 + 1e-9), abs=1e-8)


def test_spiegelhalter_sees_both_directions() -> None:
    """Under-confidence gives z < 0, and a one-sided test would miss it."""
    p, y = rows(3, 2_000)
    odds = p / (1 - p)

    over = spiegelhalter(odds**2 / (1 + odds**2), y)
    under = spiegelhalter(odds**0.5 / (1 + odds**0.5), y)

    assert over.value > 0 > under.value
    assert under.p_value == pytest.approx(2 * norm.sf(-under.value), rel=1e-9)
    assert under.p_value is not None and under.p_value < 1e-6


@pytest.mark.parametrize("measure", [kolmogorov_smirnov, kuiper], ids=["ks", "kuiper"])
def test_certain_probabilities_cannot_be_tested(measure: Callable[..., Measurement]) -> None:
    """Under calibration nothing would vary, so there is no scale."""
    with pytest.raises(CalibrationError, match="every p is 0 or 1"):
        measure([0.0, 1.0], [0, 1])


def test_a_walk_that_hardly_moves_is_exceeded_for_sure() -> None:
    """The series in 1 / x^2 left the range of numbers, and gave nan for the range of the walk."""
    p, y = [1e-300, 0.5], [0, 1]

    for weights in ([1.0, 1e-14], None):
        for found in (kolmogorov_smirnov(p, y, weights=weights), kuiper(p, y, weights=weights)):
            assert found.p_value is not None and 0.0 <= found.p_value <= 1.0
    assert kuiper([1e-300], [0]).p_value == kolmogorov_smirnov([1e-300], [0]).p_value == 1.0
