"""Two systems on the same items."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import binomtest, multinomial, permutation_test

from classify.calibration.arrays import Floats
from classify.calibration.comparison import (
    compare,
    holm,
    mcnemar_exact,
    paired_difference,
    sign_flip_test,
)
from classify.calibration.paired_intervals import tango_ends
from classify.errors import CalibrationError

verdicts = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


@given(verdicts)
@settings(deadline=None)
def test_mcnemar_is_a_binomial_test_of_the_differing_pairs(rated: list[tuple[int, int]]) -> None:
    """And swapping the systems changes nothing."""
    a, b = [x for x, _ in rated], [y for _, y in rated]
    better, worse = sum(x > y for x, y in rated), sum(x < y for x, y in rated)

    found = mcnemar_exact(a, b)

    expected = binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert found.p_value == pytest.approx(expected)
    assert found == mcnemar_exact(b, a)


@given(verdicts.filter(lambda rated: sum(x != y for x, y in rated) <= 20))
@settings(deadline=None, max_examples=30)
def test_exact_sign_flips_of_verdicts_are_mcnemar(rated: list[tuple[int, int]]) -> None:
    """The two tests count the same flips."""
    a, b = [x for x, _ in rated], [y for _, y in rated]

    assert sign_flip_test(a, b, seed=0).p_value == pytest.approx(mcnemar_exact(a, b).p_value)


def mean_difference(x: Floats, y: Floats) -> float:
    """Return the statistic that scipy permutes."""
    return float((x - y).mean())


def test_exact_sign_flips_of_scores_are_scipys_permutation_test() -> None:
    """Continuous scores, all 2^10 flips: scipy tries all where that is fewer than it may draw."""
    random = np.random.default_rng(0)
    a, b = random.normal(0.3, 1.0, 10), random.normal(0.0, 1.0, 10)

    theirs = permutation_test(
        (a, b), mean_difference, permutation_type="samples", n_resamples=10_000
    )

    assert sign_flip_test(a, b, seed=0).p_value == pytest.approx(theirs.pvalue)


def test_drawn_sign_flips_come_near_the_exact_ones() -> None:
    """Twenty-one pairs are drawn; the p of all 2^21 flips is within four standard errors."""
    moved = np.random.default_rng(4).normal(0.45, 1.0, 21)
    sums = np.zeros(1)
    for step in moved:
        sums = np.concatenate([sums + step, sums - step])
    exact = float((np.abs(sums) >= abs(moved.sum()) - 1e-9).mean())

    found = sign_flip_test(moved, np.zeros(21), seed=1, resamples=20_000)

    assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 20_000))


def test_drawn_sign_flips_of_verdicts_come_near_mcnemar() -> None:
    """Equal differences are drawn as one binomial: 160 of 280 differing pairs."""
    a = np.repeat([1.0, 0.0, 1.0], [160, 120, 20])
    b = np.repeat([0.0, 1.0, 1.0], [160, 120, 20])
    exact = mcnemar_exact(a, b).p_value

    found = sign_flip_test(a, b, seed=1, resamples=50_000)

    assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact / 50_000))


def test_a_drawn_p_value_is_never_zero() -> None:
    """The flip that was seen is one of the flips."""
    found = sign_flip_test(np.ones(200), np.zeros(200), seed=0, resamples=99)

    assert found.p_value == pytest.approx(0.01)
    assert "99 draws, seed 0" in found.rule


def test_the_seed_decides_the_draws() -> None:
    """Same seed, same p."""
    a = np.random.default_rng(2).normal(0.1, 1.0, 50)

    one, same = (sign_flip_test(a, np.zeros(50), seed=5, resamples=500) for _ in range(2))

    assert one == same


def test_the_interval_of_a_difference_holds_it() -> None:
    """In about 95 % of 200 draws."""
    random = np.random.default_rng(8)
    held = 0

    for _ in range(200):
        a, b = (random.random((2, 60)) < [[0.7], [0.6]]).astype(np.float64)
        found = paired_difference(a, b, seed=0, resamples=400)
        held += found.low <= 0.1 <= found.high

    assert 178 <= held <= 199


@pytest.mark.parametrize(
    ("better", "worse", "n", "ends"),
    [(1, 7, 21, (-0.517, -0.026)), (6, 16, 161, (-0.1240, -0.0054))],
)
def test_paired_rates_have_the_published_intervals(
    better: int, worse: int, n: int, ends: tuple[float, float]
) -> None:
    """Fagerland, Lydersen and Laake (2014), and the tests of their R package contingencytables."""
    first = [1.0] * better + [0.0] * (n - better)
    second = [0.0] * better + [1.0] * worse + [0.0] * (n - better - worse)

    found = paired_difference(first, second, seed=0)

    assert (found.low, found.high) == pytest.approx(ends, abs=6e-4 if n == 21 else 6e-5)
    assert "Tango" in found.rule
    swapped = paired_difference(second, first, seed=0)
    assert (swapped.low, swapped.high) == pytest.approx((-found.high, -found.low))


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 60))
@settings(deadline=None)
def test_an_end_of_a_paired_rate_is_what_the_score_test_just_rejects(
    better: int, worse: int, alike: int
) -> None:
    """With the likeliest table of that difference found by search, not by Tango's formula."""
    n = better + worse + alike

    low, high = tango_ends(better, worse, n, confidence=0.95)

    for end in (low, high):
        if abs(end) > 1.0 - 1e-9:
            continue

        def unlikely(second_only: float, end: float = end) -> float:
            p = np.array([second_only + end, second_only, 1.0 - 2.0 * second_only - end])
            counts = np.array([better, worse, alike])
            return -float((counts * np.log(np.maximum(p, 1e-300))).sum())

        most = (1.0 - end) / 2.0
        second_only = minimize_scalar(
            unlikely, bounds=(max(0.0, -end), most), method="bounded", options={"xatol": 1e-12}
        ).x
        deviation = math.sqrt((2.0 * second_only + end - end**2) / n)
        assert abs((better - worse) / n - end) / deviation == pytest.approx(1.96, abs=2e-3)


@pytest.mark.parametrize("n", [50, 200])
@pytest.mark.parametrize("shares", [(0.02, 0.01), (0.04, 0.01), (0.2, 0.1)])
def test_the_interval_holds_a_difference_of_few_pairs(n: int, shares: tuple[float, float]) -> None:
    """Exactly, over all tables: a bootstrap holds 2 % against 1 % of 50 pairs in 64 % of draws."""
    better, worse = shares
    held = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            chance = float(
                multinomial.pmf([b, c, n - b - c], n, [better, worse, 1 - better - worse])
            )
            if chance > 1e-8:
                low, high = tango_ends(b, c, n, confidence=0.95)
                held += chance * (low <= better - worse <= high)

    assert 0.935 <= held


def test_pairs_that_never_differ_are_no_proof_that_none_would() -> None:
    """Ten of ten alike leave 28 % open; 0 of n has the ends z^2 / (n + z^2)."""
    same = compare([1, 0] * 5, [1, 0] * 5, seed=0).difference
    alike = compare([0.25] * 10, [0.75] * 10, seed=0).difference
    levels = compare([2, 3], [1, 2], seed=0, span=4).difference
    losses = compare([2.5, 3.5], [1.5, 2.5], seed=0).difference
    grouped = paired_difference([1] * 20, [1] * 20, seed=0, groups=[0, 1] * 10)

    z = 1.959964
    assert (same.low, same.high) == pytest.approx((-(z**2) / (10 + z**2), z**2 / (10 + z**2)))
    # 2.5 % is the chance that ten of ten miss a share of 30.85 %.
    assert (alike.low, alike.high) == pytest.approx(
        (-0.5 - 0.3085 * 0.5, -0.5 + 0.3085 * 1.5), abs=1e-4
    )
    assert "none of n varied" in alike.rule
    assert (levels.low, levels.high) == pytest.approx((1 - 0.8419 * 5, 1 + 0.8419 * 3), abs=1e-3)
    assert (losses.low, losses.high) == (-math.inf, math.inf)
    assert (grouped.low, grouped.high) == pytest.approx((-0.8419, 0.8419), abs=1e-4)
    with pytest.raises(CalibrationError, match="span is the highest minus the lowest possible"):
        compare([2, 3], [1, 2], seed=0, span=1)


def test_rows_of_one_item_are_drawn_together() -> None:
    """Ten copies of each pair say no more than one."""
    random = np.random.default_rng(3)
    a, b = random.random((2, 30))

    single = paired_difference(a, b, seed=0)
    copied = paired_difference(
        np.tile(a, 10), np.tile(b, 10), seed=0, groups=np.tile(np.arange(30), 10)
    )

    assert (copied.low, copied.high) == pytest.approx((single.low, single.high))


def test_verdicts_are_compared_by_mcnemar_and_scores_by_sign_flips() -> None:
    """And items that one lacks are left out and counted."""
    verdict = compare([1, 0, 1, math.nan], [0, 0, 1, 1], seed=0)
    score = compare([0.9, 0.2, 0.5], [0.1, 0.3, 0.5], seed=0)

    assert verdict.test.rule == "McNemar, exact, two-sided"
    assert (verdict.test.n, verdict.test.total) == (3, 4)
    assert "3 used of 4" in str(verdict)
    assert score.test.rule == "sign flips, exact, two-sided"


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=10))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p: list[float]) -> None:
    """The smallest is multiplied by their number, the largest by at least 1."""
    adjusted = holm(p)

    assert all(new >= old for new, old in zip(adjusted, p, strict=True))
    assert min(adjusted) == pytest.approx(min(1.0, len(p) * min(p)))
    for i, old in enumerate(p):
        assert all(adjusted[j] >= adjusted[i] for j, other in enumerate(p) if other > old)


def test_holm_of_nothing_is_nothing() -> None:
    """No comparison, no correction."""
    assert holm([]) == ()


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0], [1.0, 2.0], "two lists of one length"),
        ([math.nan], [1.0], "no item was scored by both"),
        ([math.inf], [1.0], r"first\[0\] must be finite"),
    ],
    ids=["lengths", "nothing shared", "infinite"],
)
def test_unusable_scores_are_refused(a: list[float], b: list[float], message: str) -> None:
    """Never a nan."""
    with pytest.raises(CalibrationError, match=message):
        sign_flip_test(a, b, seed=0)


def test_mcnemar_is_for_right_and_wrong() -> None:
    """Scores have another test."""
    with pytest.raises(CalibrationError, match=r"McNemar's test needs 0 .* see sign_flip_test"):
        mcnemar_exact([0.5], [1.0])


def test_a_difference_says_once_how_sure_it_is() -> None:
    """The rule of its interval has a level of its own elsewhere."""
    random = np.random.default_rng(0)

    text = str(paired_difference(random.random(30), random.random(30), seed=0))

    assert text.endswith("over rows, 10000 resamples, seed 0, 95%, 30 used of 30)")
    assert text.count("95%") == 1
