"""Binned calibration errors, each with its rule, its null mean and its p-value.

A perfectly calibrated model shows an expected calibration error well above 0 on few rows (0.12
at 100 rows in 15 bins), so a value means nothing without its null. Give a `seed` to get it: the
mean over `draws` sets of outcomes drawn from the probabilities, and the share of them that reach
the value. Rows are taken as independent.

Sampling error (debiasing, the null) counts rows, not weights: weights say how much a row counts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import (
    Bins,
    EqualMass,
    EqualWidth,
    binned_sums,
    check_bins,
)
from classify.calibration.calibrated_null import against_null, residual_draws
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import (
    BLOCK,
    BinaryOutcomes,
    binary_outcomes,
    row_blocks,
    total_weight,
    weighted,
)
from classify.calibration.settings import random_source

_Statistic = Callable[[Floats], Floats]
"""From residual sums (…, bins) to values (…,)."""
_LANES = 8


def expected_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the weighted mean over bins of |rate - mean probability|.

    A weight of 2 is as two rows in the value over a given number of bins, but not in the default
    number, the null mean and the p-value, which go by the rows there are.
    """
    check_bins(bins)
    outcomes = binary_outcomes(p, y, weights)
    found, total = bins.over(outcomes.p, outcomes.w), total_weight(outcomes.w)

    def mean_gap(sums: Floats) -> Floats:
        mean: Floats = np.abs(sums).sum(axis=-1) / total
        return mean

    rule = f"ECE({bins.rule(found.count)})"
    return _measured(outcomes, found, mean_gap, rule=rule, seed=seed, draws=draws)


def maximum_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the largest |rate - mean probability| of a bin; mostly noise on few rows.

    Weights are as in expected_calibration_error.
    """
    check_bins(bins)
    outcomes = binary_outcomes(p, y, weights)
    found = bins.over(outcomes.p, outcomes.w)
    masses = binned_sums(found.index(outcomes.p), outcomes.w, found.count)
    used = masses > 0.0

    def largest_gap(sums: Floats) -> Floats:
        largest: Floats = (np.abs(sums[..., used]) / masses[used]).max(axis=-1)
        return largest

    rule = f"MCE({bins.rule(found.count)})"
    return _measured(outcomes, found, largest_gap, rule=rule, seed=seed, draws=draws)


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
    calibrated model's term still has mean 0. A row of weight 2 is not as two rows: it was drawn
    once, and its sampling variance is larger.
    """
    check_bins(bins)
    outcomes = binary_outcomes(p, y, weights)
    model, _, w = outcomes
    found = bins.over(model, w)
    index, count = found.index(model), found.count
    inside = _Debiased(
        masses=binned_sums(index, w, count),
        expected=binned_sums(index, w * model, count),
        squares=binned_sums(index, w * w, count),
        model_variance=binned_sums(index, w * w * model * (1 - model), count),
    )
    rule = f"debiased L2({bins.rule(count)})"
    return _measured(outcomes, found, inside, rule=rule, seed=seed, draws=draws)


def _measured(
    outcomes: BinaryOutcomes,
    bins: Bins,
    statistic: _Statistic,
    *,
    rule: str,
    seed: int | None,
    draws: int,
) -> Measurement:
    value = float(statistic(_residual_sums(outcomes, bins)))
    measured = Measurement(value, rule, outcomes.n)
    if seed is None:
        return measured
    random = random_source(seed)
    index = bins.index(outcomes.p)
    sums = residual_draws(outcomes, index, cells=bins.count, draws=draws, random=random)
    return against_null(measured, statistic(sums))


def _residual_sums(outcomes: BinaryOutcomes, bins: Bins) -> Floats:
    """Return the weighted sum of outcome less probability in each bin, a block at a time.

    Neighbours mostly fall into the same bin, and to add twice in a row to one number is to wait
    for the first sum. So each of a few neighbours has a row of sums of its own.
    """
    p, y, w = outcomes
    sums = np.zeros((_LANES, bins.count))
    cells, lanes = sums.reshape(-1), _lanes(bins.count)
    for rows in row_blocks(p.size):
        part = p[rows]
        cell = bins.find(part)
        cell += lanes[: cell.size]
        # By way of 32 bits, which processors convert several at once.
        residual = y[rows].astype(np.int32).astype(np.float64)
        residual -= part
        np.add.at(cells, cell, weighted(residual, w[rows]))
    total: Floats = sums.sum(axis=0)
    return total


@lru_cache(maxsize=16)
def _lanes(count: int) -> Ints:
    """Return where the sums of each row of a block begin."""
    lanes: Ints = np.arange(BLOCK, dtype=np.int64) % _LANES * count
    lanes.setflags(write=False)
    return lanes


class _Debiased:
    """The debiased statistic for bins whose weights and probabilities are known."""

    def __init__(
        self, *, masses: Floats, expected: Floats, squares: Floats, model_variance: Floats
    ) -> None:
        self._masses, self._expected, self._squares = masses, expected, squares
        self._model_variance = model_variance

    def __call__(self, sums: Floats) -> Floats:
        masses = self._masses
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
