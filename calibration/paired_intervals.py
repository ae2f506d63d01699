"""The ends of intervals that no resampling can find: of paired rates, and of what never varied.

Where few pairs differ, a bootstrap draws many samples in which none does, and claims to know more
than the pairs say: at 2 % against 1 % of 50 pairs its 95 % interval holds the difference in 64 % of
draws.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from classify.calibration.arrays import Floats
from classify.calibration.intervals import normal_quantile
from classify.calibration.measurement import Measurement
from classify.calibration.settings import open_unit, shown
from classify.errors import CalibrationError

UNVARIED = "none of n varied"
NO_PAIR_DIFFERED = "no pair differed"
"""In rules: why an interval is as wide as it is."""
_STEP = 1e-13
_ROUNDING = 1e-9
"""Beside a span, what a mean of levels may lie outside of them."""


def tango_ends(better: int, worse: int, n: int, *, confidence: float) -> tuple[float, float]:
    """Return the ends of Tango's score interval (1998) for (better - worse) / n.

    `better` of the n pairs are right in the first only, `worse` in the second only. The interval
    holds every difference that the score test does not reject.
    """
    from scipy.optimize import brentq

    z, seen = normal_quantile(confidence), (better - worse) / n

    def excess(difference: float) -> float:
        # The chance of "second only", the likeliest one given the difference (Tango's q).
        b = (2 * n - better + worse) * difference - better - worse
        c = worse * difference * (1.0 - difference)
        second_only = (math.sqrt(max(0.0, b * b + 8 * n * c)) - b) / (4 * n)
        variance = n * (2.0 * second_only + difference * (1.0 - difference))
        return (better - worse - n * difference) ** 2 - z * z * variance

    # Without a pair that differs the excess at 0 is 0, which is no end: it falls on either side.
    low = -1.0 if seen == -1.0 else float(brentq(excess, -1.0, seen - _STEP, xtol=_STEP))
    high = 1.0 if seen == 1.0 else float(brentq(excess, seen + _STEP, 1.0, xtol=_STEP))
    return low, high


def tango_rule(better: int, worse: int, *, confidence: str = "") -> str:
    """Return the rule of that interval, which says so where no pair differed."""
    rule = f"Tango's score interval{confidence}"
    return rule if better or worse else f"{rule}, {NO_PAIR_DIFFERED}"


def unvaried_mean_ends(
    mean: float, n: int, *, least: float, most: float, confidence: float
) -> tuple[float, float]:
    """Return how far the mean can be from what n values all are, each from `least` to `most`.

    If a share q of values were others, none of n would show with probability (1 - q)^n; the ends
    are those of the largest q that this leaves possible. Infinite where a value has no bound.
    """
    unseen = 1.0 - ((1.0 - open_unit(confidence, name="confidence")) / 2.0) ** (1.0 / n)
    return mean - unseen * (mean - least), mean + unseen * (most - mean)


def largest_difference(first: Floats, second: Floats, span: float | None) -> float:
    """Return the largest difference of two scores that there can be.

    That is `span`; None takes 1 for scores between 0 and 1, and no bound for others. Raises
    CalibrationError for scores that lie further apart.
    """
    values = np.concatenate([first, second])
    if span is None:
        return 1.0 if values.min() >= 0.0 and values.max() <= 1.0 else math.inf
    if np.ptp(values) > span * (1.0 + _ROUNDING):
        raise CalibrationError(
            f"span is the highest minus the lowest possible value, got {shown(span)} for values "
            f"from {values.min():g} to {values.max():g}"
        )
    return span


def told_of_unvaried(found: Measurement, n: int, *, least: float, most: float) -> Measurement:
    """Return a 95 % mean as it is, or with the ends of `unvaried_mean_ends` where it has no width.

    n: the rows or groups that were resampled; values are from `least` to `most`.
    """
    if found.low is None or found.low != found.high:
        return found
    low, high = unvaried_mean_ends(found.value, n, least=least, most=most, confidence=0.95)
    return replace(found, rule=f"{UNVARIED} 95%", low=low, high=high)
