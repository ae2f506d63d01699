"""The average of a scorer over items and trials, with how many it is over and how sure it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from classify.adapters.scorers.eval_outcomes import Scoring
from classify.adapters.scorers.result import Direction
from classify.calibration.intervals import wilson
from classify.display.notebook import Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % interval and the rule that made it."""

    low: float
    """Lower end."""
    high: float
    """Upper end."""
    rule: str
    """How it was made, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures(Shown):
    """One scorer's scores in one number."""

    mean: float | None
    """Over items, of each item's mean over its trials; None where nothing was scored."""
    interval: Interval | None
    """None where fewer than two items were scored, or all alike and neither all 0 nor all 1."""
    n: int
    """Scores that there are."""
    of: int
    """Scores that there should be: items times trials."""
    not_scorable: int
    """Scores missing because the scorer declined, or gave no verdict."""
    failed: int
    """Scores missing because the target or the scorer failed."""
    no_verdict: int = 0
    """Those of `not_scorable` that should have a score, and got no verdict."""
    direction: Direction = "higher"
    """Which end is the good one."""

    methods: Mapping[str, int] = field(default_factory=dict[str, int])
    """How the answers behind the scores were obtained -> scores; empty without a classifier."""

    @property
    def mixed(self) -> str:
        """What is to be known of scores that came about differently; "" where all did alike."""
        if len(self.methods) < 2:
            return ""
        told = ", ".join(f"{method} {count}" for method, count in self.methods.items())
        return f"answers by different methods: {told}; they are not comparable"

    @property
    def missing(self) -> str:
        """Which scores are missing that should be there, in words; "" where none is."""
        counts = ((self.no_verdict, "without a verdict"), (self.failed, "failed"))
        return ", ".join(f"{count} of {self.of} {what}" for count, what in counts if count)

    def __str__(self) -> str:
        """Show the mean beside what it is over."""
        if self.mean is None:
            return f"no score (0 of {self.of})"
        sure = ""
        if self.interval is not None:
            sure = f" [{self.interval.low:.3f}, {self.interval.high:.3f}]"
        return f"{self.mean:.3f}{sure} ({self.n} of {self.of})"


def figures(
    trials: Sequence[Sequence[Scoring | None]], *, direction: Direction, bounded: bool
) -> Figures:
    """Return the figures of item -> trial -> scoring; None stands for a failed target.

    Trials of one item are not independent, so the interval is over items; for a single item it is
    over its trials.
    """
    scorings = [scoring for item in trials for scoring in item]
    scores = [[s.score for s in item if s and s.score is not None] for item in trials]
    units = scores[0] if len(trials) == 1 else [average(item) for item in scores if item]
    return Figures(
        mean=average(units) if units else None,
        interval=interval(units, bounded=bounded),
        n=sum(map(len, scores)),
        of=len(scorings),
        not_scorable=sum(s is not None and s.not_scorable is not None for s in scorings),
        failed=sum(s is None or s.failure is not None for s in scorings),
        no_verdict=sum(s is not None and s.no_verdict for s in scorings),
        methods=dict(Counter(m for s in scorings if s for m in s.methods).most_common()),
        direction=direction,
    )


def average(values: Sequence[float]) -> float:
    """Return the mean of one or more values."""
    return math.fsum(values) / len(values)


def interval(values: Sequence[float], *, bounded: bool = True) -> Interval | None:
    """Return a 95 % interval for the mean: Wilson's for 0 and 1 alone, else Student's.

    None where there is none: fewer than two values, or values that do not vary, which says nothing
    about how much others would.
    """
    n = len(values)
    if n and all(value in (0.0, 1.0) for value in values):
        found = wilson(sum(values), n)
        assert found.low is not None and found.high is not None  # Wilson's always has both
        return Interval(low=found.low, high=found.high, rule=found.rule)
    if n < 2 or max(values) == min(values):
        return None
    mean = average(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1))
    half = _student(n - 1) * deviation / math.sqrt(n)
    low, high = mean - half, mean + half
    if bounded:
        low, high = max(low, 0.0), min(high, 1.0)
    return Interval(low=low, high=high, rule="Student's t 95%")


def _student(degrees: int) -> float:
    """Return the 97.5 % point of Student's distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 0.975))
