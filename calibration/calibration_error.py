"""Binned calibration errors, each with its rule, its null mean and its p-value.

A perfectly calibrated model shows an expected calibration error well above 0 on few rows (0.12
at 100 rows in 15 bins), so a value means nothing without its null. Give a `seed` to get it: the
mean over `draws` sets of outcomes drawn from the probabilities, and the share of them that reach
the value. Rows are taken as independent.

Sampling error (debiasing, the null) counts rows, not weights: weights say how much a row counts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import BLOCK, EqualMass, EqualWidth, binned_sums
from classify.calibration.calibrated_null import against_null, residual_draws
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import BinaryOutcomes, binary_outcomes, weighted

_Statistic = Callable[[Floats, Floats], Floats]
"""From residual sums (…, bins) and bin weights (bins,) to values (…,)."""


def expected_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the weighted mean over bins of |rate - mean probability|."""
    outcomes = binary_outcomes(p, y, weights)
    return _binned(outcomes, _mean_gap, name="ECE", bins=bins, seed=seed, draws=draws)


def maximum_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the largest |rate - mean probability| of a bin; mostly noise on few rows."""
    outcomes = binary_outcomes(p, y, weights)
    return _binned(outcomes, _largest_gap, name="MCE", bins=bins, seed=seed, draws=draws)


def debiased_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the root mean squared gap less its sampling variance, or 0 (Kumar et al. 2019).

    A bin of one row has no variance of its own; the model's p (1 - p) stands in, so that a
    calibrated model's term still has mean 0.
    """
    outcomes = binary_outcomes(p, y, weights)
    index, count = bins.assign(outcomes.p, outcomes.w)
    model, _, w = outcomes
    inside = _Debiased(
        expected=binned_sums(index, w * model, count),
        squares=binned_sums(index, w * w, count),
        model_variance=binned_sums(index, w * w * model * (1 - model), count),
    )
    return _binned(outcomes, inside, name="debiased L2", bins=bins, seed=seed, draws=draws)


def _binned(
    outcomes: BinaryOutcomes,
    statistic: _Statistic,
    *,
    name: str,
    bins: EqualMass | EqualWidth,
    seed: int | None,
    draws: int,
) -> Measurement:
    p, _, w = outcomes
    index, count = bins.assign(p, w)
    masses = binned_sums(index, w, count)
    value = float(statistic(_residual_sums(outcomes, index, count), masses))
    measured = Measurement(value, f"{name}({bins.rule(count)})", outcomes.n)
    if seed is None:
        return measured
    random = np.random.default_rng(seed)
    sums = residual_draws(outcomes, index, cells=count, draws=draws, random=random)
    return against_null(measured, statistic(sums, masses))


def _residual_sums(outcomes: BinaryOutcomes, index: Ints, count: int) -> Floats:
    """Return the weighted sum of outcome less probability in each bin, a block at a time."""
    p, y, w = outcomes
    sums = np.zeros(count)
    for at in range(0, p.size, BLOCK):
        rows = slice(at, at + BLOCK)
        sums += np.bincount(index[rows], weighted(y[rows] - p[rows], w[rows]), minlength=count)
    return sums


def _mean_gap(sums: Floats, masses: Floats) -> Floats:
    mean: Floats = np.abs(sums).sum(axis=-1) / masses.sum()
    return mean


def _largest_gap(sums: Floats, masses: Floats) -> Floats:
    used = masses > 0.0
    largest: Floats = (np.abs(sums[..., used]) / masses[used]).max(axis=-1)
    return largest


class _Debiased:
    """The debiased statistic for bins whose weights and probabilities are known."""

    def __init__(self, *, expected: Floats, squares: Floats, model_variance: Floats) -> None:
        self._expected, self._squares = expected, squares
        self._model_variance = model_variance

    def __call__(self, sums: Floats, masses: Floats) -> Floats:
        used = masses > 0.0
        mass = masses[used]
        rate = np.clip((self._expected[used] + sums[..., used]) / mass, 0.0, 1.0)
        # The variance of a weighted mean of n rows is s v, s = sum w^2 / (sum w)^2 = 1/n for
        # equal weights; rate (1 - rate) falls short of v by the factor 1 - s.
        s = self._squares[used] / mass**2
        single = s > 1.0 - 1e-9
        own = rate * (1 - rate) * s / np.where(single, 1.0, 1.0 - s)
        variance = np.where(single, self._model_variance[used] / mass**2, own)
        terms = mass * ((sums[..., used] / mass) ** 2 - variance)
        root: Floats = np.sqrt(np.maximum(terms.sum(axis=-1) / mass.sum(), 0.0))
        return root
