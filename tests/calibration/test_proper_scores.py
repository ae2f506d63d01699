"""Log loss and Brier in known cases, and zeros on the truth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.calibration.measurement import Measurement
from classify.calibration.ordinal_scores import (
    ranked_probability_score,
    summed_ranked_probability_score,
)
from classify.calibration.proper_scores import (
    brier_score,
    brier_skill,
    half_brier_score,
    log_loss,
    log_loss_skill,
)
from classify.errors import CalibrationError

probabilities = st.floats(0.01, 0.99)


@given(st.integers(1, 9), st.integers(1, 20))
def test_a_uniform_forecast_costs_log_k(k: int, n: int) -> None:
    """Not knowing between k options is log k nats, and (k-1)/k in Brier."""
    log_p, y = np.zeros((n, k)), np.arange(n) % k

    assert log_loss(log_p, y).value == pytest.approx(math.log(k))
    assert brier_score(log_p, y).value == pytest.approx((k - 1) / k)


@pytest.mark.parametrize("score", [brier_score, half_brier_score, log_loss, brier_skill])
@pytest.mark.parametrize("rows", [list, np.array])
def test_rows_of_several_numbers_of_options_are_told_the_way_out(
    score: Callable[..., object], rows: Callable[[list[float]], object]
) -> None:
    """An item of two options beside one of three: numpy's own words say nothing of them."""
    log_p = [rows(np.log([0.8, 0.2]).tolist()), rows(np.log([0.5, 0.3, 0.2]).tolist())]
    with pytest.raises(CalibrationError, match=r"rows of 2 to 3 options: fill .* with -inf"):
        score(log_p, [0, 1])


def test_an_option_that_an_item_does_not_have_costs_nothing() -> None:
    """Each item's sum of squares, then the mean: (0.04 + 0.04 + 0.25 + 0.49 + 0.04) / 2."""
    with np.errstate(divide="ignore"):
        log_p = np.log([[0.8, 0.2, 0.0], [0.5, 0.3, 0.2]])
    assert brier_score(log_p, [0, 1]).value == pytest.approx(0.43)


@given(probabilities, st.integers(0, 1))
def test_half_the_brier_score_is_the_usual_one_for_two_options(p: float, y: int) -> None:
    """The two conventions differ by 2 and are told apart by name."""
    log_p = np.log([[1 - p, p]])

    assert half_brier_score(log_p, [y]).value == pytest.approx((p - y) ** 2)
    assert brier_score(log_p, [y]).value == pytest.approx(2 * (p - y) ** 2)


@given(probabilities, probabilities)
def test_the_true_probability_scores_best_on_average(p: float, q: float) -> None:
    """Proper: on outcomes that follow p, no q beats p."""
    weights = [1 - p, p]
    true, other = np.log([[1 - p, p]] * 2), np.log([[1 - q, q]] * 2)

    for score in (log_loss, brier_score, ranked_probability_score):
        best = score(true, [0, 1], weights=weights).value
        assert score(other, [0, 1], weights=weights).value >= best - 1e-12


def test_a_zero_on_the_truth_is_infinite_and_counted() -> None:
    """A clip in silence decides the number; a named one may."""
    log_p = np.array([[0.0, -np.inf], [0.0, -np.inf]])

    bare, floored = log_loss(log_p, [0, 1]), log_loss(log_p, [0, 1], floor=1e-3)

    assert (bare.value, bare.zeros) == (math.inf, 1)
    assert floored.value == pytest.approx(-math.log(1e-3) / 2)
    assert floored.rule == "log loss, floor 0.001"


def test_one_option_is_always_right() -> None:
    """K = 1: the loss is 0 and not undefined."""
    one = np.zeros((3, 1))

    assert log_loss(one, [0, 0, 0]).value == 0.0
    assert brier_score(one, [0, 0, 0]).value == 0.0
    assert ranked_probability_score(one, [0, 0, 0]).value == 0.0


def test_the_base_rates_have_no_skill() -> None:
    """Zero skill is what the labels' own shares reach."""
    log_p = np.log([[0.75, 0.25]] * 4)

    assert brier_skill(log_p, [0, 0, 0, 1]).value == pytest.approx(0.0)
    assert log_loss_skill(log_p, [0, 0, 0, 1]).value == pytest.approx(0.0)


@pytest.mark.parametrize("skill", [brier_skill, log_loss_skill], ids=["brier", "log"])
def test_one_label_leaves_no_room_for_skill(skill: Callable[..., Measurement]) -> None:
    """The base rate is then perfect and the ratio has no meaning."""
    with pytest.raises(CalibrationError, match="all rows have the same label"):
        skill([[0.0, -1.0]], [0])


def test_a_far_miss_costs_more_than_a_near_one() -> None:
    """What RPS sees and Brier does not: the order of the levels."""
    sure_of_first = np.log([[0.98, 0.01, 0.01]])

    near = ranked_probability_score(sure_of_first, [1]).value
    far = ranked_probability_score(sure_of_first, [2]).value

    assert far > near
    assert summed_ranked_probability_score(sure_of_first, [2]).value == pytest.approx(2 * far)


def test_a_floor_of_one_is_refused() -> None:
    """It would make every loss 0."""
    with pytest.raises(CalibrationError, match="floor must be between 0 and 1, got 1"):
        log_loss([[0.0, 0.0]], [0], floor=1.0)


def test_the_mean_of_huge_losses_is_a_number() -> None:
    """Their sum is not."""
    found = log_loss([[0.0, -1e308]] * 3, [1, 1, 0])

    assert found.value == pytest.approx(1e308 / 3 * 2, rel=1e-12)
    assert found.zeros == 0
