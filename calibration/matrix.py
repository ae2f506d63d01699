"""Structured matrix scaling: every option's new log-odds may draw on every option.

K*K + K parameters, so only for few options and many labels (500 and more); at 500 labels and
five options temperature and bias are still better.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from classify.calibration.arrays import Floats, log_probabilities
from classify.calibration.bias import LEAST_RIDGE, check_ridge
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    Vector,
    check_count,
    check_same_options,
)
from classify.calibration.labelled import Labelled, labelled, warn_of_little_weight
from classify.calibration.newton import minimise_by_gradients
from classify.calibration.softmax import MatrixLoss
from classify.calibration.temperature import TemperatureCalibrator, temperature_mixture

_ENOUGH = 1e-20
"""The gain of the last step: the order of rows and options then moves no probability by 1e-9."""


class MatrixCalibrator(Fitted):
    """Temperature first, then softmax(matrix @ log q + bias)."""

    multiplies_logs: ClassVar[bool] = True
    method: Literal["matrix"] = "matrix"
    first: TemperatureCalibrator
    """The temperature that comes first."""
    matrix: tuple[Vector, ...]
    """(K, K), one row per option of the result."""
    bias: Vector
    """What each option gains, in nats."""

    @model_validator(mode="after")
    def _all_of_the_same_options(self) -> MatrixCalibrator:
        k = self.fitted_on.k
        check_same_options(self.first, self.fitted_on, name="first")
        check_count(self.matrix, k, name="matrix")
        for option, row in enumerate(self.matrix):
            check_count(row, k, name=f"matrix[{option}]")
        check_count(self.bias, k, name="bias")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        log_q = self.first.apply(log_p)
        # einsum and not a matrix product: a row's answer may not depend on how many others come.
        return log_probabilities(
            np.einsum("nk,jk->nj", log_q, np.array(self.matrix)) + np.array(self.bias)
        )


def fit_matrix(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    ridge: float = 1.0,
    floor: float = FLOOR,
) -> MatrixCalibrator:
    """Fit structured matrix scaling.

    The penalty on the mean loss is ridge * K / n times the squares of the diagonal less one and
    of the bias, and ridge * K (K-1) / n times the squares off the diagonal. Berta, Holzmüller,
    Jordan, Bach, "Structured matrix scaling for multi-class calibration", 2026. The ridge is
    0.001 or more: without one there is no end where the options separate the labels.
    """
    check_ridge(ridge, least=LEAST_RIDGE)
    data = labelled(log_p, y, weights=weights, floor=floor)
    warn_of_little_weight(data)
    first = temperature_mixture(labelled(data.log_p, data.y, weights=data.weights, floor=floor))
    k = data.facts.k
    pull = np.full((k, k + 1), 2.0 * k * ridge)
    pull[:, :k][~np.eye(k, dtype=bool)] *= k - 1
    fitted = least(matrix_loss(first.apply(data.log_p), data, ridge=pull, centre=np.eye(k, k + 1)))
    bias = fitted[:, k] - fitted[:, k].mean()
    return MatrixCalibrator(
        fitted_on=data.facts,
        first=first,
        matrix=tuple(tuple(row) for row in fitted[:, :k].tolist()),
        bias=tuple(bias.tolist()),
        at_bound=first.at_bound,
    )


def matrix_loss(log_q: Floats, data: Labelled, *, ridge: Floats, centre: Floats) -> MatrixLoss:
    """Return the loss of the labels for inputs (n, K), with the sums that labels contribute."""
    n, k = log_q.shape
    x = np.ones((k + 1, n))
    x[:k] = log_q.T
    target_x = np.empty((k, k + 1))
    for column, row in enumerate(x):
        target_x[:, column] = np.bincount(data.y, weights=data.weights * row, minlength=k)
    return MatrixLoss(x, data.weights, target_x, ridge, centre)


def least(loss: MatrixLoss) -> Floats:
    """Return the matrix (K, K + 1) of least loss, from the centre and the curvature there."""
    start = loss.centre.ravel()
    curvature = loss.curvature(start)
    # Adding one vector to all rows of the matrix changes nothing but what the ridge takes.
    curvature += 1e-9 * np.trace(curvature) / len(start) * np.eye(len(start))
    inverse = np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    found = minimise_by_gradients(loss, start, inverse, enough=_ENOUGH)
    return found.reshape(loss.centre.shape)
