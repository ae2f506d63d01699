"""Answers calibrated by a fit that never saw them.

Rows of one item stay together: a row whose twin was in the fit would look better than new rows do.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.calibration.arrays import Floats, Ints, identifier_numbers
from classify.calibration.calibrators import identity
from classify.calibration.fitted import CalibrationWarning
from classify.calibration.methods import Fit
from classify.calibration.row_order import content_ranks, distinct_ranks, item_ranks
from classify.calibration.settings import random_source
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class ItemRows:
    """Checked rows and the items they belong to."""

    log_p: Floats
    y: Ints
    weights: Floats
    items: Ints
    floor: float

    @property
    def counted(self) -> int:
        """The items with a weight above zero."""
        return int(np.count_nonzero(np.bincount(self.items[self.weights > 0.0])))

    @property
    def label_counts(self) -> tuple[int, ...]:
        """The rows per option that count."""
        counts = np.bincount(self.y[self.weights > 0.0], minlength=self.log_p.shape[1])
        return tuple(counts.tolist())

    @property
    def truth_below_floor(self) -> int:
        """The rows that gave the true option less than the floor."""
        truth = self.log_p[np.arange(len(self.y)), self.y]
        return int(np.count_nonzero((truth < np.log(self.floor)) & (self.weights > 0.0)))

    def losses(self, log_p: Floats) -> Floats:
        """Return the log loss of each row, no more than that of the floor."""
        truth = log_p[np.arange(len(self.y)), self.y]
        losses: Floats = -np.maximum(truth, np.log(self.floor))
        return losses

    def mean(self, losses: Floats) -> float:
        """Return the weighted mean over rows."""
        return float(self.weights @ losses / self.weights.sum())

    def error(self, losses: Floats) -> float:
        """Return the standard error of the weighted mean, rows of an item taken as one."""
        away = self.weights * (losses - self.mean(losses))
        sums = np.bincount(self.items, weights=away)
        m = self.counted
        return float(np.sqrt(sums @ sums * m / (m - 1)) / self.weights.sum()) if m > 1 else 0.0


def item_numbers(
    groups: ArrayLike | None, *, content: Sequence[NDArray[np.generic]], weights: Floats
) -> Ints:
    """Return a number 0 … per row that says which item it belongs to, its own where None.

    Items are numbered by what their rows hold, `content` (n,) or (n, K), those without any weight
    last: neither the order of the rows nor the names of the groups matter.
    """
    rank = content_ranks(weights == 0.0, *content, weights)
    if groups is None:
        return distinct_ranks(rank)
    items = identifier_numbers(groups, n=len(rank), name="groups")
    return distinct_ranks(item_ranks(items, rank, weights))[items]


def fold_numbers(rows: ItemRows, *, folds: int, seed: int) -> Ints:
    """Deal items into folds, each with its share of every label; return the fold of each row.

    Of several labels of an item the lowest is counted. Items are shuffled by their numbers.
    """
    counted = rows.weights > 0.0
    label = np.full(int(rows.items.max(initial=-1)) + 1, rows.log_p.shape[1])
    np.minimum.at(label, rows.items[counted], rows.y[counted])
    # Those without a weight come after the others, whose folds they do not change.
    shuffled = np.arange(len(label))
    random_source(seed).shuffle(shuffled[: rows.counted])
    dealt = shuffled[np.argsort(label[shuffled], kind="stable")]
    fold = np.empty(len(label), dtype=np.int64)
    fold[dealt] = np.arange(len(label)) % folds
    return fold[rows.items]


def held_out(rows: ItemRows, fit: Fit, fold: Ints) -> Floats:
    """Return each row (n, K) as calibrated by the fit on all other folds.

    A fold whose other rows have labels of one class keeps its answers where they cannot be fitted.
    """
    result = np.empty_like(rows.log_p)
    for number in range(int(fold.max()) + 1):
        here, there = fold == number, fold != number
        try:
            # What a fit warns of is said of all rows, once, and not of each fold.
            with warnings.catch_warnings(action="ignore", category=CalibrationWarning):
                calibrator = fit(
                    rows.log_p[there], rows.y[there], weights=rows.weights[there], floor=rows.floor
                )
        except CalibrationError:
            if len(np.unique(rows.y[there & (rows.weights > 0.0)])) > 1:
                raise
            calibrator = identity(rows.log_p.shape[1])
        result[here] = calibrator.apply(rows.log_p[here])
    return result
