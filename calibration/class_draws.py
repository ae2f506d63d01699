"""True options drawn from the probabilities of all options, for the null of classwise errors."""

from __future__ import annotations

import numpy as np

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import binned_sums
from classify.calibration.calibrated_null import EXACT_UP_TO, residual_draws
from classify.calibration.outcomes import BinaryOutcomes, is_unit, weighted
from classify.calibration.row_order import by_content
from classify.calibration.settings import draw_count

_CHUNK = 50_000
_MOST_CELLS = 1000
"""Sums that are drawn together as normal: the time grows with their cube, to a second for these."""
_MOST_PRODUCTS = 50_000_000
"""Rows times options squared from which the correlations are those of a part of the rows."""


def class_draws(
    p: Floats, w: Floats, bins: Ints, *, count: int, draws: int, random: np.random.Generator
) -> Floats:
    """Draw the true option of each row from p (K, n) and return the sums of w (y - p) per bin.

    `bins` (K, n) are those of each option, 0 … count - 1; sums are (draws, K * count), option after
    option. Draws are for the rows in the order of p and w, whatever order they come in.
    """
    k, n = p.shape
    if k == 2 and (bins[0] + bins[1] == count - 1).all():
        # The bins of one option are those of the other from behind, and so are the sums.
        first = BinaryOutcomes(p[0], bins[0], w)
        sums = residual_draws(first, bins[0], cells=count, draws=draws, random=random)
        return np.concatenate([sums, -sums[:, ::-1]], axis=1)
    if as_normal(n, cells=k * count, draws=draw_count(draws, name="draws")):
        return _normal_sums(p, w, bins, count=count, draws=draws, random=random)
    order = by_content(p.T, w)
    p, bins = p.take(order, axis=1), bins.take(order, axis=1)
    w = w if is_unit(w) else w[order]
    expected = [binned_sums(at, weighted(own, w), count) for own, at in zip(p, bins, strict=True)]
    drawn = _drawn_sums(p, w, bins, count=count, draws=draws, random=random)
    return drawn - np.concatenate(expected)


def as_normal(n: int, *, cells: int, draws: int) -> bool:
    """Whether sums are drawn from a normal law: more draws then take hardly more time."""
    return n * draws > EXACT_UP_TO and cells <= _MOST_CELLS


def _drawn_sums(
    p: Floats, w: Floats, bins: Ints, *, count: int, draws: int, random: np.random.Generator
) -> Floats:
    """Return the weight that falls in each bin of each option, every row drawn by itself."""
    k, n = p.shape
    cells = k * count
    cell = bins + count * np.arange(k, dtype=np.int64)[:, None]
    narrow = cell.astype(np.int16 if cells < 2**15 else np.int64)
    upper, moves = np.cumsum(p, axis=0)[:-1], np.diff(narrow, axis=0)
    sums = np.empty((draws, cells))
    step = max(1, _CHUNK // n)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        at = random.random((rows, n))
        drawn = np.repeat(narrow[:1], rows, axis=0)
        # From the cell of each option to that of the next: looking up the one drawn takes longer.
        for bound, move in zip(upper, moves, strict=True):
            drawn += (at > bound) * move
        places = drawn + cells * np.arange(rows, dtype=np.int64)[:, None]
        mass = None if is_unit(w) else np.tile(w, rows)
        found = np.bincount(places.ravel(), mass, minlength=rows * cells)
        sums[start : start + rows] = found.reshape(rows, cells)
    return sums


def _normal_sums(
    p: Floats, w: Floats, bins: Ints, *, count: int, draws: int, random: np.random.Generator
) -> Floats:
    """Return sums (draws, K * count) from the normal law that has the variances of those of rows.

    Of very many rows evenly spaced ones say how the sums of two options go together. That moves
    the mean of no absolute value, and the spread of their sum hardly.
    """
    k, n = p.shape
    squares = w if is_unit(w) else w * w
    spread = _spread(p, squares, bins, count)
    every = max(1, k * k * n // _MOST_PRODUCTS)
    part = spread
    if every > 1:
        few = by_content(p.T, w)[::every]
        p, squares, bins = p.take(few, axis=1), squares[few], bins.take(few, axis=1)
        part = _spread(p, squares, bins, count)
    covariance = np.zeros((k, count, k, count))
    for one in range(k):
        own, rows = weighted(p[one], squares), bins[one] * count
        for other in range(one):
            shared = binned_sums(rows + bins[other], own * p[other], count * count)
            covariance[one, :, other] = -shared.reshape(count, count)
    cells = k * count
    flat = covariance.reshape(cells, cells)
    scale = np.where(part > 0.0, part, 1.0)
    correlation = (flat + flat.T) / scale / scale[:, None] + np.eye(cells)
    values, axes = np.linalg.eigh(correlation)
    # The symmetric root, for it is one: neither rounding nor the sign of an axis moves it.
    root = (axes * np.sqrt(np.where(values > 1e-12, values, 0.0))) @ axes.T
    sums: Floats = random.standard_normal((draws, cells)) @ root * spread
    return sums


def _spread(p: Floats, squares: Floats, bins: Ints, count: int) -> Floats:
    """Return the standard deviations of the sums per bin, option after option."""
    variances = [
        binned_sums(at, weighted(own * (1 - own), squares), count)
        for own, at in zip(p, bins, strict=True)
    ]
    return np.sqrt(np.concatenate(variances))
