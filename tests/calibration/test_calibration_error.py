"""Binned calibration errors: exact bins, and what chance alone would show."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import EqualMass, EqualWidth, default_bins
from classify.calibration.calibrated_null import residual_draws
from classify.calibration.calibration_error import (
    debiased_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from classify.calibration.classwise_error import (
    classwise_calibration_error,
    sweep_calibration_error,
)
from classify.calibration.mass_cuts import mass_cuts
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import BinaryOutcomes
from classify.calibration.reliability import reliability_diagram
from classify.errors import CalibrationError


def calibrated(n: int, seed: int) -> tuple[Floats, Ints]:
    """Return probabilities and outcomes drawn from them."""
    random = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-1.3 * random.normal(size=n)))
    return p, (random.random(n) < p).astype(np.int64)


@given(st.integers(1, 100), st.integers(0, 10_000))
def test_an_edge_is_the_rational_number(count: int, ten_thousandths: int) -> None:
    """Eleven libraries gave four values for one ECE because floats decided the edges."""
    p = Fraction(ten_thousandths, 10_000)
    exact = max(-((-p * count) // 1) - 1, 0)

    index, _ = EqualWidth(count).assign(np.array([float(p)]), np.ones(1))

    assert index[0] == exact


@given(st.lists(st.integers(0, 12), min_size=1, max_size=60), st.integers(1, 15))
def test_ties_share_a_bin(values: list[int], count: int) -> None:
    """Bins that split ties depend on the order of the data."""
    p = np.array(values) / 12

    index, _ = EqualMass(count).assign(p, np.ones_like(p))

    assert len({(a, b) for a, b in zip(p, index, strict=True)}) == len(set(values))
    assert (np.diff(index[np.argsort(p)]) >= 0).all()


@given(st.integers(2, 15), st.integers(1, 40))
def test_distinct_values_fill_bins_evenly(count: int, each: int) -> None:
    """Without ties equal mass means equal."""
    p = np.random.default_rng(each).permutation(np.linspace(0, 1, count * each))

    index, _ = EqualMass(count).assign(p, np.ones_like(p))

    assert np.bincount(index).tolist() == [each] * count


def test_unit_weights_bin_as_no_weights(subtests: pytest.Subtests) -> None:
    """Two paths, one with a sort less, must agree."""
    for n in (7, 100, 5_000):
        with subtests.test(n=n):
            p = np.round(np.random.default_rng(n).random(n), 3)
            fast, _ = EqualMass().assign(p, np.broadcast_to(1.0, n))
            general, _ = EqualMass().assign(p, np.ones(n))
            np.testing.assert_array_equal(fast, general)


@pytest.mark.parametrize("decimals", [1, 3, 12], ids=str)
@pytest.mark.parametrize("top", [1.0, 0.2, 1e-5], ids=str)
def test_many_rows_are_cut_as_if_all_were_sorted(decimals: int, top: float) -> None:
    """Only rows around a cut are sorted: with ties, in one cell, and with weights."""
    random = np.random.default_rng(decimals)
    p = top * np.round(random.beta(0.3, 0.6, 40_000), decimals)
    for w in (np.broadcast_to(1.0, p.size), random.choice([0.25, 1.0, 7.5], p.size)):
        order = np.argsort(p, kind="stable")
        cuts = mass_cuts(p[order], np.cumsum(w[order]), 15)
        expected = np.empty(p.size, dtype=np.int64)
        expected[order] = np.searchsorted(cuts, np.arange(p.size), side="right")

        index, _ = EqualMass(15).assign(p, w)

        np.testing.assert_array_equal(index, expected)


@pytest.mark.parametrize(
    ("n", "expected"), [(1, 2), (20, 3), (125, 5), (1_000, 10), (10**6, 15)], ids=str
)
def test_the_number_of_bins_follows_the_rows(n: int, expected: int) -> None:
    """The cube root, from 2 to 15."""
    assert default_bins(n) == expected


def test_the_value_carries_its_rule() -> None:
    """An ECE without its bins is not a number anyone can compare."""
    found = expected_calibration_error([0.1, 0.9, 0.5], [0, 1, 1])

    assert found.rule == "ECE(mass, m=2)"


def test_a_perfect_model_is_as_bad_as_its_null() -> None:
    """At 100 rows a calibrated model shows about .08: the null mean says so."""
    found = [expected_calibration_error(*calibrated(100, s), seed=s, draws=200) for s in range(40)]

    values, nulls = [f.value for f in found], [f.null_mean for f in found]
    assert np.mean(values) == pytest.approx(np.mean([n for n in nulls if n is not None]), abs=0.01)
    assert 0.06 < np.mean(values) < 0.10


@pytest.mark.parametrize(
    "measure",
    [
        pytest.param(expected_calibration_error, id="ece"),
        pytest.param(maximum_calibration_error, id="mce"),
        pytest.param(debiased_calibration_error, id="debiased"),
        pytest.param(sweep_calibration_error, id="sweep"),
    ],
)
def test_p_values_are_uniform_under_calibration(measure: Callable[..., Measurement]) -> None:
    """A fifth of calibrated models have p below .2, within chance of 80 draws."""
    found = [measure(*calibrated(60, s), seed=s, draws=99).p_value for s in range(80)]

    assert 0.05 < np.mean([p is not None and p <= 0.2 for p in found]) < 0.36


def test_over_confidence_is_found() -> None:
    """Logits doubled: 300 rows are more than enough."""
    p, y = calibrated(300, 1)
    doubled = p**2 / (p**2 + (1 - p) ** 2)

    found = expected_calibration_error(doubled, y, seed=0)

    assert found.p_value is not None and found.p_value < 0.01


def test_the_debiased_square_is_right_on_average() -> None:
    """In one bin of n rows with gap g, the mean of the debiased square is g^2."""
    random = np.random.default_rng(4)
    hits = random.random((4_000, 20)) < 0.7
    rate = hits.mean(axis=1)
    squares = (rate - 0.4) ** 2 - rate * (1 - rate) / 19
    ours = [
        debiased_calibration_error([0.4] * 20, row.astype(int), bins=EqualMass(1)).value ** 2
        for row in hits[:200]
    ]

    assert np.mean(squares) == pytest.approx(0.09, abs=0.006)
    np.testing.assert_allclose(ours, np.maximum(squares[:200], 0.0), atol=1e-12)


def test_no_seed_means_no_null() -> None:
    """Chance enters only where it was asked for."""
    found = expected_calibration_error([0.2, 0.8], [0, 1])

    assert found.null_mean is None and found.p_value is None


def test_large_sets_draw_the_same_spread_from_the_normal_law() -> None:
    """Beyond 50 million outcomes cell sums are drawn as normal, with the exact variance."""
    p = np.random.default_rng(0).random(60_000)
    cell = (p * 4).astype(np.int64)
    rows = BinaryOutcomes(p, np.zeros(p.size, dtype=np.int64), np.ones_like(p))

    drawn = residual_draws(rows, cell, cells=4, draws=1_000, random=np.random.default_rng(1))

    exact = np.sqrt(np.bincount(cell, weights=p * (1 - p)))
    np.testing.assert_allclose(drawn.std(axis=0), exact, rtol=0.1)


@given(st.integers(2, 40), st.integers(0, 50))
@settings(max_examples=20, deadline=None)
def test_drawn_residuals_are_possible_outcomes(n: int, seed: int) -> None:
    """Each exact draw is a whole number of hits less the expected number."""
    p = np.random.default_rng(seed).random(n)
    cell = np.arange(n) % 3 * 2
    rows = BinaryOutcomes(p, np.zeros(n, dtype=np.int64), np.ones(n))

    drawn = residual_draws(rows, cell, cells=6, draws=5, random=np.random.default_rng(seed))

    hits = drawn + np.bincount(cell, weights=p, minlength=6)
    np.testing.assert_allclose(hits, np.round(hits), atol=1e-9)
    assert (np.round(hits) <= np.bincount(cell, minlength=6)).all()


def test_classwise_null_speaks_of_the_same_statistic() -> None:
    """Labels drawn from p: the value is near its null mean."""
    random = np.random.default_rng(5)
    p = random.dirichlet([1.0, 1.0, 1.0], 400)
    y = (p.cumsum(axis=1) < random.random((400, 1))).sum(axis=1)

    found = classwise_calibration_error(np.log(p), y, seed=0, draws=200)

    assert found.null_mean is not None
    assert found.value == pytest.approx(found.null_mean, abs=0.02)


def test_the_sweep_keeps_rates_in_order() -> None:
    """With outcomes that rise with p it may use every distinct value as a bin."""
    found = sweep_calibration_error([0.1, 0.2, 0.3, 0.4], [0, 0, 1, 1])

    assert found.rule == "ECE sweep(mass, m=4)"
    assert found.value == pytest.approx((0.1 + 0.2 + 0.7 + 0.6) / 4)


@pytest.mark.parametrize(
    "metric",
    [
        expected_calibration_error,
        maximum_calibration_error,
        debiased_calibration_error,
        reliability_diagram,
        classwise_calibration_error,
    ],
)
@pytest.mark.parametrize(
    ("bins", "message"),
    [
        (15, r"bins must be EqualWidth\(15\) or EqualMass\(15\), got 15"),
        ("mass", r"bins must be EqualWidth\(count\) or EqualMass\(count\), got 'mass'"),
    ],
)
def test_a_number_does_not_say_which_bins(
    metric: Callable[..., object], bins: object, message: str
) -> None:
    """15 is what other libraries take, some for equal widths and some for equal masses."""
    p = [[0.0, -1.0]] if metric is classwise_calibration_error else [0.5]

    with pytest.raises(CalibrationError, match=message):
        metric(p, [1], bins=bins, seed=0)


def test_no_bins_are_refused() -> None:
    """Zero bins hold nothing."""
    with pytest.raises(
        CalibrationError, match="number of bins must be a whole number from 1 to 1,000,000, got 0"
    ):
        expected_calibration_error([0.5], [1], bins=EqualWidth(0))
