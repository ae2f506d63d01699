"""True rates from an erring judge: each estimator covers the truth where it says it does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from classify.calibration.arrays import Floats
from classify.calibration.intervals import mid_p_ends
from classify.calibration.prediction_powered import ppi_mean, ppi_rate
from classify.calibration.prevalence import Share, labels_only, rogan_gladen, stratified_rate
from classify.errors import CalibrationError

REPEATS = 400
LOWEST = 0.95 - 4 * math.sqrt(0.95 * 0.05 / REPEATS)
"""Four standard errors below the nominal coverage."""


def items(n: int, rate: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return human labels, and the scores of a judge whose errors are many and one-sided."""
    truth = (random.random(n) < rate).astype(np.float64)
    return truth, np.clip(0.35 + 0.45 * truth + random.normal(0.0, 0.3, n), 0.0, 1.0)


@pytest.mark.parametrize("rate", [0.7, 0.95], ids=["rate 0.7", "rate 0.95"])
@pytest.mark.parametrize("n", [50, 200], ids=["50 labels", "200 labels"])
def test_ppi_covers_the_true_rate(rate: float, n: int) -> None:
    """Near 1 too, where a t interval does not."""
    random = np.random.default_rng(21)
    held = 0

    for _ in range(REPEATS):
        truth, judge = items(n + 1000, rate, random)
        found = ppi_rate(truth[:n], judge[:n], judge[n:]).estimate
        held += found.low <= rate <= found.high

    assert held / REPEATS >= LOWEST


@pytest.mark.parametrize("rate", [0.7, 0.95], ids=["rate 0.7", "rate 0.95"])
def test_mover_covers_the_true_rate_with_labels_drawn_by_verdict(rate: float) -> None:
    """Thirty labels per verdict, from a pool of 600."""
    random = np.random.default_rng(22)
    held = 0

    for _ in range(REPEATS):
        truth, judge = items(600, rate, random)
        passes, fails = truth[judge >= 0.5], truth[judge < 0.5]
        found = stratified_rate(
            passed=Share(passes.size, 600),
            right_if_passed=Share(int(passes[:30].sum()), min(30, passes.size)),
            right_if_failed=Share(int((1 - fails[:30]).sum()), min(30, fails.size)),
        )
        held += found.low <= rate <= found.high

    assert held / REPEATS >= LOWEST


@pytest.mark.parametrize("rate", [0.02, 0.03, 0.05, 0.95, 0.96, 0.97, 0.98, 0.99], ids=str)
def test_mover_covers_rates_near_the_ends_too(rate: float) -> None:
    """By all outcomes of 25 labels per verdict; Wilson's ends hold .92 to .94 of them.

    The judge passes 0.84 of true yes and 0.31 of true no; the pool is at its most likely count.
    """
    pass_rate = 0.84 * rate + 0.31 * (1.0 - rate)
    passed = Share(round(2000 * pass_rate), 2000)
    right, missed = 0.84 * rate / pass_rate, 0.16 * rate / (1.0 - pass_rate)
    chances = [binom.pmf(np.arange(26), 25, p) for p in (right, missed)]
    held = 0.0

    for yes, of_passed in enumerate(chances[0]):
        for no, of_failed in enumerate(chances[1]):
            if of_passed * of_failed < 1e-7:
                continue
            found = stratified_rate(
                passed=passed, right_if_passed=Share(yes, 25), right_if_failed=Share(25 - no, 25)
            )
            held += of_passed * of_failed * (found.low <= rate <= found.high)

    # Coverage by counts goes up and down with the rate: .944 at 0.97, .96 to .97 at the others.
    assert held >= 0.94


@pytest.mark.parametrize(("n", "rate"), [(200, 0.8), (50, 0.05), (50, 0.97)], ids=str)
def test_rogan_gladen_covers_the_true_rate_of_another_population(n: int, rate: float) -> None:
    """Labels at a rate of one half tell how the judge errs elsewhere; also few, near the ends."""
    random = np.random.default_rng(23)
    held = 0

    for _ in range(REPEATS):
        truth, judge = items(n, 0.5, random)
        verdict, pool = judge >= 0.5, items(800, rate, random)[1] >= 0.5
        yes = truth == 1.0
        found = rogan_gladen(
            passed=Share(int(pool.sum()), 800),
            sensitivity=Share(int(verdict[yes].sum()), int(yes.sum())),
            specificity=Share(int((~verdict)[~yes].sum()), int((~yes).sum())),
        )
        held += found.low <= rate <= found.high

    assert held / REPEATS >= LOWEST


shares = st.integers(1, 200).flatmap(lambda n: st.integers(0, n).map(lambda k: Share(k, n)))


@given(shares, shares, shares)
@settings(deadline=None)
def test_a_stratified_rate_and_its_interval_stay_between_0_and_1(
    passed: Share, yes: Share, no: Share
) -> None:
    """Whatever the counts; and the interval holds the value and is never a point."""
    found = stratified_rate(passed=passed, right_if_passed=yes, right_if_failed=no)

    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.high > found.low


@given(shares, shares, shares)
@settings(deadline=None)
def test_a_corrected_rate_and_its_interval_stay_between_0_and_1(
    passed: Share, sensitivity: Share, specificity: Share
) -> None:
    """Also where more passed than the judge's errors allow; and swapping yes and no mirrors it."""
    assume(sensitivity.rate + specificity.rate > 1.0)

    found = rogan_gladen(passed=passed, sensitivity=sensitivity, specificity=specificity)
    mirrored = rogan_gladen(
        passed=Share(passed.n - passed.k, passed.n),
        sensitivity=specificity,
        specificity=sensitivity,
    )

    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.high > found.low
    assert (1.0 - mirrored.high, 1.0 - mirrored.low) == pytest.approx(
        (found.low, found.high), abs=1e-9
    )


@given(shares, shares)
@settings(deadline=None)
def test_swapping_yes_and_no_mirrors_the_rate(yes: Share, no: Share) -> None:
    """The rate of "no" is one minus that of "yes", ends and all."""
    one = stratified_rate(passed=Share(30, 100), right_if_passed=yes, right_if_failed=no)
    other = stratified_rate(passed=Share(70, 100), right_if_passed=no, right_if_failed=yes)

    assert (other.value, other.low, other.high) == pytest.approx(
        (1.0 - one.value, 1.0 - one.high, 1.0 - one.low)
    )


def test_a_perfect_judge_corrects_nothing() -> None:
    """Rogan-Gladen and the strata give back the judged rate, but with doubt left."""
    perfect = Share(40, 40)

    corrected = rogan_gladen(passed=Share(70, 100), sensitivity=perfect, specificity=perfect)
    stratified = stratified_rate(
        passed=Share(70, 100), right_if_passed=perfect, right_if_failed=perfect
    )

    assert corrected.value == pytest.approx(0.7)
    assert stratified.value == pytest.approx(0.7)
    assert corrected.high - corrected.low > 0.18


def test_a_judge_no_better_than_luck_cannot_be_corrected() -> None:
    """Sensitivity 0.5 and specificity 0.5: the formula divides by zero."""
    half = Share(10, 20)

    with pytest.raises(CalibrationError, match="the judge is no better than luck"):
        rogan_gladen(passed=half, sensitivity=half, specificity=half)


def test_a_rate_beyond_1_is_clipped_and_says_so() -> None:
    """More passes than the judge's sensitivity allows."""
    found = rogan_gladen(
        passed=Share(99, 100), sensitivity=Share(90, 100), specificity=Share(90, 100)
    )

    assert found.value == 1.0
    assert "clipped to [0, 1]" in found.rule


@given(st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_a_shift_of_the_judge_changes_no_ppi_mean(seed: int) -> None:
    """Only the labels say how far off the judge is."""
    truth, judge = items(80, 0.6, np.random.default_rng(seed))

    one = ppi_mean(truth[:40], judge[:40], judge[40:])
    other = ppi_mean(truth[:40], judge[:40] + 3.0, judge[40:] + 3.0)

    assert other.estimate.value == pytest.approx(one.estimate.value)
    assert other.estimate.low == pytest.approx(one.estimate.low)


def test_each_label_is_tuned_without_itself() -> None:
    """The closed form against fitting on the others, one by one."""
    truth, judge = items(40, 0.6, np.random.default_rng(2))
    labels, scores, pool = truth[:12], judge[:12], judge[12:]
    tuned: list[float] = []
    for i in range(12):
        y, f = np.delete(labels, i), np.delete(scores, i)
        slope = np.cov(y, f)[0, 1] / f.var(ddof=1) / (1 + 12 / 28)
        tuned.append(min(1.0, max(0.0, float(slope))))

    found = ppi_mean(labels, scores, pool)

    assert found.trust == pytest.approx(np.mean(tuned))
    corrected: Floats = labels - np.asarray(tuned) * (scores - pool.mean())
    assert found.estimate.value == pytest.approx(float(corrected.mean()))


def test_a_powered_mean_is_told_in_one_line() -> None:
    """With its interval, the trust in the judge, and "n used of N"."""
    truth, judge = items(100, 0.5, np.random.default_rng(1))

    text = str(ppi_mean(truth[:40], judge[:40], judge[40:], trust=0.5))

    assert "\n" not in text and "PredictionPowered" not in text
    assert "(PPI, Student's t, 95%, 40 used of 100); trust 0.50, correlation 0." in text


def test_a_constant_judge_is_not_trusted() -> None:
    """It says nothing, so the mean is that of the labels."""
    found = ppi_mean([0.0, 1.0, 1.0, 1.0], [0.5] * 4, [0.5] * 10)

    assert (found.trust, found.correlation) == (0.0, 0.0)
    assert found.estimate.value == 0.75


def test_labels_all_alike_leave_doubt() -> None:
    """Sixty of sixty: Wilson's interval at the labels, less the price of Student's t."""
    random = np.random.default_rng(0)

    found = ppi_rate([1.0] * 60, random.random(60), random.random(100)).estimate

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(labels_only(Share(60, 60), total=160).low, abs=0.01)
    assert found.low < labels_only(Share(60, 60), total=160).low


@pytest.mark.parametrize(
    ("human", "judge", "pool", "message"),
    [
        ([1.0, 0.0], [1.0, 0.0], [1.0, 0.0], "at least 3, and the pool of 2"),
        ([1.0, 0.0, 1.0], [1.0, 0.0], [1.0, 0.0], "of one length"),
        ([1.0, 0.0, math.nan], [1.0, 0.0, 1.0], [1.0, 0.0], r"human\[2\] must be finite"),
    ],
    ids=["two labels", "lengths", "nan"],
)
def test_too_little_for_ppi_is_refused(
    human: list[float], judge: list[float], pool: list[float], message: str
) -> None:
    """By name."""
    with pytest.raises(CalibrationError, match=message):
        ppi_mean(human, judge, pool)


def test_ppi_rates_are_of_labels_from_0_to_1() -> None:
    """Other scores have a mean, not a rate."""
    with pytest.raises(CalibrationError, match=r"human\[0\] must be between 0 and 1, got 1.5"):
        ppi_rate([1.5, 1.0, 0.0], [0.5, 1.0, 0.0], [0.5, 1.0])


@given(st.floats(0.0, 1.0), st.integers(1, 60))
def test_mid_p_ends_of_fractions_lie_between_those_of_counts(part: float, n: int) -> None:
    """Sums of shares of raters are no whole numbers."""
    k = part * n
    below, above = (mid_p_ends(whole, n, confidence=0.95) for whole in (int(k), math.ceil(k)))

    low, high = mid_p_ends(k, n, confidence=0.95)

    assert below[0] - 1e-9 <= low <= above[0] + 1e-9
    assert below[1] - 1e-9 <= high <= above[1] + 1e-9


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (0, 0)], ids=["negative", "above", "none"])
def test_a_share_is_k_of_n(k: int, n: int) -> None:
    """Counts, checked where they are made."""
    with pytest.raises(CalibrationError, match="of a share must "):
        Share(k, n)
