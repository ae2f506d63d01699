"""Calibrators of yes/no questions: Platt scaling and beta calibration.

Columns are (true, false). Both maps work on log-odds and never turn an answer round: slopes are
zero or more, and a fit that wants less says so in `at_bound`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import model_validator

from classify.calibration.arrays import Floats
from classify.calibration.bias import check_ridge
from classify.calibration.fitted import FLOOR, Fitted, Parameter, Slope, from_logit, logit
from classify.calibration.labelled import (
    Labelled,
    Targets,
    blocks,
    labelled,
    target_masses,
    thinned,
)
from classify.calibration.newton import minimise
from classify.errors import CalibrationError


class _OfTwo(Fitted):
    multiplies_logs: ClassVar[bool] = True

    @model_validator(mode="after")
    def _two_options(self) -> Self:
        if self.fitted_on.k != 2:
            raise ValueError(f"a map of log-odds is of 2 options, got k={self.fitted_on.k}")
        return self


class PlattCalibrator(_OfTwo):
    """sigmoid(slope * log-odds + intercept)."""

    method: Literal["platt"] = "platt"
    slope: Slope
    """Of the log odds; below 1 softens."""
    intercept: Parameter
    """What the log odds of true gain, in nats."""

    def _mapped(self, log_p: Floats) -> Floats:
        return from_logit(self.slope * logit(log_p) + self.intercept)


class BetaCalibrator(_OfTwo):
    """sigmoid(a log p - b log(1 - p) + c), which may bend the two ends differently."""

    method: Literal["beta"] = "beta"
    a: Slope
    b: Slope
    c: Parameter

    def _mapped(self, log_p: Floats) -> Floats:
        return from_logit(self.a * log_p[:, 0] - self.b * log_p[:, 1] + self.c)


def fit_platt(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    targets: Targets = "laplace",
    ridge: float = 1.0,
    floor: float = FLOOR,
) -> PlattCalibrator:
    """Fit slope and intercept, drawn towards (1, 0) by ridge/2 * squared distance.

    The unit ridge with Laplace's targets is the safest at 20-200 labels; targets="platt" with
    ridge=0 is Platt's own fit, targets="hard" with ridge=0 plain maximum likelihood. Raises
    CalibrationError where K is not 2.
    """
    check_ridge(ridge)
    data = _of_two(log_p, y, weights=weights, floor=floor)
    start, pull = np.array([1.0, 0.0]), np.array([ridge, ridge])
    theta, bounded = _fit_logistic(data, targets, start, pull, beta=False)
    return PlattCalibrator(
        fitted_on=data.facts, at_bound=bounded, slope=float(theta[0]), intercept=float(theta[1])
    )


def fit_beta(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    targets: Targets = "platt",
    floor: float = FLOOR,
) -> BetaCalibrator:
    """Fit a, b >= 0 and c by maximum likelihood of the targets (Kull, Silva Filho, Flach, 2017).

    For 200 labels and more. Raises CalibrationError where K is not 2.
    """
    data = _of_two(log_p, y, weights=weights, floor=floor)
    start, pull = np.array([1.0, 1.0, 0.0]), np.zeros(3)
    theta, bounded = _fit_logistic(data, targets, start, pull, beta=True)
    a, b, c = theta.tolist()
    return BetaCalibrator(fitted_on=data.facts, at_bound=bounded, a=a, b=b, c=c)


def _of_two(log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None, floor: float) -> Labelled:
    data = labelled(log_p, y, weights=weights, floor=floor)
    if data.facts.k != 2:
        raise CalibrationError(
            f"log_p has {data.facts.k} options and this method takes two (true, false); "
            "use fit_temperature or fit_temperature_bias"
        )
    return data


def _fit_logistic(
    data: Labelled, targets: Targets, start: Floats, ridge: Floats, *, beta: bool
) -> tuple[Floats, bool]:
    """Fit one slope per feature and an intercept; say whether a slope was held at zero."""
    few = thinned(data)
    first = start if few is None else _fit_logistic(few, targets, start, ridge, beta=beta)[0]
    slopes = [data.log_p[:, 0], -data.log_p[:, 1]] if beta else [logit(data.log_p)]
    on, off = target_masses(data.facts, targets)
    asked: Floats = np.array([on[0], off[1]])[data.y]
    x = np.stack([*slopes, np.ones(len(data.y))])
    loss = LogisticLoss(x, asked, data.weights, ridge, start)
    # The loss is convex: try every set of slopes held at zero, free first, and keep the best.
    best: tuple[float, Floats] | None = None
    for held in product((False, True), repeat=len(slopes)):
        free = ~np.array([*held, False])
        theta = loss.least(first, free)
        if (theta[:-1] >= 0.0).all():
            if not any(held):
                return theta, False
            value = loss(theta)[0]
            if best is None or value < best[0]:
                best = value, theta
    assert best is not None  # all slopes at zero is always allowed
    return best[1], True


@dataclass(frozen=True, slots=True)
class LogisticLoss:
    """The mean logistic loss of soft targets, with a ridge towards a centre."""

    x: Floats
    """(d, n), one row per slope and a row of ones for the intercept."""
    asked: Floats
    """(n,), the probability each row asks for."""
    weights: Floats
    ridge: Floats
    """(d,), on the scale of a sum over rows."""
    centre: Floats

    def least(self, start: Floats, free: NDArray[np.bool_]) -> Floats:
        """Return the best parameters where only the free ones move and the rest are zero."""
        theta = np.where(free, start, 0.0)

        def part(some: Floats) -> tuple[float, Floats, Floats]:
            theta[free] = some
            loss, gradient, hessian = self(theta)
            return loss, gradient[free], hessian[np.ix_(free, free)]

        theta[free] = minimise(part, theta[free]).theta
        return theta

    def __call__(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return loss, gradient and Hessian."""
        n, total = len(self.asked), float(self.weights.sum())
        away = theta - self.centre
        loss = 0.5 * float(self.ridge @ (away * away))
        gradient, hessian = self.ridge * away, np.diag(self.ridge)
        for block in blocks(n, 4):
            w, asked, x = self.weights[block], self.asked[block], self.x[:, block]
            odds = theta @ x
            small = np.exp(-np.abs(odds))
            upper = 1.0 / (1.0 + small)
            p = np.where(odds >= 0.0, upper, small * upper)
            loss += float(w @ (np.maximum(odds, 0.0) + np.log1p(small) - asked * odds))
            gradient = gradient + x @ (w * (p - asked))
            hessian = hessian + (x * (w * (small * upper * upper))) @ x.T
        return loss / total, gradient / total, hessian / total
