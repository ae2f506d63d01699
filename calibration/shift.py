"""Corrections for a target whose options are more or less frequent than in the labelled rows.

Both estimate how much likelier each option has become, from answers without labels, and multiply.
Give them calibrated answers: after temperature and bias, EM is hard to beat (Alexandari et al.,
"Maximum likelihood with bias-corrected calibration is hard-to-beat at label shift", 2020).
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from classify.calibration.arrays import (
    Floats,
    class_labels,
    finite_numbers,
    log_probabilities,
    sample_weights,
)
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    FittedOn,
    Vector,
    check_count,
    check_positive,
)
from classify.calibration.settings import NEAREST, one_of, shown
from classify.errors import CalibrationError


class ShiftCalibrator(Fitted):
    """log p + log ratios, normalised."""

    method: Literal["em-shift", "bbse-shift"]
    ratios: Vector
    """Per option, its frequency in the target over its frequency in the labelled rows."""

    @model_validator(mode="after")
    def _one_ratio_per_option(self) -> ShiftCalibrator:
        check_count(self.ratios, self.fitted_on.k, name="ratios")
        check_positive(self.ratios, name="ratios")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        return log_probabilities(log_p + np.log(np.array(self.ratios)))


def fit_em_shift(
    log_p: ArrayLike, source_prior: ArrayLike, *, weights: ArrayLike | None = None
) -> ShiftCalibrator:
    """Fit the target's frequencies by maximum likelihood from calibrated, unlabelled answers.

    `source_prior` (K,) is the mean calibrated answer over the rows the calibrator learned from;
    after a calibrator with biases the label frequencies are the same. Saerens, Latinne,
    Decaestecker, "Adjusting the outputs of a classifier to new a priori probabilities", 2002.
    Raises CalibrationError for no rows, or an option of no frequency.
    """
    x = log_probabilities(log_p)
    n, k = x.shape
    w = sample_weights(weights, n=n)
    prior = finite_numbers(source_prior, name="source_prior")
    if prior.shape != (k,) or (prior <= 0.0).any():
        raise CalibrationError(
            f"source_prior must be {k} positive numbers, got {shown(source_prior)}"
        )
    if not n:
        raise CalibrationError("log_p has no rows: a shift is learned from answers to the target")
    prior = prior / prior.sum()
    if prior.min() < NEAREST:
        raise CalibrationError(
            f"source_prior[{int(prior.argmin())}] is a share of {float(prior.min())!r}: ratios to "
            f"less than {NEAREST:g} say nothing, so leave the option out"
        )
    likelihood, share = np.exp(x) / prior, w / w.sum()
    target = prior
    for _ in range(20_000):
        before = target
        target = target * ((share / (likelihood @ target)) @ likelihood)
        if np.abs(target - before).max() < 1e-12:
            break
    return _shift("em-shift", target / prior, prior, n=int(np.count_nonzero(w)))


def fit_bbse_shift(
    log_p: ArrayLike,
    y: ArrayLike,
    target_log_p: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    predictions: Literal["hard", "soft"] = "hard",
) -> ShiftCalibrator:
    """Fit the ratios from the labelled rows' confusion matrix and the target's answers.

    Lipton, Wang, Smola, "Detecting and correcting for label shift with black box predictors",
    2018; ratios below zero are raised to nearly none. Raises CalibrationError where the confusion
    matrix cannot be inverted; fit_em_shift needs no inverse.
    """
    one_of(predictions, ("hard", "soft"), name="predictions")
    source, target = log_probabilities(log_p), log_probabilities(target_log_p, name="target_log_p")
    n, k = source.shape
    truth, w = class_labels(y, n=n, k=k), sample_weights(weights, n=n)
    if target.shape[1] != k or not len(target) or not n:
        raise CalibrationError(
            f"log_p {source.shape} and target_log_p {target.shape} must have rows, and one K"
        )
    share = w / w.sum()
    labels = np.eye(k)[truth] * share[:, None]
    confusion: Floats = _said(source, predictions).T @ labels
    if np.linalg.cond(confusion) > 1e8:
        raise CalibrationError(
            "the confusion matrix of log_p and y has no inverse: an option is never given or "
            "never true in the labelled rows; use fit_em_shift"
        )
    said: Floats = _said(target, predictions).mean(axis=0)
    ratios = np.asarray(np.linalg.solve(confusion, said), dtype=np.float64)
    return _shift("bbse-shift", ratios, labels.sum(axis=0), n=len(target))


def _said(log_p: Floats, predictions: Literal["hard", "soft"]) -> Floats:
    if predictions == "soft":
        return np.exp(log_p)
    said: Floats = np.eye(log_p.shape[1])[np.argmax(log_p, axis=1)]
    return said


def _shift(
    method: Literal["em-shift", "bbse-shift"], ratios: Floats, prior: Floats, *, n: int
) -> ShiftCalibrator:
    kept = np.maximum(ratios, FLOOR)
    kept = kept / float(kept @ prior)
    return ShiftCalibrator(
        method=method,
        fitted_on=FittedOn(n=n, k=len(prior)),
        ratios=tuple(kept.tolist()),
        at_bound=bool((ratios < FLOOR).any()),
    )
