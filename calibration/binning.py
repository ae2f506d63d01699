"""The bins of a calibration error: equal in mass over pooled ties, or equal in width.

Both are exact about edges. Rows with the same probability are never parted; of the equal-width
bins each is closed on the right, and an edge is the rational number k/m, not its float.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from classify.calibration.arrays import Floats, Ints
from classify.calibration.outcomes import is_unit
from classify.errors import CalibrationError

_SLACK = 1e-9
BLOCK = 1 << 14
"""Rows at a time that stay in the processor's cache."""
_CELLS = 4096
"""A power of two, so that the cell of a probability is exact."""


@dataclass(frozen=True, slots=True)
class EqualMass:
    """Bins that hold as near as can be the same weight; ties stay together."""

    count: int | None = None
    """How many bins; by default the cube root of the number of rows, from 2 to 15."""

    def assign(self, p: Floats, w: Floats) -> tuple[Ints, int]:
        """Return the bin of each row and the number of bins, some of which may be empty."""
        count = _at_least_one(default_bins(p.size) if self.count is None else self.count)
        if is_unit(w):
            order_p, mass = np.sort(p), np.arange(1.0, p.size + 1.0)
        else:
            order = np.argsort(p, kind="stable")
            order_p, mass = p[order], np.cumsum(w[order])
        cuts = mass_cuts(order_p, mass, count)
        # Rows up to a cut lie in the bins before it; a cut at 0 leaves those bins empty.
        edges = np.where(cuts > 0, order_p[np.maximum(cuts, 1) - 1], -1.0)
        return _search(edges, p), count

    def rule(self, count: int) -> str:
        return f"mass, m={count}"


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Bins (k/m, (k+1)/m]; the first also holds 0."""

    count: int = 15

    def assign(self, p: Floats, w: Floats) -> tuple[Ints, int]:
        """Return the bin of each row and the number of bins; weights do not matter."""
        count = _at_least_one(self.count)
        index = np.empty(p.shape, dtype=np.int64)
        for at in range(0, p.size, BLOCK):
            # The slack undoes rounding: 0.29 * 100 is 28.999999999999996, and 0.3 lies in
            # (0.2, 0.3]. Rounding towards zero keeps p = 0 in the first bin.
            index[at : at + BLOCK] = p[at : at + BLOCK] * count - _SLACK
        return index, count

    def rule(self, count: int) -> str:
        return f"width, m={count}"


def default_bins(n: int) -> int:
    """Return the cube root of the number of rows, rounded, from 2 to 15."""
    return min(max(2, round(math.cbrt(n))), 15)


def mass_cuts(order_p: Floats, mass: Floats, count: int) -> Ints:
    """Return where to cut sorted rows into `count` bins of equal mass, never within a tie.

    `mass` is the running weight. A group of ties goes to the bin its middle lies in.
    """
    total = float(mass[-1])
    targets = np.arange(1, count) * (total / count)
    row = np.minimum(np.searchsorted(mass, targets, side="right"), order_p.size - 1)
    first = np.searchsorted(order_p, order_p[row], side="left")
    after = np.searchsorted(order_p, order_p[row], side="right")
    before = np.where(first > 0, mass[np.maximum(first, 1) - 1], 0.0)
    middle = (before + mass[after - 1]) / 2
    cuts: Ints = np.where(middle < targets - _SLACK * total, after, first).astype(np.int64)
    return cuts


def binned_sums(index: Ints, values: Floats, count: int) -> Floats:
    """Return the sum of the values in each bin."""
    if is_unit(values):
        return np.bincount(index, minlength=count).astype(np.float64)
    return np.bincount(index, weights=values, minlength=count).astype(np.float64, copy=False)


def _search(edges: Floats, p: Floats) -> Ints:
    """Return how many edges lie below each p: searchsorted, by table where the cell decides."""
    bounds = np.searchsorted(edges, np.arange(_CELLS + 2) / _CELLS)
    cell = (p * _CELLS).astype(np.intp)
    index: Ints = bounds[cell].astype(np.int64, copy=False)
    undecided = np.flatnonzero((bounds[1:] != bounds[:-1])[cell])
    index[undecided] = np.searchsorted(edges, p[undecided])
    return index


def _at_least_one(count: int) -> int:
    if count < 1:
        raise CalibrationError(f"the number of bins must be at least 1, got {count!r}")
    return count
