"""Minimise a smooth convex function by Newton's method, or a like one for many parameters.

Steps are halved until the loss falls enough: full steps diverge on saturated logits. The end is
found to about the last digits that the rows allow, so that the order of the rows, of which every
sum keeps a trace, moves no parameter that they determine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from classify.calibration.arrays import Floats

Objective = Callable[[Floats], tuple[float, Floats, Floats]]
"""Parameters (d,) to loss, gradient (d,) and Hessian (d, d); an infinite loss is out of bounds."""

Gradients = Callable[[Floats], tuple[float, Floats]]
"""Parameters (d,) to loss and gradient (d,)."""

_NEAR = 1e-12
"""The gain of a step below which rounding hides whether the loss falls: full steps are taken."""
REACHED = 1e-25
"""The gain left where parameters are final."""
_SMALL = 8
"""The parameters up to which an eigendecomposition costs no more than a linear solution does."""


class Least(NamedTuple):
    """Where a loss is least."""

    theta: Floats
    """(d,), the parameters."""
    loss: float
    """At the last parameters that were looked at, which a last unseen step improves by < 1e-12."""
    hessian: Floats
    """(d, d), at the same parameters as the loss."""


def minimise(
    objective: Objective, start: Floats, *, enough: float = 0.0, max_steps: int = 100
) -> Least:
    """Find the parameters of least loss, for a loss that is a mean over rows.

    A direction in which the loss is flat keeps the value it has in `start`. Parameters at which no
    more than `enough` is to be gained are taken as they are.
    """
    theta = start
    loss, gradient, hessian = objective(theta)
    before = 0.0
    for _ in range(max_steps):
        step = _step(gradient, hessian)
        promise = -float(gradient @ step)
        if promise <= enough:
            break
        if promise <= _NEAR:
            theta = theta + step
            # Newton's gains shrink by a factor that is squared with every step.
            if promise <= REACHED or 0.0 < promise**3 <= REACHED * before**2:
                break
            if 0.0 < before <= _NEAR and promise > 0.1 * before:
                break  # only rounding is left
            before = promise
            loss, gradient, hessian = objective(theta)
            continue
        size = 1.0
        while True:
            trial = theta + size * step
            found = objective(trial)
            if found[0] <= loss - 1e-4 * size * promise:
                break
            size *= 0.5
            if size < 1e-12:
                return Least(theta, loss, hessian)
        before = promise if size == 1.0 else 0.0
        theta, (loss, gradient, hessian) = trial, found
    return Least(theta, loss, hessian)


def minimise_by_gradients(
    objective: Gradients, start: Floats, inverse: Floats, *, enough: float, max_steps: int = 1000
) -> Floats:
    """Find the parameters (d,) of least loss where Hessians cost too much.

    `inverse` (d, d) is about that of the Hessian. What gradients tell of it is added by the formula
    of Broyden, Fletcher, Goldfarb and Shanno (J. Nocedal, S. Wright, "Numerical optimization",
    2006, 6.17). The last step is one that gains no more than `enough`, and leaves far less.
    """
    theta = start
    loss, gradient = objective(theta)
    for _ in range(max_steps):
        step = -(inverse @ gradient)
        promise = -float(gradient @ step)
        if promise <= enough:
            return theta + step
        size = 1.0
        while True:
            trial = theta + size * step
            found, slope = objective(trial)
            if promise <= _NEAR or found <= loss - 1e-4 * size * promise:
                break
            size *= 0.5
            if size < 1e-12:
                return theta
        moved, change = trial - theta, slope - gradient
        bend = float(moved @ change)
        if bend > 0.0:
            turned = inverse @ change / bend
            half = 0.5 * (1.0 / bend + float(change @ turned) / bend)
            crossed = np.outer(turned - half * moved, moved)
            inverse = inverse - crossed - crossed.T
        theta, loss, gradient = trial, found, slope
    return theta


def _step(gradient: Floats, hessian: Floats) -> Floats:
    if len(gradient) <= _SMALL:
        curvature, axes = np.linalg.eigh(hessian)
        along = axes.T @ -gradient
        # Below this a curvature is rounding, and so is the slope that would be divided by it.
        bent = curvature > 1e-13 * curvature[-1]
        step: Floats = axes[:, bent] @ (along[bent] / curvature[bent])
    else:
        # The damping is far below any curvature that matters, and makes flat directions solvable.
        damping = 1e-12 * float(np.trace(hessian)) / len(gradient) + 1e-300
        damped: Floats = hessian + damping * np.eye(len(gradient))
        step = np.asarray(np.linalg.solve(damped, -gradient), dtype=np.float64)
    longest = float(np.abs(step).max())
    if longest > 20.0:
        step *= 20.0 / longest
    return step
