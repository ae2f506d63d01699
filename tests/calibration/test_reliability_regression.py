"""Calibration intercept and slope are recovered, and endless ones are refused."""

from __future__ import annotations

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints
from classify.calibration.reliability_regression import calibration_line
from classify.errors import CalibrationError


def rows(n: int, *, slope: float, intercept: float, seed: int = 0) -> tuple[Floats, Ints]:
    """Return probabilities whose log odds are off by a known line, and outcomes."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n)
    y = random.random(n) < 1 / (1 + np.exp(-(intercept + slope * z)))
    return 1 / (1 + np.exp(-z)), y.astype(np.int64)


def test_the_line_is_found_again() -> None:
    """Within three standard errors of the truth that made the rows."""
    found = calibration_line(*rows(20_000, slope=0.5, intercept=-0.3))

    assert found.slope == pytest.approx(0.5, abs=3 * found.slope_error)
    assert found.intercept == pytest.approx(-0.3, abs=3 * found.intercept_error)
    assert found.p_value < 1e-10


def test_standard_errors_are_those_of_repetition() -> None:
    """The spread of 200 slopes is what one fit says it is."""
    found = [calibration_line(*rows(400, slope=1, intercept=0, seed=s)) for s in range(200)]

    spread = np.std([line.slope for line in found])
    assert spread == pytest.approx(np.mean([line.slope_error for line in found]), rel=0.2)
    assert 0.005 < np.mean([line.p_value < 0.05 for line in found]) < 0.11


def test_a_floor_is_applied_and_counted() -> None:
    """Certain probabilities have endless log odds; the floor is named and the rows are counted."""
    p, y = rows(100, slope=1, intercept=0)

    found = calibration_line(np.append(p, [0.0, 1.0]), np.append(y, [1, 0]), floor=1e-3)

    assert found.clipped == 2
    assert "floor 0.001" in found.rule


@pytest.mark.parametrize(
    ("p", "y", "message"),
    [
        pytest.param([0.2, 0.7], [1, 1], "all 2 rows have the label 1", id="one-label"),
        pytest.param([0.4, 0.4], [0, 1], "the same probability", id="one-probability"),
        pytest.param([0.1, 0.2, 0.8], [0, 0, 1], "parts the labels", id="separable"),
        pytest.param([0.1, 0.5, 0.5, 0.8], [0, 0, 1, 1], "parts the labels", id="nearly"),
        pytest.param([0.1, 0.2, 0.8], [1, 1, 0], "parts the labels", id="separable-inverse"),
    ],
)
def test_an_endless_line_is_refused(p: list[float], y: list[int], message: str) -> None:
    """An optimiser would return whatever it stopped at."""
    with pytest.raises(CalibrationError, match=message):
        calibration_line(p, y)


def test_rows_that_hardly_count_fit_no_line() -> None:
    """With nearly all weight on one probability the equations have no single solution."""
    with pytest.raises(CalibrationError, match="no calibration line fits"):
        calibration_line([0.3, 0.5, 0.7, 0.5], [1, 0, 0, 1], weights=[1e-14, 1.0, 1e-14, 1e-14])
