"""Where to cut rows into bins of equal mass, never within a tie.

Only the rows around a cut need to be in order, so of many rows those alone are sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classify.calibration.arrays import Floats, Ints
from classify.calibration.outcomes import BLOCK, is_unit, row_blocks

_SLACK = 1e-9
_CELLS = 4096


class _Ordered(NamedTuple):
    """Rows in order of p, with the weight of all rows before and up to each."""

    p: Floats
    before: Floats
    after: Floats
    total: float


def mass_cuts(order_p: Floats, mass: Floats, count: int) -> Ints:
    """Return where to cut sorted rows into `count` bins of equal mass, as positions.

    `mass` is the running weight. A group of ties goes to the bin its middle lies in.
    """
    before = np.concatenate(([0.0], mass[:-1]))
    first, past, stays = _groups_at_cuts(_Ordered(order_p, before, mass, float(mass[-1])), count)
    return np.where(stays, past, first)


def edges_of_mass(p: Floats, w: Floats, count: int) -> Floats:
    """Return the same cuts for rows in any order, as edges: the rows up to one lie before it."""
    rows = _all_rows(p, w) if p.size <= BLOCK else _rows_at_cuts(p, w, count)
    first, past, stays = _groups_at_cuts(rows, count)
    # No row lies between a group and the number just below it.
    return np.where(stays, rows.p[past - 1], np.nextafter(rows.p[first], -1.0))


def _groups_at_cuts(rows: _Ordered, count: int) -> tuple[Ints, Ints, NDArray[np.bool_]]:
    """Return the start and end of the tied group at each cut, and whether it stays below it."""
    targets = np.arange(1, count) * (rows.total / count)
    row = np.minimum(np.searchsorted(rows.after, targets, side="right"), rows.p.size - 1)
    first: Ints = np.searchsorted(rows.p, rows.p[row], side="left").astype(np.int64)
    past: Ints = np.searchsorted(rows.p, rows.p[row], side="right").astype(np.int64)
    middle = (rows.before[first] + rows.after[past - 1]) / 2
    return first, past, middle < targets - _SLACK * rows.total


def _all_rows(p: Floats, w: Floats) -> _Ordered:
    if is_unit(w):
        after = np.arange(1.0, p.size + 1.0)
        return _Ordered(np.sort(p), after - 1.0, after, float(p.size))
    order = np.argsort(p, kind="stable")
    after = np.cumsum(w[order])
    return _Ordered(p[order], after - w[order], after, float(after[-1]))


def _rows_at_cuts(p: Floats, w: Floats, count: int) -> _Ordered:
    """Return the rows of those cells of [0, 1] in which the running weight reaches a cut."""
    sums = np.zeros(_CELLS + 1)
    for rows in row_blocks(p.size):
        cell, part = _cells(p[rows]), w[rows]
        sums += np.bincount(cell, None if is_unit(part) else part, minlength=_CELLS + 1)
    mass = np.cumsum(sums)
    total = float(mass[-1])
    targets = np.arange(1, count) * (total / count)
    wanted = np.zeros(_CELLS + 1, dtype=np.bool_)
    # Rounding of sums may put a cut at the end of a cell or at the start of the next.
    for side in (targets - _SLACK * total, targets + _SLACK * total):
        wanted[np.minimum(np.searchsorted(mass, side, side="right"), _CELLS)] = True
    near = np.concatenate(
        [rows.start + np.flatnonzero(wanted[_cells(p[rows])]) for rows in row_blocks(p.size)]
    )
    found = _all_rows(p[near], w[: near.size] if is_unit(w) else w[near])
    left_out = np.cumsum(np.where(wanted, 0.0, sums))[_cells(found.p)]
    return _Ordered(found.p, found.before + left_out, found.after + left_out, total)


def _cells(p: Floats) -> Ints:
    return (p * _CELLS).astype(np.int64)
