"""How well probabilities rank: AUROC, and the risk that is left as the sure answers are kept.

AURC is the mean, over k = 1 … n, of the mean loss of the k surest rows (one of three conventions
in use; the others differ by a trapezoid). Within a tie all orders are averaged, in closed form.
AUGRC (Traub et al. 2024) averages the joint risk, loss of the kept rows over all n rows, which
is also what conformal risk control bounds: over coverages from 0, where it is 0, by trapezoids.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    DROPPED_DIGITS,
    Floats,
    Ints,
    likeliest_options,
    same_probabilities,
)
from classify.calibration.binning import binned_sums
from classify.calibration.intervals import weighted_wilson
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import (
    BinaryOutcomes,
    ClassOutcomes,
    binary_outcomes,
    class_outcomes,
    is_unit,
    unread_outcomes,
    weighted,
)
from classify.calibration.risk import kept_risk
from classify.errors import CalibrationError


def accuracy(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Measurement:
    """Return how often the likeliest option is the true one, with Wilson's interval.

    Of several equally likely options the first counts as the answer.
    """
    rows = unread_outcomes(log_p, y, weights)
    right = likeliest_options(rows.log_p) == rows.y
    found = weighted_wilson(right, weights=rows.w, confidence=confidence)
    rule = f"accuracy, {found.rule}"
    return Measurement(found.value, rule, rows.n, found.low, found.high)


def auroc(score: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return P(score of a 1 > score of a 0) + half of P(equal); score in [0, 1].

    Raises CalibrationError where all rows have the same label.
    """
    outcomes = binary_outcomes(score, y, weights, name="score")
    return Measurement(area_under_roc(outcomes), "AUROC, mid-ranks", outcomes.n)


def auroc_one_vs_rest(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean over options of the AUROC of the option against the rest.

    Raises CalibrationError where an option is never true: its AUROC is not defined.
    """
    outcomes = class_outcomes(log_p, y, weights)
    _all_seen(outcomes)
    masses, rest = _pair_masses(outcomes)
    areas = _pairs_won(outcomes).sum(axis=1) / masses / rest.sum(axis=1)
    return Measurement(float(areas.mean()), "AUROC one-vs-rest, macro", outcomes.n)


def auroc_one_vs_one(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean AUROC over pairs of options and both their scores (Hand and Till 2001).

    Raises CalibrationError where an option is never true: its AUROC is not defined.
    """
    outcomes = class_outcomes(log_p, y, weights)
    _all_seen(outcomes)
    masses, rest = _pair_masses(outcomes)
    pairs = rest > 0.0
    areas = _pairs_won(outcomes)[pairs] / (masses[:, None] * rest)[pairs]
    return Measurement(float(areas.mean()), "AUROC one-vs-one, macro", outcomes.n)


def aurc(
    confidence: ArrayLike, loss: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean risk of the k surest rows over k = 1 … n.

    `loss` is finite and not negative, usually 1 for a wrong answer and 0 for a right one.
    A weight of 2 counts as two rows.
    """
    kept = kept_risk(confidence, loss, weights)
    return Measurement(kept.mean_risk(), "AURC, mean over k, ties averaged", kept.n)


def excess_aurc(
    confidence: ArrayLike, loss: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return AURC less that of an oracle that keeps the rows of least loss first."""
    kept = kept_risk(confidence, loss, weights)
    excess = kept.mean_risk() - kept.oracle().mean_risk()
    return Measurement(excess, "E-AURC, mean over k, ties averaged", kept.n)


def augrc(
    confidence: ArrayLike, loss: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return the mean joint risk over coverages from 0 to 1, by trapezoids between 0, 1 … n rows.

    For a 0/1 loss: accuracy (1 - accuracy) (1 - AUROC) + (1 - accuracy)^2 / 2.
    """
    kept = kept_risk(confidence, loss, weights)
    return Measurement(
        kept.mean_joint_risk(), "AUGRC, trapezoids over coverage from 0, ties averaged", kept.n
    )


def area_under_roc(outcomes: BinaryOutcomes) -> float:
    """Return the AUROC of checked outcomes, weighted."""
    score, y, w = outcomes
    order = np.argsort(score)
    sorted_score = score[order]
    starts = np.flatnonzero(np.append(True, sorted_score[1:] != sorted_score[:-1]))
    ones: Floats = np.add.reduceat((w * y)[order], starts)
    zeros: Floats = np.add.reduceat((w * (1 - y))[order], starts)
    pairs = float(ones.sum()) * float(zeros.sum())
    if pairs == 0.0:
        raise CalibrationError(
            f"AUROC is not defined: all {y.size} rows have the label {int(y[0])}; "
            f"it needs at least one row of each"
        )
    below = np.cumsum(zeros) - zeros / 2
    return float(ones @ below) / pairs


def _pair_masses(outcomes: ClassOutcomes) -> tuple[Floats, Floats]:
    """Return the weight of each option's rows (K,), and of the rows of each other one (K, K)."""
    masses = binned_sums(outcomes.y, outcomes.w, outcomes.k)
    rest = np.tile(masses, (outcomes.k, 1))
    np.fill_diagonal(rest, 0.0)
    return masses, rest


def _pairs_won(outcomes: ClassOutcomes) -> Floats:
    """Return (K, K) the weight of the pairs, a row of i and one of j, that i's probability ranks.

    Ties count half, and an option has no pairs with itself. One order of the rows by i's
    probability serves all j.
    """
    won = np.empty((outcomes.k, outcomes.k))
    for option in range(outcomes.k):
        p = same_probabilities(np.exp(outcomes.log_p[:, option]))
        label, w, starts = _ascending(p, outcomes.y, outcomes.w)
        own = np.cumsum(weighted((label == option).astype(np.float64), w))
        up_to = own[np.append(starts[1:], len(own)) - 1]
        above = own[-1] - (up_to + np.append(0.0, up_to[:-1])) / 2
        if len(starts) < len(own):
            above = np.repeat(above, np.diff(starts, append=len(own)))
        won[option] = np.bincount(label, weights=weighted(above, w), minlength=outcomes.k)
    np.fill_diagonal(won, 0.0)
    return won


def _ascending(p: Floats, y: Ints, w: Floats) -> tuple[Ints, Floats, Ints]:
    """Return labels and weights by ascending `same_probabilities`, and where each value begins.

    Where all rows weigh the same, a label takes the place of the digits that were dropped, and
    one array is sorted instead of an order found and three put into it.
    """
    if is_unit(w) and y.max() <= DROPPED_DIGITS:
        ascending = p.view(np.int64) | y
        ascending.sort()
        label = ascending & DROPPED_DIGITS
        ascending -= label
    else:
        order = np.argsort(p)
        ascending, label, w = p[order].view(np.int64), y[order], w[order]
    return label, w, np.flatnonzero(np.append(True, ascending[1:] != ascending[:-1]))


def _all_seen(outcomes: ClassOutcomes) -> None:
    seen = np.bincount(outcomes.y, minlength=outcomes.k)
    if outcomes.k < 2 or (seen == 0).any():
        absent = np.flatnonzero(seen == 0).tolist()
        raise CalibrationError(
            f"AUROC over options is not defined: it needs at least two options and rows of each, "
            f"but of {outcomes.k} options {absent} are never true"
        )
