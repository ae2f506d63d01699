"""Is the judge kinder or harsher than people to some groups of items than to others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, array, finite_numbers, identifier_numbers
from classify.calibration.comparison import holm
from classify.calibration.estimate import Estimate, student_quantile
from classify.calibration.paired_intervals import (
    UNVARIED,
    largest_difference,
    unvaried_mean_ends,
)
from classify.calibration.settings import not_negative, open_unit
from classify.display.notebook import Shown
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class GroupBias(Shown):
    """How far the judge lies above people in one group."""

    group: str
    bias: Estimate
    """Mean of judge minus human, with its interval."""
    against_rest: float | None
    """This group's bias minus that of all other items; None where there is no comparison."""
    p_value: float | None
    """Of "no difference to the rest" (Welch's t), adjusted for all groups by Holm."""

    def __str__(self) -> str:
        """Write the bias, and its distance to the rest with the adjusted p."""
        text = f"{self.group}: {self.bias}"
        if self.against_rest is None or self.p_value is None:
            return f"{text}; cannot be compared with the rest"
        return f"{text}; {self.against_rest:+z.3f} against the rest, adjusted p {self.p_value:.3g}"


def subgroup_bias(
    judge: ArrayLike,
    human: ArrayLike,
    groups: Sequence[str],
    *,
    span: float | None = None,
    confidence: float = 0.95,
) -> tuple[GroupBias, ...]:
    """Compare the judge's scores with people's, group by group, in the order groups appear.

    Scores are numbers; nan is missing. span: highest minus lowest possible score, beyond which no
    interval reaches; None is 1 for scores between 0 and 1, others have no bound. Where no item of
    a group differs the interval is the largest bias that none of n differing leaves possible. A
    group of no rated item raises, and so do scores further apart than `span`.
    """
    a, b, names = _scores(judge, human, groups)
    if span is not None:
        not_negative(span, name="span")
    open_unit(confidence, name="confidence")
    rated = ~(np.isnan(a) | np.isnan(b))
    difference = a - b
    reach = largest_difference(a[rated], b[rated], span) if rated.any() else math.inf
    found: list[tuple[str, Estimate, float | None, float | None]] = []
    for group in dict.fromkeys(names.tolist()):
        inside = names == group
        own, rest = difference[inside & rated], difference[~inside & rated]
        bias = _mean_difference(
            own, name=group, total=int(inside.sum()), reach=reach, confidence=confidence
        )
        gap, p_value = _welch(own, rest)
        found.append((group, bias, gap, p_value))
    adjusted = iter(holm([p for *_, p in found if p is not None]))
    return tuple(
        GroupBias(group, bias, gap, None if p is None else next(adjusted))
        for group, bias, gap, p in found
    )


def _scores(
    judge: ArrayLike, human: ArrayLike, groups: Sequence[str]
) -> tuple[Floats, Floats, np.ndarray[tuple[int], np.dtype[np.str_]]]:
    a = finite_numbers(judge, name="judge", nan_is_missing=True)
    b = finite_numbers(human, name="human", nan_is_missing=True)
    given = array(groups, name="groups")
    if not a.shape == b.shape == given.shape or a.size == 0:
        raise CalibrationError(
            f"judge, human and groups must be three lists of one length, at least 1, "
            f"got {a.shape}, {b.shape} and {given.shape}"
        )
    identifier_numbers(groups, n=a.size, name="groups")
    names = np.array([str(group) for group in given.tolist()])
    return a, b, names


def _mean_difference(
    x: Floats, *, name: str, total: int, reach: float, confidence: float
) -> Estimate:
    if x.size == 0:
        raise CalibrationError(f"group {name!r} has no item that both judge and human scored")
    mean = float(x.mean())
    if np.ptp(x) == 0.0:
        low, high = unvaried_mean_ends(
            mean, x.size, least=-reach, most=reach, confidence=confidence
        )
        rule = f"judge - human, {UNVARIED}"
    else:
        half = student_quantile(confidence, degrees=x.size - 1.0) * _standard_error(x)
        low, high = max(-reach, mean - half), min(reach, mean + half)
        rule = "judge - human, Student's t"
    return Estimate(mean, low, high, confidence, rule, x.size, total)


def _welch(own: Floats, rest: Floats) -> tuple[float | None, float | None]:
    from scipy.special import stdtr

    if min(own.size, rest.size) < 2:
        return None, None
    gap = float(own.mean() - rest.mean())
    a, b = _standard_error(own) ** 2, _standard_error(rest) ** 2
    if a + b == 0.0:
        # Two constants: equal ones differ by nothing, others cannot be tested by their spread.
        return gap, 1.0 if gap == 0.0 else None
    part = a / (a + b)  # squares of shares cannot overflow
    degrees = 1.0 / (part**2 / (own.size - 1) + (1.0 - part) ** 2 / (rest.size - 1))
    return gap, float(2.0 * stdtr(degrees, -abs(gap) / math.sqrt(a + b)))


def _standard_error(x: Floats) -> float:
    return float(x.std(ddof=1)) / math.sqrt(x.size)
