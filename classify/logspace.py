"""Arithmetic on logs of probabilities: pure, float64; -inf is legal and nan never appears."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


def log_sum(logs: Floats, axis: int = -1) -> Floats:
    """Return log(sum(exp(logs))); an empty or all -inf slice gives -inf."""
    top = np.max(logs, axis=axis, keepdims=True, initial=-np.inf)
    # -inf minus -inf is nan: an impossible slice is shifted by nothing instead.
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.sum(np.exp(logs - shift), axis=axis, keepdims=True)) + shift
    result: Floats = np.squeeze(total, axis=axis)
    return result


def log_normalize(logs: Floats, axis: int = -1) -> Floats:
    """Return logs shifted so that their exponentials sum to 1; an all -inf slice stays as it is."""
    total = np.expand_dims(log_sum(logs, axis=axis), axis)
    shifted: Floats = logs - np.where(np.isfinite(total), total, 0.0)
    return shifted


def safe_log(p: Floats) -> Floats:
    """Return log(p), with log(0) = -inf and no warning."""
    with np.errstate(divide="ignore"):
        result: Floats = np.log(p)
    return result
