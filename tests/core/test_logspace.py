"""Arithmetic on logs: values by hand and properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.logspace import Floats, log_normalize, log_sum, safe_log

logs = st.lists(st.one_of(st.floats(-700.0, 0.0), st.just(-math.inf)), min_size=1, max_size=20).map(
    np.array
)


@pytest.mark.parametrize(
    ("terms", "total"),
    [
        pytest.param([math.log(0.25), math.log(0.5)], math.log(0.75), id="two"),
        pytest.param([-1000.0, -1000.0], -1000.0 + math.log(2.0), id="far below float"),
        pytest.param([-math.inf, -math.inf], -math.inf, id="nothing"),
        pytest.param([], -math.inf, id="empty"),
        pytest.param([-math.inf, 0.0], 0.0, id="one"),
    ],
)
def test_log_sum_is_the_log_of_the_sum(terms: list[float], total: float) -> None:
    """Also where the probabilities themselves would be 0 in float64."""
    np.testing.assert_allclose(log_sum(np.array(terms, dtype=np.float64)), total, rtol=1e-15)


@given(logs, st.floats(-300.0, 0.0))
def test_normalizing_ignores_a_common_factor(x: Floats, shift: float) -> None:
    """Mass lost to tokens that are no label changes coverage, never the answer."""
    np.testing.assert_allclose(log_normalize(x), log_normalize(x + shift), atol=1e-9)


@given(logs)
def test_what_is_normalized_sums_to_one_or_to_nothing(x: Floats) -> None:
    """An impossible slice stays impossible: nan never appears."""
    total = float(np.exp(log_normalize(x)).sum())

    np.testing.assert_allclose(total, 0.0 if np.isneginf(x).all() else 1.0, atol=1e-12)


@given(st.lists(st.lists(st.floats(-50.0, 0.0), min_size=3, max_size=3), min_size=1, max_size=5))
def test_the_axis_is_a_loop(rows: list[list[float]]) -> None:
    """A matrix gives what its rows give one by one."""
    matrix = np.array(rows)

    np.testing.assert_array_equal(log_sum(matrix), [log_sum(row) for row in matrix])
    np.testing.assert_array_equal(log_normalize(matrix), [log_normalize(row) for row in matrix])


def test_the_log_of_nothing_is_silent() -> None:
    """Zero is a probability, not a warning."""
    np.testing.assert_array_equal(safe_log(np.array([0.0, 1.0])), [-np.inf, 0.0])
