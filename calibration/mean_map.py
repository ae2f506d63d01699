"""A calibrator of scores that learns from people's means: of their ratings, not of single levels.

It maps the expected level by the isotonic mean and moves each distribution as little as can be so
that this is its mean. Labels between two levels, such as 2.4, are as good to it as whole ones.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    Floats,
    Ints,
    log_probabilities,
    numbers,
    option_rows,
    same_probabilities,
)
from classify.calibration.fitted import FLOOR, Fitted, FittedOn, check_floor, floored
from classify.calibration.ordinal import IsotonicMean, fit_isotonic_mean
from classify.calibration.settings import shown
from classify.errors import CalibrationError

_EDGE = 1e-6
"""How near a mean comes to the lowest and the highest level: at one all others would be -inf."""
_STEEPEST = 64.0
_HALVINGS = 60


class IsotonicMeanCalibrator(Fitted):
    """Gives each distribution over levels the mean that people's ratings had at its own mean."""

    method: Literal["isotonic-mean"] = "isotonic-mean"
    means: IsotonicMean

    def _mapped(self, log_p: Floats) -> Floats:
        log_q = log_probabilities(log_p)
        return with_means(log_q, self.means.apply(expected_levels(log_q)))


def fit_mean_map(
    log_p: ArrayLike,
    ratings: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    floor: float = FLOOR,
) -> IsotonicMeanCalibrator:
    """Fit the map to ratings (n,), numbers from 0 to K - 1; for 100 rated rows and more.

    Raises CalibrationError for one option and for ratings beyond the levels.
    """
    check_floor(floor)
    x = option_rows(log_p)
    k = x.shape[1]
    if k < 2:
        raise CalibrationError("a question with one option has nothing to calibrate")
    people = numbers(ratings, name="ratings")
    beyond = ~((people >= 0.0) & (people <= k - 1.0))
    if beyond.any():
        row = int(np.argmax(beyond))
        raise CalibrationError(
            f"ratings[{row}] must be a number from 0 to {k - 1}, got {shown(people.flat[row])}"
        )
    log_q = log_probabilities(floored(log_probabilities(x), floor))
    means = fit_isotonic_mean(expected_levels(log_q), people, weights=weights)
    return IsotonicMeanCalibrator(
        fitted_on=FittedOn(n=means.n, k=k, floor=floor),
        means=means,
        at_bound=min(means.curve.value) == max(means.curve.value),
    )


def expected_levels(log_p: Floats) -> Floats:
    """Return the mean level (n,) of distributions over levels 0 … K-1.

    Means that differ by the rounding of logs and sums alone are made the same.
    """
    return same_probabilities(_mean_levels(log_p))


def nearest_levels(log_p: Floats) -> Ints:
    """Return the level (n,) nearest to the mean of each distribution over levels 0 … K-1.

    Of two that are as near the higher.
    """
    nearest: Ints = np.floor(expected_levels(log_p) + 0.5).astype(np.int64)
    return nearest


def with_means(log_p: Floats, means: Floats) -> Floats:
    """Return the distributions with these means (n,) that are nearest to log_p (n, K).

    Nearest in relative entropy: p_k times exp(slope k), with the slope found by bisection. All
    levels need some probability.
    """
    levels: Floats = np.arange(log_p.shape[1], dtype=np.float64)
    wanted = np.clip(means, _EDGE, log_p.shape[1] - 1.0 - _EDGE)
    low, high = np.full(len(log_p), -_STEEPEST), np.full(len(log_p), _STEEPEST)
    for _ in range(_HALVINGS):
        slope = (low + high) / 2.0
        below = _mean_levels(log_probabilities(log_p + slope[:, None] * levels)) < wanted
        low, high = np.where(below, slope, low), np.where(below, high, slope)
    return log_probabilities(log_p + ((low + high) / 2.0)[:, None] * levels)


def _mean_levels(log_p: Floats) -> Floats:
    levels: Floats = np.arange(log_p.shape[1], dtype=np.float64)
    means: Floats = np.einsum("ij,j->i", np.exp(log_p), levels)
    return means
