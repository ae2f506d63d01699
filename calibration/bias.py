"""Calibrators that correct each option by its own amount: temperature and bias, vector scaling.

Where labels show that a model favours some options, a temperature is not enough. Every extra
parameter is held back by a ridge: without one, 20 labels make these fits far worse than nothing.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from classify.calibration.arrays import LARGEST, Floats, log_probabilities
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    Positive,
    Vector,
    check_count,
    check_same_options,
    divided,
)
from classify.calibration.labelled import (
    Design,
    Labelled,
    Targets,
    by_option,
    design,
    labelled,
    thinned,
    warn_of_little_weight,
)
from classify.calibration.newton import Objective, minimise
from classify.calibration.separation import separable
from classify.calibration.settings import finite_number, shown
from classify.calibration.softmax import DiagonalLoss, SharedSlopeLoss
from classify.calibration.temperature import (
    HIGHEST,
    STEEPEST,
    TemperatureCalibrator,
    temperature_mixture,
)
from classify.errors import CalibrationError

RIDGES = (32.0, 8.0, 2.0, 0.5, 0.125, 0.03125)
"""The ridges tried: biases of about 0.2, 0.4, 0.7, 1.4, 2.8 and 5.7 nats."""

LEAST_RIDGE = 1e-3
"""The least that vector and matrix scaling take, which alone does not hold a scale below 10 or so.

They have no slope to end at as maps of one slope do, see `separation`: scales and biases of all
options grow together, each option's at its own rate.
"""


class TemperatureBiasCalibrator(Fitted):
    """softmax(log p / T + bias)."""

    method: Literal["temperature-bias"] = "temperature-bias"
    temperature: Positive
    """T: above 1 softens, below 1 sharpens."""
    bias: Vector
    """What each option gains, in nats."""

    @model_validator(mode="after")
    def _one_bias_per_option(self) -> TemperatureBiasCalibrator:
        check_count(self.bias, self.fitted_on.k, name="bias")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        return log_probabilities(divided(log_p, self.temperature) + np.array(self.bias))


class VectorCalibrator(Fitted):
    """Temperature first, then softmax(scale * log q + bias)."""

    multiplies_logs: ClassVar[bool] = True
    method: Literal["vector"] = "vector"
    first: TemperatureCalibrator
    """The temperature that comes first."""
    scale: Vector
    """What each option's log-probability is multiplied by."""
    bias: Vector
    """What each option gains, in nats."""

    @model_validator(mode="after")
    def _all_of_the_same_options(self) -> VectorCalibrator:
        check_same_options(self.first, self.fitted_on, name="first")
        check_count(self.scale, self.fitted_on.k, name="scale")
        check_count(self.bias, self.fitted_on.k, name="bias")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        log_q = self.first.apply(log_p)
        return log_probabilities(log_q * np.array(self.scale) + np.array(self.bias))


def fit_temperature_bias(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    targets: Targets = "laplace",
    ridge: float | None = None,
    floor: float = FLOOR,
) -> TemperatureBiasCalibrator:
    """Fit T and one bias per option, the biases held to zero by ridge/2 * squared length.

    Where the ridge is None it is the one of RIDGES under which the labels are likeliest: a ridge
    too strong for a model that leans far makes every answer too unsure, one too weak takes chance
    for a lean. T lies in 0.01 … 100, and `at_bound` says where it stopped at an end: with
    targets="hard" at 0.01 where every label is its row's likeliest option (without a ridge, where
    it can be made that by biases). Raises CalibrationError for one option or one class of labels.
    """
    if ridge is not None:
        check_ridge(ridge)
    data = labelled(log_p, y, weights=weights, floor=floor)
    if targets != "hard" or ridge != 0.0:
        warn_of_little_weight(data)
    endless = targets == "hard" and separable(data.log_p, data.y, biased=ridge == 0.0)
    theta = _bias_parameters(data, targets, ridge, endless=endless)
    return TemperatureBiasCalibrator(
        fitted_on=data.facts,
        temperature=1.0 / float(theta[0]),
        bias=tuple((theta[1:] - theta[1:].mean()).tolist()),
        at_bound=bool(theta[0] in (1.0 / HIGHEST, STEEPEST)),
    )


def likeliest_bias(plan: Design, start: Floats) -> tuple[float, Floats]:
    """Return the ridge of largest evidence, and the slope and the biases (1 + K,) under it.

    A ridge is the precision of a normal prior of the biases; the evidence is the likelihood with
    the biases integrated out, of which Laplace's approximation gives the integral (D. MacKay,
    "Bayesian interpolation", 1992).
    """
    k, theta = len(plan.x), start
    loss = _remembering(SharedSlopeLoss(plan))
    best = -np.inf, 0.0, start
    for ridge in RIDGES:
        # The evidence asks for no more than this; only the best is followed to its end.
        theta, value, hessian = minimise(
            _held_back(loss, ridge / plan.total), theta, enough=1e-6 / plan.total
        )
        # Where all answers are ties the slope has no curvature of its own.
        spread = float(np.linalg.slogdet(plan.total * hessian + 1e-9 * np.eye(k + 1))[1])
        evidence = 0.5 * (k * np.log(ridge) - spread) - plan.total * value
        if evidence > best[0]:
            best = evidence, ridge, theta
    _, ridge, theta = best
    return ridge, minimise(_held_back(loss, ridge / plan.total), theta).theta


def _remembering(loss: Objective) -> Objective:
    """Return the loss, which is not computed again where it was asked for last."""
    last: list[tuple[Floats, tuple[float, Floats, Floats]]] = []

    def remembered(theta: Floats) -> tuple[float, Floats, Floats]:
        if not last or last[0][0] is not theta:
            last[:] = [(theta, loss(theta))]
        return last[0][1]

    return remembered


def _held_back(loss: Objective, ridge: float) -> Objective:
    """Return the loss of a slope and biases with ridge/2 times the square of the biases."""

    def held_back(theta: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, hessian = loss(theta)
        bias = np.append(0.0, theta[1:])
        pull = np.append(0.0, np.full(len(theta) - 1, ridge))
        return (
            value + 0.5 * ridge * float(bias @ bias),
            gradient + ridge * bias,
            hessian + np.diag(pull),
        )

    return held_back


def _bias_parameters(
    data: Labelled, targets: Targets, ridge: float | None, *, endless: bool = False
) -> Floats:
    """Return 1/T and the biases (1 + K,); 1/T within its range, at its end where `endless`."""
    k = data.facts.k
    few = thinned(data)
    start = np.eye(k + 1)[0]
    if few is not None:
        start = _bias_parameters(few, targets, (RIDGES[0] if ridge is None else ridge) / 16.0)
    plan = design(by_option(data.log_p, centred=True), data, targets)
    loss = SharedSlopeLoss(plan)
    if ridge is None:
        ridge, theta = likeliest_bias(plan, start)
    else:
        theta = minimise(_held_back(loss, ridge / plan.total), start).theta
    held = STEEPEST if endless else float(np.clip(theta[0], 1.0 / HIGHEST, STEEPEST))
    if held == theta[0]:
        return theta

    def bias_only(bias: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, hessian = whole(np.append(held, bias))
        return value, gradient[1:], hessian[1:, 1:]

    whole = _held_back(loss, ridge / plan.total)
    first = theta[1:] * (held / theta[0]) if theta[0] > 0.0 else np.zeros(k)
    return np.append(held, minimise(bias_only, first).theta)


def fit_vector(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    ridge: float = 1.0,
    floor: float = FLOOR,
) -> VectorCalibrator:
    """Fit structured vector scaling: a temperature, then a scale and a bias per option.

    The penalty on the mean loss is ridge * K / n times the squares of scale - 1 and of bias.
    For max(500, 50 K) labels. Berta, Holzmüller, Jordan, Bach, "Structured matrix scaling for
    multi-class calibration", 2026. The ridge is 0.001 or more: without one there is no end where
    the options separate the labels.
    """
    check_ridge(ridge, least=LEAST_RIDGE)
    data = labelled(log_p, y, weights=weights, floor=floor)
    warn_of_little_weight(data)
    first = temperature_mixture(labelled(data.log_p, data.y, weights=data.weights, floor=floor))
    theta = _vector_parameters(data, first, ridge)
    k = data.facts.k
    return VectorCalibrator(
        fitted_on=data.facts,
        first=first,
        scale=tuple(theta[:k].tolist()),
        bias=tuple((theta[k:] - theta[k:].mean()).tolist()),
        at_bound=first.at_bound,
    )


def _vector_parameters(data: Labelled, first: TemperatureCalibrator, ridge: float) -> Floats:
    k = data.facts.k
    few = thinned(data)
    start = (
        np.repeat([1.0, 0.0], k) if few is None else _vector_parameters(few, first, ridge / 16.0)
    )
    plan = design(by_option(first.apply(data.log_p), centred=False), data, "hard")
    return minimise(DiagonalLoss(plan, np.full(2 * k, 2.0 * k * ridge)), start).theta


def check_ridge(ridge: object, *, name: str = "ridge", least: float = 0.0) -> None:
    """Raise CalibrationError unless the ridge is a finite number, `least` or more."""
    if not least <= finite_number(ridge, name=name) <= LARGEST:
        endless = (
            f": without one this fit has no end where the options separate the labels or one is "
            f"never true, and {least:g} is next to none"
        )
        raise CalibrationError(
            f"{name} must be from {least:g} to {LARGEST:g}, got {shown(ridge)}"
            f"{endless if least else ''}"
        )
