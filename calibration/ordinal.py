"""Calibrators of score questions, whose options are levels from worst to best.

Three answers to three needs: fit_temperature keeps the shape of the distribution over levels (20
labels); proportional odds re-learns the levels from the expected level (50); the isotonic mean
maps expected levels to people's mean ratings, for those who use only the number (100).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from classify.calibration.arrays import (
    Floats,
    finite_numbers,
    log_probabilities,
    same_probabilities,
    sample_weights,
)
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    Frozen,
    Slope,
    Vector,
    check_count,
    check_rising,
)
from classify.calibration.isotonic import IsotonicCurve, rising_curve
from classify.calibration.labelled import (
    Labelled,
    Targets,
    blocks,
    labelled,
    target_masses,
    warn_of_little_weight,
)
from classify.calibration.newton import REACHED, minimise
from classify.calibration.pooling import pooled
from classify.calibration.separation import rising_labels
from classify.calibration.temperature import STEEPEST
from classify.errors import CalibrationError

STEEPEST_OF_A_LEVEL = 4.0 * STEEPEST
"""The largest slope where levels lie 1 apart on average; as sharp as the lowest temperature.

Between two levels the expected level rises by p (1 - p) per nat of log-odds, a quarter at most.
"""


class ProportionalOddsCalibrator(Fitted):
    """P(level <= k) = sigmoid(thresholds[k] - slope * expected level)."""

    method: Literal["proportional-odds"] = "proportional-odds"
    values: Vector
    """The number each level stands for."""
    thresholds: Vector
    """(K - 1,), rising."""
    slope: Slope
    """How fast the odds rise with the expected level."""

    @model_validator(mode="after")
    def _levels_rise(self) -> ProportionalOddsCalibrator:
        check_count(self.values, self.fitted_on.k, name="values")
        check_count(self.thresholds, self.fitted_on.k - 1, name="thresholds")
        check_rising(self.values, name="values")
        check_rising(self.thresholds, name="thresholds")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        # einsum and not a matrix product: a row's answer may not depend on how many others come.
        score = np.einsum("nk,k->n", np.exp(log_probabilities(log_p)), np.array(self.values))
        thresholds = np.array(self.thresholds)
        odds = thresholds - self.slope * score[:, None]
        result = np.zeros_like(log_p)
        result[:, :-1] -= np.logaddexp(0.0, -odds)
        result[:, 1:] -= np.logaddexp(0.0, odds)
        result[:, 1:-1] += np.log(-np.expm1(-np.diff(thresholds)))
        return log_probabilities(result)


class IsotonicMean(Frozen):
    """A rising map from the model's expected level to people's mean rating."""

    n: int
    curve: IsotonicCurve

    def apply(self, scores: ArrayLike) -> Floats:
        """Return the mean rating to expect at each score (n,)."""
        return self.curve.at(same_probabilities(finite_numbers(scores, name="scores")))


def fit_proportional_odds(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    values: Sequence[float] | None = None,
    targets: Targets = "platt",
    floor: float = FLOOR,
) -> ProportionalOddsCalibrator:
    """Fit thresholds and slope by maximum likelihood of the targets (McCullagh, 1980).

    Levels stand for 0, 1, … where `values` is None. Platt's targets give a level no label names
    some room. The slope is at most 400 over the mean distance of two levels, as sharp as the lowest
    temperature; there it stops, and `at_bound` says so, where expected levels separate the labels
    and targets="hard" asks for certainty. Raises CalibrationError for one option or one class of
    labels, and for hard targets where no label names a level.
    """
    data = labelled(log_p, y, weights=weights, floor=floor)
    k = data.facts.k
    numbers: Floats = np.arange(k, dtype=np.float64)
    if values is not None:
        numbers = finite_numbers(values, name="values")
    if numbers.shape != (k,) or not (np.diff(numbers) > 0.0).all():
        raise CalibrationError(f"values must be {k} rising numbers, got {numbers.tolist()!r}")
    unnamed = [level for level, weight in enumerate(data.facts.label_weights) if not weight]
    if targets == "hard" and unnamed:
        raise CalibrationError(
            f"y names no level {unnamed!r}, to which targets='hard' gives no room between "
            "thresholds: targets='platt' does"
        )
    if targets != "hard":
        warn_of_little_weight(data)
    loss = _loss(data, numbers, targets)
    steepest = STEEPEST_OF_A_LEVEL * (k - 1) / float(numbers[-1] - numbers[0])
    if targets == "hard" and rising_labels(loss.score, data.y):
        theta, bounded = _parting(loss, data, steepest), True
    else:
        theta, bounded = _least(loss, steepest)
    return ProportionalOddsCalibrator(
        fitted_on=data.facts,
        values=tuple(numbers.tolist()),
        thresholds=tuple(theta[:-1].tolist()),
        slope=float(theta[-1]),
        at_bound=bounded,
    )


def fit_isotonic_mean(
    scores: ArrayLike, ratings: ArrayLike, *, weights: ArrayLike | None = None
) -> IsotonicMean:
    """Fit people's mean ratings as a rising function of the model's expected level.

    For 100 rated rows and more. Raises CalibrationError for arrays that do not match.
    """
    x, means = finite_numbers(scores, name="scores"), finite_numbers(ratings, name="ratings")
    if x.shape != means.shape or not len(x):
        raise CalibrationError(
            f"scores {x.shape} and ratings {means.shape} must be rows of one set"
        )
    w = sample_weights(weights, n=len(x))
    counted = w > 0.0
    # Scores are sums of probabilities, and what only rounding parts is one.
    rows = pooled(same_probabilities(x[counted]), means[counted], w[counted])
    curve = rising_curve(rows, pseudo_count=0.0, towards=0.0)
    return IsotonicMean(n=int(counted.sum()), curve=curve)


@dataclass(frozen=True, slots=True)
class ProportionalOddsLoss:
    """The mean log loss, for parameters thresholds (K - 1,) and slope.

    log P(level k) falls apart into log sigmoid(t_k - a s) + log sigmoid(a s - t_{k-1}) and a term
    of t_k - t_{k-1} alone, so levels need no differences of nearly equal numbers.
    """

    score: Floats
    asked: Floats
    """(K, n), weight * target."""

    def __call__(self, theta: Floats) -> tuple[float, Floats, Floats]:
        """Return loss, gradient and Hessian; infinite where thresholds do not rise."""
        steps, d = np.diff(theta[:-1]), len(theta)
        gradient, hessian = np.zeros(d), np.zeros((d, d))
        if (steps <= 0.0).any():
            return np.inf, gradient, hessian
        loss = self._between(steps, gradient, hessian)
        at = np.arange(d - 1)
        for block in blocks(len(self.score), d):
            score, asked = self.score[block], self.asked[:, block]
            odds = theta[:-1, None] - theta[-1] * score
            small = np.exp(-np.abs(odds))
            below = np.where(odds >= 0.0, 1.0, small) / (1.0 + small)
            both = asked[:-1] + asked[1:]
            loss += float((both * (np.maximum(odds, 0.0) + np.log1p(small))).sum())
            loss -= float((asked[:-1] * odds).sum())
            pull, bend = both * below - asked[:-1], both * below * (1.0 - below)
            gradient[:-1] += pull.sum(axis=1)
            gradient[-1] -= float((pull @ score).sum())
            hessian[at, at] += bend.sum(axis=1)
            hessian[at, -1] -= bend @ score
            hessian[-1, -1] += float((bend @ (score * score)).sum())
        hessian[-1, at] = hessian[at, -1]
        total = float(self.asked.sum())
        return loss / total, gradient / total, hessian / total

    def _between(self, steps: Floats, gradient: Floats, hessian: Floats) -> float:
        """Add what the distances between thresholds cost to gradient and Hessian."""
        mass = self.asked[1:-1].sum(axis=1)
        with np.errstate(over="ignore"):  # thresholds so far apart do not feel each other
            pull = -mass / np.expm1(steps)
            bend = mass / (np.expm1(steps) * -np.expm1(-steps))
        low = np.arange(len(steps))
        gradient[low] -= pull
        gradient[low + 1] += pull
        hessian[low, low] += bend
        hessian[low + 1, low + 1] += bend
        hessian[low, low + 1] -= bend
        hessian[low + 1, low] -= bend
        return -float(mass @ np.log(-np.expm1(-steps)))


def _loss(data: Labelled, values: Floats, targets: Targets) -> ProportionalOddsLoss:
    on, off = target_masses(data.facts, targets)
    asked = np.where(data.y == np.arange(data.facts.k)[:, None], on[data.y], off[data.y])
    score = np.exp(log_probabilities(data.log_p)) @ values
    return ProportionalOddsLoss(score, asked * data.weights)


def _least(loss: ProportionalOddsLoss, steepest: float) -> tuple[Floats, bool]:
    """Return thresholds (K - 1,) and slope, and whether the slope is held at 0 or at steepest."""
    mass = np.maximum(loss.asked.sum(axis=1), 1e-3)  # a level that hardly counts has some room
    share = np.cumsum(mass[:-1]) / mass.sum()
    level = np.append(np.log(share) - np.log1p(-share), 0.0)
    theta = minimise(loss, level).theta
    if theta[-1] < 0.0:
        return level, True
    if theta[-1] > steepest:
        return _with_slope(loss, theta[:-1] * (steepest / theta[-1]), steepest), True
    return theta, False


def _parting(loss: ProportionalOddsLoss, data: Labelled, steepest: float) -> Floats:
    """Return the thresholds between levels whose scores do not overlap, and the slope."""
    own = [loss.score[data.y == level] for level in range(data.facts.k)]
    cuts = np.array([0.5 * (below.max() + above.min()) for below, above in pairwise(own)])
    # Levels of one score alone have their cuts in one place, and thresholds must rise.
    return _with_slope(loss, steepest * cuts + 1e-3 * np.arange(len(cuts)), steepest)


def _with_slope(loss: ProportionalOddsLoss, start: Floats, slope: float) -> Floats:
    """Return the thresholds of least loss for a slope, and the slope."""

    def thresholds_only(thresholds: Floats) -> tuple[float, Floats, Floats]:
        value, gradient, hessian = loss(np.append(thresholds, slope))
        return value, gradient[:-1], hessian[:-1, :-1]

    # Where levels lie too far apart for the loss to say where they part, the start stands.
    return np.append(minimise(thresholds_only, start, enough=REACHED).theta, slope)
