"""Check and normalise the arrays that calibrators, metrics and tests take.

Every entry point of this package goes through these functions, so a bad array gets the
same message everywhere. They know nothing of what the numbers are used for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.errors import CalibrationError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

_ONE = np.float64(1.0).view(np.uint64)
_MODERATE = (1e-9, 1e9)
"""Sums of powers whose logs take no digits from log-probabilities, and that hide no underflow."""


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
    """Return log-probabilities (n, K) as they are: only the shape is checked."""
    x = _floats(log_p, name)
    if x.ndim != 2 or x.shape[1] < 1:
        raise CalibrationError(f"{name} must have the shape (rows, options), got {x.shape}")
    return x


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
    x = _floats(p, name)
    if x.ndim != 1:
        raise CalibrationError(f"{name} must be one-dimensional, got the shape {x.shape}")
    # One pass for both ends: read as whole numbers the bits of 0 … 1 are in order, and those of
    # negative numbers and of nan are greater.
    if x.size and x.view(np.uint64).max() > _ONE:
        good = (x >= 0.0) & (x <= 1.0)  # -0.0 is
        if not good.all():
            row = int(np.argmin(good))
            raise CalibrationError(f"{name}[{row}] must be between 0 and 1, got {x[row]!r}")
    return x


def class_labels(y: ArrayLike, *, n: int, k: int, name: str = "y") -> Ints:
    """Return the true option of each row (n,), as indices 0 … k-1."""
    raw: NDArray[Any] = np.asarray(y)
    if raw.shape != (n,):
        raise CalibrationError(f"{name} must have the shape ({n},), got {raw.shape}")
    if n == 0:
        return np.zeros(0, dtype=np.int64)
    if raw.dtype.kind not in "iub" and not (
        raw.dtype.kind == "f" and np.isfinite(raw).all() and (raw == np.round(raw)).all()
    ):
        raise CalibrationError(f"{name} must hold whole numbers 0 … {k - 1}, got {raw.dtype}")
    labels: Ints = raw.astype(np.int64, copy=False)
    # One pass for both ends: read without a sign a negative number is greater than any label.
    if labels.view(np.uint64).max() >= k:
        row = int(np.argmax((labels < 0) | (labels >= k)))
        raise CalibrationError(f"{name}[{row}] must be in 0 … {k - 1}, got {int(labels[row])}")
    return labels


def sample_weights(weights: ArrayLike | None, *, n: int, name: str = "weights") -> Floats:
    """Return weights (n,), ones where None; finite, not negative, not all zero."""
    if weights is None:
        return np.ones(n)
    w = _floats(weights, name)
    if w.shape != (n,):
        raise CalibrationError(f"{name} must have the shape ({n},), got {w.shape}")
    bad = ~(np.isfinite(w) & (w >= 0.0))
    if bad.any():
        row = int(np.argmax(bad))
        raise CalibrationError(f"{name}[{row}] must be finite and not negative, got {w[row]!r}")
    if n and not w.any():
        raise CalibrationError(f"{name} are all zero: at least one row must count")
    return w


def _floats(values: ArrayLike, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CalibrationError(f"{name} must be an array of numbers: {error}") from error


def _no_distribution(x: Floats, row: int, name: str) -> CalibrationError:
    if (x[row] == -np.inf).all():
        return CalibrationError(f"{name} row {row} gives no option any probability")
    return CalibrationError(f"{name} row {row} holds nan or +inf: {x[row].tolist()!r}")
