"""How many labels do I need: asked before labelling, answered in one number and a sentence."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from classify.calibration.arrays import Floats, Ints
from classify.calibration.estimate import student_quantile, wilson_ends
from classify.calibration.intervals import normal_quantile
from classify.calibration.risk_tests import fewest_rows
from classify.calibration.settings import (
    finite_number,
    in_percent,
    not_negative,
    open_unit,
    shown,
    whole_number,
)
from classify.calibration.true_rates import FEWEST_LABELS
from classify.display.notebook import Shown
from classify.errors import CalibrationError

_MOST_POOL = 10**15
_MOST = 1_000_000
"""Nobody labels more: beyond it the question is answered with an error."""


@dataclass(frozen=True, slots=True)
class LabelsNeeded(Shown):
    """A number of labels, and what it buys."""

    n: int
    """How many."""
    reason: str
    """What they buy, in words."""

    def __str__(self) -> str:
        """Write "N labels: reason"."""
        return f"{self.n} labels: {self.reason}"


def labels_for_rate(*, rate: float, half_width: float, confidence: float = 0.95) -> LabelsNeeded:
    """Return how many labels give a rate an interval of ± half_width (Wilson)."""
    _check(rate, "rate")
    open_unit(half_width, name="half_width")

    def narrow_enough(n: int) -> bool:
        low, high = wilson_ends(rate * n, n, confidence=confidence)
        return (high - low) / 2.0 <= half_width

    n = _smallest(narrow_enough)
    reason = f"a rate of {_percent(rate)} is then known to ± {100 * half_width:.3g} points"
    return LabelsNeeded(n, f"{reason} ({in_percent(confidence)}, Wilson)")


def labels_for_corrected_rate(
    *,
    rate: float,
    half_width: float,
    correlation: float,
    pool: int,
    judge_spread: float | None = None,
    confidence: float = 0.95,
) -> LabelsNeeded:
    """Return how many labels do so with a judge of this correlation over `pool` judged items.

    PPI++: the variance of n labels shrinks by the factor 1 - correlation² · N / (n + N), where the
    judge's scores spread wide enough. A judge that keeps near one score would have to be trusted
    more than fully, which PPI++ does not do, and helps less. `judge_spread` is the standard
    deviation of its scores; None takes it for wide enough, and the sentence says how wide that is.
    Never below 50, where the judge is not used (`true_rate`).
    """
    _check(rate, "rate")
    open_unit(half_width, name="half_width")
    if not -1.0 <= finite_number(correlation, name="correlation") <= 1.0:
        raise CalibrationError(f"correlation must be in [-1, 1], got {shown(correlation)}")
    whole_number(pool, name="pool", least=1, most=_MOST_POOL)

    useful = max(0.0, correlation)
    if judge_spread is not None:
        not_negative(judge_spread, name="judge_spread")

    def wide_enough(n: int) -> float:
        """Return the spread of a judge to be trusted just fully, at which lambda is 1."""
        return useful * math.sqrt(rate * (1.0 - rate)) * pool / (n + pool)

    def narrow_enough(n: int) -> bool:
        price = normal_quantile(confidence) / student_quantile(confidence, degrees=n - 2.0)
        enough = wide_enough(n)
        # With lambda at 1 and a share s of the spread that is enough, the gain falls to s (2 - s).
        share = 1.0 if judge_spread is None or judge_spread >= enough else judge_spread / enough
        gain = share * (2.0 - share) * useful**2 * pool / (n + pool)
        worth = n * price**2 / (1.0 - gain)
        low, high = wilson_ends(rate * worth, worth, confidence=confidence)
        return (high - low) / 2.0 <= half_width

    n = max(FEWEST_LABELS, _smallest(narrow_enough, start=3))
    if judge_spread is not None:
        spread = f" and scores of standard deviation {judge_spread:.2g}"
    elif wide_enough(n) > 0.0:
        spread = f" whose scores have a standard deviation of {wide_enough(n):.2f} or more"
    else:
        spread = ""
    return LabelsNeeded(
        n,
        f"a rate of {_percent(rate)} is then known to ± {100 * half_width:.3g} points with a judge "
        f"of correlation {correlation:.2f}{spread} on {pool} items ({in_percent(confidence)})",
    )


def labels_for_certificate(
    *, alpha: float, error: float, delta: float = 0.1, power: float = 0.8
) -> LabelsNeeded:
    """Return how many rows decided alone certify an error of at most alpha.

    error: what the error among them really is, below alpha. power: how often the exact binomial
    test then passes. Divide by the share decided alone to get all rows.
    """
    from scipy.special import bdtr

    open_unit(alpha, name="alpha")
    open_unit(delta, name="delta")
    open_unit(power, name="power")
    if not 0.0 <= finite_number(error, name="error") < alpha:
        raise CalibrationError(f"error must be in [0, alpha={shown(alpha)}), got {shown(error)}")

    def passes_often(errors: int) -> bool:
        return (
            float(bdtr(errors, fewest_rows(alpha=alpha, delta=delta, errors=errors), error))
            >= power
        )

    # Power saws up and down with n; it is highest at the n from which one more error is allowed.
    errors = _smallest(passes_often, start=0)
    while errors > 0 and passes_often(errors - 1):
        errors -= 1
    return LabelsNeeded(
        fewest_rows(alpha=alpha, delta=delta, errors=errors),
        f"decided alone with a true error of {_percent(error)}, they certify at most "
        f"{in_percent(alpha)} ({in_percent(1 - delta)} confidence) in {_percent(power)} of tries",
    )


def labels_for_coverage(*, alpha: float, slack: float) -> LabelsNeeded:
    """Return how many calibration rows keep prediction sets within `slack` of their coverage.

    In 95 % of draws of the rows the coverage is then at least 1 - alpha - slack.
    """
    from scipy.special import betaincinv

    open_unit(alpha, name="alpha")
    open_unit(slack, name="slack")
    wanted = 1.0 - alpha - slack
    if wanted <= 0.0:
        raise CalibrationError(
            f"slack must be below the coverage, 1 - alpha = {1.0 - alpha:g}, got {shown(slack)}"
        )

    def close_enough(n: int) -> bool:
        # Without rounding the rank up, which can only cover more: so it holds for all larger n.
        return float(betaincinv((1.0 - alpha) * (n + 1), alpha * (n + 1), 0.05)) >= wanted

    # Every set holds every option below 1/alpha - 1 rows, which covers, but says nothing.
    n = _smallest(close_enough, start=int(np.ceil(1.0 / alpha - 1.0 - 1e-9)))
    return LabelsNeeded(
        n, f"{in_percent(1 - alpha)} sets then cover at least {in_percent(wanted)} in 95 % of draws"
    )


def labels_for_comparison(
    *, better: float, worse: float, significance: float = 0.05, power: float = 0.8
) -> LabelsNeeded:
    """Return how many items show that one system is right more often (McNemar, exact).

    better: share of items that only the first gets right; worse: only the second.
    """
    _check(better, "better")
    _check(worse, "worse")
    open_unit(significance, name="significance")
    open_unit(power, name="power")
    if not better + worse <= 1.0 or better == worse:
        raise CalibrationError(
            "better and worse must differ and add to at most 1, for they are the shares of items "
            f"that only one of the two gets right, got {shown(better)} and "
            f"{shown(worse)}"
        )

    def shows_often(n: int) -> bool:
        return _mcnemar_power(n, better, worse, significance) >= power

    n = _smallest(shows_often)
    return LabelsNeeded(
        n,
        f"{_percent(better)} against {_percent(worse)} of items that only one gets right is then "
        f"found in {_percent(power)} of tries (p <= {significance:g}, exact McNemar)",
    )


def _mcnemar_power(n: int, better: float, worse: float, significance: float) -> float:
    """Return how often n items give p <= significance: over the number that differ, m."""
    from scipy.special import bdtr, gammaln, xlogy

    share = better + worse
    # Numbers of differing items further out than 9 standard deviations never happen.
    reach = 9.0 * math.sqrt(n * share * (1.0 - share)) + 1.0
    first, last = math.floor(n * share - reach), math.ceil(n * share + reach)
    m: Ints = np.arange(max(0, first), min(n, last) + 1, dtype=np.int64)
    log_choose = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    chance = np.exp(log_choose + xlogy(m, share) + xlogy(n - m, 1.0 - share))
    few = _fair_coin_limits(m, significance)
    tails = bdtr(np.maximum(few, 0.0), m, worse / share)
    tails = tails + bdtr(np.maximum(few, 0.0), m, better / share)
    return float(chance @ np.where(few >= 0.0, tails, 0.0))


def _fair_coin_limits(m: Ints, significance: float) -> Floats:
    """Return the most heads k of m fair coins with 2 P(heads <= k) <= significance; -1 for none."""
    from scipy.special import bdtr

    low, high = np.full(m.size, -1.0), np.floor(m / 2.0)
    while (low < high).any():
        middle = np.ceil((low + high) / 2.0)
        small = 2.0 * np.asarray(bdtr(np.maximum(middle, 0.0), m, 0.5)) <= significance
        low, high = np.where(small, middle, low), np.where(small, high, middle - 1.0)
    return low


def _smallest(enough: Callable[[int], bool], *, start: int = 1) -> int:
    """Return the smallest whole number from `start` on that is enough, as all larger ones are."""
    low, high = start, max(1, start)
    while not enough(high):
        if high >= _MOST:
            raise CalibrationError(f"more than {_MOST} labels would be needed: ask for less")
        low, high = high + 1, min(_MOST, high * 2)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return high


def _percent(share: float) -> str:
    """Write a share to three digits: 0.1 % is not 0 %, nor 99.9 % all."""
    return f"{100.0 * share:.3g}%"


def _check(rate: float, name: str) -> None:
    if not 0.0 <= finite_number(rate, name=name) <= 1.0:
        raise CalibrationError(f"{name} must be between 0 and 1, got {shown(rate)}")
