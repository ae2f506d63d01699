"""From what a scoring step returned to a score between 0 and 1."""

from __future__ import annotations

import math
from numbers import Real
from typing import TypeAlias

from classify.errors import InvalidInput

Bounds: TypeAlias = tuple[float, float] | None
"""The range that a score comes from; None takes any finite number as it is."""

_ROUNDING = 1e-9
"""How far past a bound, as a share of the range, a sum of floats may land: 1 + 2e-16 is 1."""


def as_number(value: object) -> float:
    """Return the number that a scoring step gave; True is 1 and False is 0.

    Raises InvalidInput for what is no number, nan and the infinities: as scores they would end in
    a mean without a word.
    """
    # numpy's bool is no bool of Python's and no number either.
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        value = bool(value)
    if not isinstance(value, Real):
        raise InvalidInput(
            f"generate_score must return a number, got {value!r} of type {type(value).__name__}; "
            f"where there is no score, return not_scorable(reason)"
        )
    number = float(value)
    if not math.isfinite(number):
        raise InvalidInput(
            f"generate_score must return a finite number, got {number!r}; "
            f"where there is no score, return not_scorable(reason)"
        )
    return number


def normalized(number: float, bounds: Bounds) -> float:
    """Return (number - low) / (high - low); without bounds the number itself.

    >>> normalized(4.0, (1.0, 7.0))
    0.5

    Raises InvalidInput for a number outside the bounds.
    """
    if bounds is None:
        return number
    low, high = bounds
    share = (number - low) / (high - low)
    if not -_ROUNDING <= share <= 1.0 + _ROUNDING:
        raise InvalidInput(
            f"generate_score must return a number from {low:g} to {high:g}, got {number!r}; "
            f"give create_scorer the bounds it comes from, or bounds=None to take any number"
        )
    return min(max(share, 0.0), 1.0)
