"""The risk that is left when only the surest rows are kept, in closed form over ties."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, finite_numbers, numbers, sample_weights
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class KeptRisk:
    """Rows pooled by confidence, from the surest down, with the loss each group adds."""

    confidence: Floats
    mass: Floats
    """The weight of each group."""
    loss: Floats
    """The weighted loss of each group."""
    rows: tuple[Floats, Floats]
    """The losses and weights of the single rows, for the oracle."""

    @property
    def n(self) -> int:
        return self.rows[0].size

    def coverage(self) -> Floats:
        """Return the share of the weight that is kept down to each group."""
        kept: Floats = np.cumsum(self.mass) / self.mass.sum()
        return kept

    def risk(self) -> Floats:
        """Return the mean loss of what is kept down to each group."""
        mean: Floats = np.cumsum(self.loss) / np.cumsum(self.mass)
        return mean

    def mean_risk(self) -> float:
        """Return the mean over k of the mean loss of the k surest rows."""
        from scipy.special import digamma

        before, mean = np.cumsum(self.mass) - self.mass, self.loss / self.mass
        loss_before = np.cumsum(self.loss) - self.loss
        # Sum over j = 1 … m of (L + j l) / (B + j), for a tie of mass m and mean loss l after
        # mass B and loss L: l m + (L - l B)(psi(B + m + 1) - psi(B + 1)). A tie of 1 needs no psi.
        single = self.mass == 1.0
        after = before + self.mass
        harmonic = 1.0 / after
        harmonic[~single] = digamma(after[~single] + 1) - digamma(before[~single] + 1)
        summed = self.loss + (loss_before - mean * before) * harmonic
        return float(summed.sum() / self.mass.sum())

    def mean_joint_risk(self) -> float:
        """Return the mean over coverages of the loss of what is kept, over the whole weight."""
        after = np.cumsum(self.loss)
        area = float(self.mass @ (after - self.loss / 2))
        return area / float(self.mass.sum()) ** 2

    def oracle(self) -> KeptRisk:
        """Return the same rows, kept in the order of their losses."""
        loss, w = self.rows
        return _pooled(-loss, loss, w)


def kept_risk(confidence: ArrayLike, loss: ArrayLike, weights: ArrayLike | None) -> KeptRisk:
    """Check confidences and losses of rows, and pool them; at least one row."""
    sure, losses = numbers(confidence, name="confidence"), finite_numbers(loss, name="loss")
    if sure.ndim != 1 or sure.size == 0 or losses.shape != sure.shape:
        raise CalibrationError(
            f"confidence and loss must be equally long and not empty, "
            f"got the shapes {sure.shape} and {losses.shape}"
        )
    if np.isnan(sure).any():
        raise CalibrationError(f"confidence[{int(np.argmax(np.isnan(sure)))}] is nan")
    if losses.min() < 0.0:
        row = int(np.argmin(losses))
        raise CalibrationError(f"loss[{row}] must not be negative, got {float(losses[row])!r}")
    w = sample_weights(weights, n=sure.size)
    kept = w > 0.0
    return _pooled(sure, losses, w) if kept.all() else _pooled(sure[kept], losses[kept], w[kept])


def _pooled(confidence: Floats, loss: Floats, w: Floats) -> KeptRisk:
    order = np.argsort(confidence)[::-1]
    ordered = confidence[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    return KeptRisk(
        confidence=ordered[starts],
        mass=np.add.reduceat(w[order], starts),
        loss=np.add.reduceat((w * loss)[order], starts),
        rows=(loss, w),
    )
