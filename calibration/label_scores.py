"""A judge's scores for each label that people gave: means with intervals, and their spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints, finite_numbers, identifier_numbers
from classify.calibration.binning import EqualMass
from classify.calibration.intervals import mean_interval
from classify.calibration.measurement import Measurement
from classify.calibration.rank_correlation import spearman
from classify.calibration.settings import shown, whole_number
from classify.errors import CalibrationError

MOST_LABELS = 12
"""Labels of more distinct values than this, such as means over raters, are pooled."""


@dataclass(frozen=True, slots=True)
class LabelledScores:
    """The scores of the items that people gave one label."""

    label: float
    """The mean label of the items, where neighbouring labels were pooled."""
    mean: Measurement
    """Of the scores; without an interval where there is a single item."""
    low_quarter: float
    high_quarter: float
    """Half of the items have scores between these two."""


@dataclass(frozen=True, slots=True)
class ScoresByLabel:
    """What a judge's score is on average for each human label."""

    labels: tuple[LabelledScores, ...]
    """From the lowest label up."""
    correlation: Measurement | None
    """Spearman's, over items; None where one side never varies."""
    scale: tuple[float, float] | None
    """The ends of the scale that score and label share; None where they share none."""
    pooled: bool
    """Whether neighbouring labels were pooled."""
    n: int
    total: int


def scores_by_label(
    score: ArrayLike,
    label: ArrayLike,
    *,
    seed: int,
    scale: tuple[float, float] | None = None,
    groups: ArrayLike | None = None,
    missing: int = 0,
) -> ScoresByLabel:
    """Return the mean score of each label with a BCa interval; nan in either leaves a row out.

    `scale`: its ends, where score and label are on one. Rows with the same value in `groups`
    (labels of one item) are resampled together. `missing` counts rows that were asked and got
    no score.
    """
    x = finite_numbers(score, name="score", nan_is_missing=True)
    z = finite_numbers(label, name="label", nan_is_missing=True)
    whole_number(missing, name="missing")
    if scale is not None:
        scale = _ends(scale)
    if x.shape != z.shape:
        raise CalibrationError(f"score and label must be of one length, got {x.size} and {z.size}")
    known = ~(np.isnan(x) | np.isnan(z))
    if not known.any():
        raise CalibrationError("no item has both a score and a label")
    scores, labels = x[known], z[known]
    items = (
        np.arange(x.size) if groups is None else identifier_numbers(groups, n=x.size, name="groups")
    )
    index, count, pooled = _pools(labels)
    return ScoresByLabel(
        labels=tuple(
            _one_label(scores[rows], labels[rows], items[known][rows], seed=seed)
            for rows in (index == pool for pool in range(count))
            if rows.any()
        ),
        correlation=_correlation(scores, labels),
        scale=scale,
        pooled=pooled,
        n=scores.size,
        total=x.size + missing,
    )


def _one_label(scores: Floats, labels: Floats, items: Ints, *, seed: int) -> LabelledScores:
    low, high = np.quantile(scores, (0.25, 0.75))
    if np.unique(items).size < 2:
        mean = Measurement(float(scores.mean()), "mean, one item", scores.size)
    else:
        several = np.unique(items).size < items.size
        mean = mean_interval(scores, seed=seed, groups=items if several else None)
    return LabelledScores(float(labels.mean()), mean, float(low), float(high))


def _pools(labels: Floats) -> tuple[Ints, int, bool]:
    values, index = np.unique(labels, return_inverse=True)
    if values.size <= MOST_LABELS:
        return index.astype(np.int64, copy=False), values.size, False
    # The bins know probabilities only: ranks from 0 to 1 keep the order and the ties.
    ranks = index / (values.size - 1)
    pools, count = EqualMass().assign(ranks, np.ones_like(ranks))
    return pools, count, True


def _correlation(scores: Floats, labels: Floats) -> Measurement | None:
    if np.ptp(scores) == 0.0 or np.ptp(labels) == 0.0:
        return None
    return spearman(scores, labels)


def _ends(scale: tuple[float, float]) -> tuple[float, float]:
    ends = finite_numbers(scale, name="scale")
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise CalibrationError(f"scale must be its low and its high end, got {shown(scale)}")
    return float(ends[0]), float(ends[1])
