"""CORP: a proper score as miscalibration - discrimination + uncertainty, without bins.

Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic classifiers",
PNAS 2021. The recalibrated probabilities are the isotonic fit of the outcomes to p, ties pooled
first. Miscalibration is biased upwards by about n^(-2/3): 0.02 at 100 rows of a calibrated model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.measurement import rows_used
from classify.calibration.outcomes import (
    BinaryOutcomes,
    ClassOutcomes,
    binary_outcomes,
    class_outcomes,
    option_probabilities,
)
from classify.calibration.pooling import pooled_labels
from classify.display.notebook import Shown

_Score = Callable[[Floats, Floats, Floats], float]
"""From probabilities, rates of outcome 1 and weights to the summed score."""


@dataclass(frozen=True, slots=True)
class Decomposition(Shown):
    """The parts of a proper score; score = miscalibration - discrimination + uncertainty."""

    score: float
    miscalibration: float
    """What the isotonic recalibration would gain; 0 is perfect."""
    discrimination: float
    """What the recalibrated probabilities gain over the base rate; higher is better."""
    uncertainty: float
    """The score of the base rate: how hard these rows are."""
    rule: str
    n: int
    total: int | None = None
    """How many rows there were, where that is known."""

    @property
    def value(self) -> float:
        """The score, under the name that other figures have."""
        return self.score

    def __str__(self) -> str:
        """Show the score as the sum of its parts."""
        return (
            f"{self.score:z.4f} = miscalibration {self.miscalibration:z.4f}"
            f" - discrimination {self.discrimination:z.4f}"
            f" + uncertainty {self.uncertainty:z.4f}"
            f"  ({self.rule}, {rows_used(self.n, self.total)})"
        )


def corp_brier(p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Decomposition:
    """Return the CORP parts of the binary Brier score, mean (p - y)^2, from 0 to 1."""
    outcomes = binary_outcomes(p, y, weights)
    return _decomposed(outcomes, _squared, rule="CORP of binary Brier")


def corp_log_loss(p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None) -> Decomposition:
    """Return the CORP parts of the binary log loss, in nats.

    Score and miscalibration are infinite where an outcome had probability 0.
    """
    outcomes = binary_outcomes(p, y, weights)
    return _decomposed(outcomes, _logarithmic, rule="CORP of binary log loss")


def corp_brier_options(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None = None
) -> Decomposition:
    """Return the CORP parts of brier_score: the sums of each option's own, one against the rest.

    For two options this is twice corp_brier.
    """
    outcomes = class_outcomes(log_p, y, weights)
    return corp_of_options(option_probabilities(outcomes), outcomes)


def corp_of_options(p: Floats, outcomes: ClassOutcomes) -> Decomposition:
    """Return corp_brier_options of checked outcomes and their option_probabilities (K, n)."""
    parts = [
        _parts(BinaryOutcomes(own, (outcomes.y == option).astype(np.int64), outcomes.w), _squared)
        for option, own in enumerate(p)
    ]
    score, recalibrated, base = (float(sum(column)) for column in zip(*parts, strict=True))
    rule = f"CORP of Brier summed over {outcomes.k} options"
    return _assembled(score, recalibrated, base, rule=rule, n=outcomes.n)


def isotonic_rates(p: Floats, y: Ints, w: Floats) -> tuple[Floats, Floats]:
    """Return the distinct probabilities, in order, and their isotonic rates."""
    rows = pooled_labels(p, y, w)
    return rows.scores, _isotonic(rows.sums / rows.weights, rows.weights)


def _decomposed(outcomes: BinaryOutcomes, summed: _Score, *, rule: str) -> Decomposition:
    return _assembled(*_parts(outcomes, summed), rule=rule, n=outcomes.n)


def _parts(outcomes: BinaryOutcomes, summed: _Score) -> tuple[float, float, float]:
    """Return the mean score of p, of the isotonic rates and of the base rate."""
    rows = pooled_labels(*outcomes)
    p, rates, masses = rows.scores, rows.sums / rows.weights, rows.weights
    total = float(masses.sum())
    base = np.full_like(rates, float(rates @ masses) / total)
    fitted = _isotonic(rates, masses)
    return (
        summed(p, rates, masses) / total,
        summed(fitted, rates, masses) / total,
        summed(base, rates, masses) / total,
    )


def _assembled(
    score: float, recalibrated: float, base: float, *, rule: str, n: int
) -> Decomposition:
    # The parts are not negative in exact arithmetic; rounding may say -1e-17.
    return Decomposition(
        score=score,
        miscalibration=max(score - recalibrated, 0.0),
        discrimination=max(base - recalibrated, 0.0),
        uncertainty=base,
        rule=rule,
        n=n,
    )


def _isotonic(rates: Floats, masses: Floats) -> Floats:
    from scipy.optimize import isotonic_regression

    fitted: Floats = isotonic_regression(rates, weights=masses).x
    return np.clip(fitted, 0.0, 1.0)


def _squared(p: Floats, rates: Floats, masses: Floats) -> float:
    # (p - y)^2 summed over the rows of a group whose outcomes are 0 or 1.
    return float(masses @ ((p - rates) ** 2 + rates * (1 - rates)))


def _logarithmic(p: Floats, rates: Floats, masses: Floats) -> float:
    with np.errstate(divide="ignore"):
        # An outcome that never happened costs nothing, whatever its probability.
        hits = np.where(rates > 0.0, rates * -np.log(np.where(rates > 0.0, p, 1.0)), 0.0)
        rest = 1 - rates
        misses = np.where(rest > 0.0, rest * -np.log1p(-np.where(rest > 0.0, p, 0.0)), 0.0)
    return float((masses * (hits + misses)).sum())
