"""The formulas of the ready-made measures, on numbers alone.

Every function takes counts as shares: an item that certainly holds counts 1, one that holds with
probability .3 counts .3. Given certain items they are the reference's formulas; given
probabilities, sums are expected counts, and minima and quotients are taken of those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType

MATCH_CREDIT: Mapping[str, float] = MappingProxyType(
    {"exact": 1.2, "semantic": 0.8, "partial": 0.4, "missing": -0.15}
)
"""What a unit of the true answer adds to answer similarity, by how the output matches it."""
RELEVANCE_CREDIT: Mapping[str, float] = MappingProxyType(
    {"high": 1.0, "medium": 0.7, "low": 0.3, "none": 0.0}
)
"""What a piece of context adds to context relevance."""
IMPACT_CREDIT: Mapping[str, float] = MappingProxyType(
    {"none": 1.0, "minimal": 0.85, "moderate": 0.6, "significant": 0.3, "severe": 0.1}
)
"""How well an answer withstood noise in one respect."""
USER_WEIGHTS = (0.4, 0.3, 0.2, 0.1)
"""Of intent, requirements, completeness and form, against the user's prompt."""
SYSTEM_WEIGHTS = (0.35, 0.35, 0.15, 0.15)
"""The same against the system's prompt."""


def clamped(value: float) -> float:
    """Return the value, or the nearer end of 0..1 where it is outside."""
    return min(max(value, 0.0), 1.0)


def share(counts: Sequence[float]) -> float:
    """Return the mean of at least one count."""
    return clamped(math.fsum(counts) / len(counts))


def answer_relevancy(
    yes: Sequence[float], unsure: Sequence[float], *, uncertainty_weight: float = 0.3
) -> float:
    """Return (yes + weight x unsure) / statements."""
    return clamped((math.fsum(yes) + uncertainty_weight * math.fsum(unsure)) / len(yes))


def context_precision(relevant: Sequence[float]) -> float:
    """Return the average precision of pieces in the order retrieved; 0 where none is relevant.

    >>> context_precision([1.0, 0.0, 1.0])
    0.8333333333333333
    """
    total, so_far, weighted = math.fsum(relevant), 0.0, 0.0
    for rank, relevance in enumerate(relevant, start=1):
        so_far += relevance
        weighted += so_far / rank * relevance
    return clamped(weighted / total) if total > 0.0 else 0.0


def context_relevance(
    credits: Sequence[float], *, unused_high: float = 0.0, missing: float = 0.0
) -> float:
    """Return mean credit - .1 x unused highly relevant pieces - min(.15 x missing, .5)."""
    mean = math.fsum(credits) / len(credits)
    return clamped(mean - 0.1 * unused_high - min(0.15 * missing, 0.5))


def answer_similarity(
    credits: Sequence[float], *, contradictions: float = 0.0, extras: float = 0.0
) -> float:
    """Return sum(credits) / (1.2 n) - contradictions - min(.05 x extras, .2)."""
    most = MATCH_CREDIT["exact"] * len(credits)
    return clamped(math.fsum(credits) / most - contradictions - min(0.05 * extras, 0.2))


def noise_sensitivity(robustness: float, impacts: Sequence[float], *, issues: float = 0.0) -> float:
    """Return the robustness judged, held against the mean credit of the impacts.

    Where the two are more than .2 apart the lower one counts; every issue takes .1, at most .3.
    """
    mean = math.fsum(impacts) / len(impacts)
    judged = min(robustness, mean) if abs(robustness - mean) > 0.2 else robustness
    return clamped(judged - min(0.1 * issues, 0.3))


def prompt_alignment(parts: Sequence[float], weights: Sequence[float] = USER_WEIGHTS) -> float:
    """Return the weighted mean of intent, requirements, completeness and form."""
    return clamped(math.fsum(p * w for p, w in zip(parts, weights, strict=True)))


def both_prompts(user: float, system: float) -> float:
    """Return .7 of the alignment with the user's prompt and .3 of that with the system's."""
    return clamped(0.7 * user + 0.3 * system)


def rubric(met: Sequence[float]) -> float:
    """Return the probability that every criterion is met, if they are independent.

    Certain criteria give 1 or 0.
    """
    return clamped(math.prod(met))


def summarization(alignment: float, coverage: float) -> float:
    """Return the lower of both."""
    return min(alignment, coverage)


def trajectory_accuracy(necessary: Sequence[float], *, order: float, missing: float) -> float:
    """Return .6 x necessary steps' share + .3 x order - .1 x share of missing steps.

    The best is .9: that is how the reference documents it.
    """
    return clamped(0.6 * share(necessary) + 0.3 * order - 0.1 * missing)
