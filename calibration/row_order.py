"""The order of rows by what they hold, for everything that is dealt, drawn or resampled.

A seed draws places. Where rows take their places by what they hold, the order in which somebody
wrote them down changes no fold, no interval and no p-value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classify.calibration.arrays import Floats, Ints

_TELLS_APART = 2**63
"""Contents of items are told apart by sums of random whole numbers below, which wrap around."""


def content_ranks(*content: NDArray[np.generic]) -> Ints:
    """Return the rank of each row (n,) from 0, by arrays (n,) or (n, K), the first counting most.

    Rows that hold the same have the same rank.
    """
    rank = np.zeros(len(content[0]), dtype=np.int64)
    groups = min(len(rank), 1)
    for column in (part for array in content for part in np.atleast_2d(array.T)):
        if groups == len(rank):
            break
        order = np.argsort(column) if groups == 1 else np.lexsort((column, rank))
        values = column[order]
        differs = values[1:] != values[:-1]
        if groups > 1:
            differs |= np.diff(rank[order]) > 0
        steps = np.cumsum(differs)
        rank[order[1:]], rank[order[:1]] = steps, 0
        groups = 1 + int(steps[-1])
    return rank


def by_content(*content: NDArray[np.generic]) -> Ints:
    """Return the places of the rows (n,) in the order of what they hold, see `content_ranks`."""
    return np.argsort(content_ranks(*content)).astype(np.int64, copy=False)


def distinct_ranks(rank: Ints) -> Ints:
    """Return the ranks 0 … n - 1 that part those that are the same, anyhow."""
    if rank.max(initial=-1) == len(rank) - 1:
        return rank
    distinct = np.empty_like(rank)
    distinct[np.argsort(rank)] = np.arange(len(rank))
    return distinct


def item_ranks(items: Ints, rank: Ints, weights: Floats) -> Ints:
    """Return the rank of each item by the content ranks of its rows with a weight.

    Items are numbered from 0; those that hold the same have the same rank.
    """
    counted = weights > 0.0
    first = np.full(int(items.max(initial=-1)) + 1, len(rank))
    np.minimum.at(first, items, rank)
    # A sum of numbers, one for each content, is the same in any order of an item's rows.
    number = np.random.default_rng(0).integers(_TELLS_APART, size=len(rank))
    total = np.zeros(len(first), dtype=np.int64)
    np.add.at(total, items[counted], number[rank[counted]])
    return content_ranks(first, total)
