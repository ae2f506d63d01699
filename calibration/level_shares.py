"""Which options a judge uses at all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints, option_rows
from classify.calibration.outcomes import class_outcomes, effective_n
from classify.calibration.settings import whole_number
from classify.display.notebook import Shown


@dataclass(frozen=True, slots=True)
class LevelUse(Shown):
    """Shares of readings per option, and the options that were never the likeliest.

    A reading is one look of the model at an item, in one order of the options; what a run gives out
    as the answer is a mean of them, and may be calibrated.
    """

    likeliest: tuple[float, ...]
    """In what share of the readings each option was the likeliest."""
    probability: tuple[float, ...]
    """The mean probability of each option."""
    actual: tuple[float, ...] | None
    """How often each option was the true one, where labels were given."""
    never: tuple[int, ...]
    """Options that were never the likeliest."""
    at_most: float
    """The largest true share at which an option is never the likeliest in so many items 5 % of the
    time."""
    n: int
    """Readings."""
    items: int
    """Items that were read: readings of one item say little more than one of them."""

    def lines(self) -> list[str]:
        """Return the shares as lines to print."""
        read = f"{self.n} readings of {self.items} items"
        lines = [
            f"likeliest option of a reading: {_row(self.likeliest)}  ({read})",
            f"  mean probability: {_row(self.probability)}",
        ]
        if self.actual is not None:
            lines.append(f"  labels: {_row(self.actual)}")
        if self.never:
            names = ", ".join(str(option) for option in self.never)
            lines.append(f"  never the likeliest: {names} (share at most {self.at_most:.1%})")
        return lines


def level_use(
    log_p: ArrayLike,
    y: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    items: int | None = None,
) -> LevelUse:
    """Return how often each option is likeliest, how probable it is, and how often it is true.

    `items` says how many items the rows are readings of; by default each is one of its own.
    """
    rows = option_rows(log_p)
    labels = np.zeros(len(rows), dtype=np.int64) if y is None else y
    outcomes = class_outcomes(rows, labels, weights)
    count = outcomes.n if items is None else whole_number(items, name="items", least=1)
    likeliest = _shares(outcomes.log_p.argmax(axis=1), outcomes.w, outcomes.k)
    mean = outcomes.w @ np.exp(outcomes.log_p) / outcomes.w.sum()
    return LevelUse(
        likeliest=likeliest,
        probability=tuple(float(p) for p in mean),
        actual=None if y is None else _shares(outcomes.y, outcomes.w, outcomes.k),
        never=tuple(option for option, share in enumerate(likeliest) if share == 0.0),
        at_most=1 - 0.05 ** (1 / min(effective_n(outcomes.w), count)),
        n=outcomes.n,
        items=count,
    )


def _shares(index: Ints, w: Floats, k: int) -> tuple[float, ...]:
    shares = np.bincount(index, weights=w, minlength=k) / w.sum()
    return tuple(float(share) for share in shares)


def _row(shares: tuple[float, ...]) -> str:
    return " ".join(f"{share:.3f}" for share in shares)
