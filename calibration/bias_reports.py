"""Habits of a judge that have nothing to do with the item: noise, order, place, length, levels.

Rows are single readings of the model: one item shown in one order. Log-probabilities are always
given in the question's own order of options.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    Floats,
    class_labels,
    finite_numbers,
    identifier_numbers,
    log_probabilities,
    same_probabilities,
)
from classify.calibration.intervals import normal_quantile
from classify.calibration.level_shares import LevelUse, level_use
from classify.calibration.measurement import Measurement, of_total
from classify.calibration.order_effects import (
    OrderSensitivity,
    PositionPreference,
    first_option_preference,
    order_sensitivity,
)
from classify.calibration.rank_correlation import checked_pairs, correlation, mid_ranks
from classify.calibration.repeat_noise import RepeatNoise, repeat_noise
from classify.calibration.settings import in_percent
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

_ROUNDING = 1e-12
"""This near to 1 a correlation is 1: what its sums leave out is no doubt that could be measured."""


@dataclass(frozen=True, slots=True)
class BiasReport(Shown):
    """What was found; None where the data to look for it was not given."""

    levels: LevelUse
    repeats: RepeatNoise | None
    """Of answers to one item, in whatever order the options were listed."""
    order: OrderSensitivity | None
    position: PositionPreference | None
    length: Measurement | None
    """Rank correlation of the score with the length, for equal human labels if those were given."""
    no_length: str = "no lengths were given"
    """Why length was not looked at, where it was not."""
    copies: int = 0
    """Rows left out because they hold the answer of another row of their state, as a resumed run
    gives them: they are no repeats and would make the judge look less noisy than it is."""

    def of(self, total: int) -> BiasReport:
        """Return the same findings, each saying how many items there were."""
        repeats, order, position = self.repeats, self.order, self.position
        return replace(
            self,
            repeats=None if repeats is None else repeats.of(total),
            order=None if order is None else order.of(total),
            position=None if position is None else position.of(total),
            length=of_total(self.length, total),
        )

    def lines(self) -> list[str]:
        """Return the report as lines to print, each finding with its rule."""
        found = self.levels.lines()
        if self.copies:
            found.append(
                f"{self.copies} rows hold a copy of another row's answer, made when a run was "
                "resumed, and are no repeats: left out"
            )
        if self.repeats:
            found += self.repeats.lines()
        elif self.order is None:
            found.append(
                "repeats: not looked at, no item was answered twice: repeat some rows in the file "
                "that is run"
            )
        if self.order:
            found += self.order.lines()
        else:
            found.append(
                "order: not looked at, no item was read in two orders: ask a readout that lists "
                "the options, such as letters, with orders: 2 or more"
            )
        if self.position:
            found += self.position.lines()
        else:
            found.append("first option: not looked at, no option was seen first and elsewhere")
        found.append(
            f"length: {self.length}" if self.length else f"length: not looked at, {self.no_length}"
        )
        return found

    def _card(self) -> Card:
        from classify.calibration.metric_cards import bias_report_card

        return bias_report_card(self)


def bias_report(
    log_p: ArrayLike,
    *,
    seed: int,
    item: ArrayLike,
    order: ArrayLike | None = None,
    position: ArrayLike | None = None,
    length: ArrayLike | None = None,
    levels: ArrayLike | None = None,
    y: ArrayLike | None = None,
) -> BiasReport:
    """Look for every habit the data can show.

    Each array has one entry per row; rows of one `item` are averaged before lengths are compared.
    Without `order` each row is an answer, and two of one item are repeats; with it they are
    readings, and two in one order are the noise beside the effect of the order.
    `levels` are the values of the options, needed for `length`: (1, 0) of a boolean, whose columns
    are true and false.
    """
    checked = log_probabilities(log_p)
    items = identifier_numbers(item, n=len(checked), name="item")
    count = int(items.max(initial=-1)) + 1
    return BiasReport(
        levels=level_use(checked, y, items=count),
        repeats=None
        if order is not None or count == len(items)
        else repeat_noise(checked, item=items, seed=seed),
        order=None
        if order is None
        else order_sensitivity(checked, item=item, order=order, seed=seed),
        position=None
        if position is None
        else first_option_preference(checked, item=item, position=position, seed=seed),
        length=None if length is None else _length(checked, item, length, levels=levels, y=y),
    )


def length_bias(
    score: ArrayLike,
    length: ArrayLike,
    *,
    actual: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Measurement:
    """Return Spearman's correlation of score and length; above 0 longer texts score higher.

    With `actual`, what people said of each item, it is the partial correlation: longer texts may
    simply be better. The interval is Fisher's with Bonett and Wright's (2000) variance; it is
    None below 6 rows, and where the ranks are the same or reversed. Raises CalibrationError where
    a side is constant, or where `actual` alone explains one side.
    """
    x, z, w = checked_pairs(score, length, weights, names=("score", "length"))
    scores, lengths = mid_ranks(x, w), mid_ranks(z, w)
    value, rule, used = correlation(scores, lengths, w), "Spearman of score and length", 3
    if actual is not None:
        labels = mid_ranks(checked_pairs(score, actual, weights, names=("score", "actual"))[1], w)
        value = _partial(value, correlation(scores, labels, w), correlation(lengths, labels, w))
        rule, used = "partial Spearman of score and length given labels", 4
    if 1.0 - abs(value) < _ROUNDING:
        return Measurement(math.copysign(1.0, value), rule, x.size)
    if x.size < used + 2:
        return Measurement(value, rule, x.size)
    error = math.sqrt((1 + value**2 / 2) / (x.size - used))
    half = normal_quantile(confidence) * error
    centre = math.atanh(value)
    p_value = math.erfc(abs(centre) / error / math.sqrt(2))
    low, high = math.tanh(centre - half), math.tanh(centre + half)
    return Measurement(
        value, f"{rule}, {in_percent(confidence)}", x.size, low, high, p_value=p_value
    )


def _partial(value: float, first: float, second: float) -> float:
    """Return a correlation for a fixed third quantity, which has these two with the sides."""
    left = (1 - first**2) * (1 - second**2)
    if left <= 1e-12:
        raise CalibrationError(
            "the partial correlation is not defined: the labels alone fix the score or the length"
        )
    return min(max((value - first * second) / math.sqrt(left), -1.0), 1.0)


def _length(
    log_p: Floats,
    item: ArrayLike,
    length: ArrayLike,
    *,
    levels: ArrayLike | None,
    y: ArrayLike | None,
) -> Measurement:
    k = log_p.shape[1]
    if levels is None:
        raise CalibrationError(
            f"levels must give the value of each of the {k} options before scores can be "
            f"compared with length"
        )
    values = finite_numbers(levels, name="levels")
    if values.shape != (k,):
        raise CalibrationError(f"levels must have the shape ({k},), got {values.shape}")
    # From the lowest level up, which ranks the same: sums around 0 have no last digits to round.
    score, lengths, _ = checked_pairs(
        np.exp(log_p) @ (values - values.min()), length, None, names=("score", "length")
    )
    labels = None if y is None else values[class_labels(y, n=len(log_p), k=k)]
    return length_bias(
        same_probabilities(_item_means(score, item)),
        _item_means(lengths, item),
        actual=None if labels is None else _item_means(labels, item),
    )


def _item_means(values: Floats, item: ArrayLike) -> Floats:
    index = np.unique(np.asarray(item), return_inverse=True)[1]
    sums: Floats = np.bincount(index, weights=values).astype(np.float64, copy=False)
    return sums / np.bincount(index)
