"""Corrections of a model's favourite options that need no labels.

A model that leans to some answers whatever it reads is divided by that lean. The lean is the mean
answer over a balanced batch (Zhou et al., "Batch calibration", 2023), or over inputs without
content (Zhao et al., "Calibrate before use", 2021). A batch that truly is unbalanced is pulled to
balance, wrongly; neither corrects over-confidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from classify.calibration.arrays import Floats, log_probabilities, sample_weights
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    FittedOn,
    Vector,
    check_count,
    check_positive,
)
from classify.calibration.settings import shown, texts
from classify.errors import CalibrationError

MIN_BATCH = 32
"""Inputs below which a batch says too little about the lean."""


class PriorCalibrator(Fitted):
    """log p - log prior, normalised."""

    method: Literal["batch-prior", "content-free-prior"]
    options: tuple[str, ...]
    """The options in canonical order (sorted by text): the order of `prior` and of the columns."""
    prior: Vector

    @model_validator(mode="after")
    def _one_share_per_option(self) -> PriorCalibrator:
        check_count(self.options, self.fitted_on.k, name="options")
        check_count(self.prior, self.fitted_on.k, name="prior")
        check_positive(self.prior, name="prior")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        return log_probabilities(log_p - np.log(np.array(self.prior)))


def fit_batch_prior(
    log_p: ArrayLike, options: Sequence[str], *, weights: ArrayLike | None = None
) -> PriorCalibrator:
    """Take the lean from answers to ordinary inputs, balanced over the options.

    Columns follow `options`, which must be in canonical order, so that the way a user lists them
    never changes a correction. Raises CalibrationError for fewer than 32 rows of weight above 0.
    """
    x = log_probabilities(log_p)
    counted = int(np.count_nonzero(sample_weights(weights, n=len(x))))
    if counted < MIN_BATCH:
        raise CalibrationError(
            f"log_p has {counted} rows and a batch prior needs {MIN_BATCH}; give more inputs, or "
            "use fit_content_free_prior"
        )
    return _prior("batch-prior", x, options, weights)


def fit_content_free_prior(
    log_p: ArrayLike, options: Sequence[str], *, weights: ArrayLike | None = None
) -> PriorCalibrator:
    """Take the lean from answers to inputs that say nothing, such as "" or "N/A".

    Columns follow `options`, in canonical order. Raises CalibrationError where there is no row.
    """
    x = log_probabilities(log_p)
    if not len(x):
        raise CalibrationError("log_p has no rows: give the answers to one empty input or more")
    return _prior("content-free-prior", x, options, weights)


def _prior(
    method: Literal["batch-prior", "content-free-prior"],
    x: Floats,
    options: Sequence[str],
    weights: ArrayLike | None,
) -> PriorCalibrator:
    n, k = x.shape
    must = f"be the {k} different texts of the columns in canonical (sorted) order"
    names = texts(options, name="options", must=must, count=k)
    if sorted(set(names)) != list(names):
        raise CalibrationError(f"options must {must}, got {shown(names)}")
    w = sample_weights(weights, n=n)
    # An option never seen would be divided by zero.
    mean = np.maximum(w @ np.exp(x) / w.sum(), FLOOR)
    return PriorCalibrator(
        method=method,
        fitted_on=FittedOn(n=int(np.count_nonzero(w)), k=k),
        options=names,
        prior=tuple((mean / mean.sum()).tolist()),
    )
