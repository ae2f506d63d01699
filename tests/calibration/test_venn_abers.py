"""Venn-Abers against its definition: two isotonic fits for every answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from classify.calibration.arrays import Floats, log_probabilities, same_log_odds
from classify.calibration.venn_abers import fit_venn_abers
from classify.errors import CalibrationError

scores = st.one_of(st.integers(-4, 4).map(float), st.floats(-9.0, 9.0, width=32))
data = st.lists(
    st.tuples(scores, st.integers(0, 1), st.sampled_from([0.25, 1.0, 2.0])),
    min_size=1,
    max_size=40,
)


def odds(values: list[float]) -> tuple[Floats, Floats]:
    """Return log-probabilities with these log-odds, and the log-odds that are told apart."""
    log_p = log_probabilities([[value, 0.0] for value in values])
    return log_p, same_log_odds(log_p[:, 0] - log_p[:, 1])


def fit_with(x: Floats, y: Floats, weights: Floats, score: float, label: float) -> float:
    """Return the isotonic fit at `score` after a row of weight one is added there."""
    x, y, weights = np.append(x, score), np.append(y, label), np.append(weights, 1.0)
    tied = np.unique(x, return_inverse=True)[1]
    mass, total = np.bincount(tied, weights), np.bincount(tied, weights * y)
    return float(isotonic_regression(total / mass, weights=mass).x[tied[-1]])


@settings(deadline=None)
@given(data, st.lists(scores, max_size=5))
@example([(0.0, 0, 0.25)], [1e-14])
def test_the_bounds_are_the_two_isotonic_fits(
    rows: list[tuple[float, int, float]], new: list[float]
) -> None:
    """At calibration scores, between them and beyond them; with ties and weights."""
    log_p, x = odds([row[0] for row in rows])
    true = np.array([row[1] for row in rows], dtype=np.float64)
    weights = np.array([row[2] for row in rows])
    test, at = odds([row[0] for row in rows] + new)

    p0, p1 = fit_venn_abers(log_p, 1 - true, weights=weights).bounds(test)

    for score, low, high in zip(at, p0, p1, strict=True):
        assert low == pytest.approx(fit_with(x, true, weights, score, 0.0), abs=1e-9)
        assert high == pytest.approx(fit_with(x, true, weights, score, 1.0), abs=1e-9)


@given(data)
def test_the_probability_lies_between_the_bounds(rows: list[tuple[float, int, float]]) -> None:
    """p0 <= p <= p1, never zero, never one, and rising with the score."""
    log_p, x = odds([row[0] for row in rows])
    found = fit_venn_abers(log_p, [1 - row[1] for row in rows])

    (p0, p1), p = found.bounds(log_p), np.exp(found.apply(log_p))[:, 0]

    assert (p0 <= p + 1e-12).all() and (p <= p1 + 1e-12).all()
    assert (p > 0.0).all() and (p < 1.0).all()
    assert (np.diff(p[np.argsort(x, kind="stable")]) >= -1e-12).all()
    np.testing.assert_allclose(found.width(log_p), p1 - p0)


@pytest.mark.parametrize("seed", range(20))
def test_unequal_weights_leave_bounds_that_are_probabilities(seed: int) -> None:
    """Sums of weights from 1e-3 to 1e3 are rounded, and the fits came out above 1 and below 0."""
    random = np.random.default_rng(seed)
    log_p, y = random.normal(0.0, 1.0, (40, 2)), random.integers(0, 2, 40)

    fitted = fit_venn_abers(log_p, y, weights=10.0 ** random.uniform(-3.0, 3.0, 40))

    p0, p1 = fitted.bounds(log_p)
    assert (p0 >= 0.0).all() and (p0 < 1.0).all()
    assert (p1 > 0.0).all() and (p1 <= 1.0).all()
    assert np.isfinite(fitted.apply(log_p)).all()


def test_an_option_no_label_names_keeps_its_column() -> None:
    """K comes from the question; two options of three in the labels still give three."""
    log_p = np.log([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1], [0.5, 0.4, 0.1], [0.2, 0.7, 0.1]])

    found = fit_venn_abers(log_p, [0, 1, 0, 1])
    p = np.exp(found.apply(log_p))

    assert p.shape == (4, 3)
    assert (p[:, 2] > 0.0).all() and (p[:, 2] < p[:, :2].max(axis=1)).all()
    assert (found.width(log_p) > 0.2).all()


def test_bounds_belong_to_two_options() -> None:
    """With more there is a pair of bounds for every pair of options."""
    found = fit_venn_abers(np.zeros((3, 3)), [0, 1, 2])

    with pytest.raises(CalibrationError, match="bounds are of two options"):
        found.bounds(np.zeros((1, 3)))


def test_more_labels_narrow_the_width() -> None:
    """The width is what the labels leave open."""
    random = np.random.default_rng(1)
    log_p, x = odds(random.normal(0.0, 1.5, 4000).tolist())
    false = (random.random(4000) > 1.0 / (1.0 + np.exp(-x))).astype(int)

    few, many = (fit_venn_abers(log_p[:n], false[:n]).width(log_p).mean() for n in (50, 4000))

    assert many < few / 3.0
