"""How many labels: the answer is the fewest that do, and enough."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from classify.calibration.comparison import mcnemar_exact
from classify.calibration.intervals import wilson
from classify.calibration.power import (
    labels_for_certificate,
    labels_for_comparison,
    labels_for_corrected_rate,
    labels_for_coverage,
    labels_for_rate,
)
from classify.calibration.prediction_powered import ppi_rate
from classify.calibration.prediction_sets import coverage_range
from classify.errors import CalibrationError


def half_width(rate: float, n: int) -> float:
    """Return half of Wilson's interval."""
    found = wilson(rate * n, n)
    assert found.low is not None
    assert found.high is not None
    return (found.high - found.low) / 2


@pytest.mark.parametrize(
    ("rate", "width"), [(0.5, 0.05), (0.9, 0.03), (0.0, 0.02)], ids=["half", "high", "zero"]
)
def test_one_label_fewer_would_be_too_wide(rate: float, width: float) -> None:
    """By Wilson's own width."""
    n = labels_for_rate(rate=rate, half_width=width).n

    assert half_width(rate, n) <= width < half_width(rate, n - 1)


def test_a_good_judge_saves_labels() -> None:
    """A correlation of 0.8 over many items leaves about a third of the variance."""
    alone = labels_for_rate(rate=0.7, half_width=0.04).n
    helped = labels_for_corrected_rate(rate=0.7, half_width=0.04, correlation=0.8, pool=1_000_000).n

    assert helped / alone == pytest.approx(1 - 0.8**2, abs=0.02)


def test_a_useless_judge_saves_none() -> None:
    """And Student's t costs two labels or three."""
    alone = labels_for_rate(rate=0.7, half_width=0.04).n

    helped = labels_for_corrected_rate(rate=0.7, half_width=0.04, correlation=0.0, pool=1000).n

    assert alone < helped <= alone + 4


@pytest.mark.parametrize("spread", [0.05, 0.12, 0.3, 0.4])
def test_a_judge_that_keeps_near_one_score_needs_more_labels(spread: float) -> None:
    """The interval of `ppi_rate` is as wide as asked for at any spread of the judge's scores."""
    rate, wanted, correlation, pool = 0.7, 0.05, 0.7, 2000
    random = np.random.default_rng(11)
    needed = labels_for_corrected_rate(
        rate=rate, half_width=wanted, correlation=correlation, pool=pool, judge_spread=spread
    )
    deviation, widths = (rate * (1 - rate)) ** 0.5, list[float]()
    for _ in range(60):
        y = (random.random(needed.n + pool) < rate).astype(np.float64)
        noise = (1 - correlation**2) ** 0.5 * random.normal(0.0, 1.0, y.size)
        judge = 0.5 + spread * (correlation * (y - rate) / deviation + noise)
        found = ppi_rate(y[: needed.n], judge[: needed.n], judge[needed.n :]).estimate
        widths.append((found.high - found.low) / 2)

    assert np.mean(widths) == pytest.approx(wanted, rel=0.02)
    assert f"scores of standard deviation {spread:.2g}" in needed.reason


def test_what_a_judge_is_taken_for_is_said() -> None:
    """At that spread a judge helps as much as a wider one, and at less it does not."""
    taken = labels_for_corrected_rate(rate=0.7, half_width=0.05, correlation=0.7, pool=2000)

    assert "standard deviation of 0.29 or more" in taken.reason
    wide, narrow = (
        labels_for_corrected_rate(
            rate=0.7, half_width=0.05, correlation=0.7, pool=2000, judge_spread=spread
        ).n
        for spread in (0.3, 0.1)
    )
    assert wide == taken.n < narrow


def test_a_certificate_passes_as_often_as_asked() -> None:
    """By the binomial distribution of scipy; no smaller number of rows does."""
    needed = labels_for_certificate(alpha=0.1, error=0.05, delta=0.1, power=0.8)

    def passes(n: int) -> float:
        """Return the power of the exact test with n rows."""
        errors = np.arange(n + 1)
        allowed = int((binom.cdf(errors, n, 0.1) <= 0.1).sum()) - 1
        return float(binom.cdf(allowed, n, 0.05))

    assert passes(needed.n) >= 0.8
    assert max(passes(n) for n in range(1, needed.n)) < 0.8


def test_an_error_free_judge_needs_the_fewest_rows() -> None:
    """45 rows without an error certify 5 %."""
    assert labels_for_certificate(alpha=0.05, error=0.0).n == 45


def test_coverage_stays_within_the_slack_from_there_on() -> None:
    """Also where the rank is rounded up."""
    n = labels_for_coverage(alpha=0.1, slack=0.03).n

    assert all(coverage_range(m, alpha=0.1)[0] >= 0.87 - 1e-9 for m in range(n, n + 50))
    assert coverage_range(n // 10 * 10 - 21, alpha=0.1)[0] < 0.87


def test_a_comparison_finds_the_difference_as_often_as_asked() -> None:
    """By drawing it 400 times: within four standard errors of the power."""
    n = labels_for_comparison(better=0.2, worse=0.08).n
    random = np.random.default_rng(9)
    found = 0

    for _ in range(400):
        kind = random.choice(3, size=n, p=[0.2, 0.08, 0.72])
        found += mcnemar_exact(kind == 0, kind == 1).p_value <= 0.05

    assert found / 400 == pytest.approx(0.8, abs=4 * 0.02)


def test_the_answer_is_a_sentence() -> None:
    """A number alone says nothing."""
    text = str(labels_for_rate(rate=0.7, half_width=0.05))

    assert text == "320 labels: a rate of 70% is then known to ± 5 points (95%, Wilson)"


def test_the_impossible_is_said() -> None:
    """Nobody labels a million items."""
    with pytest.raises(CalibrationError, match="more than 1000000 labels would be needed"):
        labels_for_rate(rate=0.5, half_width=0.0001)


def test_an_error_at_alpha_cannot_be_certified() -> None:
    """No number of rows shows that alpha is below alpha."""
    with pytest.raises(CalibrationError, match=r"error must be in \[0, alpha=0.1\), got 0.1"):
        labels_for_certificate(alpha=0.1, error=0.1)


def test_equal_systems_have_no_difference_to_find() -> None:
    """No number of items shows it."""
    with pytest.raises(
        CalibrationError, match=r"better and worse must differ .* only one of the two gets right"
    ):
        labels_for_comparison(better=0.1, worse=0.1)


def test_small_shares_are_written_as_what_they_are() -> None:
    """0.1 % against 0.05 % was 0 % against 0 %, and a power of 99.9 % was all tries."""
    few = labels_for_comparison(better=0.001, worse=0.0005).reason
    sure = labels_for_certificate(alpha=0.01, error=0.0, power=0.999).reason

    assert few.startswith("0.1% against 0.05% of items")
    assert sure.endswith("in 99.9% of tries")


def test_a_slack_of_the_whole_coverage_promises_nothing_and_is_refused() -> None:
    """It was answered with sets that cover at least -5 %."""
    with pytest.raises(CalibrationError, match=r"slack must be below .* 0\.9, got 0\.95"):
        labels_for_coverage(alpha=0.1, slack=0.95)
