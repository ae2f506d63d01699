"""May the judge replace a person: the alternative annotator test (Calderon, 2025).

Each annotator in turn is left out, and the judge and the left-out person are compared by how
well they agree with the remaining people, item by item. The judge may replace people if it is
as good as at least half of them, a person's time being worth a handicap of epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.calibration.arrays import Floats, Ints, identifier_numbers
from classify.calibration.ratings import MISSING, Level, Ratings, level_indices, rater_indices
from classify.calibration.settings import not_negative, one_of, open_unit, shown
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

Alignment: TypeAlias = Literal["same level", "squared distance"]

FEWEST_ITEMS = 30
"""Items per annotator below which the t-test of the paper should not be trusted."""


@dataclass(frozen=True, slots=True)
class AnnotatorTrial(Shown):
    """The judge against one left-out annotator."""

    annotator: int
    """Row of the ratings."""
    n: int
    """Items on which the two were compared."""
    total: int
    """Items given."""
    judge_wins: float
    """Share of items where the judge agrees with the others at least as well."""
    annotator_wins: float
    p_value: float
    """Of "the judge is worse by epsilon or more"; one-sided t."""
    beaten: bool
    """Whether that is rejected, after Benjamini-Yekutieli over the annotators."""

    def __str__(self) -> str:
        """Write both shares, the p-value, the verdict and "n used of N"."""
        verdict = "as good" if self.beaten else "not shown to be as good"
        return (
            f"against annotator {self.annotator} the judge is {verdict}: wins "
            f"{self.judge_wins:.3f} to {self.annotator_wins:.3f}, p {self.p_value:.3g} "
            f"({self.n} used of {self.total})"
        )


@dataclass(frozen=True, slots=True)
class AltTest(Shown):
    """The verdict: may the judge replace an annotator."""

    winning_rate: float
    """The share of annotators beaten; at least 0.5 passes."""
    advantage: float
    """How probable it is that the judge is as good as a random annotator: mean of judge_wins."""
    epsilon: float
    """The agreement that a person's time is worth."""
    trials: tuple[AnnotatorTrial, ...]
    """One for each annotator."""
    n: int
    """Items used by at least one trial."""
    total: int
    """Items given."""
    warnings: tuple[str, ...]
    """What makes it doubtful."""

    @property
    def passes(self) -> bool:
        """Whether the judge may replace an annotator."""
        return self.winning_rate >= 0.5

    def __str__(self) -> str:
        """Say the verdict, the winning rate, and "n used of N"."""
        verdict = "may" if self.passes else "may not"
        beaten = sum(trial.beaten for trial in self.trials)
        text = (
            f"the judge {verdict} replace an annotator: as good as {beaten} of "
            f"{len(self.trials)} at epsilon {self.epsilon:g}, advantage {self.advantage:.2f} "
            f"({self.n} used of {self.total})"
        )
        return "; ".join([text, *self.warnings])

    def _card(self) -> Card:
        from classify.calibration.metric_cards import alt_test_card

        return alt_test_card(self)


def alt_test(
    judge: Ratings,
    ratings: Ratings,
    *,
    levels: Sequence[Level],
    epsilon: float,
    alignment: Alignment = "same level",
    false_discovery: float = 0.05,
    groups: ArrayLike | None = None,
) -> AltTest:
    """Test whether the judge (items,) may replace one of the people in ratings (people, items).

    epsilon: how much worse a judge may be for what a person costs; the paper takes 0.2 against
    experts, 0.15 against skilled people and 0.1 against crowd workers. alignment: with the
    other people of an item, the share who gave the same level, or, for ordered levels, minus
    the mean squared distance. An item counts for a person if the judge, the person and at least
    one other rated it. Entries with the same value in `groups` are one item, read several times:
    they are averaged.
    """
    people = rater_indices(ratings, levels)
    machine = level_indices(judge, levels, name="judge")
    if machine.shape != people.shape[1:]:
        raise CalibrationError(f"judge must have {people.shape[1]} items, got {machine.shape}")
    not_negative(epsilon, name="epsilon")
    one_of(alignment, get_args(Alignment), name="alignment")
    open_unit(false_discovery, name="false_discovery")
    items = np.arange(machine.size, dtype=np.int64)
    if groups is not None:
        items = identifier_numbers(groups, n=machine.size, name="groups")
    outcomes = [
        (who, *_wins(machine, people, who, levels=levels, alignment=alignment, items=items))
        for who in range(len(people))
    ]
    tested = [(who, wins, losses, used) for who, wins, losses, used in outcomes if used.size > 1]
    if not tested:
        raise CalibrationError("no person shares two items with the judge and another person")
    total = np.unique(items).size
    p_values = [_one_sided_p(losses - wins, epsilon) for _, wins, losses, _ in tested]
    beaten = benjamini_yekutieli(p_values, false_discovery=false_discovery)
    trials = tuple(
        AnnotatorTrial(
            annotator=who,
            n=wins.size,
            total=total,
            judge_wins=float(wins.mean()),
            annotator_wins=float(losses.mean()),
            p_value=p,
            beaten=won,
        )
        for (who, wins, losses, _), p, won in zip(tested, p_values, beaten, strict=True)
    )
    return AltTest(
        winning_rate=sum(beaten) / len(trials),
        advantage=float(np.mean([trial.judge_wins for trial in trials])),
        epsilon=epsilon,
        trials=trials,
        n=np.unique(np.concatenate([used for *_, used in tested])).size,
        total=total,
        warnings=_warnings(trials, people=len(people)),
    )


def benjamini_yekutieli(p_values: Sequence[float], *, false_discovery: float) -> tuple[bool, ...]:
    """Return which hypotheses to reject so that few of them are false, under any dependence."""
    p = np.asarray(p_values, dtype=np.float64)
    m = p.size
    order = np.argsort(p, kind="stable")
    harmonic = float((1.0 / np.arange(1, m + 1)).sum())
    small = p[order] <= np.arange(1, m + 1) * false_discovery / (m * harmonic)
    count = int(np.flatnonzero(small)[-1]) + 1 if small.any() else 0
    rejected = np.zeros(m, dtype=np.bool_)
    rejected[order[:count]] = True
    return tuple(bool(reject) for reject in rejected)


def _wins(
    machine: Ints,
    people: Ints,
    who: int,
    *,
    levels: Sequence[Level],
    alignment: Alignment,
    items: Ints,
) -> tuple[Floats, Floats, Ints]:
    """Return, per compared item, whether the judge and the person win; and which items those are.

    A tie is a win of both; of an item that was read several times, the share of readings.
    """
    person, others = people[who], np.delete(people, who, axis=0)
    used: NDArray[np.bool_] = (
        (machine != MISSING) & (person != MISSING) & (others != MISSING).any(axis=0)
    )
    others = others[:, used]
    closeness = [
        _closeness(own[used], others, levels=levels, alignment=alignment)
        for own in (machine, person)
    ]
    ahead = closeness[0] - closeness[1]
    # The two sums may differ in their last bit where the people are equally close.
    compared, index, readings = np.unique(items[used], return_inverse=True, return_counts=True)
    judge, annotator = (
        np.bincount(index, weights=won) / readings for won in (ahead >= -1e-12, ahead <= 1e-12)
    )
    return judge, annotator, compared


def _closeness(own: Ints, others: Ints, *, levels: Sequence[Level], alignment: Alignment) -> Floats:
    present = others != MISSING
    if alignment == "same level":
        score = ((others == own) & present).astype(np.float64)
    else:
        values = _level_values(levels)
        score = np.where(present, -((values[others] - values[own]) ** 2), 0.0)
    mean: Floats = score.sum(axis=0) / present.sum(axis=0)
    return mean


def _level_values(levels: Sequence[Level]) -> Floats:
    try:
        return np.asarray(levels, dtype=np.float64)
    except ValueError as error:
        raise CalibrationError(
            f"alignment='squared distance' needs numeric levels, got {shown(list(levels))}"
        ) from error


def _one_sided_p(excess: Floats, epsilon: float) -> float:
    """Return the t-test's p of "the mean is epsilon or more", against "it is less"."""
    from scipy.special import stdtr

    gap = float(excess.mean()) - epsilon
    spread = float(excess.std(ddof=1)) / math.sqrt(excess.size)
    if spread == 0.0:
        # No spread is no proof. To be worse by epsilon on average the judge must lose at least
        # a share epsilon of the items; this is the chance that none of so many shows.
        return (1.0 - min(1.0, epsilon)) ** excess.size if gap < 0.0 else 1.0
    return float(stdtr(excess.size - 1.0, gap / spread))


def _warnings(trials: tuple[AnnotatorTrial, ...], *, people: int) -> tuple[str, ...]:
    found: list[str] = []
    if people < 3:
        found.append("with two people each is judged by the other alone; three or more are better")
    few = sum(trial.n < FEWEST_ITEMS for trial in trials)
    if few:
        found.append(
            f"fewer than {FEWEST_ITEMS} items for {few} of {people} annotators: use 50 to 100"
        )
    left_out = people - len(trials)
    if left_out:
        found.append(f"{left_out} of {people} people shared too few items and were left out")
    return tuple(found)
