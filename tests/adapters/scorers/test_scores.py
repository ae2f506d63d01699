"""From what a scoring step returned to a score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers import create_scorer
from classify.adapters.scorers.scores import as_number, normalized

finite = st.floats(-1e6, 1e6)


@given(finite, st.floats(1e-3, 1e6), st.floats(0.0, 1.0))
def test_normalising_undoes_the_scale(low: float, width: float, share: float) -> None:
    """A score on any scale is the share of the way from its lower to its upper end."""
    high = low + width
    value = min(max(low + share * (high - low), low), high)

    assert normalized(value, (low, high)) == pytest.approx(share, abs=1e-6)


@given(finite, st.floats(1e-3, 1e6))
def test_the_ends_are_exactly_0_and_1(low: float, width: float) -> None:
    """Thresholds of 0 and 1 are compared with ==."""
    high = low + width

    assert normalized(low, (low, high)) == 0.0 and normalized(high, (low, high)) == 1.0


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (True, 1.0),
        (False, 0.0),
        (np.True_, 1.0),
        (np.float32(0.5), 0.5),
        (np.int64(1), 1.0),
        (1, 1.0),
    ],
    ids=repr,
)
def test_numbers_of_every_kind_count(value: Any, number: float) -> None:
    """A step may compare, or compute with numpy."""
    assert as_number(value) == number and type(as_number(value)) is float


def test_rounding_past_a_bound_is_no_error() -> None:
    """Ten times 0.1 is 0.9999999999999999, and other sums land just above 1."""
    assert normalized(1.0000000000000002, (0.0, 1.0)) == 1.0
    assert normalized(-1e-17, (0.0, 1.0)) == 0.0
    with pytest.raises(
        ValueError, match=r"from 0 to 1, got 1\.0001; give create_scorer the bounds"
    ):
        normalized(1.0001, (0.0, 1.0))


def test_a_result_names_its_raw_score_and_its_bounds() -> None:
    """4 on a scale from 1 to 7 is half way, and a reader can see that it was 4."""
    scorer = create_scorer("s", bounds=(1, 7)).generate_score(lambda c: 4)

    result = scorer.run_sync(output="a")

    assert (result.score, result.raw_score, result.bounds) == (0.5, 4.0, (1, 7))


def test_without_bounds_any_finite_number_is_kept() -> None:
    """Counts and durations are scores too, for those who ask."""
    scorer = create_scorer("s", bounds=None).generate_score(lambda c: -12.5)

    assert scorer.run_sync(output="a").score == -12.5
