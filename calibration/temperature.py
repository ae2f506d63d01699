"""Temperature scaling: one number that softens (T > 1) or sharpens (T < 1) every answer.

softmax(log p / T) keeps the order of the options, so the chosen answer never changes. The loss is
convex in beta = 1/T; the fit is the root of its derivative. Guo et al., "On calibration of modern
neural networks", 2017. For score questions the same fit calibrates the distribution over levels.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from classify.calibration.arrays import Floats, log_probabilities
from classify.calibration.fitted import FLOOR, Fitted, Positive, divided
from classify.calibration.labelled import (
    Design,
    Labelled,
    Targets,
    blocks,
    by_option,
    design,
    labelled,
    thinned,
    warn_of_little_weight,
)

LOWEST, HIGHEST = 0.01, 100.0
"""The range of T; a fit that ends there says so in `at_bound`."""

STEEPEST = 1.0 / LOWEST
"""The slope of log-odds that is as sharp as the lowest T, and the limit of all maps of them."""


class TemperatureCalibrator(Fitted):
    """softmax(log p / T), mixed with the uniform distribution where `uniform` is above zero."""

    method: Literal["temperature"] = "temperature"
    temperature: Positive
    """T: above 1 softens, below 1 sharpens."""
    uniform: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """The share of the uniform distribution in the result."""

    def _mapped(self, log_p: Floats) -> Floats:
        scaled = log_probabilities(divided(log_p, self.temperature))
        if self.uniform == 0.0:
            return scaled
        even = np.log(self.uniform) - np.log(log_p.shape[1])
        mixed: Floats = np.logaddexp(scaled + np.log1p(-self.uniform), even)
        return mixed


def fit_temperature(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    targets: Targets = "laplace",
    floor: float = FLOOR,
) -> TemperatureCalibrator:
    """Fit T by maximum likelihood of the targets.

    Laplace's are the default: at 20 labels plain maximum likelihood costs twice as much, and
    Platt's leave the answers to many options too unsure. T lies in 0.01 … 100, and `at_bound` says
    where it stopped at an end: hard targets do at 0.01 where every label is its row's likeliest
    option, and all targets at 100 where answers and labels have nothing in common.
    Raises CalibrationError for one option or one class of labels.
    """
    data = labelled(log_p, y, weights=weights, floor=floor)
    if targets != "hard":
        warn_of_little_weight(data)
    beta = inverse_temperature(data, targets)
    return TemperatureCalibrator(
        fitted_on=data.facts, temperature=1.0 / beta, at_bound=_at_bound(beta)
    )


def fit_temperature_mixture(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None, floor: float = FLOOR
) -> TemperatureCalibrator:
    """Fit T by plain maximum likelihood, then mix in 1/(n+1) of the uniform distribution.

    The mixture bounds confidence by the number of labels. Berta et al., "Rethinking early
    stopping: refine, then calibrate", 2025.
    """
    data = labelled(log_p, y, weights=weights, floor=floor)
    warn_of_little_weight(data)
    return temperature_mixture(data)


def temperature_mixture(data: Labelled) -> TemperatureCalibrator:
    """Return the temperature and mixture of checked rows."""
    beta = inverse_temperature(data, "hard")
    return TemperatureCalibrator(
        fitted_on=data.facts,
        temperature=1.0 / beta,
        uniform=1.0 / (1.0 + float(data.weights.sum())),
        at_bound=_at_bound(beta),
    )


def inverse_temperature(data: Labelled, targets: Targets) -> float:
    """Return beta = 1/T of least loss, within the range of T."""
    few = thinned(data)
    start = 1.0 if few is None else inverse_temperature(few, targets)
    plan = design(by_option(data.log_p, centred=True), data, targets)
    if len(plan.x) == 2:
        # The better of two options sits at zero, so only the gap to the other needs an exp.
        plan = Design(plan.x.sum(axis=0)[None], plan.weights, plan.target_x, plan.target_mass)
    return _root(plan, start)


def _root(plan: Design, start: float) -> float:
    goal = float(plan.target_x.sum())
    low, high = 1.0 / HIGHEST, 1.0 / LOWEST
    unseen = {low, high}
    beta = start
    for _ in range(200):
        mean, spread = _moments(plan, beta)
        slope = mean - goal
        if slope == 0.0:
            return beta  # also where all options are equal, and no temperature changes anything
        unseen.discard(beta)
        if slope > 0.0:
            high = beta
        else:
            low = beta
        # A Newton step on log beta; where it leaves what is left of the range, to an end that may
        # be the best of all, or else by bisection.
        curvature = beta * spread
        guess = beta * float(np.exp(np.clip(-slope / curvature, -5.0, 5.0))) if curvature else 0.0
        if not low < guess < high:
            if low == high or abs(guess / beta - 1.0) < 1e-9:
                return beta
            end = high if slope < 0.0 else low
            guess = end if end in unseen else float(np.sqrt(low * high))
        moved = abs(guess / beta - 1.0)
        beta = guess
        if moved < 1e-7 and beta not in unseen:
            return beta
    return beta


def _moments(plan: Design, beta: float) -> tuple[float, float]:
    """Return the sums over rows of the mean and the variance of x under softmax(beta x)."""
    mean = spread = 0.0
    rows, n = plan.x.shape
    for block in blocks(n, rows):
        x = plan.x[:, block]
        mass = np.exp(beta * x)
        norm = mass.sum(axis=0)
        if rows == 1:
            norm += 1.0
        mass *= x
        first = mass.sum(axis=0) / norm
        mass *= x
        second = mass.sum(axis=0) / norm
        mean += float(plan.weights[block] @ first)
        spread += float(plan.weights[block] @ (second - first * first))
    return mean, spread


def _at_bound(beta: float) -> bool:
    return not 1.0001 / HIGHEST < beta < 0.9999 / LOWEST
