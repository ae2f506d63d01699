"""Structured matrix scaling: every option's new log-odds may draw on every option.

K*K + K parameters, so only for few options and many labels (500 and more); at 500 labels and
five options temperature and bias are still better.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, log_probabilities
from classify.calibration.bias import check_ridge
from classify.calibration.fitted import FLOOR, Fitted, Vector
from classify.calibration.labelled import Design, Labelled, by_option, design, labelled, thinned
from classify.calibration.softmax import MatrixLoss
from classify.calibration.temperature import TemperatureCalibrator, fit_temperature_mixture


class MatrixCalibrator(Fitted):
    """Temperature first, then softmax(matrix @ log q + bias)."""

    method: Literal["matrix"] = "matrix"
    first: TemperatureCalibrator
    matrix: tuple[Vector, ...]
    """(K, K), one row per option of the result."""
    bias: Vector

    def _mapped(self, log_p: Floats) -> Floats:
        log_q = self.first.apply(log_p)
        return log_probabilities(log_q @ np.array(self.matrix).T + np.array(self.bias))


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
    Jordan, Bach, "Structured matrix scaling for multi-class calibration", 2026.
    """
    check_ridge(ridge)
    data = labelled(log_p, y, weights=weights, floor=floor)
    first = fit_temperature_mixture(data.log_p, data.y, weights=data.weights, floor=floor)
    k = data.facts.k
    pull = np.where(np.eye(k, dtype=bool), 2.0 * k, 2.0 * k * (k - 1)) * ridge
    theta = _parameters(data, first, np.concatenate([pull.ravel(), np.full(k, 2.0 * k * ridge)]))
    matrix, bias = theta[: k * k].reshape(k, k), theta[k * k :]
    return MatrixCalibrator(
        fitted_on=data.facts,
        first=first,
        matrix=tuple(tuple(row) for row in matrix.tolist()),
        bias=tuple((bias - bias.mean()).tolist()),
        at_bound=first.at_bound,
    )


def _parameters(data: Labelled, first: TemperatureCalibrator, ridge: Floats) -> Floats:
    k = data.facts.k
    identity = np.concatenate([np.eye(k).ravel(), np.zeros(k)])
    few = thinned(data)
    start = identity if few is None else _parameters(few, first, ridge / 16.0)
    plan = design(by_option(first.apply(data.log_p), centred=False), data, "hard")
    return least(matrix_loss(plan, data, ridge=ridge, centre=identity), start)


def matrix_loss(plan: Design, data: Labelled, *, ridge: Floats, centre: Floats) -> MatrixLoss:
    """Return the loss of the labels themselves, with the sums they contribute."""
    k = len(plan.x)
    products = np.empty((k, k))
    for option, x in enumerate(plan.x):
        products[:, option] = np.bincount(data.y, weights=data.weights * x, minlength=k)
    return MatrixLoss(plan, products, ridge, centre)


def least(loss: MatrixLoss, start: Floats) -> Floats:
    """Return the parameters of least loss, by L-BFGS."""
    from scipy.optimize import minimize

    found = minimize(
        loss.__call__,
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 2000, "maxfun": 4000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-9},
    )
    theta: Floats = np.asarray(found.x, dtype=np.float64)
    return theta
