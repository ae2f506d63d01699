"""Tests of calibration without bins: cumulative differences and Spiegelhalter's z.

Under calibration the running sums of y - p in the order of p are a random walk; its largest
excursion (Kolmogorov-Smirnov) and its range (Kuiper), in units of its standard deviation, follow
the laws of Brownian motion (Arrieta-Ibarra et al. 2022, "Metrics of calibration for probabilistic
predictions"). They hold from about 50 rows. Ties in p are pooled, which can only lower the
statistics: with few distinct probabilities the p-values are cautious.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import BinaryOutcomes, binary_outcomes, weighted
from classify.errors import CalibrationError

_CERTAIN = 0.05
"""A walk so short is exceeded in all but e^-490 of cases, and 1 / x^2 has room for no less."""


def kolmogorov_smirnov(
    p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the largest |running sum of y - p|, in standard deviations, with its p-value.

    A row of weight 2 is not as two rows: it was drawn once, so it varies more than their sum.
    """
    outcomes = binary_outcomes(p, y, weights)
    walk = _scaled_walk(outcomes)
    value = float(np.abs(walk).max())
    rule = "KS of cumulative differences, scaled"
    return Measurement(value, rule, outcomes.n, p_value=brownian_maximum_tail(value))


def kuiper(p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return the range of the running sum of y - p, in standard deviations, with its p-value.

    A row of weight 2 is not as two rows: it was drawn once, so it varies more than their sum.
    """
    outcomes = binary_outcomes(p, y, weights)
    walk = _scaled_walk(outcomes)
    value = float(max(walk.max(), 0.0) - min(walk.min(), 0.0))
    rule = "Kuiper of cumulative differences, scaled"
    return Measurement(value, rule, outcomes.n, p_value=brownian_range_tail(value))


def spiegelhalter(p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return Spiegelhalter's z (1986) with its two-sided p-value.

    Above 0 the Brier score is worse than the probabilities promise (over-confidence), below 0
    better (under-confidence). A row of weight 2 is not as two rows: it was drawn once, so it
    varies more than their sum.
    """
    p_, y_, w = binary_outcomes(p, y, weights)
    lean = 1 - 2 * p_
    spread = math.sqrt(float((w * w * lean * lean * p_ * (1 - p_)).sum()))
    if spread == 0.0:
        raise CalibrationError(
            "Spiegelhalter's z is not defined: every p is 0, 0.5 or 1, so the expected Brier "
            "score does not vary; use kolmogorov_smirnov or smooth_calibration_error"
        )
    z = float((w * (y_ - p_) * lean).sum()) / spread
    two_sided = math.erfc(abs(z) / math.sqrt(2))
    return Measurement(z, "Spiegelhalter z, two-sided", p_.size, p_value=two_sided)


def brownian_maximum_tail(x: float) -> float:
    """Return P(max |B| > x) for Brownian motion B on [0, 1]."""
    if x <= _CERTAIN:
        return 1.0
    if x > 1.5:  # by reflection; the other series cancels here
        tail = sum(_sign(k) * 4 * _upper((2 * k + 1) * x) for k in range(20))
    else:
        odd = [2 * k + 1 for k in range(20)]
        tail = 1 - sum(
            _sign(k) * 4 / (math.pi * m) * math.exp(-((m * math.pi / x) ** 2) / 8)
            for k, m in enumerate(odd)
        )
    return min(max(tail, 0.0), 1.0)


def brownian_range_tail(x: float) -> float:
    """Return P(max B - min B > x) for Brownian motion B on [0, 1] (Feller 1951)."""
    if x <= _CERTAIN:
        return 1.0
    if x > 2.0:
        tail = sum(_sign(k - 1) * 8 * k * _upper(k * x) for k in range(1, 40))
    else:
        squares = [((k + 0.5) * math.pi) ** 2 for k in range(20)]
        tail = 1 - sum((8 / x**2 + 2 / s) * math.exp(-2 * s / x**2) for s in squares)
    return min(max(tail, 0.0), 1.0)


def _scaled_walk(outcomes: BinaryOutcomes) -> Floats:
    """Return the running sums at the end of each tie group, over their standard deviation."""
    p, y, w = outcomes
    scale = math.sqrt(float((weighted(weighted(p * (1 - p), w), w)).sum()))
    if scale == 0.0:
        raise CalibrationError(
            "calibration cannot be tested: every p is 0 or 1, so under calibration nothing "
            "would vary; compare accuracy with 1 instead"
        )
    order = np.argsort(p)
    sorted_p = p[order]
    last = np.append(sorted_p[1:] != sorted_p[:-1], True)
    walk: Floats = np.cumsum(weighted(y - p, w)[order])[last] / scale
    return walk


def _upper(x: float) -> float:
    """Return the upper tail of the standard normal law."""
    return 0.5 * math.erfc(x / math.sqrt(2))


def _sign(k: int) -> int:
    """Return (-1)^k."""
    return 1 - 2 * (k % 2)
