"""Calibration errors that need all options, or choose their own number of bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import EqualMass, EqualWidth, binned_sums, check_bins
from classify.calibration.calibrated_null import against_null, residual_draws
from classify.calibration.class_draws import class_draws
from classify.calibration.mass_cuts import mass_cuts
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import (
    BinaryOutcomes,
    ClassOutcomes,
    binary_outcomes,
    class_outcomes,
    option_probabilities,
    total_weight,
    weighted,
)
from classify.calibration.settings import draw_count, random_source

_CHUNK = 2_000_000


def classwise_calibration_error(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the mean over options of the one-against-the-rest ECE.

    With many options the many probabilities near 0 dominate it. Weights are as in
    expected_calibration_error.
    """
    check_bins(bins)
    outcomes = class_outcomes(log_p, y, weights)
    return classwise_error(
        option_probabilities(outcomes), outcomes, bins=bins, seed=seed, draws=draws
    )


def classwise_error(
    p: Floats,
    outcomes: ClassOutcomes,
    *,
    bins: EqualMass | EqualWidth,
    seed: int | None,
    draws: int,
) -> Measurement:
    """Return the classwise error of checked outcomes and their option_probabilities (K, n)."""
    k, w, total = outcomes.k, outcomes.w, total_weight(outcomes.w)
    laid = [bins.over(own, w) for own in p]
    count = laid[0].count
    index = np.empty(p.shape, dtype=np.int64)
    value = 0.0
    for option, own in enumerate(p):
        index[option] = laid[option].index(own)
        gaps = binned_sums(index[option], weighted((outcomes.y == option) - own, w), count)
        value += float(np.abs(gaps).sum()) / (k * total)
    measured = Measurement(value, f"classwise ECE({bins.rule(count)}, K={k})", outcomes.n)
    if seed is None:
        return measured
    drawn = class_draws(p, w, index, count=count, draws=draws, random=random_source(seed))
    return against_null(measured, np.abs(drawn).sum(axis=1) / (k * total))


def sweep_calibration_error(
    p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    seed: int | None = None,
    draws: int = 1000,
) -> Measurement:
    """Return the ECE of as many equal-mass bins as keep their rates in order (Roelofs 2022).

    The number of bins grows from 1 until the rates of the bins no longer rise. A weight of 2 is as
    two rows in the value, but not in the null mean and the p-value.
    """
    outcomes = binary_outcomes(p, y, weights)
    groups = _Groups(outcomes)
    value, count = groups.sweep(binned_sums(groups.index, groups.residual, groups.p.size))
    measured = Measurement(value, f"ECE sweep(mass, m={count})", outcomes.n)
    if seed is None:
        return measured
    random = random_source(seed)
    null: list[float] = []
    step = max(1, _CHUNK // groups.p.size)
    for start in range(0, draw_count(draws, name="draws"), step):
        rows = min(step, draws - start)
        sums = residual_draws(
            outcomes, groups.index, cells=groups.p.size, draws=rows, random=random
        )
        null.extend(groups.sweep(drawn)[0] for drawn in sums)
    return against_null(measured, np.array(null))


class _Groups:
    """Rows pooled by probability: the sweep bins these again and again."""

    def __init__(self, outcomes: BinaryOutcomes) -> None:
        p, y, w = outcomes
        self.p, self.index = np.unique(p, return_inverse=True)
        self.residual = w * (y - p)
        masses = binned_sums(self.index, w, self.p.size)
        self._mass = np.cumsum(masses)
        self._expected = _from_zero(np.cumsum(masses * self.p))
        self._masses = _from_zero(self._mass)
        self._known: dict[int, Ints] = {}

    def sweep(self, sums: Floats) -> tuple[float, int]:
        """Return the value and the number of bins for residual sums per group."""
        residuals = _from_zero(np.cumsum(sums))
        kept = self._bins(1)
        for count in range(2, self.p.size + 1):
            edges = self._bins(count)
            mass = np.diff(self._masses[edges])
            rates = np.diff(residuals[edges] + self._expected[edges]) / mass
            if (np.diff(rates) < -1e-12).any():
                break
            kept = edges
        gaps = np.abs(np.diff(residuals[kept]))
        return float(gaps.sum() / self._mass[-1]), kept.size - 1

    def _bins(self, count: int) -> Ints:
        """Return the bounds of the bins that hold anything, as positions among the groups."""
        # Every drawn set of outcomes asks for the same bins again.
        if count not in self._known:
            inner = mass_cuts(self.p, self._mass, count)
            bounds = np.unique(np.concatenate(([0], inner, [self.p.size])))
            self._known[count] = bounds.astype(np.int64)
        return self._known[count]


def _from_zero(running: Floats) -> Floats:
    return np.concatenate(([0.0], running))
