"""Spearman's and Kendall's rank correlations, weighted: a weight of 2 is as two equal rows."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints, numbers
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import is_unit, row_weights
from classify.errors import CalibrationError

_FEW = 8
"""Rows whose orders are all counted: 40,320 at most. Student's p-value of 4 to 8 rows in perfect
order is 0, and of others up to twelve times too small."""
_CONSTANT = "a rank correlation is not defined: one side has the same value in every row"


def spearman(x: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return the correlation of mid-ranks; without weights also the two-sided p-value.

    It is the share of all orders of y with as strong a correlation, above 8 rows Student's.
    Raises CalibrationError where either side is constant.
    """
    first, second, w = checked_pairs(x, y, weights)
    ranks, others = mid_ranks(first, w), mid_ranks(second, w)
    value = correlation(ranks, others, w)
    p_value = None
    if weights is None and first.size > 2:
        p_value = (
            _share_of_orders(ranks, others)
            if first.size <= _FEW
            else _student_two_sided(value, degrees=first.size - 2)
        )
    return Measurement(value, "Spearman, mid-ranks", first.size, p_value=p_value)


def kendall_tau_b(x: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return tau-b, which corrects for ties; without weights also the asymptotic p-value.

    Raises CalibrationError where either side is constant.
    """
    first, second, w = checked_pairs(x, y, weights)
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        raise CalibrationError(_CONSTANT)
    if weights is not None or first.size < 3:
        value = _weighted_tau_b(_ranks(first), _ranks(second), w)
        return Measurement(value, "Kendall tau-b", first.size)
    from scipy.stats import kendalltau

    found = kendalltau(first, second, method="asymptotic")
    p_value = float(found.pvalue)
    return Measurement(float(found.statistic), "Kendall tau-b", first.size, p_value=p_value)


def _weighted_tau_b(ranks_x: Ints, ranks_y: Ints, w: Floats) -> float:
    pair = ranks_x * (int(ranks_y.max()) + 1) + ranks_y
    order = np.argsort(pair)
    ranks_x, ranks_y, w = ranks_x[order], ranks_y[order], w[order]
    # Counting by rank needs no order, and ranks have no gaps.
    mass_y = np.bincount(ranks_y, weights=w)
    total, tied_y = float(w.sum()) ** 2, float(mass_y @ mass_y)
    tied_x, tied_both = _tied(ranks_x, w), _tied(pair[order], w)
    # Twice: concordant + discordant pairs, each counted in both directions.
    decided = total - tied_x - tied_y + tied_both
    difference = decided - 4 * _inversions(ranks_y, w)
    value = difference / math.sqrt((total - tied_x) * (total - tied_y))
    return min(max(value, -1.0), 1.0)


def mid_ranks(x: Floats, w: Floats) -> Floats:
    """Return the weight below each value plus half the weight of its ties."""
    index = _ranks(x)
    mass = np.bincount(index, weights=w).astype(np.float64, copy=False)
    ranks: Floats = (np.cumsum(mass) - mass / 2)[index]
    return ranks


def correlation(x: Floats, y: Floats, w: Floats) -> float:
    """Return the weighted Pearson correlation; CalibrationError where a side is constant."""
    if np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        raise CalibrationError(_CONSTANT)
    total = float(w.sum())
    dx, dy = x - float(x @ w) / total, y - float(y @ w) / total
    # First to 1 at most, so that no square of a tiny deviation vanishes.
    dx, dy = dx / (np.abs(dx).max() or 1.0), dy / (np.abs(dy).max() or 1.0)
    spread = math.sqrt(float(w @ dx**2)) * math.sqrt(float(w @ dy**2))
    if spread == 0.0:  # all weight lies on one value
        raise CalibrationError(_CONSTANT)
    return min(max(float(w @ (dx * dy)) / spread, -1.0), 1.0)


def checked_pairs(
    x: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None,
    *,
    names: tuple[str, str] = ("x", "y"),
) -> tuple[Floats, Floats, Floats]:
    """Return two finite values per row and the weights; rows of weight zero are dropped."""
    first, second = numbers(x, name=names[0]), numbers(y, name=names[1])
    if first.ndim != 1 or first.size == 0 or first.shape != second.shape:
        raise CalibrationError(
            f"{names[0]} and {names[1]} must be equally long and not empty, "
            f"got the shapes {first.shape} and {second.shape}"
        )
    for name, side in zip(names, (first, second), strict=True):
        # Too large a number for a square is one like any other: most of this is about ranks.
        if not np.isfinite(side).all():
            row = int(np.argmin(np.isfinite(side)))
            raise CalibrationError(f"{name}[{row}] must be finite, got {float(side[row])!r}")
    w = row_weights(weights, n=first.size)
    if is_unit(w) or w.all():
        return first, second, w
    kept = w > 0.0
    return first[kept], second[kept], w[kept]


def _ranks(x: Floats) -> Ints:
    """Return 0 for the least value, 1 for the next, and so on; ties share."""
    order = np.argsort(x)
    ordered = x[order]
    ranks = np.empty(x.size, dtype=np.int64)
    ranks[order] = np.cumsum(np.append(False, ordered[1:] != ordered[:-1]))
    return ranks


def _tied(ordered: Ints, w: Floats) -> float:
    """Return the sum of squares of the weights of equal neighbours."""
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    mass = np.add.reduceat(w, starts)
    return float(mass @ mass)


def _inversions(ranks: Ints, w: Floats) -> float:
    """Return the summed w_i w_j over i before j with a higher rank, in n log(ranks) steps.

    Two ranks part at the highest bit in which they differ; bit by bit, rows with a 1 that
    precede rows with a 0 of the same higher bits are the inversions decided there.
    """
    found = 0.0
    for bit in reversed(range(int(ranks.max()).bit_length())):
        ones = np.where(ranks >> bit & 1, w, 0.0)
        running = np.cumsum(ones)
        prefix = ranks >> (bit + 1)
        starts = np.append(True, prefix[1:] != prefix[:-1])
        before = np.maximum.accumulate(np.where(starts, running - ones, 0.0))
        found += float(((running - before) * (w - ones)).sum())
        if bit:
            order = np.argsort(ranks >> bit, kind="stable")
            ranks, w = ranks[order], w[order]
    return found


def _share_of_orders(x: Floats, y: Floats) -> float:
    """Return the share of the orders of y that correlate with x at least as strongly, either way.

    Twice a mid-rank is a whole number, so covariances are compared without rounding.
    """
    dx, dy = 2 * x.size * x - 2 * x.sum(), 2 * y.size * y - 2 * y.sum()
    orders: Ints = np.array(list(permutations(range(y.size))), dtype=np.int64)
    covariances: Floats = dy[orders] @ dx
    return float(np.mean(np.abs(covariances) >= abs(float(dx @ dy))))


def _student_two_sided(r: float, *, degrees: int) -> float:
    from scipy.special import stdtr

    if abs(r) == 1.0:
        return 0.0
    t = abs(r) * math.sqrt(degrees / (1 - r * r))
    return float(2 * stdtr(degrees, -t))
