"""Calibrators of yes/no questions: Platt scaling and beta calibration.

Columns are (true, false). Both maps work on log-odds and never turn an answer round: slopes are
from 0 to STEEPEST, as sharp as the lowest temperature, and a fit that wants less or more says so in
`at_bound`. Answers that separate the labels want ever more, unless targets or a ridge hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from operator import itemgetter
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
    warn_of_little_weight,
)
from classify.calibration.newton import REACHED, minimise
from classify.calibration.separation import separable
from classify.calibration.temperature import STEEPEST
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
    ridge=0 is Platt's own fit, targets="hard" with ridge=0 plain maximum likelihood. That wants an
    endless slope where the answers separate the labels: it stops at 100, the sharpness of the
    lowest temperature, and says so in `at_bound`. Raises CalibrationError where K is not 2.
    """
    check_ridge(ridge)
    data = _of_two(log_p, y, weights=weights, floor=floor)
    if targets != "hard" or ridge:
        warn_of_little_weight(data)
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

    For 200 labels and more. a and b are 100 at most, the sharpness of the lowest temperature; both
    are, and `at_bound` says so, where answers separate the labels and targets="hard" asks for
    certainty. Raises CalibrationError where K is not 2.
    """
    data = _of_two(log_p, y, weights=weights, floor=floor)
    if targets != "hard":
        warn_of_little_weight(data)
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
    """Fit one slope per feature and an intercept; say whether a slope was held at an end."""
    loss, theta, bounded = _rising(data, targets, start, ridge, beta=beta)
    held_back = targets != "hard" or ridge[:-1].any()
    if not held_back and separable(data.log_p, data.y, biased=True):
        return _parting(loss, data), True
    if theta[:-1].max() > STEEPEST:
        return _steepest(loss, theta), True
    return theta, bounded


def _rising(
    data: Labelled, targets: Targets, start: Floats, ridge: Floats, *, beta: bool
) -> tuple[LogisticLoss, Floats, bool]:
    """Fit slopes of zero or more; say whether one was held at zero."""
    few = thinned(data)
    first = start if few is None else _rising(few, targets, start, ridge, beta=beta)[1]
    slopes = [data.log_p[:, 0], -data.log_p[:, 1]] if beta else [logit(data.log_p)]
    on, off = target_masses(data.facts, targets)
    asked: Floats = np.array([on[0], off[1]])[data.y]
    x = np.stack([*slopes, np.ones(len(data.y))])
    loss = LogisticLoss(x, asked, data.weights, ridge, start)
    # The loss is convex: try every set of slopes held at zero, free first, and keep the best.
    best: tuple[float, Floats] | None = None
    for held in product((False, True), repeat=len(slopes)):
        free = ~np.array([*held, False])
        theta = loss.least(np.where(free, first, 0.0), free)
        if (theta[:-1] >= 0.0).all():
            if not any(held):
                return loss, theta, False
            value = loss(theta)[0]
            if best is None or value < best[0]:
                best = value, theta
    assert best is not None  # all slopes at zero is always allowed
    return loss, best[1], True


def _parting(loss: LogisticLoss, data: Labelled) -> Floats:
    """Return the best parameters where log-odds separate the labels.

    Each slope makes them likelier the steeper it is, for all features rise with the log-odds.
    """
    odds, slopes = logit(data.log_p), len(loss.x) - 1
    middle = 0.5 * (odds[data.y == 0].min() + odds[data.y == 1].max())
    start = np.append(np.full(slopes, STEEPEST), -STEEPEST * middle)
    # Half way stands where the labels lie too far apart for the loss to say where between them.
    return loss.least(start, np.arange(slopes + 1) == slopes, enough=REACHED)


def _steepest(loss: LogisticLoss, theta: Floats) -> Floats:
    """Return the best parameters of which one slope is STEEPEST and none is more or below zero."""
    start = theta * (STEEPEST / theta[:-1].max())
    best: list[tuple[float, Floats]] = []
    for held in product((np.nan, 0.0, STEEPEST), repeat=len(theta) - 1):
        if STEEPEST in held:
            fixed = np.array([*held, np.nan])
            free = np.isnan(fixed)
            found = loss.least(np.where(free, start, fixed), free)
            if ((found[:-1] >= 0.0) & (found[:-1] <= STEEPEST)).all():
                best.append((loss(found)[0], found))
    return min(best, key=itemgetter(0))[1]


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

    def least(self, start: Floats, free: NDArray[np.bool_], *, enough: float = 0.0) -> Floats:
        """Return the best parameters where only the free ones move and the rest stay at start."""
        theta = start.copy()

        def part(some: Floats) -> tuple[float, Floats, Floats]:
            theta[free] = some
            loss, gradient, hessian = self(theta)
            return loss, gradient[free], hessian[np.ix_(free, free)]

        theta[free] = minimise(part, theta[free], enough=enough).theta
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
