"""What steers a fit, a metric or a test is used as given or refused by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import classify.calibration as c
from classify.calibration.settings import (
    draw_count,
    finite_number,
    in_percent,
    not_negative,
    one_of,
    open_unit,
    random_source,
    whole_number,
)
from classify.errors import CalibrationError


@pytest.mark.parametrize(
    "bad",
    [math.nan, math.inf, 10**400, 10**5000, None, "0.1", [0.1], 0.1j, Decimal("0.1")],
    ids=lambda value: type(value).__name__,
)
def test_no_other_type_passes_for_a_number(bad: object) -> None:
    """Neither rounded nor parsed, and numbers beyond all floats have a short message."""
    with pytest.raises(CalibrationError, match="alpha must be a finite number") as caught:
        finite_number(bad, name="alpha")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "good", [0.5, np.float32(0.5), np.float64(0.5)], ids=["python", "float32", "float64"]
)
def test_numbers_of_numpy_are_numbers(good: object) -> None:
    """Most come from arrays."""
    assert open_unit(good, name="alpha") == not_negative(good, name="alpha") == 0.5
    assert whole_number(np.int64(3), name="n") == 3


@pytest.mark.parametrize("bad", [0, 1, 0.0, 1.0, -0.1, 95])
def test_a_level_lies_between_0_and_1(bad: float) -> None:
    """Percent are refused."""
    with pytest.raises(CalibrationError, match="alpha must lie strictly between 0 and 1, got"):
        open_unit(bad, name="alpha")


@pytest.mark.parametrize("bad", [5e-324, 1e-13, math.nextafter(1.0, 0.0)])
def test_a_level_keeps_its_distance_from_0_and_1(bad: float) -> None:
    """1 / 5e-324 is infinite, and quantiles nearer to 1 than this are rounding."""
    with pytest.raises(CalibrationError, match="alpha must keep a distance of 1e-12"):
        open_unit(bad, name="alpha")


@pytest.mark.parametrize("bad", [-1, 1.0, True, math.nan, None, "3"])
def test_a_seed_is_a_whole_number(bad: object) -> None:
    """Numpy takes None for "any", and True for 1."""
    with pytest.raises(CalibrationError, match="seed must be a whole number of 0 or more"):
        random_source(bad)


@pytest.mark.parametrize("bad", [0, -1, 10**9, 1.5, 10**400])
def test_draws_fit_into_memory(bad: object) -> None:
    """At least one, or there is nothing to compare with."""
    with pytest.raises(CalibrationError, match="draws must be a whole number from 1 to 10,000,000"):
        draw_count(bad, name="draws")


def test_a_word_that_is_not_on_offer_is_refused() -> None:
    """The message lists the others."""
    with pytest.raises(CalibrationError, match="scheme must be one of 'none', 'linear', got 'cub"):
        one_of("cubic", ("none", "linear"), name="scheme")


WRONG: Any = "wrong"
"""A word that no setting offers, and of no type that a checker would refuse."""
P, Y = [0.2, 0.7, 0.4, 0.9], [0, 1, 1, 1]
LOG_P = np.log([[0.2, 0.8], [0.7, 0.3], [0.4, 0.6], [0.9, 0.1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: c.fit_temperature(LOG_P, Y, targets=WRONG), "targets must be one of 'hard'"),
        (lambda: c.cohen_kappa(Y, Y, levels=[0, 1], scheme=WRONG), "scheme must be one of"),
        (
            lambda: c.krippendorff_alpha([Y, Y], levels=[0, 1], metric=WRONG),
            "metric must be one of",
        ),
        (lambda: c.metrics(LOG_P, Y, seed=0, kind=WRONG), "kind must be one of"),
        (lambda: c.fit_sets(LOG_P, Y, score=WRONG), "score must be one of"),
        (lambda: c.least_handed_over(0.2, alpha=0.1, risk=WRONG), "risk must be one of"),
        (lambda: c.true_rate(Y, P, P, drawn=WRONG), "drawn must be one of"),
        (
            lambda: c.fit_bbse_shift(LOG_P, Y, LOG_P, predictions=WRONG),
            "predictions must be one of",
        ),
        (lambda: c.mean_interval(P, seed=0, resamples=0), "resamples must be a whole number"),
        (lambda: c.reliability_diagram(P, Y, seed=0, draws=0), "draws must be a whole number"),
        (lambda: c.smooth_calibration_error(P, Y, seed=-1), "seed must be a whole number"),
        (lambda: c.sweep_calibration_error(P, Y, seed=0, draws=10**18), "draws must be"),
        (lambda: c.sign_flip_test(P, Y, seed=0, resamples=10**18), "resamples must be"),
        (lambda: c.ppi_mean(P, P, P, trust=math.nan), "trust must be a finite number, got nan"),
        (lambda: c.coverage_at_risk(P, Y, risk=math.nan), "risk must be a finite number, got nan"),
        (lambda: c.true_rate(Y, P, P, drawn="unknown", cut=math.nan), "cut must be a finite"),
        (lambda: c.coverage_range(10**18, alpha=0.1), "n must be a whole number"),
        (lambda: c.wilson(1, math.inf), "n must be a finite number, got inf"),
        (lambda: c.jeffreys(3, 1e308), "n must be above 0 and at most 1e"),
        (lambda: c.subgroup_bias(P, P, ["a", "b"] * 2, span=math.nan), "span must be a finite"),
        (lambda: c.level_use(LOG_P, items=0), "items must be a whole number of 1 or more"),
        (lambda: c.identity(0), "k must be a whole number of 1 or more, got 0"),
        (lambda: c.scores_by_label(P, Y, seed=0, scale=(5, 1)), "scale must be its low and its"),
        (lambda: c.scores_by_label(P, Y, seed=0, missing=-1), "missing must be a whole number"),
        (lambda: c.fit_mean_map(LOG_P, Y, floor=1.0), "floor must lie between 0 and 0.5"),
        (lambda: c.fit_isotonic(LOG_P, Y, pseudo_count=-1), "pseudo_count must be from 0 to"),
        (lambda: c.realised_cost(Y, Y, np.eye(2), escalation_cost=math.nan), "escalation_cost"),
        (lambda: c.labels_for_coverage(alpha=5e-324, slack=0.1), "alpha must keep a distance"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(call: Callable[[], object], message: str) -> None:
    """It used to be taken for another, to give nan, or to end in an error of numpy."""
    with pytest.raises(CalibrationError, match=message):
        call()


def test_a_judge_report_refuses_what_is_no_setting_and_no_rating() -> None:
    """Only what the ratings do not define becomes a note."""
    ratings = {"judge": [1, 2, 1], "ann": [1, 2, 2], "bob": [2, 2, 1]}

    with pytest.raises(CalibrationError, match="epsilon must be a finite number, got nan"):
        c.judge_report(ratings, levels=[1, 2], ordered=True, epsilon=math.nan)
    with pytest.raises(CalibrationError, match="rater 'judge' holds 2, which is none of the"):
        c.judge_report(ratings, levels=[1, 3], ordered=True)


HIGH, LOW = np.float64(1.5), np.float64(-1.0)
INT: Any = np.int64
"""Any, for checkers know that it is no int."""


@pytest.mark.parametrize(
    "call",
    [
        lambda: c.wilson(INT(4), INT(3)),
        lambda: c.wilson(LOW, 3),
        lambda: c.mean_interval(P, seed=0, confidence=HIGH),
        lambda: c.ppi_mean(P, P, P, trust=HIGH),
        lambda: c.Share(HIGH, np.float64(1.0)),
        lambda: c.level_use(LOG_P, items=INT(0)),
        lambda: c.cohen_kappa(Y, Y, levels=[INT(0), INT(0)]),
        lambda: c.cohen_kappa(Y, [0, 1, 1, 7], levels=[INT(0), INT(1)]),
        lambda: c.alt_test(Y, [Y, Y, Y], levels=[0, 1], epsilon=LOW),
        lambda: c.fit_mean_map(LOG_P, np.array([0.0, 1.0, 1.0, 7.0])),
        lambda: c.fit_mean_map(LOG_P, Y, floor=HIGH),
        lambda: c.scores_by_label(P, Y, seed=0, scale=(np.float64(5), np.float64(1))),
        lambda: c.fit_isotonic(LOG_P, Y, pseudo_count=LOW),
        lambda: c.smooth_calibration_error_at(P, Y, bandwidth=HIGH),
        lambda: c.log_loss(LOG_P, Y, floor=HIGH),
        lambda: c.labels_for_rate(half_width=0.1, rate=HIGH),
        lambda: c.labels_for_comparison(better=np.float64(0.2), worse=np.float64(0.2)),
        lambda: c.calibrate(LOG_P, Y, floor=HIGH),
        lambda: c.fit_em_shift(LOG_P, source_prior=[LOW, 1.0]),
        lambda: c.binary_threshold(false_positive=LOW, false_negative=1.0),
        lambda: c.realised_cost(Y, Y, np.eye(2), escalation_cost=np.float64(1e200)),
        lambda: c.confidence_histogram(P, np.array([0.0, 1.0, 1.0, 7.0]), seed=0),
    ],
)
def test_a_refused_value_is_shown_as_a_plain_number(call: Callable[[], object]) -> None:
    """A repr of numpy 2 says np.float64(-1.0), which nobody wrote."""
    with pytest.raises(CalibrationError) as caught:
        call()

    assert "np." not in str(caught.value)
    assert any(character.isdigit() for character in str(caught.value))


@pytest.mark.parametrize(
    ("share", "decimals", "text"),
    [
        (0.95, 0, "95%"),
        (1.0 - 0.1, 0, "90%"),
        (0.999, 0, "99.9%"),
        (0.05, 1, "5.0%"),
        (0.0025, 1, "0.25%"),
        (0.0005, 1, "0.05%"),
    ],
)
def test_a_level_is_written_as_it_was_set(share: float, decimals: int, text: str) -> None:
    """A confidence of 99.9 % was 100 %, and an error of at most 0.05 % could be 0.1 % or none."""
    assert in_percent(share, decimals=decimals) == text


def test_a_promise_is_written_as_it_was_asked_for() -> None:
    """It was "at most 0.2% with 100% confidence", which nobody asked for and nothing shows."""
    found = c.control_selective_risk([0.9] * 5000, [0] * 5000, alpha=0.0025, delta=0.001)

    assert "selective error at most 0.25% with 99.9% confidence" in str(found)
