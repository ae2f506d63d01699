"""Newton's method on convex functions whose least is known."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classify.calibration.arrays import Floats
from classify.calibration.newton import minimise, minimise_by_gradients


@given(st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=4))
def test_the_least_of_a_quadratic_is_found(centre: list[float]) -> None:
    """However far the start: long steps are shortened, not refused."""
    goal = np.array(centre)

    found = minimise(
        lambda x: (float((x - goal) @ (x - goal)), 2.0 * (x - goal), 2.0 * np.eye(len(goal))),
        np.zeros(len(goal)),
    )

    np.testing.assert_allclose(found.theta, goal, rtol=1e-13, atol=1e-13)


def test_steps_that_overshoot_are_halved() -> None:
    """Full steps on log cosh diverge from any start beyond about one."""

    def log_cosh(x: Floats) -> tuple[float, Floats, Floats]:
        return float(np.log(np.cosh(x)).sum()), np.tanh(x), np.diag(1.0 - np.tanh(x) ** 2)

    np.testing.assert_allclose(minimise(log_cosh, np.array([3.0, -4.0])).theta, 0.0, atol=1e-9)


def test_a_flat_direction_keeps_its_start() -> None:
    """A parameter that no row says anything about stays at the identity, rounding or not."""

    def first_only(x: Floats) -> tuple[float, Floats, Floats]:
        return float(x[0] ** 2), np.array([2.0 * x[0], 1e-17]), np.diag([2.0, 1e-18])

    found = minimise(first_only, np.array([5.0, 7.0]))

    np.testing.assert_allclose(found.theta, [0.0, 7.0], atol=1e-12)


def test_what_is_good_enough_is_not_improved() -> None:
    """A comparison of losses needs no last digits of the parameters."""
    asked = list[Floats]()

    def quartic(x: Floats) -> tuple[float, Floats, Floats]:
        asked.append(x)
        return float(x[0] ** 4), 4.0 * x**3, np.diag(12.0 * x**2)

    found = minimise(quartic, np.array([1.0]), enough=1e-3)

    assert found.theta is asked[-1]
    assert found.loss == found.theta[0] ** 4 < 1e-3


@given(st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=6), st.floats(0.2, 5.0))
def test_gradients_find_the_least_of_a_quadratic(centre: list[float], wrong: float) -> None:
    """Whatever the Hessian is that they start from."""
    goal = np.array(centre)
    hessian = np.diag(np.arange(1.0, len(goal) + 1.0)) + 0.5

    found = minimise_by_gradients(
        lambda x: (float((x - goal) @ hessian @ (x - goal)) / 2, hessian @ (x - goal)),
        np.zeros(len(goal)),
        wrong * np.eye(len(goal)),
        enough=1e-20,
    )

    np.testing.assert_allclose(found, goal, rtol=1e-9, atol=1e-9)


def test_steps_along_gradients_that_overshoot_are_halved() -> None:
    """Full steps on log cosh diverge, and what a far start says of the Hessian is corrected."""
    found = minimise_by_gradients(
        lambda x: (float(np.logaddexp(x, -x).sum()), np.tanh(x)),
        np.array([3.0, -4.0]),
        np.diag(np.cosh([3.0, 4.0]) ** 2),
        enough=1e-20,
    )

    np.testing.assert_allclose(found, 0.0, atol=1e-9)


def test_a_loss_without_curvature_tells_nothing_of_it() -> None:
    """A straight slope has no end, so the number of steps is one."""
    found = minimise_by_gradients(
        lambda x: (float(x.sum()), np.ones(2)), np.zeros(2), np.eye(2), enough=1e-20, max_steps=3
    )

    assert found.tolist() == [-3.0, -3.0]


def test_a_loss_that_falls_nowhere_ends_the_search() -> None:
    """As where rounding of huge numbers hides what a step would gain."""
    found = minimise_by_gradients(lambda x: (1.0, np.ones(2)), np.zeros(2), np.eye(2), enough=1e-20)

    assert found.tolist() == [0.0, 0.0]
