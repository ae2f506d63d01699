"""The bins of a calibration error: equal in mass over pooled ties, or equal in width.

Both are exact about edges. Rows with the same probability are never parted; of the equal-width
bins each is closed on the right, and an edge is the rational number k/m, not its float.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classify.calibration.arrays import Floats, Ints
from classify.calibration.mass_cuts import edges_of_mass
from classify.calibration.outcomes import is_unit, row_blocks
from classify.calibration.settings import of_type, whole_number

_MOST_BINS = 1_000_000
_SLACK = 1e-12
_CELLS = 4096
"""A power of two, so that the cell of a probability is exact."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Bins laid over the probabilities of some rows."""

    find: Callable[[Floats], Ints]
    """From probabilities among those rows to the bin of each."""
    count: int
    """How many there are, some of which may be empty."""

    def index(self, p: Floats) -> Ints:
        """Return the bin of each row."""
        index = np.empty(p.shape, dtype=np.int64)
        for rows in row_blocks(p.size):
            index[rows] = self.find(p[rows])
        return index


@dataclass(frozen=True, slots=True)
class EqualMass:
    """Bins that hold as near as can be the same weight; ties stay together."""

    count: int | None = None
    """How many bins; by default the cube root of the number of rows, from 2 to 15.

    A row of weight 2 is one row there, though the bins share out its weight as that of two.
    """

    def over(self, p: Floats, w: Floats) -> Bins:
        """Return the bins for these rows."""
        count = _at_least_one(default_bins(p.size) if self.count is None else self.count)
        return Bins(_between(edges_of_mass(p, w, count)), count)

    def assign(self, p: Floats, w: Floats) -> tuple[Ints, int]:
        """Return the bin of each row and the number of bins, some of which may be empty."""
        bins = self.over(p, w)
        return bins.index(p), bins.count

    def rule(self, count: int) -> str:
        return f"mass, m={count}"


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """Bins (k/m, (k+1)/m]; the first also holds 0."""

    count: int = 15

    def over(self, p: Floats, w: Floats) -> Bins:
        """Return the bins; neither rows nor weights matter."""
        # The slack undoes rounding: 0.29 * 100 is 28.999999999999996, and 0.3 lies in
        # (0.2, 0.3]. Rounding towards zero keeps p = 0 in the first bin.
        scale = _at_least_one(self.count) * (1.0 - _SLACK)
        return Bins(lambda part: _wide((part * scale).astype(np.int32)), self.count)

    def assign(self, p: Floats, w: Floats) -> tuple[Ints, int]:
        """Return the bin of each row and the number of bins, some of which may be empty."""
        bins = self.over(p, w)
        return bins.index(p), bins.count

    def rule(self, count: int) -> str:
        return f"width, m={count}"


def check_bins(bins: object) -> None:
    """Raise CalibrationError for what is no rule: a number does not say which bins are meant."""
    count = bins if isinstance(bins, int) and not isinstance(bins, bool) else "count"
    of_type(
        bins,
        (EqualMass, EqualWidth),
        name="bins",
        what=f"EqualWidth({count}) or EqualMass({count})",
    )


def default_bins(n: int) -> int:
    """Return the cube root of the number of rows, rounded, from 2 to 15."""
    return min(max(2, round(math.cbrt(n))), 15)


def binned_sums(index: Ints, values: Floats, count: int) -> Floats:
    """Return the sum of the values in each bin."""
    if is_unit(values):
        return np.bincount(index, minlength=count).astype(np.float64)
    return np.bincount(index, weights=values, minlength=count).astype(np.float64, copy=False)


def _between(edges: Floats) -> Callable[[Floats], Ints]:
    """Return what finds how many edges lie below each p: by table where its cell decides."""
    below = np.searchsorted(edges, np.arange(_CELLS + 2) / _CELLS)
    known = np.where(below[1:] == below[:-1], below[:-1], -1).astype(np.int64)

    def find(p: Floats) -> Ints:
        index: Ints = known[(p * _CELLS).astype(np.int64)]
        unknown = np.flatnonzero(index < 0)
        index[unknown] = np.searchsorted(edges, p[unknown])
        return index

    return find


def _wide(narrow: NDArray[np.int32]) -> Ints:
    # By way of 32 bits, for processors convert several numbers to and from these at once.
    return narrow.astype(np.int64)


def _at_least_one(count: int) -> int:
    return whole_number(count, name="the number of bins", least=1, most=_MOST_BINS)
