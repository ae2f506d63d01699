"""Check and normalise the arrays that calibrators, metrics and tests take.

Every entry point of this package goes through these functions, so a bad array gets the
same message everywhere. They know nothing of what the numbers are used for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.errors import CalibrationError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_ONE = np.float64(1.0).view(np.uint64)
_MODERATE = (1e-9, 1e9)
"""Sums of powers whose logs take no digits from log-probabilities, and that hide no underflow."""
_HALF_OF_DROPPED = np.int64(2**12)
_STEPS_PER_NAT = 2.0**36
DROPPED_DIGITS = np.int64(2**13 - 1)
"""The last binary digits of a double, which are 0 in what `same_probabilities` returns."""
LARGEST = 1e100
"""The largest number taken where squares are summed."""
LEAST_WEIGHT = 1e-14
"""The least weight of a row beside the largest."""


def log_probabilities(log_p: ArrayLike, *, name: str = "log_p") -> Floats:
    """Return log-probabilities (n, K), float64, each row normalised; -inf is legal.

    Raises CalibrationError for another shape, nan, +inf, or a row with no mass at all.
    """
    x = option_rows(log_p, name=name)
    normalised = np.empty(x.shape)
    for block in exponentials(x, name=name):
        part = normalised[block.rows]
        np.subtract(block.logs, np.log(block.totals)[:, None], out=part)
        # The log of a rounded sum may lie below the only term that matters.
        np.minimum(part, 0.0, out=part)
    return normalised


def option_rows(log_p: ArrayLike, *, name: str = "log_p") -> Floats:
    """Return log-probabilities (n, K) as they are: only their shape is checked.

    And that they are no probabilities, which would pass for scores on another scale.
    """
    lengths = _lengths(log_p)
    if len(lengths) > 1:
        raise CalibrationError(
            f"{name} has rows of {lengths[0]} to {lengths[-1]} options: fill the shorter ones up "
            f"with -inf (log 0), or take the rows of each number of options apart"
        )
    x = numbers(log_p, name=name)
    if x.ndim != 2 or x.shape[1] < 1:
        raise CalibrationError(f"{name} must have the shape (rows, options), got {x.shape}")
    if len(x) > 1 and _add_to_one(x[:1]) and _add_to_one(x) and not np.isin(x, (0.0, 1.0)).all():
        raise CalibrationError(
            f"{name} holds probabilities, each row of them adding up to 1: give their logarithms, "
            f"np.log({name.removeprefix('log_')})"
        )
    return x


def _add_to_one(x: Floats) -> bool:
    """Whether no number is negative and each row adds up to 1."""
    return bool((x >= 0.0).all() and (np.abs(x.sum(axis=1) - 1.0) < 1e-6).all())


def _lengths(rows: object) -> Sequence[int]:
    """Return how long the rows of a list are, each length once; nothing of anything else."""
    if not isinstance(rows, list | tuple):
        return ()
    lengths = set[int]()
    for row in cast("Sequence[object]", rows):
        if isinstance(row, np.ndarray):
            lengths.update(cast("NDArray[Any]", row).shape[:1])
        elif isinstance(row, list | tuple):
            lengths.add(len(cast("Sequence[object]", row)))
    return sorted(lengths)


class Exponentials(NamedTuple):
    """Some rows of log-probabilities as powers of e, not yet divided by their sums."""

    rows: slice
    logs: Floats
    """(rows, K), moved by one number per row so that the powers neither overflow nor vanish."""
    powers: Floats
    """(rows, K), the exponentials of `logs`; yours to change."""
    totals: Floats
    """(rows,), their sums."""


def exponentials(x: Floats, *, name: str = "log_p") -> Iterator[Exponentials]:
    """Check log-probabilities (n, K) and raise e to them, as many rows as stay in the cache.

    What needs no (n, K) result is computed from these blocks alone, in one pass over memory.
    Raises CalibrationError for nan, +inf, or a row with no mass at all.
    """
    k = x.shape[1]
    size = max(512, 65536 // k)
    for at in range(0, len(x), size):
        rows = slice(at, min(at + size, len(x)))
        logs = x[rows]
        with np.errstate(over="ignore"):
            powers = np.exp(logs)
        # einsum and not a matrix product: equal rows must have equal sums wherever they stand.
        totals = np.einsum("ij->i", powers)
        # Sums of moderate size also prove that there is no nan, no +inf and some mass.
        if k == 1 or not (totals.min() > _MODERATE[0] and totals.max() < _MODERATE[1]):
            top = np.ascontiguousarray(logs.T).max(axis=0)
            if not np.isfinite(top).all():
                raise _no_distribution(x, at + int(np.argmax(~np.isfinite(top))), name)
            # Only rows that need it are moved: what a row gives may not depend on its neighbours.
            stays = (totals > _MODERATE[0]) & (totals < _MODERATE[1]) & (k > 1)
            logs = logs - np.where(stays, 0.0, top)[:, None]
            powers = np.exp(logs)
            totals = np.einsum("ij->i", powers)
        yield Exponentials(rows, logs, powers, totals)


def likeliest_options(x: Floats, *, name: str = "log_p") -> Ints:
    """Return the likeliest option of each row (n,), of equals the first.

    Checks log-probabilities (n, K) as `exponentials` does, by the largest of each row alone: a nan
    counts as that, and so does +inf.
    """
    choice: Ints = x.argmax(axis=1).astype(np.int64, copy=False)
    bad = ~np.isfinite(of_options(x, choice))
    if bad.any():
        raise _no_distribution(x, int(np.argmax(bad)), name)
    return choice


def of_options(values: Floats, option: Ints) -> Floats:
    """Return the value of one option of each row (n,) out of (n, K)."""
    n, k = values.shape
    places: Ints = np.arange(0, n * k, k, dtype=np.int64) + option
    own: Floats = values.reshape(-1)[places]
    return own


def probabilities(p: ArrayLike, *, name: str = "p") -> Floats:
    """Return probabilities (n,), float64, each in [0, 1]."""
    x = numbers(p, name=name)
    if x.ndim != 1:
        raise CalibrationError(f"{name} must be one-dimensional, got the shape {x.shape}")
    # One pass for both ends: read as whole numbers the bits of 0 … 1 are in order, and those of
    # negative numbers and of nan are greater.
    if x.size and x.view(np.uint64).max() > _ONE:
        good = (x >= 0.0) & (x <= 1.0)  # -0.0 is
        if not good.all():
            row = int(np.argmin(good))
            raise CalibrationError(f"{name}[{row}] must be between 0 and 1, got {float(x[row])!r}")
    return x


def same_probabilities(p: Floats) -> Floats:
    """Return probabilities to 40 binary digits, so that those that differ by rounding are ties.

    0.6 beside 0.1 and 0.3 and 0.6 beside 0.25 and 0.15 are normalised by sums that differ in their
    last digits, and a rank, a block or a threshold would part what is one confidence.
    """
    bits = p.view(np.int64) + _HALF_OF_DROPPED
    bits &= ~DROPPED_DIGITS
    return bits.view(np.float64)


def same_log_odds(odds: Floats) -> Floats:
    """Return log-odds in steps of 2^-36, so that those that differ by rounding are ties.

    Their errors are those of the logs, of which they are a difference, however small they are.
    """
    return np.rint(odds * _STEPS_PER_NAT) / _STEPS_PER_NAT


def class_labels(y: ArrayLike, *, n: int, k: int, name: str = "y") -> Ints:
    """Return the true option of each row (n,), as indices 0 … k-1.

    Booleans are refused: True would be column 1, and of the columns (true, false) that is false.
    """
    raw = array(y, name=name)
    if raw.dtype.kind == "b" or (
        raw.dtype.kind == "O" and any(isinstance(value, bool | np.bool_) for value in raw.flat)
    ):
        raise CalibrationError(
            f"{name} must be the index of each row's true option, its column, and not booleans: "
            f"give np.where({name}, 0, 1) where the columns are (true, false)"
        )
    if raw.dtype.kind in "US" and raw.size:
        raise CalibrationError(
            f"{name} must be the index of each row's true option, its column, and not text such as "
            f"{raw.flat[0].item()!r}"
        )
    return _indices(raw, n=n, k=k, name=name)


def binary_labels(y: ArrayLike, *, n: int, name: str = "y") -> Ints:
    """Return whether each row (n,) came true, as 1 or 0; booleans or numbers."""
    return _indices(array(y, name=name), n=n, k=2, name=name)


def _indices(raw: NDArray[Any], *, n: int, k: int, name: str) -> Ints:
    if raw.shape != (n,):
        raise CalibrationError(f"{name} must have the shape ({n},), got {raw.shape}")
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    if raw.dtype.kind not in "iub":
        # Within the range and equal to its whole part, so that the cast below changes nothing.
        given = numbers(raw, name=name)
        good = (given >= 0.0) & (given < k) & (given == np.floor(given))
        if not good.all():
            row = int(np.argmin(good))
            raise CalibrationError(
                f"{name}[{row}] must be a whole number in 0 … {k - 1}, got {float(given[row])!r}"
            )
        raw = given
    labels: Ints = raw.astype(np.int64, copy=False)
    # One pass for both ends: read without a sign a negative number is greater than any label.
    if labels.view(np.uint64).max() >= k:
        row = int(np.argmax((labels < 0) | (labels >= k)))
        hint = ": leave out rows without a label" if int(labels[row]) == -1 else ""
        raise CalibrationError(
            f"{name}[{row}] must be in 0 … {k - 1}, got {raw[row].item()!r}{hint}"
        )
    return labels


def sample_weights(weights: ArrayLike | None, *, n: int, name: str = "weights") -> Floats:
    """Return weights (n,), ones where None; finite, not negative, not all zero.

    Weights that rounding would swallow are refused, for a sum less one row must stay a sum.
    """
    if weights is None:
        return np.ones(n)
    w = numbers(weights, name=name)
    if w.shape != (n,):
        raise CalibrationError(f"{name} must have the shape ({n},), got {w.shape}")
    if n == 0:
        return w
    least, most = float(w.min()), float(w.max())
    if not (least >= 0.0 and most < np.inf):  # nan neither
        row = int(np.argmin((w >= 0.0) & (w < np.inf)))
        raise CalibrationError(
            f"{name}[{row}] must be finite and not negative, got {float(w[row])!r}"
        )
    if most == 0.0:
        raise CalibrationError(f"{name} are all zero: at least one row must count")
    if not 1.0 / LARGEST <= most <= LARGEST:
        raise CalibrationError(
            f"{name} must be at most {LARGEST:g} and the largest at least {1.0 / LARGEST:g}, got "
            f"{most!r} as the largest: divide all by one number, so that they add up to the number "
            f"of rows"
        )
    if least < most * LEAST_WEIGHT:
        lost = (w > 0.0) & (w < most * LEAST_WEIGHT)
        if lost.any():
            row = int(np.argmax(lost))
            raise CalibrationError(
                f"{name}[{row}] is {float(w[row])!r} beside {most!r}, too little to change any "
                f"sum: give the row 0, which leaves it out"
            )
    return w


def finite_numbers(values: ArrayLike, *, name: str, nan_is_missing: bool = False) -> Floats:
    """Return numbers (n,), float64, within ±1e100, so that no sum of squares overflows.

    Nan stands for a missing number where `nan_is_missing`, and is refused elsewhere.
    """
    x = numbers(values, name=name)
    if x.ndim != 1:
        raise CalibrationError(f"{name} must be a list of numbers, got the shape {x.shape}")
    good = np.abs(x) <= LARGEST
    if nan_is_missing:
        good |= np.isnan(x)
    if not good.all():
        row = int(np.argmin(good))
        or_nan = ", or nan where it is missing" if nan_is_missing else ""
        raise CalibrationError(
            f"{name}[{row}] must be finite and within ±{LARGEST:g}{or_nan}, got {float(x[row])!r}"
        )
    return x


def identifier_numbers(values: object, *, n: int, name: str) -> Ints:
    """Return a number 0 … per row (n,) that is the same where the identifiers are equal.

    Identifiers are text or numbers; 1 and "1" are two. Raises CalibrationError for a row
    without one (None or nan).
    """
    raw = array(values, name=name)
    if raw.shape != (n,):
        raise CalibrationError(
            f"{name} must hold one identifier for each of the {n} rows, got the shape {raw.shape}"
        )
    if raw.dtype.kind in "US" and isinstance(values, list | tuple):
        # numpy makes text of every identifier where one is.
        raw = np.fromiter(cast("Sequence[object]", values), dtype=object, count=n)
    missing = np.zeros(n, dtype=np.bool_)
    if raw.dtype.kind in "fc":
        missing = np.isnan(raw)
    elif raw.dtype.kind == "O":
        missing = np.array([value is None or value != value for value in raw], dtype=np.bool_)
    if missing.any():
        row = int(np.argmax(missing))
        raise CalibrationError(
            f"{name}[{row}] is {raw.tolist()[row]!r}: every row needs an identifier, its own "
            f"where it belongs to no other"
        )
    try:
        found = np.unique(raw, return_inverse=True)[1]
    except TypeError:  # numbers beside text have no order
        place: dict[object, int] = {}
        found = np.array([place.setdefault(value, len(place)) for value in raw.tolist()])
    return found.astype(np.int64, copy=False)


def numbers(values: ArrayLike, *, name: str) -> Floats:
    """Return numbers of any shape as float64 in C order; nan and the infinities are legal.

    Raises CalibrationError for text, also that of a number, dates and complex numbers.
    """
    raw = array(values, name=name)
    text = raw.dtype.kind == "O" and any(isinstance(value, str | bytes) for value in raw.flat)
    if raw.dtype.kind not in "biufO" or text:
        kind = "text" if text else str(raw.dtype)
        raise CalibrationError(f"{name} must be an array of numbers, got {kind}")
    try:
        return np.asarray(raw, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise CalibrationError(f"{name} must be an array of numbers: {error}") from error


def array(values: object, *, name: str) -> NDArray[Any]:
    """Return any values as an array; CalibrationError for ragged lists and for masked entries."""
    if np.ma.is_masked(values):
        raise CalibrationError(
            f"{name} is a masked array that hides values; leave those rows out everywhere"
        )
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise CalibrationError(f"{name} must be an array: {error}") from error


def _no_distribution(x: Floats, row: int, name: str) -> CalibrationError:
    if (x[row] == -np.inf).all():
        return CalibrationError(f"{name} row {row} gives no option any probability")
    return CalibrationError(f"{name} row {row} holds nan or +inf: {x[row].tolist()!r}")
