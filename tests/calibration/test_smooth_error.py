"""Smooth calibration error against the direct sum over reflected Gaussians."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.arrays import Floats
from classify.calibration.smooth_error import (
    smooth_calibration_error,
    smooth_calibration_error_at,
)
from classify.errors import CalibrationError


def direct(p: Floats, y: Floats, bandwidth: float) -> float:
    """Return the error by summing the kernel and its mirror images, without a transform."""
    t = (np.arange(4_000) + 0.5) / 4_000
    smoothed = np.zeros_like(t)
    for image in range(-4, 5):
        for side in (p + 2 * image, -p + 2 * image):
            kernel = np.exp(-0.5 * ((t[:, None] - side) / bandwidth) ** 2)
            smoothed += kernel @ (y - p) / (bandwidth * np.sqrt(2 * np.pi) * p.size)
    return float(np.abs(smoothed).mean())


@given(st.integers(0, 1_000), st.sampled_from([0.05, 0.1, 0.5, 1.0]))
@settings(max_examples=25, deadline=None)
def test_it_equals_the_direct_sum(seed: int, bandwidth: float) -> None:
    """The cosine transform is a faster way to the same integral."""
    random = np.random.default_rng(seed)
    p = random.random(15)
    y = (random.random(15) < 0.5).astype(np.float64)

    found = smooth_calibration_error_at(p, y, bandwidth=bandwidth)

    assert found.value == pytest.approx(direct(p, y, bandwidth), abs=2e-4)


@given(st.integers(0, 1_000))
@settings(max_examples=25, deadline=None)
def test_the_bandwidth_equals_the_value(seed: int) -> None:
    """The definition of smECE: the fixed point of the error as a function of the bandwidth."""
    random = np.random.default_rng(seed)
    p, y = random.random(40), random.integers(0, 2, 40)

    value = smooth_calibration_error(p, y).value

    again = smooth_calibration_error_at(p, y, bandwidth=value)
    assert again.value == pytest.approx(value, abs=1e-6)


def test_a_constant_forecast_shows_its_gap() -> None:
    """Reflection keeps all mass inside: smoothing a constant gap leaves it as it is."""
    found = smooth_calibration_error([0.9] * 10, [1] * 5 + [0] * 5)

    assert found.value == pytest.approx(0.4, abs=1e-9)


def test_certain_and_right_is_zero() -> None:
    """No residual, no error, no nan; and chance could do nothing else."""
    found = smooth_calibration_error([0.0, 1.0], [0, 1], seed=0)

    assert (found.value, found.null_mean, found.p_value) == (0.0, 0.0, 1.0)


def test_p_values_are_uniform_under_calibration() -> None:
    """A fifth of calibrated models have p below .2, within chance of 80 draws."""
    found: list[float] = []
    for seed in range(80):
        random = np.random.default_rng(seed)
        p = random.random(60)
        y = (random.random(60) < p).astype(np.int64)
        found.append(smooth_calibration_error(p, y, seed=seed, draws=99).p_value or 0.0)

    assert 0.05 < np.mean(np.array(found) <= 0.2) < 0.36


def test_a_bandwidth_of_nothing_is_refused() -> None:
    """Smoothing by 0 is not smoothing."""
    with pytest.raises(CalibrationError, match="bandwidth must be above 0"):
        smooth_calibration_error_at([0.5], [1], bandwidth=0.0)
