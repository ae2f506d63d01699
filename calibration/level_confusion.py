"""A judge's level against a person's, on an ordered scale: how often, how far, and which way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.agreement import Confusion, cohen_kappa, confusion
from classify.calibration.arrays import Floats, Ints, identifier_numbers
from classify.calibration.estimate import Estimate
from classify.calibration.intervals import mean_interval, share_interval
from classify.calibration.measurement import Measurement
from classify.calibration.ratings import MISSING, Level, Ratings, level_indices
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class OrdinalConfusion:
    """The table of two raters on ordered levels, with what the order makes of it."""

    table: Confusion
    """Rows are the person's levels, columns the judge's."""
    agreement: Measurement
    """The share of items with the same level."""
    within_one: Measurement
    """The share with the same level or its neighbour."""
    difference: Measurement
    """The mean of judge less person, in levels: above 0 the judge is the kinder."""
    kappa: Estimate | None
    """Cohen's, with quadratic weights; None where each always gave one level."""


def ordinal_confusion(
    judge: Ratings,
    people: Ratings,
    *,
    levels: Sequence[Level],
    seed: int,
    groups: ArrayLike | None = None,
) -> OrdinalConfusion:
    """Compare two raters on ordered levels; items that one of them left out are not counted.

    Rows with the same value in `groups` (labels of one item) are resampled together, which the
    seed is for; the interval of kappa takes rows as independent.
    """
    first = level_indices(judge, levels, name="judge")
    second = level_indices(people, levels, name="people")
    table = confusion(people, judge, levels=levels, names=("people", "judge"))
    both = (first != MISSING) & (second != MISSING)
    apart: Floats = (first - second)[both].astype(np.float64)
    same = None if groups is None else identifier_numbers(groups, n=both.size, name="groups")[both]
    return OrdinalConfusion(
        table=table,
        agreement=share_interval(apart == 0.0, seed=seed, groups=same),
        within_one=share_interval(np.abs(apart) <= 1.0, seed=seed, groups=same),
        difference=_mean(apart, seed, same),
        kappa=_kappa(judge, people, levels),
    )


def _mean(apart: Floats, seed: int, groups: Ints | None) -> Measurement:
    if len(apart if groups is None else np.unique(groups)) < 2:
        return Measurement(float(apart.mean()), "mean difference, one item", apart.size)
    return mean_interval(apart, seed=seed, groups=groups)


def _kappa(judge: Ratings, people: Ratings, levels: Sequence[Level]) -> Estimate | None:
    try:
        return cohen_kappa(judge, people, levels=levels, scheme="quadratic")
    except CalibrationError:  # each gave one level; the table was made, so nothing else is wrong
        return None
