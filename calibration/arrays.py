"""Check and normalise the arrays that calibrators, metrics and tests take.

Every entry point of this package goes through these four functions, so a bad array gets the
same message everywhere. They know nothing of what the numbers are used for.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.errors import CalibrationError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


def log_probabilities(log_p: ArrayLike, *, name: str = "log_p") -> Floats:
    """Return log-probabilities (n, K), float64, each row normalised; -inf is legal.

    Raises CalibrationError for another shape, nan, +inf, or a row with no mass at all.
    """
    x = _floats(log_p, name)
    if x.ndim != 2 or x.shape[1] < 1:
        raise CalibrationError(f"{name} must have the shape (rows, options), got {x.shape}")
    normalised = np.empty(x.shape)
    size = max(512, 32768 // x.shape[1])
    for at in range(0, len(x), size):
        # A few thousand rows at a time stay in the processor's cache, and options as rows make
        # every sum over options an addition of whole vectors.
        part = x[at : at + size].T.copy()
        top = part.max(axis=0)
        if not np.isfinite(top).all():
            raise _no_distribution(x, at + int(np.argmax(~np.isfinite(top))), name)
        part -= top
        part -= np.log(np.exp(part).sum(axis=0))
        normalised[at : at + size] = part.T
    return normalised


def probabilities(p: ArrayLike, *, name: str = "p") -> Floats:
    """Return probabilities (n,), float64, each in [0, 1]."""
    x = _floats(p, name)
    if x.ndim != 1:
        raise CalibrationError(f"{name} must be one-dimensional, got the shape {x.shape}")
    bad = ~((x >= 0.0) & (x <= 1.0))
    if bad.any():
        row = int(np.argmax(bad))
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
    if labels.min() < 0 or labels.max() >= k:
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
