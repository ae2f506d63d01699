"""Inductive Venn-Abers calibration: two probabilities, one of which is right.

For every answer, the isotonic fit is made twice, with the answer added as true and as false; the
two values p0 <= p1 enclose a perfectly calibrated one whatever the model does, and their distance
says how much the labels leave open. Vovk, Petej, Fedorova, "Large-scale probabilistic predictors
with and without guarantees of validity", 2015. More than two options are taken in pairs and
coupled (Manokhin, "Multi-class probabilistic classification using inductive and cross Venn-Abers
predictors", 2017).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from classify.calibration.arrays import Floats, Ints, log_probabilities, same_log_odds
from classify.calibration.fitted import (
    FLOOR,
    Fitted,
    Frozen,
    Vector,
    check_count,
    check_positive,
    check_rising,
    check_shares,
)
from classify.calibration.labelled import labelled, warn_of_little_weight
from classify.calibration.pooling import Pooled, isotonic_edges, pooled
from classify.errors import CalibrationError


class VennAbersPair(Frozen):
    """p0 and p1 of one option against another, as steps over their log-odds."""

    p0_from: Vector
    """The log-odds from which on each value of p0 holds; below them p0 is 0."""
    p0: Vector
    p1_up_to: Vector
    """The log-odds up to which each value of p1 holds; above them p1 is 1."""
    p1: Vector

    @model_validator(mode="after")
    def _rise_in_step(self) -> VennAbersPair:
        check_count(self.p0, len(self.p0_from), name="p0")
        check_count(self.p1, len(self.p1_up_to), name="p1")
        for name in ("p0_from", "p1_up_to"):
            check_rising(getattr(self, name), name=name)
        for name in ("p0", "p1"):
            check_rising(getattr(self, name), name=name, level=True)
            check_shares(getattr(self, name), name=name)
        check_positive(self.p1, name="p1")
        check_positive(tuple(1.0 - p for p in self.p0), name="1 - p0")
        return self

    def bounds(self, odds: Floats) -> tuple[Floats, Floats]:
        """Return p0 and p1 (n,)."""
        below = np.searchsorted(np.array(self.p0_from), odds, side="right")
        above = np.searchsorted(np.array(self.p1_up_to), odds, side="left")
        return np.array([0.0, *self.p0])[below], np.array([*self.p1, 1.0])[above]


class VennAbersCalibrator(Fitted):
    """p1 / (1 - p0 + p1) for two options; for more, all pairs coupled."""

    multiplies_logs: ClassVar[bool] = True
    method: Literal["venn-abers"] = "venn-abers"
    pairs: tuple[VennAbersPair, ...]
    """In the order (0,1), (0,2), …, (1,2), …: the first of a pair against the second."""

    @model_validator(mode="after")
    def _every_pair(self) -> VennAbersCalibrator:
        check_count(self.pairs, comb(self.fitted_on.k, 2), name="pairs")
        return self

    def bounds(self, log_p: ArrayLike) -> tuple[Floats, Floats]:
        """Return p0 and p1 of the first option (n,); CalibrationError where K is not 2."""
        x = self.checked(log_p)
        if x.shape[1] != 2:
            raise CalibrationError(
                f"bounds are of two options and log_p has {x.shape[1]}; see width"
            )
        return self.pairs[0].bounds(same_log_odds(x[:, 0] - x[:, 1]))

    def width(self, log_p: ArrayLike) -> Floats:
        """Return p1 - p0 (n,), for K > 2 the widest of the pairs of the likeliest option."""
        x = self.checked(log_p)
        top, widest = np.argmax(x, axis=1), np.zeros(len(x))
        for i, j, (p0, p1) in self._pairs(x):
            concerned = (top == i) | (top == j)
            widest = np.where(concerned, np.maximum(widest, p1 - p0), widest)
        return widest

    def _mapped(self, log_p: Floats) -> Floats:
        n, k = log_p.shape
        # The sums of 1/P(i | i or j) of Price et al.; for two options they give P itself.
        inverse = np.full((n, k), 2.0 - k)
        for i, j, (p0, p1) in self._pairs(log_p):
            inverse[:, i] += (1.0 - p0 + p1) / p1
            inverse[:, j] += (1.0 - p0 + p1) / (1.0 - p0)
        return log_probabilities(-np.log(inverse))

    def _pairs(self, x: Floats) -> Iterator[tuple[int, int, tuple[Floats, Floats]]]:
        for pair, (i, j) in zip(self.pairs, combinations(range(x.shape[1]), 2), strict=True):
            yield i, j, pair.bounds(same_log_odds(x[:, i] - x[:, j]))


def fit_venn_abers(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    floor: float = FLOOR,
) -> VennAbersCalibrator:
    """Fit the steps of p0 and p1 in O(n log n); every new answer counts as one row.

    Honest with few labels and with labels of one class. Raises CalibrationError for one option.
    """
    data = labelled(log_p, y, weights=weights, floor=floor, classes=1)
    warn_of_little_weight(data)
    pairs: list[VennAbersPair] = []
    for i, j in combinations(range(data.facts.k), 2):
        x, y_, w = data.log_p, data.y, data.weights
        if data.facts.k > 2:
            either = (y_ == i) | (y_ == j)
            x, y_, w = x[either], y_[either], w[either]
        odds = same_log_odds(x[:, i] - x[:, j])
        pairs.append(_pair(pooled(odds, (y_ == i).astype(np.float64), w)))
    return VennAbersCalibrator(fitted_on=data.facts, pairs=tuple(pairs))


def _pair(rows: Pooled) -> VennAbersPair:
    p1 = _with_a_true_row(rows.weights, rows.sums)
    # Seen from the other end, with true and false exchanged, p0 is the same question.
    p0 = 1.0 - _with_a_true_row(rows.weights[::-1], (rows.weights - rows.sums)[::-1])[::-1]
    rises0 = np.concatenate([[0.0], p0])
    first, last = rises0[1:] != rises0[:-1], np.concatenate([p1[1:] != p1[:-1], [True]])[: len(p1)]
    return VennAbersPair(
        p0_from=tuple(rows.scores[first].tolist()),
        p0=tuple(p0[first].tolist()),
        p1_up_to=tuple(rows.scores[last].tolist()),
        p1=tuple(p1[last].tolist()),
    )


def _with_a_true_row(weights: Floats, sums: Floats) -> Floats:
    """Return the isotonic fit at every score after one true row is added there.

    In the diagram of cumulated weight and sum, the row moves all points at or right of it by
    (1, 1), and the fit is the greatest over points a left of the row of the least slope from a to
    a moved point. The least slope is reached at a corner of the fit without the row, not before
    the end of the block in which a lies, wherever the row is; so it is found once for every a, by
    bisection on the corners, and the fit is a running maximum.
    """
    if not len(weights):
        return weights
    corners = isotonic_edges(Pooled(weights, weights, sums))
    w, s = np.concatenate([[0.0], np.cumsum(weights)]), np.concatenate([[0.0], np.cumsum(sums)])
    corner_w, corner_s = w[corners], s[corners]
    edge = np.append(np.diff(corner_s) / np.diff(corner_w), np.inf)
    low = np.repeat(np.arange(1, len(corners)), np.diff(corners))
    slopes = _slope(w[:-1], s[:-1], corner_w[low], corner_s[low])
    open_ = np.flatnonzero(slopes > edge[low])
    if len(open_):
        best = _bisect(w[open_], s[open_], low[open_], corner_w=corner_w, corner_s=corner_s)
        slopes[open_] = _slope(w[open_], s[open_], corner_w[best], corner_s[best])
    # Differences of cumulated sums are rounded. The row's block holds its 1 and at most all the
    # weight, so its mean has a least value; below 2^-53, one less it would be 1 again.
    least = max(1.0 / (w[-1] + 1.0), 2.0**-53)
    return np.clip(np.maximum.accumulate(slopes), least, 1.0)


def _bisect(w: Floats, s: Floats, low: Ints, *, corner_w: Floats, corner_s: Floats) -> Ints:
    """Return the first corner after `low` beyond which the slope from each point rises again."""
    edge = np.append(np.diff(corner_s) / np.diff(corner_w), np.inf)
    before, at = low, np.full(len(low), len(corner_w) - 1)
    while (at - before > 1).any():
        middle = (before + at) // 2
        falls = _slope(w, s, corner_w[middle], corner_s[middle]) > edge[middle]
        before, at = np.where(falls, middle, before), np.where(falls, at, middle)
    return at


def _slope(w: Floats, s: Floats, moved_w: Floats, moved_s: Floats) -> Floats:
    slope: Floats = (moved_s + 1.0 - s) / (moved_w + 1.0 - w)
    return slope
