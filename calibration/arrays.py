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
    if np.isnan(x).any() or np.isposinf(x).any():
        row = int(np.argmax((np.isnan(x) | np.isposinf(x)).any(axis=1)))
        raise CalibrationError(f"{name} row {row} holds nan or +inf: {x[row].tolist()!r}")
    top = x.max(axis=1, keepdims=True, initial=-np.inf)
    if np.isneginf(top).any():
        row = int(np.argmax(np.isneginf(top[:, 0])))
        raise CalibrationError(f"{name} row {row} gives no option any probability")
    shifted = x - top
    normalised: Floats = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
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
    labels = raw.astype(np.int64)
    bad = (labels < 0) | (labels >= k)
    if bad.any():
        row = int(np.argmax(bad))
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
