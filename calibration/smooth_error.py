"""Smooth calibration error of Błasiok and Nakkiran (ICLR 2024), without bins.

The residuals y - p are smoothed over p with a Gaussian reflected at 0 and 1; the error at a
bandwidth is the integral of their absolute value, and smECE is the error whose bandwidth equals
it. The reflected Gaussian is the heat kernel of [0, 1] with closed ends, so the cosine transform
makes the smoothing one multiplication.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import binned_sums
from classify.calibration.calibrated_null import against_null, residual_draws
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import BinaryOutcomes, binary_outcomes, weighted
from classify.calibration.settings import finite_number, random_source, shown
from classify.errors import CalibrationError

_GRID = 4096
_HALVINGS = 16
_NULL_GRID = 256
"""Enough for a thousand null values: their mean moves by less than their spread / 100."""
_NULL_HALVINGS = 8


def smooth_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return smECE; with a `seed` also its null mean and p-value (see calibration_error).

    A weight of 2 is as two rows in the value, but not in the null mean and the p-value.
    """
    outcomes = binary_outcomes(p, y, weights)
    residuals = _on_grid(outcomes, grid=_GRID)[None, :]
    value = float(_fixed_point(residuals, halvings=_HALVINGS)[0])
    measured = Measurement(value, "smECE(reflected Gaussian, bandwidth = value)", outcomes.n)
    if seed is None:
        return measured
    drawn = residual_draws(
        outcomes,
        _cells(outcomes.p, grid=_NULL_GRID),
        cells=_NULL_GRID,
        draws=draws,
        random=random_source(seed),
    )
    null = _fixed_point(drawn / outcomes.w.sum(), halvings=_NULL_HALVINGS)
    return against_null(measured, null)


def smooth_calibration_error_at(
    p: ArrayLike, y: ArrayLike, *, bandwidth: float, weights: ArrayLike | None = None
) -> Measurement:
    """Return the smooth calibration error at a given bandwidth of the Gaussian."""
    if not 0 < finite_number(bandwidth, name="bandwidth") <= 1:
        raise CalibrationError(f"bandwidth must be above 0 and at most 1, got {shown(bandwidth)}")
    outcomes = binary_outcomes(p, y, weights)
    coefficients = _coefficients(_on_grid(outcomes, grid=_GRID)[None, :])
    value = float(_error(coefficients, np.array([bandwidth]))[0])
    return Measurement(value, f"smooth ECE(bandwidth {bandwidth:g})", outcomes.n)


def _fixed_point(residuals: Floats, *, halvings: int) -> Floats:
    """Return where error(bandwidth) = bandwidth, per row: bisection, then one secant step.

    The error falls as the bandwidth grows, so there is one such point, and it lies in [0, 1].
    """
    coefficients = _coefficients(residuals)
    low, high = np.zeros(len(residuals)), np.ones(len(residuals))
    above, below = _error(coefficients, low), _error(coefficients, high) - high
    for _ in range(halvings):
        middle = (low + high) / 2
        excess = _error(coefficients, middle) - middle
        rises = excess > 0.0
        low, above = np.where(rises, middle, low), np.where(rises, excess, above)
        high, below = np.where(rises, high, middle), np.where(rises, below, excess)
    point: Floats = low + (high - low) * above / (above - below)
    return point


def _coefficients(residuals: Floats) -> Floats:
    """Return the transform of the residuals as if mirrored at both ends, (rows, grid)."""
    from scipy.fft import dct

    transformed: Floats = dct(residuals, axis=1)
    return transformed


def _error(coefficients: Floats, bandwidth: Floats) -> Floats:
    """Return the integral of the smoothed residuals' absolute value, per row."""
    from scipy.fft import idct

    frequency = np.pi * np.arange(coefficients.shape[1], dtype=np.float64)
    # Halvings meet few bandwidths, and powers of e take longer than the transform.
    widths, own = np.unique(bandwidth, return_inverse=True)
    damped = np.exp(-0.5 * (widths[:, None] * frequency) ** 2)[own]
    damped *= coefficients
    smoothed: Floats = idct(damped, axis=1, overwrite_x=True)
    error: Floats = np.abs(smoothed, out=smoothed).sum(axis=1)
    return error


def _on_grid(outcomes: BinaryOutcomes, *, grid: int) -> Floats:
    """Return the share of the mean residual that falls in each cell of the grid."""
    p, y, w = outcomes
    cell = _cells(p, grid=grid)
    return binned_sums(cell, weighted(y - p, w), grid) / float(w.sum())


def _cells(p: Floats, *, grid: int) -> Ints:
    return np.minimum((p * grid).astype(np.int64), grid - 1)
