"""Combining orders: the log mean, its bounds, the spread, the range of an expectation."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from classify.logspace import Floats
from classify.orders import combine, expectation_range


def exact(*rows: list[float]) -> Floats:
    """Return what several orders gave."""
    return np.array(rows)


def test_one_order_stays_as_it_is() -> None:
    """Nothing to combine, nothing changed."""
    p, low, high = exact([0.25, 0.75]), exact([0.2, 0.7]), exact([0.3, 0.8])

    together = combine(p, low, high)

    np.testing.assert_allclose(np.exp(together.log_p), [0.25, 0.75], rtol=1e-15)
    np.testing.assert_array_equal(together.lower, low[0])
    np.testing.assert_array_equal(together.upper, high[0])
    assert (together.flips, together.total_variation) == (0, 0.0)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        # sqrt(.8 x .5) : sqrt(.2 x .5) = 2 : 1
        pytest.param([[0.8, 0.2], [0.5, 0.5]], [2 / 3, 1 / 3], id="two to one"),
        # sqrt(.9 x .1) on both sides
        pytest.param([[0.9, 0.1], [0.1, 0.9]], [0.5, 0.5], id="opposite"),
        # cube roots of .5 x .25 x .5 = .0625 and twice .25 x .5 x .25 -> 2 : 2^(2/3) : 2^(2/3)
        pytest.param(
            [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]],
            [
                0.0625 ** (1 / 3) / (0.0625 ** (1 / 3) + 0.03125 ** (1 / 3) + 0.015625 ** (1 / 3)),
                0.03125 ** (1 / 3) / (0.0625 ** (1 / 3) + 0.03125 ** (1 / 3) + 0.25),
                0.25 / (0.0625 ** (1 / 3) + 0.03125 ** (1 / 3) + 0.25),
            ],
            id="three",
        ),
        pytest.param([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]], [1.0, 0.0, 0.0], id="seen by all"),
        # no option was seen by both: the plain mean
        pytest.param([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5], id="seen by none"),
    ],
)
def test_orders_are_combined_by_the_log_mean(
    rows: list[list[float]], expected: list[float]
) -> None:
    """The normalised geometric mean."""
    together = combine(exact(*rows), exact(*rows), exact(*rows))

    np.testing.assert_allclose(np.exp(together.log_p), expected, rtol=1e-12)


def test_the_bounds_of_a_mean_by_hand() -> None:
    """Each option at one end, the others at the opposite one: sqrt(.3) against sqrt(.2), and so on.

    Geometric means of the lower ends are sqrt(.30), sqrt(.06), of the upper sqrt(.56), sqrt(.20).
    """
    lower, upper = exact([0.6, 0.2], [0.5, 0.3]), exact([0.8, 0.4], [0.7, 0.5])

    together = combine(exact([0.7, 0.3], [0.6, 0.4]), lower, upper)

    least = 0.30**0.5 / (0.30**0.5 + 0.20**0.5)
    most = 0.56**0.5 / (0.56**0.5 + 0.06**0.5)
    np.testing.assert_allclose(together.lower, [least, 1 - most], rtol=1e-12)
    np.testing.assert_allclose(together.upper, [most, 1 - least], rtol=1e-12)


@pytest.mark.parametrize(
    ("rows", "flips", "variation"),
    [
        pytest.param([[0.7, 0.3], [0.6, 0.4]], 0, 0.1, id="steady"),
        pytest.param([[0.7, 0.3], [0.4, 0.6]], 1, 0.3, id="one flip"),
        # pairs: .3, .1, .2 -> mean .2
        pytest.param([[0.7, 0.3], [0.4, 0.6], [0.6, 0.4]], 1, 0.2, id="three"),
        # pairs: .5, .5, 1 -> mean 2/3
        pytest.param([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]], 1, 2 / 3, id="tie is the first"),
    ],
)
def test_how_much_the_orders_differ(rows: list[list[float]], flips: int, variation: float) -> None:
    """Flips against the first order; total variation over all pairs."""
    together = combine(exact(*rows), exact(*rows), exact(*rows))

    assert together.flips == flips
    assert math.isclose(together.total_variation, variation, abs_tol=1e-12)


@st.composite
def bounded(draw: st.DrawFn) -> tuple[Floats, Floats, Floats, Floats]:
    """Draw distributions, intervals around each, and true distributions inside those."""
    orders, options = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    shape = (orders, options)
    share = st.one_of(st.just(0.0), st.floats(1e-3, 1.0))
    p, true = draw(arrays(float, shape, elements=share)), draw(arrays(float, shape, elements=share))
    assume((p.sum(axis=1) > 0).all() and (true.sum(axis=1) > 0).all())
    p, true = p / p.sum(axis=1, keepdims=True), true / true.sum(axis=1, keepdims=True)
    return p, np.minimum(p, true), np.maximum(p, true), true


@given(bounded())
def test_bounds_hold_what_was_said_and_what_is_true(
    drawn: tuple[Floats, Floats, Floats, Floats],
) -> None:
    """If each order's truth lies in its bounds, the truth of their mean lies in the mean's."""
    p, lower, upper, true = drawn
    together, truth = combine(p, lower, upper), combine(true, true, true)

    # A truth in which every option is impossible in some order has no geometric mean to bound.
    assume(not (p > 0).all(axis=0).any() or (true > 0).all(axis=0).any())
    for found in (together.log_p, truth.log_p):
        assert (together.lower <= np.exp(found) + 1e-12).all()
        assert (np.exp(found) <= together.upper + 1e-12).all()


@given(arrays(float, (3, 4), elements=st.floats(1e-3, 1.0)), st.permutations(range(3)))
def test_the_order_of_the_orders_does_not_matter(p: Floats, turn: list[int]) -> None:
    """Only flips name the first order."""
    p = p / p.sum(axis=1, keepdims=True)

    one, other = combine(p, p, p), combine(p[turn], p[turn], p[turn])

    np.testing.assert_allclose(one.log_p, other.log_p, atol=1e-12)
    assert math.isclose(one.total_variation, other.total_variation, abs_tol=1e-12)


@pytest.mark.parametrize(
    ("lower", "upper", "ends"),
    [
        pytest.param([0.2, 0.8], [0.2, 0.8], (0.8, 0.8), id="exact"),
        pytest.param([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], (0.0, 2.0), id="nothing known"),
        # at least .5 at level 1; the rest .5 goes to 0 (at most .3, then level 1) or to 2 (all)
        pytest.param([0.0, 0.5, 0.0], [0.3, 1.0, 0.5], (0.7, 1.5), id="partly"),
    ],
)
def test_the_range_of_an_expectation(
    lower: list[float], upper: list[float], ends: tuple[float, float]
) -> None:
    """What is free goes to the lowest levels, or to the highest."""
    found = expectation_range(np.array(lower), np.array(upper))

    np.testing.assert_allclose(found, ends, atol=1e-12)


@given(bounded())
def test_the_range_is_met_at_the_corners(
    drawn: tuple[Floats, Floats, Floats, Floats],
) -> None:
    """A linear function is extreme where all shares but one stand at an end: try them all."""
    lower, upper = drawn[1][0], drawn[2][0]
    corners: list[float] = []
    for free in range(len(lower)):
        ends = [(0.0,) if k == free else (lower[k], upper[k]) for k in range(len(lower))]
        for corner in product(*ends):
            p = np.array(corner)
            p[free] = 1.0 - p.sum()
            if lower[free] - 1e-9 <= p[free] <= upper[free] + 1e-9:
                corners.append(float(p @ np.arange(len(p))))

    found = expectation_range(lower, upper)

    np.testing.assert_allclose(found, (min(corners), max(corners)), atol=1e-7)
