"""Proper scores: log loss, Brier in its two conventions, and the skill over a base score.

All take log-probabilities (n, K); lower is better. K = 1 gives 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import LARGEST, Floats, exponentials, of_options
from classify.calibration.measurement import Measurement, rows_used
from classify.calibration.outcomes import ClassOutcomes, unread_outcomes
from classify.calibration.settings import finite_number, shown
from classify.display.notebook import Shown
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class LogLoss(Shown):
    """A log loss in nats, and how many rows gave the true option no probability at all."""

    value: float
    rule: str
    n: int
    zeros: int
    """Rows whose true option had probability 0: without a floor one makes the loss infinite."""
    total: int | None = None
    """How many rows there were, where that is known."""

    def __str__(self) -> str:
        """Show the value and, if there are any, the zeros on the truth."""
        zeros = f", {self.zeros} zeros on the truth" if self.zeros else ""
        return f"{self.value:z.4f}  ({self.rule}, {rows_used(self.n, self.total)}{zeros})"


def log_loss(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    floor: float | None = None,
) -> LogLoss:
    """Return the mean of -log p of the true option, in nats.

    Without a `floor` it is infinite where a true option had probability 0. With one, that
    option's probability counts as at least `floor`; the other options are left as they are.
    """
    outcomes = unread_outcomes(log_p, y, weights)
    losses = log_losses(outcomes)
    zeros = int(np.count_nonzero(np.isposinf(losses)))
    rule = "log loss"
    if floor is not None:
        if not 0 < finite_number(floor, name="floor") < 1:
            raise CalibrationError(f"floor must be between 0 and 1, got {shown(floor)}")
        losses = np.minimum(losses, -np.log(floor))
        rule = f"log loss, floor {floor:g}"
    return LogLoss(_mean(losses, outcomes.w), rule, outcomes.n, zeros)


def brier_score(log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return the mean of the squared error summed over the options, from 0 to 2."""
    outcomes = unread_outcomes(log_p, y, weights)
    value = _mean(brier_losses(outcomes), outcomes.w)
    return Measurement(value, "Brier, sum over options 0..2", outcomes.n)


def half_brier_score(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return half of brier_score, from 0 to 1: for two options the usual (p - y)^2."""
    outcomes = unread_outcomes(log_p, y, weights)
    value = _mean(brier_losses(outcomes), outcomes.w) / 2
    return Measurement(value, "Brier, half of the sum 0..1", outcomes.n)


def brier_skill(log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Measurement:
    """Return 1 - Brier / Brier of the base rates of these rows; 0 is no better than those.

    Raises CalibrationError where all rows have the same label: the base rates are then perfect.
    """
    outcomes = unread_outcomes(log_p, y, weights)
    rates = _base_rates(outcomes)
    return _skill(
        _mean(brier_losses(outcomes), outcomes.w), 1 - float(rates @ rates), "Brier", outcomes.n
    )


def log_loss_skill(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Measurement:
    """Return 1 - log loss / entropy of the base rates of these rows; -inf where the loss is inf.

    Raises CalibrationError where all rows have the same label: the base rates are then perfect.
    """
    outcomes = unread_outcomes(log_p, y, weights)
    rates = _base_rates(outcomes)
    seen = rates[rates > 0.0]
    entropy = -float(seen @ np.log(seen))
    return _skill(_mean(log_losses(outcomes), outcomes.w), entropy, "log loss", outcomes.n)


def log_losses(outcomes: ClassOutcomes) -> Floats:
    """Return -log p of the true option, per row; log_p need not be normalised."""
    losses = np.empty(outcomes.n)
    for block in exponentials(outcomes.log_p):
        own = of_options(block.logs, outcomes.y[block.rows])
        np.subtract(np.log(block.totals), own, out=losses[block.rows])
    # The log of a rounded sum may lie below the only term that matters.
    return np.maximum(losses, 0.0, out=losses)


def brier_losses(outcomes: ClassOutcomes) -> Floats:
    """Return the squared error summed over the options, per row; log_p need not be normalised."""
    losses = np.empty(outcomes.n)
    for block in exponentials(outcomes.log_p):
        errors, totals = block.powers, block.totals
        errors[np.arange(len(totals)), outcomes.y[block.rows]] -= totals
        np.divide(np.einsum("ij,ij->i", errors, errors), totals**2, out=losses[block.rows])
    return losses


def _base_rates(outcomes: ClassOutcomes) -> Floats:
    rates = np.bincount(outcomes.y, weights=outcomes.w, minlength=outcomes.k)
    share: Floats = rates / outcomes.w.sum()
    return share


def _skill(score: float, base: float, name: str, n: int) -> Measurement:
    if base <= 0.0:
        raise CalibrationError(
            f"{name} skill is not defined: all rows have the same label, so the base rate is "
            f"perfect; use the score itself"
        )
    return Measurement(1 - score / base, f"{name} skill over these rows' base rates", n)


def _mean(losses: Floats, w: Floats) -> float:
    most = float(losses.max())
    if most < LARGEST or not np.isfinite(most):
        return float(losses @ w / w.sum()) if np.isfinite(most) else float("inf")
    return most * float(losses / most @ w / w.sum())  # a mean is in range where its sum is not
