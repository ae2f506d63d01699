"""Score questions: proportional odds, and the map of means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.optimize import minimize

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.ordinal import (
    ProportionalOddsLoss,
    fit_isotonic_mean,
    fit_proportional_odds,
)
from classify.errors import CalibrationError


def levels(n: int, *, seed: int) -> tuple[Floats, Ints, Floats]:
    """Return level distributions, labels drawn by P(Y <= k) = sigmoid(t_k - 1.5 s), and s."""
    random = np.random.default_rng(seed)
    log_p = log_probabilities(random.normal(0.0, 2.0, (n, 4)))
    score = np.exp(log_p) @ np.arange(4.0)
    below = 1.0 / (1.0 + np.exp(-(np.array([0.5, 2.0, 3.5]) - 1.5 * score[:, None])))
    y = (random.random(n)[:, None] > below).sum(axis=1)
    return log_p, y.astype(np.int64), score


def test_the_model_that_made_the_labels_is_found() -> None:
    """20 000 labels leave a small error."""
    log_p, y, _ = levels(20_000, seed=1)

    found = fit_proportional_odds(log_p, y)

    np.testing.assert_allclose(found.thresholds, [0.5, 2.0, 3.5], atol=0.15)
    assert found.slope == pytest.approx(1.5, abs=0.1)


def test_no_other_parameters_have_less_loss() -> None:
    """A general optimiser over differences of sigmoids ends at the same place."""
    log_p, y, score = levels(150, seed=2)

    def loss(theta: Floats) -> float:
        rising = np.concatenate([theta[:1], np.exp(theta[1:3])]).cumsum()
        below = 1.0 / (1.0 + np.exp(-(rising - theta[3] * score[:, None])))
        at = np.diff(np.pad(below, ((0, 0), (1, 1)), constant_values=((0, 0), (0, 1))))
        return -float(np.log(at[np.arange(150), y]).mean())

    best = minimize(loss, np.array([0.0, 0.0, 0.0, 1.0]), method="BFGS", options={"gtol": 1e-8})
    found = fit_proportional_odds(log_p, y, targets="hard")

    assert found.slope == pytest.approx(float(best.x[3]), abs=1e-4)
    ours = -float(found.apply(log_p)[np.arange(150), y].mean())
    assert ours == pytest.approx(float(best.fun), abs=1e-9)


def test_the_gradient_is_that_of_the_loss() -> None:
    """By finite differences, away from the best parameters."""
    random = np.random.default_rng(3)
    loss = ProportionalOddsLoss(random.normal(2.0, 1.0, 60), random.random((4, 60)))
    theta = np.array([-1.0, 0.5, 3.0, 0.7])

    small = 1e-6 * np.eye(4)
    ups, downs = [loss(theta + d) for d in small], [loss(theta - d) for d in small]

    slopes = [(up[0] - down[0]) / 2e-6 for up, down in zip(ups, downs, strict=True)]
    bends = [(up[1] - down[1]) / 2e-6 for up, down in zip(ups, downs, strict=True)]
    np.testing.assert_allclose(loss(theta)[1], slopes, atol=1e-7)
    np.testing.assert_allclose(loss(theta)[2], bends, atol=1e-7)


def test_the_numbers_of_the_levels_do_not_change_the_answer() -> None:
    """Levels 0 … 3 or 10 … 40 are the same scale."""
    log_p, y, _ = levels(200, seed=4)

    one = fit_proportional_odds(log_p, y)
    other = fit_proportional_odds(log_p, y, values=[10.0, 20.0, 30.0, 40.0])

    np.testing.assert_allclose(one.apply(log_p), other.apply(log_p), atol=1e-7)


def test_a_level_no_label_names_keeps_some_room() -> None:
    """People may use it tomorrow."""
    log_p, y, _ = levels(200, seed=5)

    p = np.exp(fit_proportional_odds(log_p, np.where(y == 1, 2, y)).apply(log_p))

    assert 0.0 < p[:, 1].mean() < 0.05


def test_scores_against_the_labels_give_the_marginal() -> None:
    """A slope is never negative, and the bound is reported."""
    log_p, y, _ = levels(2000, seed=6)

    found = fit_proportional_odds(log_p, 3 - y, targets="hard")

    assert found.slope == 0.0 and found.at_bound
    np.testing.assert_allclose(np.exp(found.apply(log_p[:1]))[0], np.bincount(3 - y) / 2000)


@pytest.mark.parametrize(
    "values",
    [[0.0, 1.0], [0.0, 1.0, 1.0, 2.0], [3.0, 2.0, 1.0, 0.0]],
    ids=["few", "tie", "falling"],
)
def test_values_that_are_no_scale_are_refused(values: list[float]) -> None:
    """Levels go from worst to best."""
    log_p, y, _ = levels(30, seed=7)

    with pytest.raises(CalibrationError, match="values must be 4 rising numbers"):
        fit_proportional_odds(log_p, y, values=values)


@given(
    st.lists(
        st.tuples(st.floats(0.0, 4.0, width=16), st.floats(1.0, 5.0, width=16)),
        min_size=1,
        max_size=30,
    )
)
def test_the_map_of_means_rises_and_keeps_the_mean(rows: list[tuple[float, float]]) -> None:
    """The mean rating over the fitted rows is that of the people."""
    scores, ratings = np.array(rows).T
    assume(np.ptp(ratings) < 5.0)

    fitted = fit_isotonic_mean(scores, ratings).apply(scores)

    assert (np.diff(fitted[np.argsort(scores, kind="stable")]) >= -1e-12).all()
    assert fitted.mean() == pytest.approx(ratings.mean(), abs=1e-9)


def test_ratings_without_scores_are_refused() -> None:
    """Every rating belongs to a score."""
    with pytest.raises(CalibrationError, match="must be rows of one set"):
        fit_isotonic_mean([1.0, 2.0], [1.0])
