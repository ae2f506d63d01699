"""Raters against one another: confusion, agreement beyond chance, and the corrected rate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.calibration.agreement import Confusion, cohen_kappa, confusion
from classify.calibration.annotator_test import AltTest, alt_test
from classify.calibration.arrays import Floats, Ints, identifier_numbers, sample_weights
from classify.calibration.estimate import Estimate
from classify.calibration.rater_agreement import Metric, gwet_ac, krippendorff_alpha
from classify.calibration.ratings import (
    MISSING,
    Level,
    Scheme,
    level_indices,
    rater_indices,
)
from classify.calibration.settings import not_negative, of_type, shown
from classify.calibration.true_rates import TrueRate
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card


@dataclass(frozen=True, slots=True)
class JudgeReport(Shown):
    """How far ratings agree; None where a number is not defined, with the reason in `notes`."""

    raters: tuple[str, ...]
    """Their names, in order."""
    confusion: Confusion | None
    """Of two raters: rows are the second, columns the first. Of a judge and people, as in every
    confusion, people are in rows and the judge is in columns."""
    kappa: Estimate | None
    """Of two raters."""
    alpha: Estimate | None
    """Krippendorff's."""
    ac: Estimate | None
    """Gwet's AC1, or AC2 of ordered levels."""
    replacing: AltTest | None
    """Whether the first rater may replace one of the others, where that was asked."""
    notes: tuple[str, ...]
    """Why a number is missing, in sentences."""
    rate: TrueRate | None = None
    """For a judge of yes and no: how often yes is true."""
    verdicts: str = ""
    """How a judge's verdicts follow from its answers, where it gave more than verdicts."""

    def lines(self) -> list[str]:
        """Return the report as lines to print, each number with "n used of N"."""
        found = [f"raters: {', '.join(self.raters)}", *[self.verdicts] * bool(self.verdicts)]
        if self.confusion is not None:
            found.append("confusion:")
            found += [f"  {line}" for line in str(self.confusion).splitlines()]
        numbers = (self.kappa, self.alpha, self.ac, self.replacing, self.rate)
        return [*found, *(str(each) for each in numbers if each is not None), *self.notes]

    def _card(self) -> Card:
        from classify.calibration.metric_cards import judge_report_card

        return judge_report_card(self)


def judge_report(
    ratings: Mapping[str, Sequence[Level | None]],
    *,
    levels: Sequence[Level],
    ordered: bool,
    epsilon: float | None = None,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> JudgeReport:
    """Return the agreement of raters, name -> one rating per item, None where there is none.

    Where the levels are `ordered`, kappa and AC have quadratic weights and alpha is ordinal.
    With `epsilon`, what a person's time is worth, the first rater is tested against the others:
    may it replace one of them (see alt_test). `weights` repeat items, one for each. Entries with
    the same value in `groups` are one item, read several times: it counts once, its entries in
    equal parts.

    Raises CalibrationError for fewer than two raters, for a rating that is no level, where no item
    has two ratings, and for different weights where a replacement is asked for.
    """
    of_type(ratings, Mapping, name="ratings", what="a mapping of raters to lists of ratings")
    of_type(ordered, bool, name="ordered", what="True or False")
    names = tuple(ratings)
    if len(names) < 2:
        raise CalibrationError(f"ratings must be of at least two raters, got {list(names)!r}")
    for name, said in ratings.items():
        if isinstance(said, str) or not isinstance(said, Iterable):
            raise CalibrationError(f"rater {name!r} must hold a list of ratings, got {shown(said)}")
    rows = [list(each) for each in ratings.values()]
    # Here, since what is not defined further down becomes a note.
    rated = _rated(names, rows, levels)
    w = sample_weights(weights, n=rated.shape[1])
    compared = rated.sum(axis=0) > 1
    if not (compared & (w > 0.0)).any():
        counts = zip(names, rated.sum(axis=1), strict=True)
        said = ", ".join(f"{name!r} rated {count}" for name, count in counts)
        raise CalibrationError(f"no item was rated by two raters: {said} of {w.size} items")
    if epsilon is not None:
        not_negative(epsilon, name="epsilon")
        _check_equal(w[compared])
    items: Ints = np.arange(w.size)
    if groups is not None:
        items = identifier_numbers(groups, n=w.size, name="groups")
        w = _parts(w, items, compared)
    n, total = np.unique(items[compared & (w > 0.0)]).size, np.unique(items).size
    scheme: Scheme = "quadratic" if ordered else "none"
    metric: Metric = "ordinal" if ordered else "nominal"
    notes: list[str] = []

    def defined(measure: Callable[[], Estimate]) -> Estimate | None:
        try:
            return replace(measure(), n=n, total=total)
        except CalibrationError as error:
            notes.append(f"not defined: {error}")
            return None

    table, kappa, replacing = None, None, None
    if len(names) == 2:
        one, other = rows
        table = confusion(other, one, levels=levels, names=(names[1], names[0]), weights=w)
        table = replace(table, n=n, total=total)
        kappa = defined(lambda: cohen_kappa(one, other, levels=levels, scheme=scheme, weights=w))
    if epsilon is not None:
        replacing = _replacing(rows, levels, epsilon, items, notes)
    alpha = defined(lambda: krippendorff_alpha(rows, levels=levels, metric=metric, weights=w))
    ac = defined(lambda: gwet_ac(rows, levels=levels, scheme=scheme, weights=w))
    return JudgeReport(names, table, kappa, alpha, ac, replacing, tuple(notes))


def _rated(
    names: Sequence[str], rows: Sequence[Sequence[Level | None]], levels: Sequence[Level]
) -> NDArray[np.bool_]:
    """Return who rated what (raters, items); CalibrationError names whose rating is no level."""
    for name, row in zip(names, rows, strict=True):
        level_indices(row, levels, name=f"rater {name!r}")
    rated: NDArray[np.bool_] = rater_indices(rows, levels) != MISSING
    return rated


def _parts(w: Floats, items: Ints, compared: NDArray[np.bool_]) -> Floats:
    """Return weights by which each item counts as one entry, whatever the number of its own.

    Where two raters rated some entries of an item, the others of it say nothing more.
    """
    counted = w > 0.0
    paired = counted & compared
    kept = np.where(np.bincount(items, weights=paired)[items] > 0.0, paired, counted)
    of_item = np.bincount(items, weights=kept)[items]
    return np.where(kept, w / np.maximum(of_item, 1.0), 0.0)


def _check_equal(used: Floats) -> None:
    """Raise CalibrationError for items of different weights: the test counts items."""
    if np.ptp(used) > 0.0:
        raise CalibrationError(
            f"items have different weights ({used.min():g} to {used.max():g}), and whether the "
            "judge may replace a person is tested on items: give all one weight"
        )


def _replacing(
    rows: list[list[Level | None]],
    levels: Sequence[Level],
    epsilon: float,
    items: Ints,
    notes: list[str],
) -> AltTest | None:
    if len(rows) < 3:
        notes.append(
            "whether the judge may replace a person: not looked at, it takes items that at least "
            "two people rated"
        )
        return None
    try:
        return alt_test(rows[0], rows[1:], levels=levels, epsilon=epsilon, groups=items)
    except CalibrationError as error:
        notes.append(f"whether the judge may replace a person: {error}")
        return None
