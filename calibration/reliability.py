"""The data behind the pictures: reliability diagrams and risk-coverage curves.

Plain numbers, ready for JSON; svg and figures draw them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import EqualMass, EqualWidth, binned_sums, check_bins
from classify.calibration.calibrated_null import residual_draws
from classify.calibration.corp import isotonic_rates
from classify.calibration.estimate import wilson_ends
from classify.calibration.outcomes import BinaryOutcomes, binary_outcomes
from classify.calibration.risk import KeptRisk, kept_risk
from classify.calibration.settings import (
    in_percent,
    not_negative,
    open_unit,
    random_source,
    whole_number,
)
from classify.display.notebook import Shown

if TYPE_CHECKING:
    from classify.display.cards import Card

_HISTOGRAM_BINS = 20
_MOST_POINTS = 1_000_000


@dataclass(frozen=True, slots=True)
class ReliabilityPoint:
    """One bin: what was promised, what happened, and what would happen under calibration."""

    probability: float
    """The mean probability in the bin."""
    rate: float
    """How often it came true."""
    low: float
    """The consistency band: where the rate of a calibrated model would fall."""
    high: float
    rows: int

    @property
    def inside(self) -> bool:
        """Say whether the rate lies where a calibrated model's would."""
        # Rates and ends of the band are multiples of the same 1/rows, rounded differently.
        return self.low - 1e-9 <= self.rate <= self.high + 1e-9


@dataclass(frozen=True, slots=True)
class ReliabilityDiagram(Shown):
    """Binned rates with a consistency band, the isotonic curve, and where the rows lie."""

    points: tuple[ReliabilityPoint, ...]
    curve: tuple[tuple[float, float], ...]
    """The isotonic (CORP) curve, as the corners (probability, rate) of its steps."""
    histogram: tuple[int, ...]
    """Rows in each of 20 equal widths of the probability."""
    rule: str
    confidence: float
    """How often a calibrated model's rate falls inside one bin's band."""
    n: int

    @property
    def scale(self) -> str:
        """The number of rows, and that of the tallest bar, which gives the others their scale."""
        return f"n={self.n}, {max(self.histogram)} in the tallest bar"

    def _card(self) -> Card:
        from classify.calibration.metric_cards import reliability_card

        return reliability_card(self)


@dataclass(frozen=True, slots=True)
class RiskCoverage(Shown):
    """What is wrong among the surest rows, by the share of rows kept."""

    coverage: tuple[float, ...]
    """Share of rows answered, ascending, in [0, 1]."""
    risk: tuple[float, ...]
    """The mean loss of the rows kept."""
    threshold: tuple[float, ...]
    """The least confidence kept."""
    area: float
    """AURC of all rows, not only of the points shown."""
    base_risk: float
    """The mean loss with every row kept."""
    rule: str
    n: int
    interval: tuple[tuple[float, float], ...] | None = None
    """Of each risk alone, Wilson's 95 %; None where losses are not all 0 or 1, or rows weigh
    differently."""

    def _card(self) -> Card:
        from classify.calibration.metric_cards import risk_coverage_card

        return risk_coverage_card(self)


def reliability_diagram(
    p: ArrayLike,
    y: ArrayLike,
    *,
    seed: int,
    weights: ArrayLike | None = None,
    bins: EqualMass | EqualWidth = EqualMass(),  # noqa: B008  frozen, so sharing it is safe
    confidence: float = 0.9,
    draws: int = 1000,
) -> ReliabilityDiagram:
    """Return the data of a reliability diagram; the band comes from outcomes drawn from p."""
    open_unit(confidence, name="confidence")
    check_bins(bins)
    outcomes = binary_outcomes(p, y, weights)
    index, count = bins.assign(outcomes.p, outcomes.w)
    mass = binned_sums(index, outcomes.w, count)
    used = mass > 0.0
    promised = binned_sums(index, outcomes.w * outcomes.p, count)
    sums = residual_draws(outcomes, index, cells=count, draws=draws, random=random_source(seed))
    tails = [(1 - confidence) / 2, (1 + confidence) / 2]
    band = np.quantile((sums + promised)[:, used] / mass[used], tails, axis=0)
    happened = binned_sums(index, outcomes.w * outcomes.y, count)[used] / mass[used]
    columns = (promised[used] / mass[used], happened, *np.clip(band, 0.0, 1.0))
    rows = np.bincount(index, minlength=count)[used]
    return ReliabilityDiagram(
        points=tuple(
            ReliabilityPoint(float(p), float(rate), float(low), float(high), int(size))
            for p, rate, low, high, size in zip(*columns, rows, strict=True)
        ),
        curve=_curve(outcomes),
        histogram=_histogram(outcomes.p),
        rule=(
            f"{bins.rule(count)}, consistency band {in_percent(confidence)}, {draws} draws, "
            f"seed {seed}"
        ),
        confidence=confidence,
        n=outcomes.n,
    )


def risk_coverage(
    confidence: ArrayLike,
    loss: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    points: int = 200,
) -> RiskCoverage:
    """Return at most `points` points of the curve, at ends of ties, even in coverage."""
    whole_number(points, name="points", least=2, most=_MOST_POINTS)
    kept = kept_risk(confidence, loss, weights)
    coverage, risk = kept.coverage(), kept.risk()
    targets = np.linspace(0.0, 1.0, points)
    # The running sum may end a rounding error below 1; the last point is always the last group.
    shown = np.unique(np.minimum(np.searchsorted(coverage, targets), coverage.size - 1))
    counted = weights is None and np.isin(kept.rows[0], (0.0, 1.0)).all()
    return RiskCoverage(
        coverage=_floats(coverage[shown]),
        risk=_floats(risk[shown]),
        threshold=_floats(kept.confidence[shown]),
        area=kept.mean_risk(),
        base_risk=float(risk[-1]),
        rule="mean loss, ties kept together, AURC over k" + (", Wilson 95%" if counted else ""),
        n=kept.n,
        interval=_risk_intervals(kept, shown) if counted else None,
    )


def coverage_at_risk(
    confidence: ArrayLike, loss: ArrayLike, *, risk: float, weights: ArrayLike | None = None
) -> float:
    """Return the largest share that can be kept with a mean loss of at most `risk`, else 0.

    In hindsight, on these rows: no promise for others (see risk_control). Ties are kept together.
    """
    kept = kept_risk(confidence, loss, weights)
    allowed = np.flatnonzero(kept.risk() <= not_negative(risk, name="risk") + 1e-12)
    return float(kept.coverage()[allowed[-1]]) if allowed.size else 0.0


def _risk_intervals(kept: KeptRisk, shown: Ints) -> tuple[tuple[float, float], ...]:
    wrong, rows = np.cumsum(kept.loss)[shown], np.cumsum(kept.mass)[shown]
    return tuple(
        wilson_ends(float(k), float(n), confidence=0.95) for k, n in zip(wrong, rows, strict=True)
    )


def _curve(outcomes: BinaryOutcomes) -> tuple[tuple[float, float], ...]:
    p, rates = isotonic_rates(outcomes.p, outcomes.y, outcomes.w)
    change = np.flatnonzero(rates[1:] != rates[:-1])
    corners = np.unique(np.concatenate(([0], change, change + 1, [p.size - 1])))
    return tuple(zip(_floats(p[corners]), _floats(rates[corners]), strict=True))


def _histogram(p: Floats) -> tuple[int, ...]:
    index, count = EqualWidth(_HISTOGRAM_BINS).assign(p, np.ones_like(p))
    return tuple(int(rows) for rows in np.bincount(index, minlength=count))


def _floats(values: Floats) -> tuple[float, ...]:
    return tuple(float(value) for value in values)
