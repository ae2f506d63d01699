"""Prices of mistakes decide what is done."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.thresholds import (
    HAND_OVER,
    best_actions,
    binary_threshold,
    expected_costs,
    realised_cost,
)
from classify.errors import CalibrationError

prices = st.floats(0.01, 100.0)


@given(prices, prices, st.floats(0.001, 0.999))
@settings(deadline=None)
def test_the_binary_threshold_is_where_the_cheapest_action_changes(
    false_positive: float, false_negative: float, p: float
) -> None:
    """The formula and the cost matrix are one rule."""
    threshold = binary_threshold(false_positive=false_positive, false_negative=false_negative)
    costs = [[0.0, false_positive], [false_negative, 0.0]]

    action = best_actions(np.log([[1.0 - p, p]]), costs)[0]

    if abs(p - threshold) > 1e-9:
        assert action == int(p > threshold)


def test_a_person_is_asked_where_that_is_cheaper() -> None:
    """Costs 0.4 against 0.1 for the sure row; a person costs 0.2."""
    log_p = np.log([[0.6, 0.4], [0.9, 0.1]])

    actions = best_actions(log_p, [[0, 1], [1, 0]], escalation_cost=0.2)

    assert actions.tolist() == [HAND_OVER, 0]


def test_actions_need_not_be_options() -> None:
    """Two options, three actions: the third suits both halfway."""
    log_p = np.log([[0.5, 0.5], [0.95, 0.05]])
    costs = [[0.0, 1.0, 0.3], [1.0, 0.0, 0.3]]

    assert best_actions(log_p, costs).tolist() == [2, 0]
    np.testing.assert_allclose(expected_costs(log_p, costs)[0], [0.5, 0.5, 0.3])


@pytest.mark.parametrize("paid", [0.0, 1000.0], ids=["costs", "gains"])
def test_costs_that_are_the_same_but_for_rounding_are_a_tie(paid: float) -> None:
    """At the threshold both mistakes cost the same: the first action, and not cheaper than that.

    Half of these rows fall to either side by the last digit of an exponential or of a sum.
    """
    for yes in range(1, 100):
        log_p = np.log([[1 - yes / 100, yes / 100], [1 - yes / 100 + 0.001, yes / 100 - 0.001]])
        costs = np.array([[0.0, yes], [100.0 - yes, 0.0]]) / 7 - paid
        tie = yes * (100 - yes) / 700 - paid

        assert best_actions(log_p, costs).tolist() == [0, 0]
        if tie >= 0.0:
            asked = best_actions(log_p, costs, escalation_cost=tie)
            assert asked.tolist() == [HAND_OVER, 0]


def test_rows_handed_over_pay_the_person() -> None:
    """One right, one wrong, one asked."""
    paid = realised_cost([0, 0, HAND_OVER], [0, 1, 1], [[0, 1], [3, 0]], escalation_cost=0.6)

    assert paid == pytest.approx((0.0 + 3.0 + 0.6) / 3)


def test_weights_repeat_rows_in_the_realised_cost() -> None:
    """A weight of 2 is the row twice."""
    costs = [[0, 1], [3, 0]]

    assert realised_cost([0, 0], [0, 1], costs, weights=[1, 2]) == pytest.approx(
        realised_cost([0, 0, 0], [0, 1, 1], costs)
    )


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0.0, 1.0]], "a matrix with 2 rows, one per true option, got"),
        ([[0.0, math.inf], [1.0, 0.0]], "costs must be finite"),
        ([1.0, 2.0], "costs must be a matrix"),
    ],
    ids=["a row short", "infinite", "no matrix"],
)
def test_costs_must_be_a_finite_matrix(costs: list[float], message: str) -> None:
    """Infinite prices make every probability above zero equal."""
    with pytest.raises(CalibrationError, match=message):
        best_actions(np.log([[0.5, 0.5]]), costs)


@pytest.mark.parametrize(
    ("false_positive", "false_negative"),
    [(0.0, 0.0), (-1.0, 2.0), (math.inf, 1.0)],
    ids=["both free", "negative", "infinite"],
)
def test_a_binary_threshold_needs_prices(false_positive: float, false_negative: float) -> None:
    """With both mistakes free nothing is cheaper."""
    with pytest.raises(CalibrationError, match="finite"):
        binary_threshold(false_positive=false_positive, false_negative=false_negative)


def test_an_escalation_cost_is_not_negative() -> None:
    """Nobody is paid for being asked."""
    with pytest.raises(CalibrationError, match="escalation_cost must not be negative, got -1"):
        best_actions(np.log([[0.5, 0.5]]), [[0, 1], [1, 0]], escalation_cost=-1.0)


def test_no_actions_have_no_mean_cost() -> None:
    """An empty list has no mean."""
    with pytest.raises(CalibrationError, match="actions must be a list of at least one"):
        realised_cost([], [], [[0, 1], [1, 0]])


def test_an_endless_escalation_cost_never_asks() -> None:
    """Nor does a policy that is read with one; a price of nan is none."""
    log_p = np.log([[0.5, 0.5]])

    assert best_actions(log_p, [[0, 1], [1, 0]], escalation_cost=math.inf).tolist() == [0]
    with pytest.raises(CalibrationError, match="escalation_cost must be a finite number, got nan"):
        best_actions(log_p, [[0, 1], [1, 0]], escalation_cost=math.nan)
