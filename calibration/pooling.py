"""Tied scores taken together, and the isotonic blocks over them.

Ties are pooled before anything else: a fit that sorts them by label gives two answers for one
score.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from classify.calibration.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Pooled:
    """Rows of equal score as one: ascending scores with their weights and target sums."""

    scores: Floats
    weights: Floats
    sums: Floats
    """The sum over tied rows of weight * target."""


def pooled(scores: Floats, targets: Floats, weights: Floats) -> Pooled:
    """Pool rows of equal score."""
    if not len(scores):
        return Pooled(scores, weights, weights)
    order = np.argsort(scores)
    ascending = scores[order]
    starts = np.flatnonzero(np.concatenate([[True], ascending[1:] != ascending[:-1]]))
    weights, sums = weights[order], (weights * targets)[order]
    if len(starts) == len(scores):
        return Pooled(ascending, weights, sums)
    return Pooled(
        ascending[starts], np.add.reduceat(weights, starts), np.add.reduceat(sums, starts)
    )


def pooled_labels(p: Floats, y: Ints | NDArray[np.bool_], weights: Floats) -> Pooled:
    """Pool rows of equal probability that came true or did not.

    Rows of weight 1 are sorted as one number each, for the bits of 0 … 1 are in order and leave
    room for the label: that takes half the time of finding an order and putting three arrays
    into it.
    """
    if not (weights == 1.0).all():
        return pooled(p, y.astype(np.float64), weights)
    both = (p + 0.0).view(np.int64)  # without -0.0
    both <<= 1
    both |= y
    both.sort()
    labels = both & 1
    both >>= 1
    ascending = both.view(np.float64)
    first = np.append(True, both[1:] != both[:-1])
    if first.all():
        return Pooled(ascending, weights, labels.astype(np.float64))
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=len(p)).astype(np.float64)
    sums = np.add.reduceat(labels, starts).astype(np.float64)
    return Pooled(ascending[starts], sizes, sums)


def isotonic_edges(rows: Pooled) -> Ints:
    """Return where the blocks of the increasing least-squares fit begin, and the end (b + 1,)."""
    from scipy.optimize import isotonic_regression

    if not len(rows.scores):
        return np.zeros(1, dtype=np.int64)
    fit = isotonic_regression(rows.sums / rows.weights, weights=rows.weights)
    return np.asarray(fit.blocks, dtype=np.int64)
