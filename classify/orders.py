"""Combine what several listings of the options gave: log mean, bounds, how much they differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classify.logspace import Floats, log_normalize, safe_log


@dataclass(frozen=True, slots=True)
class Combined:
    """One distribution out of several."""

    log_p: Floats
    """(K,) normalised."""
    lower: Floats
    upper: Floats
    flips: int
    """Orders whose most probable option differs from the first order's."""
    total_variation: float
    """Mean over all pairs of orders, in [0, 1]."""


def combine(p: Floats, lower: Floats, upper: Floats) -> Combined:
    """Return the normalised geometric mean of distributions (orders, K) over the same options.

    It cancels whatever each position adds to every option's log mass. Its bounds are those of
    the geometric means of the bounds, each option at one end and all others at the opposite one.
    An option that one order gave no probability at all has none here, within its bounds. Where
    that is so of every option, the plain mean stands in, and the bounds are those of either mean.
    """
    if len(p) == 1:
        return Combined(safe_log(p[0]), lower[0], upper[0], 0, 0.0)
    log_p = log_normalize(safe_log(p).mean(axis=0))
    low, high = np.exp(safe_log(lower).mean(axis=0)), np.exp(safe_log(upper).mean(axis=0))
    least, most = _share(low, high.sum() - high), _share(high, low.sum() - low)
    if np.isneginf(log_p).all():
        log_p = safe_log(p.mean(axis=0))
        least, most = np.minimum(least, lower.mean(axis=0)), np.maximum(most, upper.mean(axis=0))
    top = p.argmax(axis=1)
    return Combined(log_p, least, most, int((top != top[0]).sum()), _mean_total_variation(p))


def expectation_range(lower: Floats, upper: Floats) -> tuple[float, float]:
    """Return the least and the greatest sum of k p_k with lower <= p <= upper and sum 1."""
    return (
        _extreme(lower, upper, np.arange(len(lower))),
        _extreme(lower, upper, np.arange(len(lower))[::-1]),
    )


def _share(part: Floats, others: Floats) -> Floats:
    whole = part + others
    result: Floats = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0)
    return np.clip(result, 0.0, 1.0)


def _extreme(lower: Floats, upper: Floats, levels: NDArray[np.int64]) -> float:
    # What is left above the lower bounds goes to the first levels in turn, as far as they take it.
    p = lower.copy()
    left = 1.0 - p.sum()
    for level in levels:
        more = min(max(left, 0.0), upper[level] - p[level])
        p[level] += more
        left -= more
    return float(p @ np.arange(len(p)))


def _mean_total_variation(p: Floats) -> float:
    pairs = [
        0.5 * float(np.abs(p[i] - p[j]).sum()) for i in range(len(p)) for j in range(i + 1, len(p))
    ]
    return float(np.mean(pairs))
