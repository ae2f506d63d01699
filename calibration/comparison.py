"""Two systems, or two judges, on the same items: is the difference more than luck.

McNemar for right and wrong, sign flips for any score, an interval for the size of the difference
(Tango's for right and wrong, else a bootstrap), Holm for several comparisons. All are paired: item
i of one goes with item i of the other, and an item that one of them lacks (nan) is left out and
counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.calibration.arrays import Floats, finite_numbers, identifier_numbers, probabilities
from classify.calibration.estimate import Estimate
from classify.calibration.intervals import mean_interval
from classify.calibration.paired_intervals import (
    UNVARIED,
    largest_difference,
    tango_ends,
    tango_rule,
    unvaried_mean_ends,
)
from classify.calibration.settings import draw_count, in_percent, not_negative, random_source
from classify.display.notebook import Shown
from classify.errors import CalibrationError

EXACT_UP_TO = 20
"""Pairs that differ up to which all 2^n sign flips are tried: a million sums."""
_CHUNK = 4_000_000
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class PairedTest(Shown):
    """A p-value of "no difference", with what it was computed from."""

    p_value: float
    """Two-sided, in [0, 1]."""
    rule: str
    """The test, in words."""
    differing: int
    """Pairs in which the two differ: the only ones that say anything."""
    n: int
    """Pairs used."""
    total: int
    """Pairs given."""

    def __str__(self) -> str:
        """Write the p-value, the rule and "n used of N"."""
        return (
            f"p {self.p_value:.3g} ({self.rule}, {self.differing} differing pairs, "
            f"{self.n} used of {self.total})"
        )


@dataclass(frozen=True, slots=True)
class Comparison(Shown):
    """The mean difference of two systems, its interval, and whether it is more than luck."""

    difference: Estimate
    """The mean of first minus second, with its interval."""
    test: PairedTest
    """Of no difference."""

    def __str__(self) -> str:
        """Write the difference, and the test."""
        return f"{self.difference}; {self.test}"


def compare(
    first: ArrayLike,
    second: ArrayLike,
    *,
    seed: int,
    span: float | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Comparison:
    """Compare two systems item by item: `first` minus `second`.

    Right and wrong (0 and 1) go to McNemar's exact test, other scores to sign flips; `span` and
    the interval are those of `paired_difference`. The seed is for the resampling; exact tests
    draw nothing.
    """
    a, b, _ = _pairs(first, second)
    test = (
        mcnemar_exact(first, second)
        if _right_or_wrong(a, b)
        else sign_flip_test(first, second, seed=seed, resamples=resamples)
    )
    difference = paired_difference(
        first, second, seed=seed, span=span, resamples=resamples, confidence=confidence
    )
    return Comparison(difference, test)


def mcnemar_exact(first: ArrayLike, second: ArrayLike) -> PairedTest:
    """Test whether two systems are right equally often: two-sided exact binomial p.

    p is 1 where they never differ.
    """
    from scipy.special import bdtr

    a, b, paired = _pairs(first, second)
    if not _right_or_wrong(a, b):
        raise CalibrationError("McNemar's test needs 0 (wrong) and 1 (right); see sign_flip_test")
    better, worse = int((a > b).sum()), int((a < b).sum())
    both = better + worse
    p_value = 1.0 if both == 0 else min(1.0, 2.0 * float(bdtr(min(better, worse), both, 0.5)))
    return PairedTest(p_value, "McNemar, exact, two-sided", both, a.size, paired.size)


def sign_flip_test(
    first: ArrayLike, second: ArrayLike, *, seed: int, resamples: int = 10_000
) -> PairedTest:
    """Test the mean difference by flipping signs: two-sided, valid at any n.

    Exact up to 20 differing pairs; beyond that `resamples` random flips, the given one counted
    among them, so that p is never 0.
    """
    a, b, paired = _pairs(first, second)
    draws, random = draw_count(resamples, name="resamples"), random_source(seed)
    difference: Floats = a - b
    moved = difference[difference != 0.0]
    seen = abs(float(moved.sum())) - _TOLERANCE * float(np.abs(moved).sum())
    if moved.size <= EXACT_UP_TO:
        sums = np.zeros(1)
        for step in moved:
            sums = np.concatenate([sums + step, sums - step])
        p_value, rule = float((np.abs(sums) >= seen).mean()), "sign flips, exact, two-sided"
    else:
        extreme = _extreme_flips(moved, seen, random=random, resamples=draws)
        p_value = (1 + extreme) / (1 + draws)
        rule = f"sign flips, {resamples} draws, seed {seed}, two-sided"
    return PairedTest(p_value, rule, moved.size, a.size, paired.size)


def paired_difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    seed: int,
    groups: ArrayLike | None = None,
    span: float | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
) -> Estimate:
    """Return the mean of first minus second with its interval over the pairs.

    Right and wrong (0 and 1) have Tango's score interval, other values a BCa bootstrap. Pairs that
    share a value in `groups`, such as the rows of one item, are drawn together, whatever they are.
    Where no pair or group differs from another, resampling shows nothing: the ends are those of
    what n alike values leave possible, of which `span` is the highest minus the lowest value there
    can be. None is 1 for values between 0 and 1; other values have no bound, nor then an end.
    """
    a, b, paired = _pairs(first, second)
    if span is not None:
        not_negative(span, name="span")
    # For right and wrong nothing is drawn, and a wrong setting is still one.
    random_source(seed)
    draw_count(resamples, name="resamples")
    items = None
    if groups is not None:
        items = identifier_numbers(groups, n=paired.size, name="groups")[paired]
    n, count = a.size, a.size if items is None else np.unique(items).size
    if count == n and _right_or_wrong(a, b):
        better, worse = int((a > b).sum()), int((a < b).sum())
        low, high = tango_ends(better, worse, n, confidence=confidence)
        rule = f"mean difference, {tango_rule(better, worse)}"
        return Estimate((better - worse) / n, low, high, confidence, rule, n, paired.size)
    found = mean_interval(
        a - b, seed=seed, groups=items, resamples=resamples, confidence=confidence
    )
    if found.low is None or found.high is None:
        raise AssertionError(f"an interval always has ends, got {found!r}")
    # An estimate says how sure it is itself.
    rule, low, high = found.rule.replace(f" {in_percent(confidence)}", "", 1), found.low, found.high
    if low == high:
        rule, reach = UNVARIED, largest_difference(a, b, span)
        low, high = unvaried_mean_ends(
            found.value, count, least=-reach, most=reach, confidence=confidence
        )
    rule = f"mean difference, {rule}"
    return Estimate(found.value, low, high, confidence, rule, n, paired.size)


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values adjusted so that the chance of any false alarm stays as stated (1979).

    >>> holm([0.01, 0.04, 0.03])
    (0.03, 0.06, 0.06)
    """
    p = probabilities(p_values, name="p_values")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, stepped)
    return tuple(adjusted.tolist())


def _pairs(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    a = finite_numbers(first, name="first", nan_is_missing=True)
    b = finite_numbers(second, name="second", nan_is_missing=True)
    if a.shape != b.shape:
        raise CalibrationError(
            f"first and second must be two lists of one length, got {a.shape} and {b.shape}"
        )
    paired = ~(np.isnan(a) | np.isnan(b))
    if not paired.any():
        raise CalibrationError("no item was scored by both")
    return a[paired], b[paired], paired


def _right_or_wrong(a: Floats, b: Floats) -> bool:
    return bool(np.isin(np.concatenate([a, b]), (0.0, 1.0)).all())


def _extreme_flips(
    moved: Floats, seen: float, *, random: np.random.Generator, resamples: int
) -> int:
    """Count the random flips whose sum lies as far out as the one seen.

    A flip keeps a random part of the absolute differences positive, and the total of that part
    is all it needs: sum = 2 * part - whole. Equal differences are drawn as one binomial.
    """
    values, counts = np.unique(np.abs(moved), return_counts=True)
    pooled = values.size * 10 < moved.size
    # Sorted in either case: a draw is of a difference, wherever its pair stands.
    values = values if pooled else np.repeat(values, counts)
    whole, extreme = float(np.abs(moved).sum()), 0
    step = max(1, _CHUNK // values.size)
    for start in range(0, resamples, step):
        shape = (min(step, resamples - start), values.size)
        kept = random.binomial(counts, 0.5, shape) if pooled else random.integers(0, 2, shape)
        extreme += int((np.abs(2.0 * (kept @ values) - whole) >= seen).sum())
    return extreme
