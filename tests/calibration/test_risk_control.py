"""Thresholds keep the risk that they promise, and say when none can."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from classify.calibration.arrays import Floats
from classify.calibration.outlook import least_handed_over, look_ahead
from classify.calibration.risk_control import (
    RiskControl,
    certify_joint_risk,
    control_joint_risk,
    control_selective_risk,
)
from classify.calibration.risk_tests import (
    binomial_p_values,
    fewest_rows,
    hoeffding_bentkus_p_values,
)
from classify.errors import CalibrationError

REPEATS = 300


def draw(n: int, *, seed: int) -> tuple[Floats, Floats]:
    """Return confidences of a calibrated boolean model, and which answers were wrong."""
    random = np.random.default_rng(seed)
    confidence = 1.0 / (1.0 + np.exp(-np.abs(random.normal(0.0, 3.0, n))))
    return confidence, (random.random(n) > confidence).astype(np.float64)


POPULATION = draw(200_000, seed=12345)


def true_risk(threshold: float) -> tuple[float, float]:
    """Return the joint and the selective risk of a threshold in the population."""
    confidence, wrong = POPULATION
    accepted = confidence >= threshold
    joint = float((wrong * accepted).mean())
    return joint, joint / max(1e-12, float(accepted.mean()))


def too_many(failures: int, delta: float) -> bool:
    """Return whether so many broken promises of REPEATS are more than luck."""
    return float(binom.sf(failures - 1, REPEATS, delta)) < 1e-3


@pytest.mark.parametrize("n", [50, 200, 1000], ids=["50 rows", "200 rows", "1000 rows"])
def test_the_selective_promise_breaks_in_at_most_a_share_delta_of_draws(n: int) -> None:
    """Thresholds from the rows themselves, since this model's risk falls with confidence."""
    failures = 0

    for repeat in range(REPEATS):
        found = control_selective_risk(*draw(n, seed=repeat), alpha=0.1, delta=0.1)
        failures += true_risk(found.threshold)[1] > 0.1

    assert not too_many(failures, 0.1)


@pytest.mark.parametrize("thresholds", [None, np.linspace(0.98, 0.0, 50)], ids=["own", "given"])
def test_the_promise_holds_where_every_threshold_would_break_it(
    thresholds: Floats | None,
) -> None:
    """All rows are wrong a little more often than alpha: to certify any is to break it."""
    failures = 0

    for repeat in range(REPEATS):
        random = np.random.default_rng(repeat)
        found = control_selective_risk(
            random.random(600), random.random(600) < 0.1001, alpha=0.1, thresholds=thresholds
        )
        failures += found.accepted > 0

    assert not too_many(failures, 0.1)


def test_the_joint_promise_breaks_in_at_most_a_share_delta_of_draws() -> None:
    """Every confidence is a threshold, and no correction is needed."""
    failures = 0

    for repeat in range(REPEATS):
        found = certify_joint_risk(*draw(100, seed=repeat), alpha=0.1, delta=0.1)
        failures += true_risk(found.threshold)[0] > 0.1

    assert not too_many(failures, 0.1)


def test_the_joint_risk_is_controlled_on_average() -> None:
    """The mean over draws is below alpha and not far below."""
    risks = [
        true_risk(control_joint_risk(*draw(100, seed=repeat), alpha=0.08).threshold)[0]
        for repeat in range(REPEATS)
    ]

    error = np.std(risks) / math.sqrt(REPEATS)
    assert 0.06 < np.mean(risks) <= 0.08 + 3 * error


def test_the_fewest_rows_are_those_without_an_error_that_pass() -> None:
    """22, 45 and 230 for an alpha of 0.1, 0.05 and 0.01."""
    assert [fewest_rows(alpha=alpha, delta=0.1) for alpha in (0.1, 0.05, 0.01)] == [22, 45, 230]
    assert binomial_p_values(0, 22, alpha=0.1) <= 0.1 < binomial_p_values(0, 21, alpha=0.1)


@given(st.integers(1, 400), st.data())
@settings(deadline=None)
def test_the_binomial_tail_is_that_of_scipy(n: int, data: st.DataObject) -> None:
    """Whole counts in, the exact tail out."""
    errors = data.draw(st.integers(0, n))

    assert binomial_p_values(errors, n, alpha=0.1) == pytest.approx(
        float(binom.cdf(errors, n, 0.1)), rel=1e-9, abs=1e-300
    )


@given(st.integers(1, 400), st.data())
@settings(deadline=None)
def test_the_bound_for_bounded_losses_is_never_below_the_exact_tail(
    n: int, data: st.DataObject
) -> None:
    """A bound that covers all losses covers errors."""
    errors = data.draw(st.integers(0, n))

    bound = hoeffding_bentkus_p_values(errors, n, alpha=0.1)

    assert bound >= binomial_p_values(errors, n, alpha=0.1) - 1e-12


def test_thresholds_start_where_a_test_can_pass() -> None:
    """Ten rows without an error prove nothing at 10 %, so they are not a first, failed test."""
    confidence = np.linspace(0.99, 0.5, 100)
    loss = np.where(confidence < 0.7, 1.0, 0.0)

    found = control_selective_risk(
        confidence, loss, alpha=0.1, delta=0.1, thresholds=[0.95, 0.8, 0.71]
    )

    assert [step.accepted for step in found.steps] == [39, 57]
    assert found.threshold == 0.71


def test_one_sequence_ends_at_its_first_failure() -> None:
    """What lies beyond was never tested, however good it looks."""
    confidence = np.linspace(1.0, 0.0, 1000)
    loss = np.zeros(1000)
    loss[100:130] = 1.0

    found = control_selective_risk(
        confidence, loss, alpha=0.1, delta=0.1, thresholds=[0.91, 0.87, 0.1], starts=1
    )

    assert found.threshold == 0.91
    assert [step.passed for step in found.steps] == [True, False]


def test_errors_among_the_surest_rows_do_not_end_every_sequence() -> None:
    """Five in the first 60 of 1000 rows: the first start fails, another has room for them."""
    confidence = np.linspace(1.0, 0.5, 1000)
    loss = np.zeros(1000)
    loss[10:60:10] = 1.0
    loss[900:] = 1.0

    found = control_selective_risk(confidence, loss, alpha=0.05)
    one = control_selective_risk(confidence, loss, alpha=0.05, starts=1)

    assert not found.steps[0].passed
    assert (found.rule, one.rule) == (
        "fixed sequences from 4 starts, exact binomial tail",
        "fixed sequence, exact binomial tail",
    )
    assert found.accepted > 850
    assert one.accepted == 0


def test_a_sequence_that_reaches_the_next_start_takes_its_share_along() -> None:
    """Without an error all of delta is at hand in the end, and no more than that."""
    found = control_selective_risk(np.linspace(1.0, 0.0, 1000), np.zeros(1000), alpha=0.1)

    levels = [step.level for step in found.steps]
    assert sorted(set(levels)) == pytest.approx([0.025, 0.05, 0.075, 0.1])
    assert levels == sorted(levels)
    assert found.decides_alone == 1.0


def test_what_failed_is_lost_and_the_next_start_has_its_own_share() -> None:
    """The sum of all levels that were lost is at most delta: that is the promise."""
    random = np.random.default_rng(0)
    for _ in range(50):
        found = control_selective_risk(
            random.random(300), random.random(300) < 0.1, alpha=0.1, delta=0.2
        )

        lost = [step.level for step in found.steps if not step.passed]
        assert sum(lost) <= 0.2 + 1e-12


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_where_sequences_start_depends_on_no_answer(alpha: float) -> None:
    """Else the test would be chosen by what it tests."""
    confidence = np.random.default_rng(1).random(1000)
    first = [
        control_selective_risk(confidence, np.full(1000, loss), alpha=alpha).steps[0].accepted
        for loss in (0.0, 1.0)
    ]

    assert first[0] == first[1] == fewest_rows(alpha=alpha, delta=0.025, errors=3)


def test_a_threshold_is_certified_whatever_the_order_of_starts() -> None:
    """All rows alike: the more permissive start passes where the strict one has too few rows."""
    found = control_selective_risk(
        [0.9] * 10 + [0.6] * 90, [0.0] * 100, alpha=0.1, thresholds=[0.8, 0.5]
    )

    assert [(step.threshold, step.level) for step in found.steps] == [(0.5, 0.1)]


@pytest.mark.parametrize("errors", [0, 1, 3, 10])
@pytest.mark.parametrize("alpha", [0.01, 0.1, 0.4])
def test_the_fewest_rows_with_errors_are_the_first_that_pass(errors: int, alpha: float) -> None:
    """One row less does not."""
    rows = fewest_rows(alpha=alpha, delta=0.1, errors=errors)

    assert binom.cdf(errors, rows, alpha) <= 0.1 < binom.cdf(errors, rows - 1, alpha)


@pytest.mark.parametrize(
    "control", [control_selective_risk, certify_joint_risk], ids=["selective", "joint"]
)
def test_too_few_rows_hand_everything_over(control: Callable[..., RiskControl]) -> None:
    """Ten right answers do not promise 1 % error."""
    found = control(np.ones(10), np.zeros(10), alpha=0.01)

    assert math.isinf(found.threshold)
    assert (found.accepted, found.decides_alone) == (0, 0.0)
    assert "a promise needs at least 230 labelled rows" in str(found)


def test_equal_confidences_are_accepted_together() -> None:
    """A threshold cannot part what it cannot tell apart."""
    found = control_selective_risk([0.9] * 50 + [0.6] * 50, [0.0] * 50 + [1.0] * 50, alpha=0.1)

    assert (found.threshold, found.accepted, found.loss) == (0.9, 50, 0.0)


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_a_looser_alpha_never_keeps_fewer_rows(seed: int) -> None:
    """For each of the joint rules."""
    confidence, wrong = draw(80, seed=seed)

    for control in (control_joint_risk, certify_joint_risk):
        strict, loose = (control(confidence, wrong, alpha=alpha) for alpha in (0.05, 0.15))
        assert strict.accepted <= loose.accepted


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    """Also with ties."""
    confidence, wrong = draw(80, seed=seed)
    confidence = np.round(confidence, 1)
    shuffled = np.random.default_rng(seed).permutation(80)

    one = control_selective_risk(confidence, wrong, alpha=0.2)
    other = control_selective_risk(confidence[shuffled], wrong[shuffled], alpha=0.2)

    assert one == other


@given(st.floats(0.0, 1.0), st.floats(0.01, 0.99))
@settings(deadline=None)
def test_handing_over_only_errors_reaches_alpha_exactly_at_the_bound(
    error: float, alpha: float
) -> None:
    """Nothing can hand over less: every row handed over was an error."""
    least = least_handed_over(error, alpha=alpha)

    assert error - least == pytest.approx(min(error, alpha) * (1.0 - least))


def test_the_bound_is_said_before_any_threshold_is_tried() -> None:
    """30 % errors and 10 % allowed: at least 22.2 % of the rows go to people."""
    text = str(look_ahead(200, loss=60, alpha=0.1))

    assert "deciding all 200 rows alone has an error of 30.0%" in text
    assert "for 10.0% any method must hand over at least 22.2%" in text


def test_thresholds_must_fall() -> None:
    """A sequence from permissive to strict would promise what it did not test."""
    with pytest.raises(CalibrationError, match="thresholds must fall from strict to permissive"):
        control_selective_risk([0.5], [0.0], alpha=0.1, thresholds=[0.5, 0.9])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"alpha": 0.0}, "alpha must lie strictly between 0 and 1, got 0.0"),
        ({"alpha": 1.5}, "alpha must lie strictly between 0 and 1, got 1.5"),
        ({"alpha": 0.1, "delta": 0.0}, "delta must lie strictly between 0 and 1, got 0.0"),
        ({"alpha": 0.1, "starts": 0}, "starts must be a whole number from 1 to 1,000, got 0"),
    ],
    ids=["alpha 0", "alpha 1.5", "delta 0", "no start"],
)
def test_a_promise_that_cannot_be_made_is_refused(
    arguments: dict[str, float], message: str
) -> None:
    """By name and value."""
    with pytest.raises(CalibrationError, match=message):
        control_selective_risk([0.5], [0.0], **arguments)  # type: ignore[arg-type]  # mixed numbers


@pytest.mark.parametrize(
    ("confidence", "loss", "message"),
    [
        ([], [], "one length, at least 1"),
        ([0.5], [0.0, 1.0], "one length, at least 1"),
        ([math.nan], [0.0], r"confidence\[0\] is nan"),
        ([0.5], [2.0], r"loss\[0\] must be between 0 and 1"),
    ],
    ids=["no rows", "lengths", "nan", "loss above 1"],
)
def test_unusable_rows_are_refused(
    confidence: list[float], loss: list[float], message: str
) -> None:
    """By name and value."""
    with pytest.raises(CalibrationError, match=message):
        control_joint_risk(confidence, loss, alpha=0.1)
