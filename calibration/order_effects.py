"""What the order of the options does to a judge: flips above its own noise, and the first slot.

A row is one reading: an item shown in one order. Two readings differ because the order differs or
because the judge is noisy; readings of the same order measure the noise, so only the difference
of the two speaks of the order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints, array, identifier_numbers, log_probabilities
from classify.calibration.intervals import mean_interval, wilson
from classify.calibration.measurement import Measurement, of_total
from classify.calibration.paired_intervals import told_of_unvaried
from classify.display.notebook import Shown
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class OrderSensitivity(Shown):
    """How often a new order changes the answer, beyond how often asking again does."""

    flips: Measurement
    """Chance that two readings of an item in different orders choose different options."""
    noise: Measurement | None
    """The same for one order asked twice; None where no item was read twice in one order."""
    excess: Measurement | None
    """Flips less noise over the items that have both: what the order itself does."""
    probability_excess: Measurement | None
    """The same for probabilities: half the squared distance of two readings, less noise."""

    def of(self, total: int) -> OrderSensitivity:
        """Return the same findings, each saying how many items there were."""
        return OrderSensitivity(
            flips=replace(self.flips, total=total),
            noise=of_total(self.noise, total),
            excess=of_total(self.excess, total),
            probability_excess=of_total(self.probability_excess, total),
        )

    def lines(self) -> list[str]:
        """Return the findings as lines to print."""
        noise, excess = self.noise, self.excess
        if noise is None or excess is None:
            return [
                f"order: flips {self.flips}",
                "  the noise floor is unknown, no item was read twice in one order: repeat some "
                "rows in the file that is run",
            ]
        return [f"order: flips {self.flips}", f"  noise {noise}", f"  excess {excess}"]


@dataclass(frozen=True, slots=True)
class PositionPreference(Shown):
    """What standing first does to an option."""

    preference: Measurement
    """Probability that an option gains by being shown first, against its other places."""
    slots: tuple[float, ...]
    """Mean probability of whatever option stood in each slot; 1/K each without a preference,
    if the orders are balanced."""

    def of(self, total: int) -> PositionPreference:
        """Return the same finding, saying how many items there were."""
        return replace(self, preference=replace(self.preference, total=total))

    def lines(self) -> list[str]:
        """Return the findings as lines to print."""
        slots = " ".join(f"{share:.3f}" for share in self.slots)
        return [f"first option: {self.preference}", f"  probability by slot: {slots}"]


def order_sensitivity(
    log_p: ArrayLike, *, item: ArrayLike, order: ArrayLike, seed: int
) -> OrderSensitivity:
    """Compare readings of the same item across orders and within one order.

    Each item counts once, however often it was read. For chances and for squared distances the
    noise of either order enters the comparison across orders with half its weight, so the excess
    is 0 on average for a judge that ignores the order. Where only some orders were repeated their
    noise stands for all. Intervals resample items.
    """
    log_p = log_probabilities(log_p)
    index = _codes(item, len(log_p), "item")
    cell = _cells(index, _codes(order, len(log_p), "order"))
    chosen = np.eye(log_p.shape[1])[log_p.argmax(axis=1)]
    across, within = _disagreement(chosen, index, cell)
    several, repeated = ~np.isnan(across), ~np.isnan(within)
    if not several.any():
        raise CalibrationError("no item was read in two orders, so their effect cannot be seen")
    flips = chance_over_items(across[several], "flips across orders", seed)
    if not (several & repeated).any():
        return OrderSensitivity(flips, None, None, None)
    both = several & repeated
    p_across, p_within = _disagreement(np.exp(log_p), index, cell)
    return OrderSensitivity(
        flips,
        chance_over_items(within[repeated], "flips within one order", seed),
        chance_over_items((across - within)[both], "flips above noise", seed, least=-1.0),
        mean_over_items(
            (p_across - p_within)[both], "half squared distance above noise", seed, least=-1.0
        ),
    )


def first_option_preference(
    log_p: ArrayLike, *, item: ArrayLike, position: ArrayLike, seed: int
) -> PositionPreference:
    """Compare each option's probability when shown first with its other places, within items.

    `position` (rows, K) says where each option stood, 0 for first. Options that stood only
    first, or never, within an item say nothing and are left out. Intervals resample items.
    """
    p = np.exp(log_probabilities(log_p))
    places = _positions(position, p.shape)
    index = _codes(item, len(p), "item")
    items = int(index.max()) + 1
    gains = np.full((items, p.shape[1]), np.nan)
    for option in range(p.shape[1]):
        first = places[:, option] == 0
        means = [_group_means(p[rows, option], index[rows], items) for rows in (first, ~first)]
        gains[:, option] = means[0] - means[1]
    seen = ~np.isnan(gains)
    compared = seen.any(axis=1)
    if not compared.any():
        raise CalibrationError(
            "no option was shown both first and elsewhere for the same item, so the effect of "
            "the first place cannot be told from the option itself; rotate the options"
        )
    per_item = np.where(seen, gains, 0.0)[compared].sum(axis=1) / seen[compared].sum(axis=1)
    slots = [float(p[places == slot].mean()) for slot in range(p.shape[1])]
    return PositionPreference(
        mean_over_items(per_item, "gain of the first place", seed, least=-1.0), tuple(slots)
    )


def _disagreement(vectors: Floats, item: Ints, cell: Ints) -> tuple[Floats, Floats]:
    """Return half the mean squared distance per item, across and within orders; nan if unseen."""
    size = np.bincount(cell).astype(np.float64)
    sums = np.stack([np.bincount(cell, weights=column) for column in vectors.T], axis=1)
    squares = np.bincount(cell, weights=(vectors * vectors).sum(axis=1))
    means = sums / size[:, None]
    owner = np.zeros(size.size, dtype=np.int64)
    owner[cell] = item
    items = int(item.max()) + 1
    repeated = size > 1
    spread = (squares - size * (means * means).sum(axis=1))[repeated] / (size[repeated] - 1)
    within = _group_means(spread, owner[repeated], items)
    orders = np.bincount(owner, minlength=items).astype(np.float64)
    total = np.stack(
        [np.bincount(owner, weights=column, minlength=items) for column in means.T], axis=1
    )
    own = np.bincount(owner, weights=(means * means).sum(axis=1), minlength=items)
    several = orders > 1
    pairs = np.where(several, orders * (orders - 1), np.nan)
    shared = ((total * total).sum(axis=1) - own) / pairs
    mean_square = _group_means(squares / size, owner, items)
    return np.maximum(mean_square - shared, 0.0), np.maximum(within, 0.0)


def _group_means(values: Floats, group: Ints, groups: int) -> Floats:
    """Return the mean of each group, nan where it has no rows."""
    size = np.bincount(group, minlength=groups).astype(np.float64)
    sums = np.bincount(group, weights=values, minlength=groups)
    means: Floats = sums / np.where(size > 0, size, np.nan)
    return means


def mean_over_items(values: Floats, name: str, seed: int, *, least: float) -> Measurement:
    """Return the mean of one value per item, from `least` to 1, with an interval over items.

    Resampling items that are all alike would give an interval of no width.
    """
    if values.size < 2:
        return Measurement(float(values[0]), f"{name}, one item", values.size)
    found = told_of_unvaried(mean_interval(values, seed=seed), values.size, least=least, most=1.0)
    return Measurement(found.value, f"{name}, {found.rule}", found.n, found.low, found.high)


def chance_over_items(values: Floats, name: str, seed: int, *, least: float = 0.0) -> Measurement:
    """Return the mean of one chance per item: Wilson's interval where all are 0 or all are 1."""
    if values.size > 1 and np.ptp(values) == 0.0 and values[0] in (0.0, 1.0):
        found = wilson(float(values.sum()), values.size)
        return Measurement(found.value, f"{name}, {found.rule}", found.n, found.low, found.high)
    return mean_over_items(values, name, seed, least=least)


def _cells(item: Ints, order: Ints) -> Ints:
    pair = item * (int(order.max()) + 1) + order
    cell: Ints = np.unique(pair, return_inverse=True)[1].astype(np.int64, copy=False)
    return cell


def _codes(values: ArrayLike, n: int, name: str) -> Ints:
    if n == 0:
        raise CalibrationError("log_p has no rows: the effect of an order is seen in readings")
    return identifier_numbers(values, n=n, name=name)


def _positions(position: ArrayLike, shape: tuple[int, ...]) -> Ints:
    places = array(position, name="position")
    if places.shape != shape or places.dtype.kind not in "iu":
        raise CalibrationError(
            f"position must hold whole numbers in the shape {shape}, "
            f"got {places.dtype} in the shape {places.shape}"
        )
    if (np.sort(places, axis=1) != np.arange(shape[1])).any():
        row = int(np.argmax((np.sort(places, axis=1) != np.arange(shape[1])).any(axis=1)))
        raise CalibrationError(
            f"position[{row}] must hold 0 … {shape[1] - 1} once each, got {places[row].tolist()!r}"
        )
    return places.astype(np.int64)
