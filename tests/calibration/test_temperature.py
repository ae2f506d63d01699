"""Temperature: the answer stays, its confidence changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.calibration.fitted import FLOOR, FittedOn
from classify.calibration.labelled import Targets
from classify.calibration.temperature import (
    HIGHEST,
    LOWEST,
    TemperatureCalibrator,
    fit_temperature,
    fit_temperature_mixture,
)

SEPARABLE = np.stack([np.linspace(-3.0, 3.0, 30), np.zeros(30)], axis=1)
LABELS = (SEPARABLE[:, 0] < 0.0).astype(int)

rows = st.lists(
    st.lists(st.floats(-13.0, 0.0, width=16), min_size=4, max_size=4), min_size=1, max_size=5
)


@given(rows, st.floats(LOWEST, HIGHEST))
def test_temperature_keeps_the_order_of_the_options(
    log_p: list[list[float]], temperature: float
) -> None:
    """The option chosen, and the runner-up, are the same at every temperature."""
    calibrator = TemperatureCalibrator(
        fitted_on=FittedOn(n=30, k=4, floor=FLOOR), temperature=temperature
    )

    before, after = np.array(log_p), calibrator.apply(log_p)

    for i in range(4):
        for j in range(4):
            higher = before[:, i] >= before[:, j]
            assert (after[higher, i] >= after[higher, j] - 1e-12).all()


@pytest.mark.parametrize("targets", ["laplace", "platt"])
def test_separable_labels_give_a_finite_temperature(targets: Targets) -> None:
    """Plain maximum likelihood would ask for certainty."""
    found = fit_temperature(SEPARABLE, LABELS, targets=targets)

    assert 0.1 < found.temperature < 1.0
    assert not found.at_bound


def test_separable_labels_push_hard_targets_to_the_bound() -> None:
    """The bound is reported, not hidden."""
    found = fit_temperature(SEPARABLE, LABELS, targets="hard")

    assert found.temperature == LOWEST
    assert found.at_bound


def test_answers_against_the_labels_push_to_the_other_bound() -> None:
    """No temperature turns answers round; the flattest is the best."""
    found = fit_temperature(SEPARABLE, 1 - LABELS)

    assert found.temperature == HIGHEST
    assert found.at_bound


def test_equal_answers_have_no_temperature_to_learn() -> None:
    """All ties: every temperature gives the same, so none is claimed; 1 leaves others alone."""
    found = fit_temperature(np.zeros((30, 3)), np.arange(30) % 3)

    assert found.temperature == 1.0
    assert not found.at_bound


def test_a_mixture_never_claims_more_than_its_labels_can_show() -> None:
    """With n labels no probability falls below 1/(K(n+1))."""
    found = fit_temperature_mixture(SEPARABLE, LABELS)

    lowest = found.apply([[0.0, -9999.0]])[0, 1]

    assert lowest == pytest.approx(np.log(1.0 / (2 * 31)), abs=1e-4)


def test_a_large_fit_ends_where_a_small_one_does() -> None:
    """Large fits start on every 16th row; repeated rows must give the same temperature."""
    few = fit_temperature(SEPARABLE, LABELS, weights=np.full(30, 2000.0))

    many = fit_temperature(np.tile(SEPARABLE, (2000, 1)), np.tile(LABELS, 2000))

    assert many.temperature == pytest.approx(few.temperature, rel=1e-9)


@pytest.mark.parametrize("sentinel", [-9999.0, -np.inf], ids=["-9999", "-inf"])
def test_an_impossible_truth_counts_as_the_floor(sentinel: float) -> None:
    """Services write "impossible" in several ways; all mean the same to the fit."""
    log_p = np.concatenate([SEPARABLE, [[sentinel, 0.0]]])
    at_floor = np.concatenate([SEPARABLE, [[np.log(1e-6), 0.0]]])
    y = np.append(LABELS, 0)

    found, expected = fit_temperature(log_p, y), fit_temperature(at_floor, y)

    assert found.temperature == pytest.approx(expected.temperature, rel=1e-5)
    assert found.fitted_on.truth_below_floor == 1
