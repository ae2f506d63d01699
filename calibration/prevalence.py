"""The true rate of "yes" from verdicts 0 and 1 of a judge who errs, and a few human labels.

Three estimators of one number from counts, each right for another way to draw the labels. For a
judge who gives probabilities see `prediction_powered`; `true_rate` picks among them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from classify.calibration.estimate import Estimate, wilson_ends
from classify.calibration.intervals import mid_p_ends, normal_quantile
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class Share:
    """k of n: a count that keeps its number of trials."""

    k: int
    """How many."""
    n: int
    """Out of how many."""

    def __post_init__(self) -> None:
        """Refuse counts that are no share of anything."""
        if not 0 <= self.k <= self.n or self.n < 1:
            raise CalibrationError(
                f"a share needs 0 <= k <= n and n >= 1, got {self.k} of {self.n}"
            )

    @property
    def rate(self) -> float:
        """K / n."""
        return self.k / self.n

    @property
    def variance(self) -> float:
        """The variance of the rate; at 0 and at n that of one more yes and one more no."""
        rate = self.rate if 0 < self.k < self.n else (self.k + 1) / (self.n + 2)
        return rate * (1.0 - rate) / self.n


def labels_only(human: Share, *, total: int, confidence: float = 0.95) -> Estimate:
    """Return the rate among the labels, without the judge: Wilson's interval."""
    low, high = wilson_ends(human.k, human.n, confidence=confidence)
    return Estimate(human.rate, low, high, confidence, "labels only, Wilson", human.n, total)


def rogan_gladen(
    *, passed: Share, sensitivity: Share, specificity: Share, confidence: float = 0.95
) -> Estimate:
    """Return (rate + specificity - 1) / (sensitivity + specificity - 1), delta method (1978).

    passed: verdicts of the judge in the pool. sensitivity, specificity: verdicts that were
    right among human yes and among human no; the labels may come from elsewhere, as long as
    the judge errs equally often there. Raises CalibrationError for a judge no better than luck.
    """
    power = sensitivity.rate + specificity.rate - 1.0
    if power <= 0.0:
        raise CalibrationError(
            f"the judge is no better than luck (sensitivity {sensitivity.rate:.3f} + "
            f"specificity {specificity.rate:.3f} <= 1): nothing can be corrected with it"
        )
    raw = (passed.rate + specificity.rate - 1.0) / power
    rate = min(1.0, max(0.0, raw))
    variance = (
        passed.variance + rate**2 * sensitivity.variance + (1 - rate) ** 2 * specificity.variance
    )
    half = normal_quantile(confidence) * math.sqrt(variance) / power
    rule = "Rogan-Gladen, delta method" + ("" if rate == raw else ", clipped to [0, 1]")
    low, high = max(0.0, rate - half), min(1.0, rate + half)
    n = sensitivity.n + specificity.n
    return Estimate(rate, low, high, confidence, rule, n, n + passed.n)


def stratified_rate(
    *, passed: Share, right_if_passed: Share, right_if_failed: Share, confidence: float = 0.95
) -> Estimate:
    """Return q·PPV + (1 - q)·(1 - NPV) with a MOVER interval (Zou, Donner 2008) of mid-P ends.

    passed: verdicts in the whole pool, q = k / n. right_if_passed, right_if_failed: labels that
    agreed with a pass, and with a fail. Right for labels drawn at random, or so many per
    verdict; the uncertainty of q is part of the interval. With 25 labels per verdict and a rate
    of 0.97, Wilson's ends hold the truth in 93 % of draws, these in 96 %, and are shorter.
    """
    q, yes, missed = (
        passed.rate,
        right_if_passed,
        Share(right_if_failed.n - right_if_failed.k, right_if_failed.n),
    )
    rate = q * yes.rate + (1.0 - q) * missed.rate
    parts = ((yes.rate - missed.rate, passed), (q, yes), (1.0 - q, missed))
    low, high = mover_ends(
        rate,
        [(slope, of.rate, *mid_p_ends(of.k, of.n, confidence=confidence)) for slope, of in parts],
    )
    low, high = max(0.0, low), min(1.0, high)
    rule = "verdict-stratified, MOVER of mid-P intervals"
    return Estimate(rate, low, high, confidence, rule, yes.n + missed.n, passed.n)


def mover_ends(
    value: float, parts: Iterable[tuple[float, float, float, float]]
) -> tuple[float, float]:
    """Return the ends of an interval for a value from those of its independent parts.

    parts: for each, how fast the value grows with it, its own value, and its ends.
    """
    below = above = 0.0
    for slope, part, low, high in parts:
        down, up = slope * (part - low), slope * (high - part)
        below += (down if slope >= 0.0 else up) ** 2
        above += (up if slope >= 0.0 else down) ** 2
    return value - math.sqrt(below), value + math.sqrt(above)
