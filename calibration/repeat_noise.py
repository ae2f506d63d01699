"""How far two answers to the same item lie apart: what a judge varies by itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints, identifier_numbers, log_probabilities
from classify.calibration.measurement import Measurement
from classify.calibration.order_effects import chance_over_items, mean_over_items
from classify.display.notebook import Shown
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class RepeatNoise(Shown):
    """How much the answer changes when the same is asked again."""

    distance: Measurement
    """Total variation of two answers to one item, 0..1: the most that a probability can move."""
    flips: Measurement
    """Chance that two answers to one item choose different options."""

    def of(self, total: int) -> RepeatNoise:
        """Return the same findings, each saying how many items there were."""
        return RepeatNoise(replace(self.distance, total=total), replace(self.flips, total=total))

    def lines(self) -> list[str]:
        """Return the findings as lines to print."""
        return [f"repeats: distance {self.distance}", f"  flips {self.flips}"]


def repeat_noise(log_p: ArrayLike, *, item: ArrayLike, seed: int) -> RepeatNoise:
    """Compare the answers to each item that was answered more than once.

    Log-probabilities (n, K). All pairs of answers to an item are compared, and each item counts
    once, however often it was answered. Intervals resample items. Raises CalibrationError where
    no item has two rows.
    """
    checked = log_probabilities(log_p)
    index = identifier_numbers(item, n=len(checked), name="item")
    if len(np.unique(index)) == len(index):
        raise CalibrationError("no item was answered twice, so the noise cannot be seen")
    chosen = np.eye(checked.shape[1])[checked.argmax(axis=1)]
    return RepeatNoise(
        mean_over_items(
            _distances(np.exp(checked), index),
            "total variation of two answers to one item",
            seed,
            least=0.0,
        ),
        chance_over_items(_distances(chosen, index), "flips of two answers to one item", seed),
    )


def _distances(p: Floats, item: Ints) -> Floats:
    """Return the mean total variation of two rows of each item that has several."""
    size = np.bincount(item)
    first = np.cumsum(size) - size
    apart = np.zeros(size.size)
    for column in p.T:
        order = np.lexsort((column, item))
        owner = item[order]
        # Of m sorted numbers the sum of |x_i - x_j| over pairs is that of (2 i - m + 1) x_i.
        place = np.arange(len(order)) - first[owner]
        apart += np.bincount(owner, weights=(2 * place - size[owner] + 1) * column[order])
    several = size > 1
    pairs = size[several] * (size[several] - 1) / 2
    distances: Floats = np.maximum(apart[several] / 2 / pairs, 0.0)
    return distances
