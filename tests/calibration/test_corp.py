"""The CORP decomposition is exact and its parts mean what they say."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.corp import (
    Decomposition,
    corp_brier,
    corp_brier_options,
    corp_log_loss,
    isotonic_rates,
)
from classify.calibration.proper_scores import half_brier_score, log_loss

rows = st.lists(st.tuples(st.integers(1, 9), st.integers(0, 1), st.integers(1, 4)), min_size=1)


def parts(found: Decomposition) -> tuple[float, float, float]:
    """Return miscalibration, discrimination and uncertainty."""
    return found.miscalibration, found.discrimination, found.uncertainty


@given(rows)
@settings(deadline=None)
def test_the_parts_add_up_and_are_not_negative(drawn: list[tuple[int, int, int]]) -> None:
    """Binned decompositions leave a rest; this one does not."""
    tenths, y, w = (np.array(column) for column in zip(*drawn, strict=True))
    p = tenths / 10
    log_p = np.log(np.stack([1 - p, p], axis=1))

    brier, nats = corp_brier(p, y, weights=w), corp_log_loss(p, y, weights=w)

    assert brier.score == pytest.approx(half_brier_score(log_p, y, weights=w).value, abs=1e-12)
    assert nats.score == pytest.approx(log_loss(log_p, y, weights=w).value, abs=1e-12)
    for found in (brier, nats, corp_brier_options(log_p, y, weights=w)):
        miscalibration, discrimination, uncertainty = parts(found)
        assert min(parts(found)) >= 0.0
        assert miscalibration - discrimination + uncertainty == pytest.approx(
            found.score, abs=1e-12
        )


def test_a_recalibrated_forecast_has_no_miscalibration() -> None:
    """The isotonic rates are what recalibration gives; doing it twice gains nothing."""
    p, y = np.array([0.1, 0.4, 0.4, 0.5, 0.8, 0.9]), np.array([0, 1, 0, 0, 1, 1])
    values, rates = isotonic_rates(p, y, np.ones(6))

    again = corp_brier(rates[np.searchsorted(values, p)], y)

    assert again.miscalibration == pytest.approx(0.0, abs=1e-15)


def test_a_monotone_map_changes_only_miscalibration() -> None:
    """Discrimination is about the order of the probabilities alone."""
    p, y = np.array([0.1, 0.4, 0.45, 0.5, 0.8, 0.9]), np.array([0, 1, 0, 0, 1, 1])

    plain, squared = corp_log_loss(p, y), corp_log_loss(p**2, y)

    assert squared.discrimination == pytest.approx(plain.discrimination, abs=1e-12)
    assert squared.uncertainty == plain.uncertainty
    assert squared.miscalibration != pytest.approx(plain.miscalibration, abs=1e-3)


def test_two_options_are_twice_the_binary_brier() -> None:
    """The sum over options counts each error from both sides."""
    p, y = np.array([0.1, 0.4, 0.45, 0.5]), np.array([0, 1, 0, 1])

    both = corp_brier_options(np.log(np.stack([1 - p, p], axis=1)), y)

    np.testing.assert_allclose(parts(both), 2 * np.array(parts(corp_brier(p, y))), atol=1e-12)


def test_an_impossible_event_makes_log_miscalibration_infinite() -> None:
    """The recalibrated parts stay finite, so the infinity is where it belongs."""
    found = corp_log_loss([0.0, 0.5], [1, 0])

    assert found.score == found.miscalibration == math.inf
    assert found.discrimination >= 0.0 and math.isfinite(found.uncertainty)
