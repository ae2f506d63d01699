"""What the average of a scorer has to reach."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias, cast

from classify.adapters.scorers.eval_errors import EvalDefinitionError
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.json_values import is_object

SLACK = 1e-9
"""By how much an average may miss a bound: the mean of ten times 0.7 is 0.6999999999999998."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """The range that an average must lie in; both ends belong to it."""

    min: float | None = None
    max: float | None = None

    def met(self, average: float) -> bool:
        """Whether the average lies in the range."""
        above = self.min is None or average >= self.min - SLACK
        return above and (self.max is None or average <= self.max + SLACK)

    def __str__(self) -> str:
        """Show the range as people write it."""
        if self.min is None or self.max is None:
            return f">= {self.min:g}" if self.max is None else f"<= {self.max:g}"
        return f"{self.min:g} to {self.max:g}"


@dataclass(frozen=True, slots=True)
class WithThreshold:
    """A scorer whose average must be at least a number, or in a range."""

    scorer: ScorerLike
    threshold: float | Mapping[str, float] | Threshold
    """A minimum, {"min": …, "max": …} with either left out, or a Threshold."""


ThresholdLike: TypeAlias = float | Mapping[str, float] | Threshold


def threshold_of(given: object, scorer: ScorerLike) -> Threshold:
    """Return a scorer's threshold, checked; raises EvalDefinitionError.

    A number alone is a minimum, and is refused for a scorer of which less is better.
    """
    where = f"the threshold of scorer {scorer.id!r}"
    if isinstance(given, Real) and not isinstance(given, bool):
        if scorer.direction == "lower":
            raise _invalid(
                f'{where} must say which side it is on, as less is better there: {{"max": {given}}}'
            )
        found = Threshold(min=float(given))
    else:
        found = given if isinstance(given, Threshold) else _range(given, where)
    if found.min is None and found.max is None:
        raise _invalid(f"{where} must have min, max or both, got {given!r}")
    for name, bound in (("min", found.min), ("max", found.max)):
        if bound is not None:
            _check_bound(bound, f"{name} of {where}", bounded=bounds_of(scorer) is not None)
    if found.min is not None and found.max is not None and found.min > found.max:
        raise _invalid(f"{where}: min {found.min!r} is above max {found.max!r}")
    return found


def full_marks(scorer: ScorerLike) -> Threshold:
    """Return the good end of a scorer's scores as a range."""
    return Threshold(max=0.0) if scorer.direction == "lower" else Threshold(min=1.0)


def bounds_of(scorer: ScorerLike) -> tuple[float, float] | None:
    """Return the range of a scorer's scores; None where they may be any number."""
    return (0.0, 1.0) if getattr(scorer, "bounds", (0.0, 1.0)) is not None else None


def _range(given: object, where: str) -> Threshold:
    if not is_object(given) or not set(given) <= {"min", "max"}:
        raise _invalid(f'{where} must be a number or {{"min": …, "max": …}}, got {given!r}')
    bounds = cast("Mapping[str, Any]", given)  # their types are checked next
    return Threshold(min=bounds.get("min"), max=bounds.get("max"))


def _check_bound(bound: object, where: str, *, bounded: bool) -> None:
    if not isinstance(bound, Real) or isinstance(bound, bool) or not math.isfinite(bound):
        raise _invalid(f"{where} must be a finite number, got {bound!r}")
    if bounded and not 0.0 <= float(bound) <= 1.0:
        raise _invalid(f"{where} must be from 0 to 1, as the scores are, got {bound!r}")


def _invalid(message: str) -> EvalDefinitionError:
    return EvalDefinitionError(message, "INVALID_SCORER_THRESHOLD")
