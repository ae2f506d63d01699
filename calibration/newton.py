"""Minimise a smooth convex function of a few parameters by Newton's method with line search.

Steps are halved until the loss falls enough: full steps diverge on saturated logits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from classify.calibration.arrays import Floats

Objective = Callable[[Floats], tuple[float, Floats, Floats]]
"""Parameters (d,) to loss, gradient (d,) and Hessian (d, d); an infinite loss is out of bounds."""


def minimise(objective: Objective, start: Floats, *, max_steps: int = 100) -> Floats:
    """Return the parameters of least loss, for a loss that is a mean over rows.

    A direction in which the loss is flat keeps the value it has in `start`.
    """
    theta = start
    loss, gradient, hessian = objective(theta)
    for _ in range(max_steps):
        step = _step(gradient, hessian)
        promise = -float(gradient @ step)
        if promise <= 1e-12:
            # So close to the end that rounding hides the gain, one full step is all that is left.
            return theta + step
        size = 1.0
        while True:
            trial = theta + size * step
            found = objective(trial)
            if found[0] <= loss - 1e-4 * size * promise:
                break
            size *= 0.5
            if size < 1e-12:
                return theta
        theta, (loss, gradient, hessian) = trial, found
    return theta


def _step(gradient: Floats, hessian: Floats) -> Floats:
    # The damping is far below any curvature that matters, and makes flat directions solvable.
    damping = 1e-12 * float(np.trace(hessian)) / len(gradient) + 1e-300
    damped: Floats = hessian + damping * np.eye(len(gradient))
    step = np.asarray(np.linalg.solve(damped, -gradient), dtype=np.float64)
    longest = float(np.abs(step).max())
    if longest > 20.0:
        step *= 20.0 / longest
    return step
