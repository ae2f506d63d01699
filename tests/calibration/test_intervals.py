"""Intervals cover what they say, by exact enumeration where that is possible."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, bootstrap, kurtosis, norm, t

from classify.calibration.estimate import Estimate
from classify.calibration.intervals import (
    clopper_pearson,
    jeffreys,
    mean_interval,
    mean_intervals,
    mid_p_ends,
    share_interval,
    weighted_wilson,
    wilson,
)
from classify.calibration.measurement import Measurement
from classify.errors import CalibrationError

RATES = np.linspace(0.02, 0.98, 49)


def coverage(n: int, kind: str, rate: float) -> float:
    """Return the exact probability that the interval of n trials holds the rate."""
    make = {"wilson": wilson, "exact": clopper_pearson, "jeffreys": jeffreys}[kind]
    found = [make(k, n) for k in range(n + 1)]
    hits = [holds(one, rate) for one in found]
    return float(binom.pmf(np.arange(n + 1), n, rate) @ hits)


def holds(found: Measurement, truth: float) -> bool:
    """Say whether an interval holds the truth."""
    assert found.low is not None and found.high is not None
    return found.low <= truth <= found.high


@pytest.mark.parametrize("n", [20, 50, 200], ids=str)
def test_wilson_covers_as_often_as_it_says_on_average(n: int) -> None:
    """Wald's interval covers .46 at n=20 and p=.97; Wilson's mean coverage is nominal."""
    found = [coverage(n, "wilson", rate) for rate in RATES]

    assert np.mean(found) == pytest.approx(0.95, abs=0.01)
    assert min(found) > 0.83


@pytest.mark.parametrize("n", [20, 50], ids=str)
def test_clopper_pearson_never_covers_less(n: int) -> None:
    """It is the one to use where the coverage is a promise."""
    assert min(coverage(n, "exact", rate) for rate in RATES) >= 0.95


def test_jeffreys_covers_as_often_as_it_says_on_average() -> None:
    """A posterior interval with good frequency behaviour."""
    found = [coverage(50, "jeffreys", rate) for rate in RATES]

    assert np.mean(found) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999], ids=str)
@pytest.mark.parametrize(
    ("k", "n"), [(1, 2), (1, 50), (17, 20), (3, 2000), (333_333, 1_000_000)], ids=str
)
def test_mid_p_ends_leave_half_of_what_was_seen_in_the_tail(
    k: int, n: int, confidence: float
) -> None:
    """By the binomial distribution of scipy."""
    low, high = mid_p_ends(k, n, confidence=confidence)

    tail = pytest.approx((1 - confidence) / 2, rel=1e-9)
    assert binom.sf(k, n, low) + binom.pmf(k, n, low) / 2 == tail
    assert binom.cdf(k - 1, n, high) + binom.pmf(k, n, high) / 2 == tail


def test_mid_p_is_exact_at_the_ends_and_lies_within_clopper_pearson() -> None:
    """With no success the lower end is 0 and the upper one of 20 is 1 - 0.05 ** (1 / 20)."""
    assert list(mid_p_ends(0, 20, confidence=0.95)) == [0.0, pytest.approx(1 - 0.05 ** (1 / 20))]
    assert list(mid_p_ends(20, 20, confidence=0.95)) == [pytest.approx(0.05 ** (1 / 20)), 1.0]
    for k in range(21):
        low, high = mid_p_ends(k, 20, confidence=0.95)
        exact = clopper_pearson(k, 20)
        assert exact.low is not None and exact.high is not None
        assert exact.low <= low <= k / 20 <= high <= exact.high


@given(st.integers(1, 500))
def test_the_ends_are_exact_where_nothing_or_everything_succeeds(n: int) -> None:
    """0.9999999999999999 as an upper end would exclude the rate 1 that was seen."""
    assert wilson(0, n).low == 0.0
    assert wilson(n, n).high == 1.0
    assert clopper_pearson(0, n).low == 0.0
    assert clopper_pearson(n, n).high == 1.0


@given(st.lists(st.integers(0, 1), min_size=1, max_size=30))
def test_equal_weights_leave_wilson_as_it_is(hits: list[int]) -> None:
    """A weight is a share, not a number of rows: it must not narrow the interval."""
    plain = wilson(sum(hits), len(hits))

    weighed = weighted_wilson(hits, weights=[3.0] * len(hits))

    assert (weighed.value, weighed.low, weighed.high) == pytest.approx(
        (plain.value, plain.low, plain.high), abs=1e-12
    )


def test_unequal_weights_widen_wilson() -> None:
    """Rows that hardly count say little: 4 rows of which one has nearly all weight are 1 row."""
    one = wilson(1, 1)

    weighed = weighted_wilson([1, 1, 1, 1], weights=[1.0, 1e-9, 1e-9, 1e-9])

    assert weighed.low == pytest.approx(one.low, abs=1e-6)


def test_bca_covers_the_mean_of_a_skewed_law() -> None:
    """Losses are skewed; 300 draws of 50 exponentials must hold the mean 1 near 95 % of times."""
    random = np.random.default_rng(11)
    draws = random.exponential(size=(300, 50))

    found = [mean_interval(row, seed=i, resamples=500) for i, row in enumerate(draws)]

    # Nominal .95; three standard errors of 300 draws are .038.
    assert 0.912 <= np.mean([holds(one, 1.0) for one in found]) <= 0.988


@pytest.mark.parametrize(
    ("n", "shape", "promised"),
    [
        (5, "normal", 0.92),
        (5, "exponential", 0.86),
        (5, "lognormal", 0.83),
        (10, "exponential", 0.93),
        (10, "lognormal", 0.89),
        (20, "exponential", 0.93),
        (20, "lognormal", 0.92),
    ],
)
def test_few_rows_are_covered_as_often_as_the_docstring_says(
    n: int, shape: str, promised: float
) -> None:
    """What few rows cannot show is said with numbers; skewed values miss on the tail's side."""
    random = np.random.default_rng(21)
    mean = {"normal": 0.0, "exponential": 1.0, "lognormal": np.exp(0.5)}[shape]
    draws = getattr(random, shape)(size=(400, n))

    found = [mean_interval(row, seed=i, resamples=500) for i, row in enumerate(draws)]

    held = np.mean([holds(one, mean) for one in found])
    assert held == pytest.approx(promised, abs=3.0 * np.sqrt(promised * (1.0 - promised) / 400))
    if shape != "normal":
        below = sum(one.high is not None and one.high < mean for one in found)
        assert below > 0.6 * 400 * (1.0 - held)
    assert f" {promised * 100:.0f}" in (mean_interval.__doc__ or "")


@pytest.mark.parametrize("shape", ["exponential", "uniform", "normal"])
@pytest.mark.parametrize("n", [8, 50, 400], ids=str)
def test_bca_is_that_of_scipy_at_the_levels_of_students_t(shape: str, n: int) -> None:
    """At 95 % scipy's own holds the mean of 50 exponentials in 93 % of draws (docs/coverage.md).

    The degrees of freedom are 2 / (variance of s² / σ⁴) = 2n / (kurtosis - (n - 3) / (n - 1)).
    """
    draw = np.random.default_rng(n)
    # In the order that ours draws from, whatever order they come in.
    values = np.sort(getattr(draw, shape)(size=n))
    tails = kurtosis(values, fisher=False)
    degrees = min(n - 1, 2 * n / (tails - (n - 3) / (n - 1)))
    reach = float(t.ppf(0.975, degrees) * np.sqrt(n / (n - 1)))

    found = mean_interval(values, seed=3, resamples=500)

    theirs = bootstrap(
        (values,),
        np.mean,
        n_resamples=500,
        confidence_level=2 * float(norm.cdf(reach)) - 1,
        method="BCa",
        rng=np.random.default_rng(3),
    ).confidence_interval
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_clusters_widen_the_interval() -> None:
    """Ten copies of a row are one row's worth of evidence."""
    values = np.random.default_rng(0).normal(size=40)
    repeated, group = np.repeat(values, 10), np.repeat(np.arange(40), 10)

    single = mean_interval(values, seed=1)
    clustered = mean_interval(repeated, seed=1, groups=group)

    assert (clustered.low, clustered.high) == pytest.approx((single.low, single.high), abs=1e-9)


@pytest.mark.parametrize("groups", [None, [0, 0, 1, 2, 2, 1, 3]], ids=["rows", "clusters"])
def test_a_row_of_weight_zero_is_not_there(groups: list[int] | None) -> None:
    """Neither in the mean, nor in n, nor drawn; nor is a cluster of such rows."""
    values = np.array([0.5, 1.0, 2.0, 0.1, 0.4, 0.9, 0.3])
    weights = np.array([1.0, 2.0, 1.0, 1.0, 0.0, 3.0, 0.0])
    kept = weights > 0.0
    left = None if groups is None else np.array(groups)[kept]

    found = mean_interval(values, seed=1, weights=weights, groups=groups)

    assert found == mean_interval(values[kept], seed=1, weights=weights[kept], groups=left)
    assert found.n == 5
    share = share_interval(values > 0.45, seed=1, weights=weights, groups=groups)
    assert share == share_interval(values[kept] > 0.45, seed=1, weights=weights[kept], groups=left)
    rate = weighted_wilson([1, 1, 0], weights=[1, 1, 0])
    assert (rate.value, rate.n, rate.high) == (1.0, 2, 1.0)


def test_two_rows_that_count_have_an_interval() -> None:
    """Without a weight beside them, draws of two rows only would have been 0 / 0."""
    found = mean_interval([0.5, 1.0, 2.0, 0.1], seed=1, weights=[1, 1, 0, 0])

    assert (found.value, found.n) == (0.75, 2)
    assert found.low == 0.5 and found.high == 1.0


def test_many_rows_get_the_normal_interval() -> None:
    """BCa and normal agree there, and the rule says which was used."""
    values = np.random.default_rng(2).exponential(size=60_000)
    error = values.std(ddof=1) / np.sqrt(values.size)

    found = mean_interval(values, seed=0)

    assert "normal" in found.rule
    assert found.high == pytest.approx(values.mean() + 1.959964 * error, abs=1e-7)


def test_bca_meets_the_normal_interval_as_rows_grow() -> None:
    """Two ways to one answer: at 5,000 rows they differ by less than a tenth of the width."""
    values = np.random.default_rng(3).exponential(size=5_000)
    error = values.std(ddof=1) / np.sqrt(values.size)

    found = mean_interval(values, seed=0)

    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.4 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.4 * error)


def test_values_that_never_vary_have_no_width() -> None:
    """Resampling cannot see what never varied; the docstring says so."""
    found = mean_interval([0.1] * 7, seed=0)

    assert found.low == found.high == found.value


def test_a_seed_gives_the_same_interval_again() -> None:
    """No hidden state: the seed is the only source of chance."""
    values = np.arange(9.0)

    assert mean_interval(values, seed=5) == mean_interval(values, seed=5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda: wilson(1, 0), "n must be above 0", id="no-trials"),
        pytest.param(lambda: wilson(3, 2), "successes must be between 0 and n=2", id="too-many"),
        pytest.param(
            lambda: mid_p_ends(3, 2, confidence=0.95), "between 0 and n=2", id="too-many-mid-p"
        ),
        pytest.param(lambda: wilson(1, 2, confidence=95), "confidence must lie", id="percent"),
        pytest.param(lambda: mean_interval([1.0], seed=0), "at least two rows", id="one-row"),
        pytest.param(
            lambda: mean_interval([0.5, 1.0, 2.0], seed=0, weights=[1, 0, 0]),
            "at least two rows .* with a weight above 0",
            id="one-row-that-counts",
        ),
        pytest.param(lambda: mean_interval([1.0, np.inf], seed=0), "must be finite", id="infinite"),
        pytest.param(
            lambda: mean_interval([1.0, np.nan], seed=0), r"values\[1\] must be finite", id="nan"
        ),
        pytest.param(lambda: mean_interval([], seed=0), "values are empty", id="empty"),
        pytest.param(
            lambda: mean_interval([1.0, 2.0], seed=0, groups=[1]), "groups must", id="groups"
        ),
        pytest.param(lambda: weighted_wilson([0.5, 2.0]), "between 0 and 1", id="not-a-rate"),
    ],
)
def test_what_has_no_interval_is_refused(call: Callable[[], Measurement], message: str) -> None:
    """The message says what to change."""
    with pytest.raises(CalibrationError, match=message):
        call()


@pytest.mark.parametrize(
    "shown",
    [
        Measurement(-1e-5, "mean", 9, -2e-5, 3e-5, null_mean=-1e-9),
        Estimate(-1e-5, -2e-4, 3e-4, 0.95, "mean", 9, 9),
    ],
    ids=["measurement", "estimate"],
)
def test_nothing_is_printed_as_minus_zero(shown: Measurement | Estimate) -> None:
    """A sign before zeros says a direction that the digits do not show."""
    text = str(shown)

    assert text.startswith("0.000")
    assert "-0.000" not in text


@pytest.mark.parametrize("n", [12, 150_000])
@pytest.mark.parametrize("grouped", [False, True])
def test_several_means_have_the_intervals_that_each_has_alone(n: int, grouped: bool) -> None:
    """They share the draws that each would make."""
    random = np.random.default_rng(0)
    several = random.exponential(size=(3, n))
    weights = random.integers(0, 3, n) / 2
    groups = np.arange(n) // 2 if grouped else None

    found = mean_intervals(list(several), seed=1, weights=weights, groups=groups)

    assert found == [mean_interval(x, seed=1, weights=weights, groups=groups) for x in several]
