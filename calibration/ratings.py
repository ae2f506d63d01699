"""Ratings of people and judges as arrays of level indices, -1 where nobody rated.

Levels are declared, never guessed from the ratings: a level that nobody used still counts in
the distance between the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.calibration.arrays import Floats, Ints, array, finite_numbers
from classify.calibration.settings import one_of, shown
from classify.errors import CalibrationError

Level: TypeAlias = str | int | float | bool
Ratings: TypeAlias = ArrayLike | Sequence[Level | None] | Sequence[Sequence[Level | None]]
"""Ratings as numpy takes them, or as lists with None where nobody rated."""
Scheme: TypeAlias = Literal["none", "linear", "quadratic"]

MISSING = -1
"""The index of a rating that is None or nan."""
_NO_LEVEL = "which is none of the levels {}: declare every level, also one that is used once"


def declared_levels(levels: Sequence[Level]) -> tuple[Level, ...]:
    """Return the levels in their declared order; at least two, each once."""
    try:
        found = tuple(levels)
        distinct = len(set(found))
    except TypeError as error:
        raise CalibrationError(f"levels must be a list of values: {error}") from error
    if len(found) < 2 or distinct != len(found):
        raise CalibrationError(f"levels must be at least two different values, got {shown(found)}")
    return found


def level_indices(ratings: Ratings, levels: Sequence[Level], *, name: str) -> Ints:
    """Return ratings of any shape as indices into `levels`; None and nan become MISSING."""
    raw = array(ratings, name=name)
    if raw.ndim == 0:
        raise CalibrationError(f"{name} must be a list of ratings, got {shown(ratings)}")
    if raw.dtype.kind in "US" and isinstance(ratings, list | tuple):
        # numpy makes text of every rating where one is, also of nan.
        raw = np.array(ratings, dtype=object)
    declared = declared_levels(levels)
    numeric = all(isinstance(level, int | float) for level in declared)
    if numeric and raw.dtype.kind == "O":
        raw = _numbers(raw, name)
    if numeric and raw.dtype.kind in "iubf":
        return _numeric_indices(raw, declared, name)
    index = {level: i for i, level in enumerate(declared)}
    flat = [_index_of(value, index, name) for value in cast("list[object]", raw.ravel().tolist())]
    return np.asarray(flat, dtype=np.int64).reshape(raw.shape)


def rater_indices(ratings: Ratings, levels: Sequence[Level]) -> Ints:
    """Return ratings (raters, items) as level indices, at least two raters and one item."""
    indices = level_indices(ratings, levels, name="ratings")
    if indices.ndim != 2 or indices.shape[0] < 2 or indices.shape[1] < 1:
        raise CalibrationError(
            f"ratings must have the shape (raters, items) with at least two raters, "
            f"got {indices.shape}"
        )
    return indices


def agreement_weights(k: int, scheme: Scheme) -> Floats:
    """Return how much two levels agree (k, k): 1 on the diagonal, 0 at the far corners."""
    one_of(scheme, get_args(Scheme), name="scheme")
    position = np.arange(k, dtype=np.float64)
    distance: Floats = np.abs(position[:, None] - position[None, :])
    if scheme == "none":
        return np.eye(k)
    ratio: Floats = distance / (k - 1)
    return 1.0 - (ratio if scheme == "linear" else ratio**2)


def _numeric_indices(raw: NDArray[np.generic], levels: tuple[Level, ...], name: str) -> Ints:
    values = finite_numbers(levels, name="levels")
    k, first = values.size, values[0]
    if raw.dtype.kind in "iub" and (values == first + np.arange(k)).all():
        # The usual scale, 1 … 5 in whole numbers, needs no search.
        indices = raw.astype(np.int64) - int(first)
        bad = (indices < 0) | (indices >= k)
    else:
        x = raw.astype(np.float64)
        order = np.argsort(values, kind="stable")
        place = np.minimum(np.searchsorted(values[order], x), k - 1)
        indices = order[place].astype(np.int64)
        absent = np.isnan(x)
        bad = (values[indices] != x) & ~absent
        indices[absent] = MISSING
    if bad.any():
        where = int(np.argmax(bad.ravel()))
        raise CalibrationError(
            f"{name} holds {raw.ravel()[where].item()!r}, {_NO_LEVEL.format(shown(list(levels)))}"
        )
    return indices


def _numbers(raw: NDArray[np.object_], name: str) -> NDArray[np.generic]:
    if any(isinstance(value, str | bytes) for value in raw.flat):
        return raw  # "2" is no 2, although numpy would take it for one
    try:
        # None becomes nan.
        return raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CalibrationError(f"{name} must hold numbers, like the levels: {error}") from error


def _index_of(value: object, index: dict[Level, int], name: str) -> int:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return MISSING
    if not isinstance(value, str | int | float) or value not in index:
        raise CalibrationError(
            f"{name} holds {shown(value)}, {_NO_LEVEL.format(shown(list(index)))}"
        )
    return index[value]
