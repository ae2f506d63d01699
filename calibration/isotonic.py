"""Isotonic calibration: the best map that never turns two answers round.

It learns any monotone shape but needs about 1000 labels (Niculescu-Mizil and Caruana, 2005). More
than two options are fitted one against the rest and normalised.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field, model_validator

from classify.calibration.arrays import Floats, exponentials, log_probabilities
from classify.calibration.bias import check_ridge
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    Frozen,
    Vector,
    check_count,
    check_rising,
    check_shares,
    logit,
)
from classify.calibration.labelled import labelled, warn_of_little_weight
from classify.calibration.pooling import Pooled, isotonic_edges, pooled_labels

_ROUNDING = 1e-12
_STEP = 2.0**-40


class IsotonicCurve(Frozen):
    """A rising curve through knots, straight between them and level beyond them."""

    x: Vector = Field(min_length=1)
    value: Vector

    @model_validator(mode="after")
    def _rises(self) -> IsotonicCurve:
        check_count(self.value, len(self.x), name="value")
        check_rising(self.x, name="x")
        check_rising(self.value, name="value", level=True)
        return self

    def at(self, x: Floats) -> Floats:
        """Return the curve's value at each x."""
        value: Floats = np.interp(x, np.array(self.x), np.array(self.value))
        return value


class IsotonicCalibrator(Fitted):
    """One rising curve for the first of two options, or one for each of several."""

    method: Literal["isotonic"] = "isotonic"
    curves: tuple[IsotonicCurve, ...]

    @model_validator(mode="after")
    def _a_curve_per_option(self) -> IsotonicCalibrator:
        k = self.fitted_on.k
        check_count(self.curves, 1 if k == 2 else k, name="curves")
        for option, curve in enumerate(self.curves):
            check_shares(curve.value, name=f"curves[{option}].value")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        p = _in_steps(log_p, options=len(self.curves))
        raw = np.stack([curve.at(own) for curve, own in zip(self.curves, p, strict=True)], axis=1)
        if len(self.curves) == 1:
            raw = np.concatenate([raw, 1.0 - raw], axis=1)
        # Without pseudo-counts every curve may say zero: then nothing is known of the row.
        raw[~raw.any(axis=1)] = 1.0
        with np.errstate(divide="ignore"):
            return log_probabilities(np.log(raw))


def fit_isotonic(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    pseudo_count: float = 1.0,
    floor: float = FLOOR,
) -> IsotonicCalibrator:
    """Fit rising curves by pooling adjacent violators.

    `pseudo_count` rows of the uniform distribution are added to every block, for a block of equal
    labels would otherwise claim 0 or 1; pseudo_count=0 is plain isotonic regression. Raises
    CalibrationError for one option or one class of labels.
    """
    check_ridge(pseudo_count, name="pseudo_count")
    data = labelled(log_p, y, weights=weights, floor=floor)
    if pseudo_count:
        warn_of_little_weight(data)
    k = data.facts.k
    curves = tuple(
        rising_curve(
            pooled_labels(own, data.y == option, data.weights),
            pseudo_count=pseudo_count,
            towards=1.0 / k,
        )
        for option, own in enumerate(_in_steps(data.log_p, options=1 if k == 2 else k))
    )
    flat = all(min(c.value) == max(c.value) for c in curves)
    return IsotonicCalibrator(fitted_on=data.facts, curves=curves, at_bound=flat)


def _in_steps(log_p: Floats, *, options: int) -> Floats:
    """Return the probabilities of the first options (options, n), rows normalised, in steps.

    The steps make ties of what differs by rounding; they are the same near 0 and near 1, so that
    true and false can be exchanged.
    """
    if log_p.shape[1] == 2:
        with np.errstate(over="ignore"):  # of impossible ones: 1 / inf is their probability
            first: Floats = 1.0 / (1.0 + np.exp(-logit(log_p)))
        return np.rint(first / _STEP)[None] * _STEP
    p = np.empty((options, len(log_p)))
    for block in exponentials(log_p):
        steps = block.powers
        steps *= (1.0 / _STEP / block.totals)[:, None]
        np.rint(steps, out=steps)
        steps *= _STEP
        p[:, block.rows] = steps.T
    return p


def rising_curve(rows: Pooled, *, pseudo_count: float, towards: float) -> IsotonicCurve:
    """Return the isotonic fit as knots at both ends of every block."""
    edges = isotonic_edges(rows)
    weights = np.add.reduceat(rows.weights, edges[:-1])
    sums = np.add.reduceat(rows.sums, edges[:-1])
    # Blocks of one mean are one block, also where rounding parts 1/3 and 2/6: pseudo-counts move
    # two small blocks further than one large one.
    rises = np.append(True, np.diff(sums / weights) > _ROUNDING)
    if not rises.all():
        starts = np.flatnonzero(rises)
        weights, sums = np.add.reduceat(weights, starts), np.add.reduceat(sums, starts)
        edges = edges[np.append(rises, True)]
    if pseudo_count:
        # Small blocks move more than large ones, so the order has to be restored.
        blocks = Pooled(
            np.arange(len(weights), dtype=np.float64),
            weights + pseudo_count,
            sums + pseudo_count * towards,
        )
        joined = isotonic_edges(blocks)
        weights = np.add.reduceat(blocks.weights, joined[:-1])
        sums = np.add.reduceat(blocks.sums, joined[:-1])
        edges = edges[joined]
    ends = np.stack([rows.scores[edges[:-1]], rows.scores[edges[1:] - 1]], axis=1)
    # A block of one score has one knot; rounding of the means may not break the order.
    keep = np.stack([np.ones(len(ends), dtype=bool), ends[:, 0] != ends[:, 1]], axis=1)
    values = np.maximum.accumulate(sums / weights)
    return IsotonicCurve(
        x=tuple(ends[keep].tolist()),
        value=tuple(np.repeat(values[:, None], 2, axis=1)[keep].tolist()),
    )
