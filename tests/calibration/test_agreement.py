"""Kappa and confusion of two raters, on declared levels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.agreement import cohen_kappa, confusion
from classify.calibration.ratings import Scheme
from classify.errors import CalibrationError

LEVELS = (1, 2, 3, 4, 5)
SCHEMES: tuple[Scheme, ...] = ("none", "linear", "quadratic")
pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=4, max_size=40)


def columns(rated: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the ratings of each rater, with four pairs more so that kappa is defined."""
    rated = [*rated, (1, 1), (2, 2), (1, 2), (5, 4)]
    return [a for a, _ in rated], [b for _, b in rated]


@given(pairs, st.sampled_from(SCHEMES))
@settings(deadline=None)
def test_kappa_is_symmetric(rated: list[tuple[int, int]], scheme: Scheme) -> None:
    """Nobody is the reference."""
    a, b = columns(rated)

    one = cohen_kappa(a, b, levels=LEVELS, scheme=scheme)
    other = cohen_kappa(b, a, levels=LEVELS, scheme=scheme)

    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@given(pairs, st.sampled_from(SCHEMES))
@settings(deadline=None)
def test_weights_repeat_items(rated: list[tuple[int, int]], scheme: Scheme) -> None:
    """Value and interval of weight 2 are those of every item twice."""
    a, b = columns(rated)

    weighted = cohen_kappa(a, b, levels=LEVELS, scheme=scheme, weights=[2.0] * len(a))
    repeated = cohen_kappa(a * 2, b * 2, levels=LEVELS, scheme=scheme)

    assert (weighted.value, weighted.low) == pytest.approx((repeated.value, repeated.low))


def test_a_level_that_nobody_used_still_counts_in_the_distance() -> None:
    """On 1 to 5, 1 against 2 is a quarter of the scale; on 1 and 2 it is all of it."""
    a, b = [1, 1, 2, 2, 5], [1, 2, 2, 2, 5]

    declared = cohen_kappa(a, b, levels=LEVELS, scheme="linear")
    observed = cohen_kappa(a, b, levels=(1, 2, 5), scheme="linear")

    assert declared.value > observed.value


def test_missing_ratings_are_left_out_and_counted() -> None:
    """None and nan, in either rater."""
    a, b = [1, None, 3, 4, 2, 1], [1, 2, float("nan"), 4, 2, 2]

    found = cohen_kappa(a, b, levels=LEVELS)

    assert (found.n, found.total) == (4, 6)
    assert found.value == cohen_kappa([1, 4, 2, 1], [1, 4, 2, 2], levels=LEVELS).value
    assert "4 used of 6" in str(found)


@pytest.mark.parametrize(
    ("a", "b", "levels"),
    [
        (["good", "bad", "good"], ["good", "bad", "bad"], ("bad", "good")),
        ([True, False, True], [True, False, False], (False, True)),
        ([0.5, 0.0, 0.5], [0.5, 0.0, 0.0], (0.0, 0.5)),
        (np.array([2, 1, 2], dtype=np.uint8), [2, 1, 1], (1, 2)),
    ],
    ids=["words", "booleans", "fractions", "small integers"],
)
def test_levels_may_be_of_any_kind(
    a: list[str | bool | float], b: list[str | bool | float], levels: tuple[str | bool | float, ...]
) -> None:
    """Two of three agree."""
    found = confusion(a, b, levels=levels)

    assert found.counts == ((1.0, 0.0), (1.0, 1.0))
    assert found.agreement == pytest.approx(2 / 3)


def test_perfect_agreement_of_few_items_is_not_certain() -> None:
    """The variance is zero, the doubt is not: Wilson's 4 of 4 lies above 0.51."""
    found = cohen_kappa([1, 2, 1, 2], [1, 2, 1, 2], levels=(1, 2))

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx((0.5101 - 0.5) / 0.5, abs=1e-3)


def test_kappa_of_one_level_only_is_undefined() -> None:
    """Chance alone would agree on everything."""
    with pytest.raises(CalibrationError, match="kappa is undefined: both raters gave one level"):
        cohen_kappa([1, 1, 1], [1, 1, 1], levels=LEVELS)


def test_a_rating_off_the_scale_is_named() -> None:
    """Silently dropping it would raise the agreement."""
    with pytest.raises(CalibrationError, match=r"second holds 7.*, which is none of the levels"):
        cohen_kappa([1, 2], [1, 7], levels=LEVELS)


@pytest.mark.parametrize("levels", [(1,), (1, 1)], ids=["one", "twice"])
def test_levels_are_at_least_two_different_ones(levels: tuple[int, ...]) -> None:
    """One level leaves nothing to agree on."""
    with pytest.raises(CalibrationError, match="levels must be at least two different values"):
        cohen_kappa([1], [1], levels=levels)


def test_two_raters_of_nothing_in_common_have_no_agreement() -> None:
    """Zero items used of two."""
    with pytest.raises(CalibrationError, match="no item was rated by both raters"):
        cohen_kappa([1, None], [None, 1], levels=LEVELS)


def test_a_confusion_is_readable() -> None:
    """Rows are the first rater; the foot says how many items counted."""
    text = str(confusion(["no", "yes", None], ["yes", "yes", "no"], levels=("no", "yes")))

    assert text.splitlines() == [
        "     no yes",
        " no   0   1",
        "yes   0   1",
        "(2 used of 3)",
    ]
