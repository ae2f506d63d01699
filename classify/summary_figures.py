"""The few statistics that a run's summary needs, in closed form.

The thorough ones, with their uncertainty, are in classify.calibration.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution: intervals cover 95 %."""


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean, and how many rows it is over."""

    value: float
    n: int
    """Over how many."""


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of rows, with its 95 % interval (Wilson 1927)."""

    value: float
    low: float
    """Lower end of its 95 % Wilson interval."""
    high: float
    """Upper end."""
    count: int
    n: int
    """Out of how many."""


def mean(values: Sequence[float]) -> Mean | None:
    """Return the mean, None where there are no values."""
    return Mean(math.fsum(values) / len(values), len(values)) if values else None


def proportion(count: int, n: int) -> Proportion | None:
    """Return count / n with its interval, None for n = 0."""
    if n == 0:
        return None
    p = count / n
    centre = (p + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * math.sqrt(p * (1 - p) / n + _Z**2 / (4 * n * n))
    # Rounding must not leave 0 or 1 outside where no row, or every row, counts.
    low = 0.0 if count == 0 else max(0.0, centre - half)
    high = 1.0 if count == n else min(1.0, centre + half)
    return Proportion(p, low, high, count, n)


def auroc(scores: Sequence[float], truths: Sequence[bool]) -> float | None:
    """Return the chance that a true row scores above a false one, ties counting half.

    None where the rows are all true or all false.
    """
    score, truth = np.asarray(scores, dtype=np.float64), np.asarray(truths, dtype=np.bool_)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return None
    _, place, counts = np.unique(score, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(counts) - (counts - 1) / 2
    rank_sum = float(mean_rank[place][truth].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Pearson's correlation, None where a side does not vary."""
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    # Asked of the values: the mean of equal ones may differ from them by rounding.
    if len(x) < 2 or not np.ptp(x) or not np.ptp(y):
        return None
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x) * float(y @ y))
    return float(np.clip(float(x @ y) / scale, -1.0, 1.0)) if scale > 0.0 else None
