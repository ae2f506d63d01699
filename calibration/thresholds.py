"""What to do when mistakes have prices: the cheapest action under calibrated probabilities.

Costs are a matrix (K true options, A actions): costs[k][a] is paid for action a when k is true.
With one action per option this is "true option, predicted option". Only calibrated
probabilities make the expected cost the cost that will be paid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    LARGEST,
    Floats,
    Ints,
    class_labels,
    log_probabilities,
    numbers,
    sample_weights,
)
from classify.calibration.outcomes import row_blocks
from classify.calibration.settings import finite_number, not_negative, shown
from classify.errors import CalibrationError

HAND_OVER = -1
"""The action of a row that is too dear to decide alone."""
_SAME = 2.0**-40
"""Beside the terms of a sum, what their rounding may change: that of `same_probabilities`."""


def binary_threshold(*, false_positive: float, false_negative: float) -> float:
    """Return the probability of "yes" from which saying yes is the cheaper mistake.

    >>> binary_threshold(false_positive=1.0, false_negative=4.0)
    0.2
    """
    finite_number(false_positive, name="false_positive")
    finite_number(false_negative, name="false_negative")
    both = false_positive + false_negative
    if min(false_positive, false_negative) < 0.0 or not 0.0 < both < float("inf"):
        raise CalibrationError(
            f"costs must be finite, not negative and not both 0, got "
            f"false_positive={shown(false_positive)}, false_negative={shown(false_negative)}"
        )
    return false_positive / both


def expected_costs(log_p: ArrayLike, costs: ArrayLike) -> Floats:
    """Return the expected cost of every action in every row (n, A)."""
    x = log_probabilities(log_p)
    expected: Floats = np.exp(x) @ cost_matrix(costs, k=x.shape[1])
    return expected


def best_actions(
    log_p: ArrayLike, costs: ArrayLike, *, escalation_cost: float | None = None
) -> Ints:
    """Return each row's cheapest action (n,); ties go to the first, rounding does not part them.

    With an `escalation_cost`, the price of asking a person, a row whose cheapest action is not
    cheaper than that becomes HAND_OVER (-1).
    """
    if escalation_cost is not None:
        check_price(escalation_cost)
    x = log_probabilities(log_p)
    matrix = cost_matrix(costs, k=x.shape[1])
    actions = np.empty(len(x), dtype=np.int64)
    for rows in row_blocks(len(x)):
        actions[rows] = _cheapest(np.exp(x[rows]), matrix, escalation_cost)
    return actions


def realised_cost(
    actions: ArrayLike,
    y: ArrayLike,
    costs: ArrayLike,
    *,
    escalation_cost: float = 0.0,
    weights: ArrayLike | None = None,
) -> float:
    """Return the mean cost that these actions had on labelled rows: a check, not a tuning aim.

    Rows with the action HAND_OVER pay `escalation_cost`.
    """
    matrix = cost_matrix(costs)
    check_price(escalation_cost)
    chosen = numbers(actions, name="actions")
    if chosen.ndim != 1 or chosen.size == 0:
        raise CalibrationError(f"actions must be a list of at least one, got {chosen.shape}")
    handed_over = chosen == HAND_OVER
    acted = class_labels(
        np.where(handed_over, 0, chosen), n=chosen.size, k=matrix.shape[1], name="actions"
    )
    labels = class_labels(y, n=chosen.size, k=len(matrix))
    paid = np.where(handed_over, escalation_cost, matrix[labels, acted])
    return float(np.average(paid, weights=sample_weights(weights, n=chosen.size)))


def cost_matrix(costs: ArrayLike, *, k: int | None = None) -> Floats:
    """Return the costs as a finite matrix with one row per true option, or raise."""
    matrix = numbers(costs, name="costs")
    if matrix.ndim != 2 or matrix.size == 0 or (k is not None and len(matrix) != k):
        rows = "one row per true option" if k is None else f"{k} rows, one per true option"
        raise CalibrationError(f"costs must be a matrix with {rows}, got {matrix.shape}")
    if not (np.abs(matrix) <= LARGEST).all():
        raise CalibrationError(
            f"costs must be finite and within ±{LARGEST:g}, got {matrix.tolist()!r}"
        )
    return matrix


def check_price(escalation_cost: object) -> None:
    """Raise CalibrationError for a price of asking a person that is none."""
    if isinstance(escalation_cost, float) and escalation_cost == float("inf"):
        return  # nothing is worth asking a person
    if not_negative(escalation_cost, name="escalation_cost") > LARGEST:
        raise CalibrationError(
            f"escalation_cost must be at most {LARGEST:g} or inf, got {shown(escalation_cost)}"
        )


def _cheapest(p: Floats, matrix: Floats, escalation_cost: float | None) -> Ints:
    # (A, n): one action after the other is faster than one row after the other.
    expected: Floats = matrix.T @ p.T
    # What rounding takes from a sum is measured by the sizes of its terms.
    slack: Floats = _SAME * (expected if (matrix >= 0.0).all() else np.abs(matrix).T @ p.T)
    least = expected.min(axis=0)
    actions: Ints = (expected - slack <= least).argmax(axis=0).astype(np.int64)
    if escalation_cost is None:
        return actions
    cheaper = least < escalation_cost - slack[actions, np.arange(len(p))]
    return np.where(cheaper, actions, HAND_OVER)
