"""A number with its interval, the rule that made it, and how many of the rows it stands on."""

from __future__ import annotations

from dataclasses import dataclass

from classify.calibration.intervals import wilson
from classify.calibration.settings import in_percent, open_unit
from classify.display.notebook import Shown

NO_VARIANCE = 1e-26
"""Below this the variance of an agreement, in [0, 1], is rounding: the square of some 1e-14."""


@dataclass(frozen=True, slots=True)
class Estimate(Shown):
    """A value that never travels without its interval, its rule and its number of rows."""

    value: float
    low: float
    """Lower end of the interval."""
    high: float
    """Upper end."""
    confidence: float
    """How sure the interval is, such as 0.95."""
    rule: str
    """What was computed and how the interval was made, in words."""
    n: int
    """Rows used."""
    total: int
    """Rows given: those not used lacked a rating."""

    def __str__(self) -> str:
        """Write the value, the interval, the rule and "n used of N"."""
        return (
            f"{self.value:z.3f} [{self.low:z.3f}, {self.high:z.3f}] "
            f"({self.rule}, {in_percent(self.confidence)}, {self.n} used of {self.total})"
        )


def student_quantile(confidence: float, *, degrees: float) -> float:
    """Return t such that a Student value lies within ±t with this probability."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.5 + open_unit(confidence, name="confidence") / 2.0))


def wilson_ends(k: float, n: float, *, confidence: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval for k of n."""
    found = wilson(k, n, confidence=confidence)
    if found.low is None or found.high is None:
        raise AssertionError(f"Wilson's interval always has ends, got {found!r}")
    return found.low, found.high


def unvaried_ends(
    observed: float, chance: float, *, n: float, confidence: float
) -> tuple[float, float]:
    """Return the ends of (observed - chance) / (1 - chance) where no item differs from another.

    A variance of zero is not certainty: the observed agreement gets Wilson's interval for n
    items, with the chance agreement as it was seen. Cut off at -1.
    """
    low, high = wilson_ends(min(1.0, max(0.0, observed)) * n, n, confidence=confidence)
    return max(-1.0, (low - chance) / (1.0 - chance)), (high - chance) / (1.0 - chance)
