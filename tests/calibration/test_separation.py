"""Labels that the answers separate: slopes end at a stated bound, and say so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import linprog

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.bias import fit_temperature_bias
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.fitted import from_logit
from classify.calibration.ordinal import fit_proportional_odds
from classify.calibration.separation import rising_labels, separable
from classify.calibration.temperature import LOWEST, STEEPEST
from classify.errors import CalibrationError

ODDS = np.array([-2.0, -1.5, -1.0, 3.0, 3.5, 4.0])
LABELS: Ints = np.array([1, 1, 1, 0, 0, 0])
"""Of the columns (true, false), so 0 means true: the odds 1 lie half way between the two."""


def levels(scores: Floats) -> Floats:
    """Return log-probabilities of three levels, of expected levels 0 … 2."""
    high = np.clip(scores - 1.0, 0.0, 1.0)
    low = np.clip(1.0 - scores, 0.0, 1.0)
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.stack([low, 1.0 - low - high, high], axis=1))
    return logs


def parted_by_a_programme(x: Floats, y: Ints) -> bool:
    """Say by linear programming whether a slope of 1 and biases make no label's margin negative."""
    k = x.shape[1]
    gaps: list[float] = []
    moves: list[Floats] = []
    for row, label in zip(x, y.tolist(), strict=True):
        for option in range(k):
            if option != label:
                gaps.append(row[label] - row[option])
                moves.append(np.eye(k)[option] - np.eye(k)[label])
    found = linprog(np.zeros(k), A_ub=np.array(moves), b_ub=gaps, bounds=[(None, None)] * k)
    return bool(found.status == 0) and not bool((x - x[:, :1] == (x - x[:, :1])[0]).all())


@pytest.mark.parametrize("k", [2, 3, 5])
def test_separation_by_biases_is_what_linear_programming_finds(k: int) -> None:
    """Of whole numbers, so that ties are common."""
    random = np.random.default_rng(k)
    seen: set[bool] = set()
    for _ in range(150):
        n = int(random.integers(3, 4 * k))
        x = random.integers(-4, 5, (n, k)).astype(np.float64)
        bias = random.integers(-2, 3, k)
        likeliest = (x + bias + random.normal(size=(n, k))).argmax(axis=1)

        found = separable(x, likeliest, biased=True)

        assert found == parted_by_a_programme(x, likeliest)
        seen.add(found)
    assert seen == {True, False}


def test_separation_without_biases_is_every_label_likeliest() -> None:
    """A tie will do, but of ties alone nothing is to be learnt."""
    x = np.array([[0.0, -1.0], [-1.0, 0.0], [0.0, 0.0]])

    assert separable(x, np.array([0, 1, 1]), biased=False)
    assert not separable(x, np.array([1, 1, 1]), biased=False)
    assert not separable(np.zeros((3, 2)), np.array([0, 1, 1]), biased=False)
    assert not separable(np.tile([0.0, -3.0], (3, 1)), np.array([0, 1, 1]), biased=True)


def test_rising_labels_may_touch_but_not_cross() -> None:
    """Whatever the order of the rows."""
    scores = np.array([0.3, 0.1, 0.2, 0.2])

    assert rising_labels(scores, np.array([2, 0, 1, 0]))
    assert not rising_labels(scores, np.array([0, 0, 1, 0]))
    assert not rising_labels(np.ones(3), np.array([0, 1, 2]))


def test_hard_targets_of_separated_labels_end_at_the_bound() -> None:
    """With the border half way, where it was by symmetry."""
    log_p = from_logit(ODDS)

    platt = fit_platt(log_p, LABELS, targets="hard", ridge=0.0)
    beta = fit_beta(log_p, LABELS, targets="hard")

    assert (platt.slope, platt.at_bound) == (STEEPEST, True)
    assert platt.intercept == pytest.approx(-STEEPEST)
    assert (beta.a, beta.b, beta.at_bound) == (STEEPEST, STEEPEST, True)
    assert beta.c == pytest.approx(-STEEPEST)


def test_labels_that_meet_in_a_tie_keep_their_share_there() -> None:
    """Three of four rows at odds of 0.5 are true, and all others lie on their side."""
    odds = np.array([-1.0, -2.0, 0.5, 0.5, 0.5, 0.5, 2.0])
    y = np.array([1, 1, 1, 0, 0, 0, 0])

    for found in (
        fit_platt(from_logit(odds), y, targets="hard", ridge=0.0),
        fit_beta(from_logit(odds), y, targets="hard"),
        fit_temperature_bias(from_logit(odds), y, targets="hard", ridge=0.0),
    ):
        assert found.at_bound
        true = np.exp(found.apply(from_logit(np.array([0.5]))))[0, 0]
        assert true == pytest.approx(0.75)


def test_temperature_and_bias_end_at_the_lowest_temperature() -> None:
    """A ridge holds the biases back, but not the slope where each label is likeliest as it is."""
    log_p = from_logit(ODDS)

    held = fit_temperature_bias(log_p, LABELS, targets="hard")
    free = fit_temperature_bias(log_p, LABELS, targets="hard", ridge=0.0)
    lean = from_logit(ODDS + 1.5)  # a false row now looks true
    leaning = fit_temperature_bias(lean, LABELS, targets="hard", ridge=1.0)

    assert held.at_bound and held.temperature == LOWEST
    np.testing.assert_allclose(held.bias, 0.0, atol=1e-9)
    assert free.at_bound and free.temperature == LOWEST
    assert -1.0 < (free.bias[1] - free.bias[0]) / 100.0 < 3.0  # between the two
    np.testing.assert_array_equal(free.apply(log_p).argmax(axis=1), LABELS)
    assert not leaning.at_bound
    assert fit_temperature_bias(lean, LABELS, targets="hard", ridge=0.0).at_bound


@pytest.mark.parametrize("values", [None, (1.0, 3.0, 5.0)])
def test_levels_that_do_not_overlap_are_parted_half_way(values: tuple[float, ...] | None) -> None:
    """By a slope of 400 a level, as steep as 100 a nat of log-odds at even odds."""
    log_p = levels(np.array([0.1, 0.3, 0.7, 0.9, 1.5, 1.9]))

    found = fit_proportional_odds(
        log_p, [0, 0, 1, 1, 2, 2], values=values, targets="hard", floor=1e-300
    )

    first, distance = (0.0, 1.0) if values is None else (1.0, 2.0)
    assert found.at_bound
    assert found.slope == 400.0 / distance
    cuts = np.array(found.thresholds) / found.slope
    np.testing.assert_allclose(cuts, first + distance * np.array([0.5, 1.2]), atol=1e-5)


def test_levels_of_one_score_are_parted_all_the_same() -> None:
    """Both cuts lie at the score of the middle level, and thresholds rise."""
    scores = np.array([0.2, 0.4, 0.4, 0.4, 0.4, 0.8])

    found = fit_proportional_odds(levels(scores), [0, 0, 1, 1, 2, 2], targets="hard")

    assert found.at_bound
    shares = np.exp(found.apply(levels(np.array([0.4]))))[0]
    np.testing.assert_allclose(shares, [0.25, 0.5, 0.25], atol=1e-6)


def test_one_label_on_the_wrong_side_is_enough_for_an_end_within_the_range() -> None:
    """Nothing is held there."""
    odds, y = np.append(ODDS, [2.0, -1.2]), np.append(LABELS, [1, 0])

    platt = fit_platt(from_logit(odds), y, targets="hard", ridge=0.0)
    biased = fit_temperature_bias(from_logit(odds), y, targets="hard", ridge=0.0)
    beta = fit_beta(from_logit(odds), y, targets="hard")

    assert not platt.at_bound and not biased.at_bound
    assert platt.slope < 5.0
    assert biased.temperature == pytest.approx(1.0 / platt.slope)
    assert max(beta.a, beta.b) < 10.0


def test_soft_targets_and_ridges_hold_separated_labels() -> None:
    """So the usual settings need no bound."""
    log_p = from_logit(ODDS)

    for found in (
        fit_platt(log_p, LABELS, targets="laplace", ridge=0.0),
        fit_platt(log_p, LABELS, targets="platt", ridge=0.0),
        fit_platt(log_p, LABELS, targets="hard", ridge=1.0),
    ):
        assert not found.at_bound
        assert found.slope < 5.0


def test_maps_that_should_be_steeper_than_the_bound_are_held_at_it() -> None:
    """Odds within 0.002 of even that tell much: as fit_temperature, which says so too."""
    random = np.random.default_rng(0)
    odds = random.normal(0.0, 0.001, 200)
    y = (random.random(200) > 1.0 / (1.0 + np.exp(-2000.0 * odds))).astype(np.int64)
    log_p = from_logit(odds)

    platt = fit_platt(log_p, y, targets="hard", ridge=0.0)
    beta = fit_beta(log_p, y, targets="hard")
    ordinal = fit_proportional_odds(log_p[:, ::-1], 1 - y, targets="hard")

    assert platt.at_bound and platt.slope == STEEPEST
    assert beta.at_bound and max(beta.a, beta.b) == STEEPEST
    assert ordinal.at_bound and ordinal.slope == 4.0 * STEEPEST


def test_hard_targets_refuse_levels_that_no_label_names() -> None:
    """Their thresholds would be one, and the search ended wherever they met."""
    random = np.random.default_rng(1)
    log_p = log_probabilities(random.normal(0.0, 1.5, (60, 4)))
    y = np.array([0, 1, 3])[np.arange(60) % 3]

    with pytest.raises(CalibrationError, match=r"y names no level \[2\].* targets='platt'"):
        fit_proportional_odds(log_p, y, targets="hard")
    assert fit_proportional_odds(log_p, y).fitted_on.n == 60


def test_steep_ends_overflow_nowhere() -> None:
    """Odds far apart times a slope of 100 leave the range of powers, quietly."""
    log_p = from_logit(np.array([-700.0, 700.0, -690.0, 695.0]))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fit in (fit_platt, fit_beta, fit_temperature_bias, fit_proportional_odds):
            found = fit(log_p, [1, 0, 1, 0], targets="hard", floor=1e-307)
            assert np.isfinite(found.apply(from_logit(np.array([-20.0, 0.3])))).all()
