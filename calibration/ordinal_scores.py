"""Scores for answers on an ordered scale, against the level or value people gave.

Rank correlations are in rank_correlation; quadratic kappa is with the other kappas in agreement.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, finite_numbers
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import (
    ClassOutcomes,
    class_outcomes,
    total_weight,
    weighted,
)
from classify.calibration.rank_correlation import checked_pairs


def ranked_probability_score(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean ranked probability score divided by K - 1, from 0 to 1; 0 for K = 1.

    The sum over levels k < K of (P(level <= k) - 1[y <= k])^2 (Epstein 1969).
    """
    outcomes = class_outcomes(log_p, y, weights)
    losses = rps_losses(outcomes)
    value = float(losses @ outcomes.w / outcomes.w.sum()) / max(outcomes.k - 1, 1)
    return Measurement(value, "RPS / (K - 1)", outcomes.n)


def summed_ranked_probability_score(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean ranked probability score, not divided: from 0 to K - 1."""
    outcomes = class_outcomes(log_p, y, weights)
    value = float(rps_losses(outcomes) @ outcomes.w / outcomes.w.sum())
    return Measurement(value, "RPS, sum over levels", outcomes.n)


def mean_absolute_error(
    predicted: ArrayLike, actual: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean distance between two values per row, in their unit."""
    x, y, w = checked_pairs(
        finite_numbers(predicted, name="predicted"),
        finite_numbers(actual, name="actual"),
        weights,
        names=("predicted", "actual"),
    )
    distance = x - y
    np.abs(distance, out=distance)
    return Measurement(float(weighted(distance, w).sum()) / total_weight(w), "MAE", x.size)


def rps_losses(outcomes: ClassOutcomes) -> Floats:
    """Return the summed squared difference of the cumulative distributions, per row."""
    cumulative = np.zeros(outcomes.n)
    losses = np.zeros(outcomes.n)
    # Level by level: whole-vector steps are several times faster than rows of a few numbers.
    for level in range(outcomes.k - 1):
        cumulative += np.exp(outcomes.log_p[:, level])
        losses += (cumulative - (outcomes.y <= level)) ** 2
    return losses
