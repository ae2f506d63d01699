"""Bias, vector and matrix scaling, and the two binary maps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.bias import LEAST_RIDGE, fit_temperature_bias, fit_vector, likeliest_bias
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.fitted import Fitted
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.labelled import by_option, design, labelled
from classify.calibration.matrix import fit_matrix
from classify.calibration.ordinal import fit_proportional_odds
from classify.calibration.softmax import DiagonalLoss, SharedSlopeLoss
from classify.calibration.temperature import fit_temperature
from classify.errors import CalibrationError


def leaning(n: int, *, seed: int) -> tuple[Floats, Ints]:
    """Return answers at twice the right sharpness that favour the first of three options."""
    random = np.random.default_rng(seed)
    truth = log_probabilities(random.normal(0.0, 1.3, (n, 3)))
    y = (np.exp(truth).cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return 2.0 * truth + np.array([1.0, 0.0, -1.0]), np.minimum(y, 2).astype(np.int64)


def loss(log_q: Floats, y: Ints) -> float:
    """Return the mean log loss."""
    return -float(log_q[np.arange(len(y)), y].mean())


def test_bias_undoes_a_lean_and_a_temperature() -> None:
    """20 000 labels find T = 2 and half the lean, which acts after the temperature."""
    found = fit_temperature_bias(*leaning(20_000, seed=1))

    assert found.temperature == pytest.approx(2.0, abs=0.1)
    np.testing.assert_allclose(found.bias, [-0.5, 0.0, 0.5], atol=0.05)


def test_a_strong_ridge_leaves_only_the_temperature() -> None:
    """The ridge is on the biases alone."""
    log_p, y = leaning(500, seed=2)

    found = fit_temperature_bias(log_p, y, ridge=1e9)

    np.testing.assert_allclose(found.bias, 0.0, atol=1e-6)
    assert found.temperature > 1.5


@pytest.mark.parametrize(("lean", "expected"), [(0.0, 32.0), (0.7, 2.0), (3.0, 0.125)])
def test_the_labels_say_how_strong_the_ridge_must_be(lean: float, expected: float) -> None:
    """The ridge is near 1 / lean^2, the precision of the biases that the rows were drawn with."""
    random = np.random.default_rng(6)
    truth = log_probabilities(random.normal(0.0, 1.3, (4000, 20)))
    y = np.minimum((np.exp(truth).cumsum(axis=1) < random.random((4000, 1))).sum(axis=1), 19)
    log_p = log_probabilities(truth + lean * random.normal(size=20))

    data = labelled(log_p, y, weights=None, floor=1e-6)
    plan = design(by_option(data.log_p, centred=True), data, "laplace")

    assert likeliest_bias(plan, np.eye(21)[0])[0] == expected


@pytest.mark.parametrize("fit", [fit_temperature_bias, fit_vector, fit_matrix])
def test_twenty_labels_do_little_harm(fit: Callable[..., Any]) -> None:
    """Without ridge such fits lose more than a nat at 20 labels."""
    log_p, y = leaning(20, seed=3)
    new, truth = leaning(5000, seed=4)

    calibrated = loss(fit(log_p, y).apply(new), truth)

    assert calibrated < loss(log_probabilities(new), truth)


@pytest.mark.parametrize(
    "fit", [fit_temperature_bias, fit_vector, fit_matrix, fit_platt], ids=lambda fit: fit.__name__
)
@pytest.mark.parametrize("ridge", [-1.0, float("nan"), float("inf")])
def test_a_ridge_that_is_no_weight_is_refused(fit: Callable[..., Any], ridge: float) -> None:
    """The ridge is a number, zero or more."""
    with pytest.raises(CalibrationError, match="ridge must be"):
        fit([[0.0, -1.0], [-1.0, 0.0]], [0, 1], ridge=ridge)


@pytest.mark.parametrize("fit", [fit_vector, fit_matrix])
@pytest.mark.parametrize("ridge", [0.0, 1e-9])
def test_fits_of_many_slopes_are_not_left_without_a_ridge(
    fit: Callable[..., Any], ridge: float
) -> None:
    """Where labels are separated they had ended where rounding hid the rest of the gain."""
    log_p, y = leaning(50, seed=3)

    with pytest.raises(CalibrationError, match=r"ridge must be from 0\.001 .* 0\.001 is next to"):
        fit(log_p, y, ridge=ridge)


@pytest.mark.parametrize("fit", [fit_vector, fit_matrix])
@pytest.mark.parametrize("label", ["the likeliest option", "never the last option"])
def test_the_least_ridge_holds_separated_labels(fit: Callable[..., Any], label: str) -> None:
    """So that the order of rows says nothing there either."""
    log_p, y = leaning(300, seed=3)
    y = log_p.argmax(axis=1) if label == "the likeliest option" else np.minimum(y, 1)
    order = np.random.default_rng(0).permutation(300)

    found = fit(log_p, y, ridge=LEAST_RIDGE).apply(log_p)
    shuffled = fit(log_p[order], y[order], ridge=LEAST_RIDGE).apply(log_p)

    np.testing.assert_allclose(np.exp(shuffled), np.exp(found), rtol=0.0, atol=1e-9)
    assert loss(found, y) < loss(log_probabilities(log_p), y)


def test_matrix_scaling_learns_confused_options() -> None:
    """Where two options are exchanged only a matrix can tell."""
    log_p, y = leaning(20_000, seed=5)
    exchanged = log_p[:, [1, 0, 2]]

    matrix, vector = (
        loss(fit(exchanged, y).apply(exchanged), y) for fit in (fit_matrix, fit_vector)
    )

    assert matrix < vector - 0.05


def test_a_slope_is_never_negative() -> None:
    """Answers against the labels are an error of the question, not something to turn round."""
    x = np.stack([np.linspace(-3.0, 3.0, 40), np.zeros(40)], axis=1)
    against = (x[:, 0] > 0.0).astype(int)

    platt, beta = fit_platt(x, against), fit_beta(x, against)

    assert platt.slope == 0.0 and platt.at_bound
    assert (beta.a, beta.b) == (0.0, 0.0) and beta.at_bound


def test_one_beta_slope_may_be_held_alone() -> None:
    """Where only one end runs against the labels the other is still fitted."""
    x = log_probabilities(np.stack([np.linspace(-5.0, 5.0, 400), np.zeros(400)], axis=1))
    # P(true) first falls a little as p grows and then rises.
    p = np.where(x[:, 0] > x[:, 1], 0.5 + 0.4 * np.exp(x[:, 0]), 0.7 - 0.2 * np.exp(x[:, 0]))
    weights = np.concatenate([p, 1.0 - p])

    found = fit_beta(np.tile(x, (2, 1)), np.repeat([0, 1], 400), weights=weights, targets="hard")

    assert found.at_bound
    assert found.a == 0.0 < found.b


def test_saturated_logits_are_fitted() -> None:
    """An undamped Newton diverges here and ends worse than the raw answers."""
    random = np.random.default_rng(6)
    odds = np.where(random.random(200) < 0.5, 30.0, -30.0) + random.normal(0.0, 1.0, 200)
    y = np.where(random.random(200) < 0.9, odds < 0.0, odds > 0.0).astype(int)
    x = np.stack([odds, np.zeros(200)], axis=1)

    for found in (fit_platt(x, y), fit_beta(x, y)):
        assert loss(found.apply(x), y) < 0.4


def test_isotonic_never_claims_certainty() -> None:
    """A block of equal labels is short of 0 and 1 by the pseudo-count."""
    x = np.stack([np.linspace(-3.0, 3.0, 40), np.zeros(40)], axis=1)

    p = np.exp(fit_isotonic(x, (x[:, 0] < 0.0).astype(int)).apply(x))

    np.testing.assert_allclose([p.min(), p.max()], [0.5 / 21.0, 20.5 / 21.0])
    assert (np.diff(p[:, 0]) >= 0.0).all()


def test_isotonic_of_raw_blocks_may_say_never() -> None:
    """Where every curve says zero nothing is known, and nothing is claimed."""
    x = np.log([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    found = fit_isotonic(x, [0, 1, 2], pseudo_count=0.0)

    np.testing.assert_allclose(np.exp(found.apply(x)), np.eye(3))
    np.testing.assert_allclose(np.exp(found.apply(np.log([[0.1, 0.1, 0.1]]))), 1.0 / 3.0)


def numbers_of(calibrator: Fitted) -> Floats:
    """Return every fitted number in one list."""
    found = list[float]()
    left: list[object] = [calibrator.model_dump(exclude={"fitted_on", "at_bound", "method"})]
    while left:
        value = left.pop()
        if isinstance(value, float):
            found.append(value)
        elif isinstance(value, tuple):
            left.extend(cast("tuple[object, ...]", value))
        elif isinstance(value, dict):
            facts = cast("dict[str, object]", value)
            left.extend(facts[name] for name in sorted(facts.keys() - {"fitted_on"}))
    return np.array(found)


def log_odds_rows(odds: Floats, y: Ints) -> tuple[Floats, Ints]:
    """Return rows of two options with these log-odds."""
    return np.stack([-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)], axis=1), y


def nearly_flat(kind: str) -> tuple[Floats, Ints]:
    """Return rows on which beta calibration has a direction with little or no curvature."""
    random = np.random.default_rng(7)
    odds = {
        "two answers": random.choice([-1.0, 1.0], 300),
        "one side": random.normal(9.0, 1.5, 300),
        "hardly any spread": random.normal(0.3, 0.01, 300),
    }[kind]
    return log_odds_rows(odds, (random.random(300) < 0.4).astype(np.int64))


ROWS = {
    "few": leaning(40, seed=8),
    "some": leaning(500, seed=9),
    "so many that a fit starts from a part": leaning(2**15 + 7, seed=10),
}
TWO = {
    **{name: log_odds_rows(x[:, 0] - x[:, 1], np.minimum(y, 1)) for name, (x, y) in ROWS.items()},
    **{kind: nearly_flat(kind) for kind in ("two answers", "one side", "hardly any spread")},
}


@pytest.mark.parametrize(
    ("fit", "rows"),
    [
        pytest.param(fit, rows, id=f"{fit.__name__} of {name}")
        for fits, data in (
            ((fit_platt, fit_beta), TWO),
            ((fit_temperature, fit_temperature_bias, fit_vector, fit_proportional_odds), ROWS),
        )
        for fit in fits
        for name, rows in data.items()
    ],
)
def test_the_order_of_rows_moves_no_parameter(
    fit: Callable[..., Fitted], rows: tuple[Floats, Ints]
) -> None:
    """Nor do two halves of a row: what is fitted is a matter of the rows and not of a file."""
    log_p, y = rows
    order = np.random.default_rng(0).permutation(len(y))

    found = numbers_of(fit(log_p, y))
    shuffled = numbers_of(fit(log_p[order], y[order]))
    halves = numbers_of(
        fit(np.repeat(log_p, 2, axis=0), np.repeat(y, 2), weights=np.full(2 * len(y), 0.5))
    )

    bound = 1e-9 * float(np.abs(found).max())
    np.testing.assert_allclose(shuffled, found, rtol=0.0, atol=bound)
    np.testing.assert_allclose(halves, found, rtol=0.0, atol=bound)


def many_options() -> tuple[Floats, Ints]:
    """Return rows of twelve options, twice as sharp as they should be."""
    random = np.random.default_rng(12)
    truth = random.normal(0.0, 1.3, (3000, 12))
    return 2.0 * truth, (truth + random.gumbel(size=truth.shape)).argmax(axis=1)


@pytest.mark.parametrize(
    "rows", [*ROWS.values(), many_options()], ids=[*ROWS.keys(), "many options"]
)
def test_neither_the_order_of_rows_nor_that_of_options_moves_matrix_scaling(
    rows: tuple[Floats, Ints],
) -> None:
    """Its many parameters are found as well as probabilities to nine digits need."""
    log_p, y = rows
    random = np.random.default_rng(0)
    order, exchanged = random.permutation(len(y)), random.permutation(log_p.shape[1])
    found = np.exp(fit_matrix(log_p, y).apply(log_p))

    shuffled = fit_matrix(log_p[order], y[order]).apply(log_p)
    turned = fit_matrix(log_p[:, exchanged], np.argsort(exchanged)[y]).apply(log_p[:, exchanged])

    np.testing.assert_allclose(np.exp(shuffled), found, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(np.exp(turned), found[:, exchanged], rtol=0.0, atol=1e-9)


def test_the_loss_of_a_shared_slope_is_that_of_equal_slopes() -> None:
    """Gradient and Hessian of (beta, b) are those of (beta, …, beta, b) by the chain rule."""
    log_p, y = leaning(300, seed=11)
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 300)
    data = labelled(log_p, y, weights=weights, floor=1e-6)
    plan = design(by_option(data.log_p, centred=True), data, "laplace")
    theta = np.array([0.7, 0.3, -0.2, 0.1])
    spread = np.zeros((6, 4))
    spread[:3, 0], spread[3:, 1:] = 1.0, np.eye(3)

    value, gradient, hessian = SharedSlopeLoss(plan)(theta)
    expected = DiagonalLoss(plan, np.zeros(6))(spread @ theta)

    assert value == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(gradient, spread.T @ expected[1], rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(hessian, spread.T @ expected[2] @ spread, rtol=1e-10, atol=1e-14)
