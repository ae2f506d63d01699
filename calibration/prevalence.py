"""The true rate of "yes" from verdicts 0 and 1 of a judge who errs, and a few human labels.

Three estimators of one number from counts, each right for another way to draw the labels. For a
judge who gives probabilities see `prediction_powered`; `true_rate` picks among them all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from classify.calibration.estimate import Estimate, wilson_ends
from classify.calibration.intervals import mid_p_ends
from classify.calibration.settings import not_negative, of_type, shown, whole_number
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class Share:
    """k of n: a count that keeps its number of trials.

    Where several people labelled an item it counts with the share of them who said yes, and k and n
    are sums of such shares. The intervals, made for counts, are then rather too wide: a share
    varies less than a yes or no.
    """

    k: float
    """How many."""
    n: float
    """Out of how many."""

    def __post_init__(self) -> None:
        """Refuse counts that are no share of anything."""
        if not_negative(self.n, name="n of a share") == 0.0:
            raise CalibrationError(f"n of a share must be above 0, got {shown(self.n)}")
        if not_negative(self.k, name="k of a share") > self.n:
            raise CalibrationError(
                f"k of a share must be at most n={shown(self.n)}, got {shown(self.k)}"
            )

    @property
    def rate(self) -> float:
        """K / n."""
        return self.k / self.n


def labels_only(human: Share, *, total: int, confidence: float = 0.95) -> Estimate:
    """Return the rate among the labels, without the judge: Wilson's interval."""
    of_type(human, Share, name="human", what="a Share(k, n)")
    n = round(human.n)
    whole_number(total, name="total", least=n)
    low, high = wilson_ends(human.k, human.n, confidence=confidence)
    return Estimate(human.rate, low, high, confidence, "labels only, Wilson", n, total)


def rogan_gladen(
    *, passed: Share, sensitivity: Share, specificity: Share, confidence: float = 0.95
) -> Estimate:
    """Return (rate + specificity - 1) / (sensitivity + specificity - 1) (1978), clipped.

    passed: verdicts of the judge in the pool. sensitivity, specificity: verdicts that were
    right among human yes and among human no; the labels may come from elsewhere, as long as
    the judge errs equally often there. The interval is of all true rates whose passes, seen
    through the judge, lie as near to those found as MOVER of mid-P intervals allows (after
    Fieller 1954). With 50 labels the delta method's 95 % interval can hold rates near 0 and 1
    in as few as 84 % of draws, this one in 95 % and more. Raises CalibrationError for a judge
    no better than luck.
    """
    from scipy.optimize import brentq

    of_type(passed, Share, name="passed", what="a Share(k, n)")
    of_type(sensitivity, Share, name="sensitivity", what="a Share(k, n)")
    of_type(specificity, Share, name="specificity", what="a Share(k, n)")
    power = sensitivity.rate + specificity.rate - 1.0
    if power <= 0.0:
        raise CalibrationError(
            f"the judge is no better than luck (sensitivity {sensitivity.rate:.3f} + "
            f"specificity {specificity.rate:.3f} <= 1): nothing can be corrected with it"
        )
    raw = (passed.rate + specificity.rate - 1.0) / power
    rate = min(1.0, max(0.0, raw))
    shares = (passed, sensitivity, specificity)
    parts = [(of.rate, *mid_p_ends(of.k, of.n, confidence=confidence)) for of in shares]

    def surplus(true: float) -> tuple[float, float]:
        """Return the ends of the passes found less those of a true rate."""
        slopes = (1.0, -true, 1.0 - true)
        return mover_ends(
            power * (rate - true), [(s, *part) for s, part in zip(slopes, parts, strict=True)]
        )

    # A line less a convex spread crosses 0 once between the rate, where it is below, and an end.
    low = 0.0 if surplus(0.0)[0] <= 0.0 else brentq(lambda true: surplus(true)[0], 0.0, rate)
    high = 1.0 if surplus(1.0)[1] >= 0.0 else brentq(lambda true: surplus(true)[1], rate, 1.0)
    clipped = "" if rate == raw else ", clipped to [0, 1]"
    rule = f"Rogan-Gladen, MOVER of mid-P intervals{clipped}"
    n = round(sensitivity.n + specificity.n)
    return Estimate(rate, low, high, confidence, rule, n, n + round(passed.n))


def stratified_rate(
    *, passed: Share, right_if_passed: Share, right_if_failed: Share, confidence: float = 0.95
) -> Estimate:
    """Return q·PPV + (1 - q)·(1 - NPV) with a MOVER interval (Zou, Donner 2008) of mid-P ends.

    passed: verdicts in the whole pool, q = k / n. right_if_passed, right_if_failed: labels that
    agreed with a pass, and with a fail. Right for labels drawn at random, or so many per
    verdict; the uncertainty of q is part of the interval. With 25 labels per verdict and a rate
    of 0.97, Wilson's ends hold the truth in 93 % of draws, these in 96 %, and are shorter.
    """
    of_type(passed, Share, name="passed", what="a Share(k, n)")
    of_type(right_if_passed, Share, name="right_if_passed", what="a Share(k, n)")
    of_type(right_if_failed, Share, name="right_if_failed", what="a Share(k, n)")
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
    n, total = round(yes.n + missed.n), round(passed.n)
    return Estimate(rate, low, high, confidence, rule, n, total)


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
