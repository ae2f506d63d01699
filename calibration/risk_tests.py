"""Exact tests of "the risk is above alpha", and how many rows one needs to pass them.

They take sums of losses and numbers of rows, not rates: ceil(n * (k / n)) is not always k.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.settings import open_unit, shown
from classify.errors import CalibrationError

_SLACK = 1e-9
"""A sum of losses this close above a whole number is that number."""


def binomial_p_values(errors: ArrayLike, n: ArrayLike, *, alpha: float) -> Floats:
    """Return P(Binomial(n, alpha) <= errors): how lucky so few errors would be at risk alpha."""
    from scipy.special import bdtr

    k, m = _counts(errors, n, alpha)
    return np.asarray(bdtr(np.floor(k + _SLACK), m, alpha), dtype=np.float64)


def hoeffding_bentkus_p_values(losses: ArrayLike, n: ArrayLike, *, alpha: float) -> Floats:
    """Return the p-value for a sum of n losses in [0, 1] (Bates 2021).

    The smaller of Hoeffding's bound and e times the binomial tail (Bentkus).
    """
    from scipy.special import bdtr, rel_entr

    total, m = _counts(losses, n, alpha)
    mean: Floats = np.minimum(total / m, alpha)
    divergence = rel_entr(mean, alpha) + rel_entr(1.0 - mean, 1.0 - alpha)
    bentkus = math.e * np.asarray(bdtr(np.ceil(total - _SLACK), m, alpha), dtype=np.float64)
    hoeffding = np.exp(-m * np.asarray(divergence, dtype=np.float64))
    return np.asarray(np.minimum(1.0, np.minimum(hoeffding, bentkus)), dtype=np.float64)


def fewest_rows(*, alpha: float, delta: float, errors: int = 0) -> int:
    """Return how many rows with so many errors certify a risk of at most alpha.

    >>> [fewest_rows(alpha=0.05, delta=0.1, errors=errors) for errors in (0, 1, 2)]
    [45, 77, 105]
    """
    from scipy.special import bdtr, bdtrin

    sure, risk = open_unit(delta, name="delta"), open_unit(alpha, name="alpha")
    if errors == 0:
        return max(1, math.ceil(math.log(sure) / math.log1p(-risk) - _SLACK))
    rows = max(errors + 1, math.floor(float(bdtrin(errors, sure, risk))) - 1)
    while bdtr(errors, rows, risk) > sure:
        rows += 1
    return rows


def _counts(losses: ArrayLike, n: ArrayLike, alpha: float) -> tuple[Floats, Ints]:
    open_unit(alpha, name="alpha")
    total, m = np.asarray(losses, dtype=np.float64), np.asarray(n).astype(np.int64)
    if not ((m >= 1) & (total >= 0.0) & (total <= m + _SLACK)).all():
        raise CalibrationError(
            f"losses must be sums of n >= 1 losses in [0, 1], got {shown(losses)} for n={shown(n)}"
        )
    return total, m
