"""Calibration intercept and slope (Cox 1958): the most readable pair of numbers.

A logistic regression of the outcome on the log odds of p. Slope 1 and intercept 0 are perfect; a
slope below 1 is over-confidence. In the large is the intercept when the slope is held at 1: above
0, things happen more often than promised.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats
from classify.calibration.fitted import check_floor
from classify.calibration.measurement import rows_used
from classify.calibration.outcomes import BinaryOutcomes, binary_outcomes
from classify.calibration.settings import shown
from classify.display.notebook import Shown
from classify.errors import CalibrationError

_ITERATIONS = 100
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class CalibrationLine(Shown):
    """Intercept and slope with standard errors, and the test of intercept 0 and slope 1."""

    intercept: float
    """0 for a calibrated model."""
    intercept_error: float
    """Its standard error."""
    slope: float
    """1 for a calibrated model; below it, over-confident."""
    slope_error: float
    """Its standard error."""
    in_the_large: float
    """The intercept where the slope is held at 1: 0 if the mean is right."""
    in_the_large_error: float
    """Its standard error."""
    p_value: float
    """Wald test of intercept 0 and slope 1 together, chi-square with 2 degrees."""
    clipped: int
    """Rows whose probability was moved to the floor, or to 1 less the floor."""
    rule: str
    n: int
    """Rows used."""
    total: int | None = None
    """How many rows there were, where that is known."""

    @property
    def value(self) -> float:
        """The slope, under the name that other figures have."""
        return self.slope

    def __str__(self) -> str:
        """Show each number with its standard error."""
        return (
            f"slope {self.slope:z.3f} ± {self.slope_error:.3f}, "
            f"intercept {self.intercept:z.3f} ± {self.intercept_error:.3f}, "
            f"in the large {self.in_the_large:z.3f} ± {self.in_the_large_error:.3f}, "
            f"p {self.p_value:.3g}  "
            f"({self.rule}, {self.clipped} clipped, {rows_used(self.n, self.total)})"
        )


def calibration_line(
    p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None, floor: float = 1e-6
) -> CalibrationLine:
    """Fit intercept and slope; p below `floor` or above 1 - `floor` is moved there and counted.

    A weight of 2 is as two rows in the line, but not in its standard errors and its p-value, which
    go by the rows there are. Raises CalibrationError where no finite line fits: one label only, one
    probability only, or a threshold on p that parts the labels.
    """
    check_floor(floor)
    outcomes = binary_outcomes(p, y, weights)
    clipped = np.clip(outcomes.p, floor, 1 - floor)
    z = np.log(clipped) - np.log1p(-clipped)
    _refuse_endless(z, outcomes)
    ones = np.ones_like(z)
    at_perfect, in_large_error = _in_the_large(z, outcomes)
    line, covariance = _fit(np.stack([ones, z]), outcomes, start=(at_perfect, 1.0))
    off = line - np.array([0.0, 1.0])
    wald = float(off @ _solved(covariance, off))
    return CalibrationLine(
        intercept=float(line[0]),
        intercept_error=math.sqrt(covariance[0, 0]),
        slope=float(line[1]),
        slope_error=math.sqrt(covariance[1, 1]),
        in_the_large=at_perfect,
        in_the_large_error=in_large_error,
        p_value=math.exp(-wald / 2),
        clipped=int(np.count_nonzero(clipped != outcomes.p)),
        rule=f"logistic regression on log odds, floor {floor:g}",
        n=outcomes.n,
    )


def _in_the_large(z: Floats, outcomes: BinaryOutcomes) -> tuple[float, float]:
    line, covariance = _fit(np.ones((1, z.size)), outcomes, start=(0.0,), offset=z)
    return float(line[0]), math.sqrt(covariance[0, 0])


def _fit(
    x: Floats,
    outcomes: BinaryOutcomes,
    *,
    start: tuple[float, ...],
    offset: Floats | float = 0.0,
) -> tuple[Floats, Floats]:
    """Maximise the weighted likelihood by damped Newton; return parameters and covariance.

    x is (parameters, rows). The covariance counts rows, not weights: doubling all changes nothing.
    """
    _, y, w = outcomes
    line: Floats = np.array(start, dtype=np.float64)
    loss = _loss(line @ x + offset, outcomes)
    for _ in range(_ITERATIONS):
        mean = _sigmoid(line @ x + offset)
        gradient = x @ (w * (mean - y))
        hessian = (x * (w * mean * (1 - mean))) @ x.T
        step = _solved(hessian, gradient)
        size = 1.0
        # Near the end the loss is flat to the last digits; there the full step is right.
        while _loss((line - size * step) @ x + offset, outcomes) > loss + _ROUNDING * abs(loss):
            size /= 2
        line = line - size * step
        loss = _loss(line @ x + offset, outcomes)
        if float(np.abs(step).max()) < 1e-10 * (1 + float(np.abs(line).max())):
            break
    else:
        raise CalibrationError(
            f"no calibration line found in {_ITERATIONS} steps, at {shown(line)}"
        )
    mean = _sigmoid(line @ x + offset)
    bread = _solved((x * (w * mean * (1 - mean))) @ x.T, np.eye(len(x)))
    meat = (x * (w * w * mean * (1 - mean))) @ x.T
    return line, bread @ meat @ bread


def _solved(matrix: Floats, right: Floats) -> Floats:
    try:
        return np.asarray(np.linalg.solve(matrix, right), dtype=np.float64)
    except np.linalg.LinAlgError as error:
        raise CalibrationError(
            "no calibration line fits: the rows that weigh most have one probability, or a "
            "threshold parts their labels; give weights that differ less"
        ) from error


def _refuse_endless(z: Floats, outcomes: BinaryOutcomes) -> None:
    y = outcomes.y
    if y.min() == y.max():
        raise CalibrationError(
            f"no calibration line fits: all {y.size} rows have the label {int(y[0])}"
        )
    if np.ptp(z) == 0.0:
        raise CalibrationError("no calibration line fits: every row has the same probability")
    zeros, ones = z[y == 0], z[y == 1]
    if zeros.max() <= ones.min() or ones.max() <= zeros.min():
        raise CalibrationError(
            "no calibration line fits: a threshold on p parts the labels, so the slope is endless"
        )


def _loss(z: Floats, outcomes: BinaryOutcomes) -> float:
    return float(outcomes.w @ (np.logaddexp(0.0, z) - outcomes.y * z))


def _sigmoid(z: Floats) -> Floats:
    half: Floats = 0.5 * (1 + np.tanh(0.5 * z))
    return half
