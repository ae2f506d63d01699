"""Prediction-powered inference: a mean from few human labels, made surer by a judge's scores.

The judge may be biased without harm: only the labels say how far off it is on average. The
labels must be drawn at random from the items that the pool is drawn from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, finite_numbers, probabilities
from classify.calibration.estimate import Estimate, student_quantile, wilson_ends
from classify.calibration.intervals import normal_quantile
from classify.calibration.rank_correlation import correlation
from classify.calibration.settings import finite_number, shown
from classify.display.notebook import Shown
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class PredictionPowered(Shown):
    """A mean that a judge's predictions made surer."""

    estimate: Estimate
    """The corrected mean with its interval."""
    trust: float
    """Lambda: how much of the judge was used, 0 for labels only, 1 for all of it."""
    correlation: float
    """Of human and judge on the labels; 0 where one of them is constant."""
    labelled_error: float
    """Standard error that the labels contribute."""
    pool_error: float
    """Standard error that the pool contributes."""

    def __str__(self) -> str:
        """Write the mean with its interval and "n used of N", the trust and the correlation."""
        return f"{self.estimate}; trust {self.trust:z.2f}, correlation {self.correlation:z.2f}"


def ppi_mean(
    human: ArrayLike,
    judge: ArrayLike,
    pool: ArrayLike,
    *,
    trust: float | None = None,
    confidence: float = 0.95,
) -> PredictionPowered:
    """Return trust · mean(pool) + mean(human - trust · judge), with a t(n - 2) interval.

    human, judge (n,): labels drawn at random and the judge on the same items; pool (N,): the
    judge on the others. trust: 1 is PPI (Angelopoulos 2023); None tunes it to the least variance
    (PPI++, 2024) for each label on the other labels, so that no label chooses its own weight.
    Where neither the labels nor the pool vary the interval has no width, which is no certainty; for
    a rate see `ppi_rate`.
    """
    y, f = finite_numbers(human, name="human"), finite_numbers(judge, name="judge")
    others = finite_numbers(pool, name="pool")
    n, size = y.size, others.size
    if f.size != n or n < 3 or size < 2:
        raise CalibrationError(
            f"human and judge must be of one length, at least 3, and the pool of 2, "
            f"got {n}, {f.size} and {size}"
        )
    used = _tuned_trust(y, f, n / size) if trust is None else np.full(n, _given_trust(trust))
    corrected: Floats = y - used * (f - others.mean())
    value, mean_trust = float(corrected.mean()), float(used.mean())
    labelled = float(np.std(y - mean_trust * f, ddof=1)) / math.sqrt(n)
    unlabelled = abs(mean_trust) * float(np.std(others, ddof=1)) / math.sqrt(size)
    half = student_quantile(confidence, degrees=n - 2.0) * math.hypot(labelled, unlabelled)
    rule = f"{'PPI++' if trust is None else 'PPI'}, Student's t"
    estimate = Estimate(value, value - half, value + half, confidence, rule, n, n + size)
    return PredictionPowered(estimate, mean_trust, _correlation(y, f), labelled, unlabelled)


def ppi_rate(
    human: ArrayLike,
    judge: ArrayLike,
    pool: ArrayLike,
    *,
    trust: float | None = None,
    confidence: float = 0.95,
) -> PredictionPowered:
    """Return `ppi_mean` for human labels from 0 to 1, with an interval that holds near both ends.

    Wilson's interval at the number of plain labels that the estimate is worth, n_eff =
    p(1 - p) / variance, less the price of Student's t. A label is 0 or 1, or the share of an item's
    raters who said yes. At a rate of 0.97 and 50 labels the t
    interval covers the truth in 78 % of draws, this one in 95 % (docs/coverage.md).
    """
    y = probabilities(human, name="human")
    found = ppi_mean(y, judge, pool, trust=trust, confidence=confidence)
    n, total = found.estimate.n, found.estimate.total
    rate = min(1.0, max(0.0, found.estimate.value))
    # At the ends p(1 - p) is 0; one more yes and one more no keep it from being certain.
    varied = min(max(rate, 1.0 / (n + 2)), 1.0 - 1.0 / (n + 2))
    variance = found.labelled_error**2 + found.pool_error**2
    worth = float(n) if variance == 0.0 else min(float(total), varied * (1 - varied) / variance)
    price = normal_quantile(confidence) / student_quantile(confidence, degrees=n - 2.0)
    worth *= price**2
    low, high = wilson_ends(rate * worth, worth, confidence=confidence)
    rule = f"{found.estimate.rule.split(',')[0]}, Wilson at {worth:.0f} effective labels"
    return replace(found, estimate=Estimate(rate, low, high, confidence, rule, n, total))


def _tuned_trust(y: Floats, f: Floats, ratio: float) -> Floats:
    """Return, for each label, cov(y, f) / ((1 + n/N) var f) of the other labels, in [0, 1].

    Leaving one out changes sums of squares by n / (n - 1) times its own product.
    """
    n = y.size
    dy, df = y - y.mean(), f - f.mean()
    covariance = dy @ df - dy * df * n / (n - 1)
    variance = df @ df - df * df * n / (n - 1)
    varied = variance > 1e-12 * max(1.0, float(f @ f))
    slope = np.where(varied, covariance, 0.0) / np.where(varied, variance, 1.0)
    return np.clip(slope / (1.0 + ratio), 0.0, 1.0)


def _given_trust(trust: float) -> float:
    if not 0.0 <= finite_number(trust, name="trust") <= 1.0:
        raise CalibrationError(f"trust must be from 0 to 1, got {shown(trust)}")
    return trust


def _correlation(y: Floats, f: Floats) -> float:
    if np.ptp(y) == 0.0 or np.ptp(f) == 0.0:
        return 0.0
    return correlation(y, f, np.ones_like(y))
