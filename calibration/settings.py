"""Check what steers a fit, a metric or a test: levels, counts, seeds and words.

The arrays are checked in `arrays`. A value of another type is refused like one out of range, so
that nothing is rounded, drawn or chosen that was not asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Set
from typing import cast

import numpy as np

from classify.errors import CalibrationError

NEAREST = 1e-12
"""How near a level may come to 0 and to 1: nearer, its quantiles are made of rounding."""
_WHOLE_NUMBERS: tuple[type, ...] = (int, np.integer)
_NUMBERS: tuple[type, ...] = (*_WHOLE_NUMBERS, float, np.floating)
MOST_DRAWS = 10_000_000
"""So many draws give a p-value to three digits; more would fill the memory."""


def finite_number(value: object, *, name: str) -> float:
    """Return a finite number as a float, or raise CalibrationError."""
    if isinstance(value, _NUMBERS):
        try:
            number = float(cast("float", value))
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise CalibrationError(f"{name} must be a finite number, got {shown(value)}")


def open_unit(value: object, *, name: str) -> float:
    """Return a number strictly between 0 and 1, or raise CalibrationError."""
    number = finite_number(value, name=name)
    if not 0.0 < number < 1.0:
        raise CalibrationError(f"{name} must lie strictly between 0 and 1, got {shown(value)}")
    if not NEAREST <= number <= 1.0 - NEAREST:
        raise CalibrationError(
            f"{name} must keep a distance of {NEAREST:g} from 0 and from 1, got {shown(value)}"
        )
    return number


def not_negative(value: object, *, name: str) -> float:
    """Return a finite number of zero or more, or raise CalibrationError."""
    number = finite_number(value, name=name)
    if number < 0.0:
        raise CalibrationError(f"{name} must not be negative, got {shown(value)}")
    return number


def whole_number(value: object, *, name: str, least: int = 0, most: int | None = None) -> int:
    """Return a whole number within its limits, or raise CalibrationError."""
    if isinstance(value, _WHOLE_NUMBERS) and not isinstance(value, bool):
        number = int(cast("int", value))
        if number >= least and (most is None or number <= most):
            return number
    limits = f"of {least:,} or more" if most is None else f"from {least:,} to {most:,}"
    raise CalibrationError(f"{name} must be a whole number {limits}, got {shown(value)}")


def draw_count(value: object, *, name: str) -> int:
    """Return a number of draws: at least one, and no more than memory holds."""
    return whole_number(value, name=name, least=1, most=MOST_DRAWS)


def random_source(seed: object) -> np.random.Generator:
    """Return the random numbers of a seed, a whole number of zero or more."""
    return np.random.default_rng(whole_number(seed, name="seed"))


def one_of(value: object, words: Iterable[str], *, name: str) -> None:
    """Raise CalibrationError for a word that is none of those on offer."""
    known = tuple(words)
    if not isinstance(value, str) or value not in known:
        raise CalibrationError(
            f"{name} must be one of {', '.join(map(repr, known))}, got {shown(value)}"
        )


def of_type(value: object, kind: type | tuple[type, ...], *, name: str, what: str) -> None:
    """Raise CalibrationError for a value that is of no such type; `what` says what to give."""
    if not isinstance(value, kind):
        raise CalibrationError(f"{name} must be {what}, got {shown(value)}")


def texts(values: object, *, name: str, must: str, count: int | None = None) -> tuple[str, ...]:
    """Return texts in their order, or raise CalibrationError; a text is no list of its letters."""
    given, found = values, cast("tuple[object, ...] | None", None)
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping | Set):
        found = tuple(cast("Iterable[object]", values))
    wanted = len(found or ()) if count is None else count
    if found is None or len(found) != wanted or not all(isinstance(each, str) for each in found):
        raise CalibrationError(f"{name} must {must}, got {shown(given)}")
    return cast("tuple[str, ...]", found)


def in_percent(share: float, *, decimals: int = 0) -> str:
    """Write a level that was set in percent, with more decimals than usual where it has them.

    99.9 % rounded to 100 % would promise what nobody can.
    """
    usual = f"{100.0 * share:.{decimals}f}"
    return f"{usual if abs(float(usual) - 100.0 * share) < 1e-9 else f'{100.0 * share:.6g}'}%"


def shown(value: object) -> str:
    """Return a value as messages show it: numpy's numbers plain, and at most 80 characters."""
    try:
        text = repr(_plain(value))
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = "a whole number of thousands of digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _plain(value: object) -> object:
    if isinstance(value, np.generic | np.ndarray):
        return cast("object", value.tolist())
    if type(value) in (list, tuple):
        values = [_plain(each) for each in cast("Iterable[object]", value)]
        return values if isinstance(value, list) else tuple(values)
    return value
