"""How sure the answers were, and how many of the sure ones were right: the data of a histogram."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    Floats,
    identifier_numbers,
    numbers,
    probabilities,
    sample_weights,
)
from classify.calibration.binning import EqualWidth
from classify.calibration.intervals import share_interval
from classify.calibration.measurement import Measurement
from classify.calibration.settings import shown, whole_number
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """The rows whose confidence lies in (low, high]; the first bin holds 0 too."""

    low: float
    high: float
    right: int
    wrong: int
    unlabelled: int
    """Rows of which nobody said what is right."""


@dataclass(frozen=True, slots=True)
class ConfidenceHistogram:
    """Rows by confidence, with what was promised on average and what happened."""

    bins: tuple[ConfidenceBin, ...]
    mean_confidence: float
    """Of the rows with a label, as the accuracy is; of all rows where none has one."""
    accuracy: Measurement | None
    """None where no row has a label."""
    n: int
    total: int
    """Rows that were asked: n, and those without a distribution."""


def confidence_histogram(
    confidence: ArrayLike,
    right: ArrayLike | None = None,
    *,
    seed: int,
    bins: int = 20,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    missing: int = 0,
) -> ConfidenceHistogram:
    """Return rows by the probability of their likeliest option.

    right (n,): 1, 0, or nan where a row has no label. `weights` are for the accuracy and the mean
    confidence, the bars count rows; rows of one group are resampled together, which the seed is
    for. `missing` counts rows that were asked and have no distribution.
    """
    sure = probabilities(confidence, name="confidence")
    whole_number(missing, name="missing")
    if not sure.size:
        raise CalibrationError("there are no rows: a histogram needs at least one answer")
    truth = _truth(right, sure.size)
    index, count = EqualWidth(bins).assign(sure, np.ones_like(sure))
    kinds = [truth == 1.0, truth == 0.0, np.isnan(truth)]
    rows = [np.bincount(index[kind], minlength=count).tolist() for kind in kinds]
    w = sample_weights(weights, n=sure.size)
    known = ~kinds[2] & (w > 0.0)
    items = None if groups is None else identifier_numbers(groups, n=sure.size, name="groups")
    accuracy = None
    if known.any():
        accuracy = share_interval(
            truth[known],
            seed=seed,
            weights=None if weights is None else w[known],
            groups=None if items is None else items[known],
        )
    compared = known if known.any() else ~known
    return ConfidenceHistogram(
        bins=tuple(
            ConfidenceBin(i / count, (i + 1) / count, *found)
            for i, found in enumerate(zip(*rows, strict=True))
        ),
        mean_confidence=float(np.average(sure[compared], weights=w[compared])),
        accuracy=accuracy,
        n=sure.size,
        total=sure.size + missing,
    )


def _truth(right: ArrayLike | None, n: int) -> Floats:
    if right is None:
        return np.full(n, np.nan)
    truth = numbers(right, name="right")
    if truth.shape != (n,):
        raise CalibrationError(f"right must have the shape ({n},), got {truth.shape}")
    bad = ~(np.isnan(truth) | np.isin(truth, (0.0, 1.0)))
    if bad.any():
        row = int(np.argmax(bad))
        raise CalibrationError(
            f"right[{row}] must be 1, 0, or nan where there is no label, got {shown(truth[row])}"
        )
    return truth
