"""Decide alone where the error is small enough, hand over the rest, and promise it.

Two risks. Joint: the share of all rows that were decided alone and wrong. Selective: the share
of wrong ones among those decided alone; it need not fall as the threshold rises, so it is tested
threshold by threshold (learn then test, Angelopoulos 2021) instead of solved for. A row is
decided alone when its confidence is at or above the threshold.

One sequence of tests from the strictest threshold on ends at the first failure, and one error
among the surest rows is a failure. So several sequences start at different thresholds and share
delta; one that gets as far as the next start takes its share along (the fallback procedure, Wiens
and Dmitrienko 2005), and what a sequence has certified stays certified.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from classify.calibration.arrays import Floats, Ints, numbers, probabilities
from classify.calibration.outlook import Outlook, RiskName, look_ahead
from classify.calibration.risk_tests import (
    binomial_p_values,
    fewest_rows,
    hoeffding_bentkus_p_values,
)
from classify.calibration.settings import in_percent, open_unit, whole_number
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

STARTS = 4
"""Sequences that share delta; from 2 to 4 the share kept hardly changes, its worst tenth rises."""
_MOST_STARTS = 1000
_STEPS = 20
"""Thresholds of the default grid; with 50 a sequence has more tests to fail."""
_ERRORS = 3
"""So many errors may be among the rows of the first start: with fewer, one is soon too many."""
_SUREST = 1 / 3
"""The first start accepts no more of all rows than this, lest it be past the good ones."""


@dataclass(frozen=True, slots=True)
class ThresholdStep:
    """What was seen at one threshold."""

    threshold: float
    """The least confidence that is accepted."""
    accepted: int
    """Calibration rows at or above it."""
    loss: float
    """The sum of the losses among the accepted: the number of errors where losses are 0 or 1."""
    p_value: float
    """Of "the risk is above alpha here"."""
    level: float
    """The share of delta that reached this threshold: the most that p may be to pass."""

    @property
    def passed(self) -> bool:
        """Whether the risk here is certified to be at most alpha."""
        return self.p_value <= self.level


@dataclass(frozen=True, slots=True)
class RiskControl(Shown):
    """A threshold on confidence, and the promise it carries."""

    risk: RiskName
    """"selective": of the answers decided alone; "joint": of all answers."""
    threshold: float
    """Decide alone at or above it; inf: nothing can be promised, so hand everything over."""
    alpha: float
    """The most it may be."""
    delta: float | None
    """The chance that the promise fails; None where it holds on average over calibration sets."""
    rule: str
    """How the threshold was found, in words."""
    n: int
    """Calibration rows."""
    accepted: int
    """Calibration rows at or above the threshold."""
    loss: float
    """The sum of their losses."""
    steps: tuple[ThresholdStep, ...]
    """The thresholds tested, from strict to permissive: after a failure on from the next start.
    Empty for the joint risk."""
    outlook: Outlook
    """What could be hoped for, before any threshold was tried."""

    @property
    def decides_alone(self) -> float:
        """The share of the calibration rows that the policy decides alone."""
        return self.accepted / self.n

    def __str__(self) -> str:
        """Say the promise, the threshold, what it keeps, and the outlook."""
        most = in_percent(self.alpha, decimals=1)
        if math.isinf(self.threshold):
            return f"no threshold keeps the {self.risk} error at {most}: {self.outlook}"
        sure = (
            "on average" if self.delta is None else f"with {in_percent(1 - self.delta)} confidence"
        )
        return (
            f"decide alone at confidence >= {self.threshold:.4g}: {self.risk} error at most "
            f"{most} {sure} ({self.rule}); {self.decides_alone:.1%} of {self.n} rows "
            f"decided alone, {self.loss:g} wrong; {self.outlook}"
        )

    def _card(self) -> Card:
        from classify.calibration.metric_cards import risk_control_card

        return risk_control_card(self)


def control_joint_risk(confidence: ArrayLike, loss: ArrayLike, *, alpha: float) -> RiskControl:
    """Keep E[loss · decided alone] <= alpha on average over calibration sets.

    `loss` (n,) in [0, 1], such as 1 for wrong. Takes the lowest of the confidences at which
    (sum of accepted losses + 1) / (n + 1) <= alpha (conformal risk control, Angelopoulos 2024).
    """
    rows = _Rows.of(confidence, loss)
    bound = (rows.losses + 1.0) / (rows.n + 1.0)
    # alpha is a decimal that has no exact double; a bound equal to it has passed.
    passed = bound <= open_unit(alpha, name="alpha") + 1e-12
    return _joint(rows, passed, alpha=alpha, delta=None, rule="conformal risk control")


def certify_joint_risk(
    confidence: ArrayLike, loss: ArrayLike, *, alpha: float, delta: float = 0.1
) -> RiskControl:
    """Keep E[loss · decided alone] <= alpha in all but a share `delta` of calibration sets.

    The joint risk falls as the threshold rises, so every confidence is tested, from strict to
    permissive, up to the first that fails (RCPS, Bates 2021).
    """
    rows = _Rows.of(confidence, loss)
    passed = rows.p_values(rows.losses, np.full_like(rows.losses, rows.n), alpha) <= open_unit(
        delta, name="delta"
    )
    return _joint(rows, passed, alpha=alpha, delta=delta, rule=rows.test)


def control_selective_risk(
    confidence: ArrayLike,
    loss: ArrayLike,
    *,
    alpha: float,
    delta: float = 0.1,
    thresholds: ArrayLike | None = None,
    starts: int = STARTS,
) -> RiskControl:
    """Keep E[loss | decided alone] <= alpha in all but a share `delta` of calibration sets.

    Tests thresholds from strict to permissive in up to `starts` sequences that share delta; each
    ends at its first failure, and the most permissive threshold that passed is taken. Without
    `thresholds` they are quantiles of the confidences, by numbers of rows that n, alpha and delta
    fix: exact where the selective risk falls as confidence rises. Otherwise give a grid that was
    fixed before the rows were seen, with starts at equal distances in it; thresholds with too few
    rows to pass are left out.
    """
    rows = _Rows.of(confidence, loss)
    open_unit(alpha, name="alpha")
    open_unit(delta, name="delta")
    whole_number(starts, name="starts", least=1, most=_MOST_STARTS)
    if thresholds is None:
        grid, shares = _quantiles(rows, alpha=alpha, delta=delta, starts=starts)
    else:
        grid = _given_grid(thresholds)
        shares = np.zeros(grid.size)
        each = min(starts, grid.size)
        shares[np.arange(each) * grid.size // each] = delta / each
    steps = _tested(rows, grid, shares, alpha)
    passed = [step for step in steps if step.passed]
    last = passed[-1] if passed else None
    sequences = max(1, int(np.count_nonzero(shares)))
    return RiskControl(
        risk="selective",
        threshold=math.inf if last is None else last.threshold,
        alpha=alpha,
        delta=delta,
        rule=f"{_sequences(sequences)}, {rows.test}",
        n=rows.n,
        accepted=0 if last is None else last.accepted,
        loss=0.0 if last is None else last.loss,
        steps=steps,
        outlook=look_ahead(rows.n, loss=rows.total, alpha=alpha, delta=delta),
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """The distinct confidences from high to low, with running sums: ties are one threshold."""

    thresholds: Floats
    accepted: Floats
    losses: Floats
    n: int
    zero_one: bool

    @classmethod
    def of(cls, confidence: ArrayLike, loss: ArrayLike) -> _Rows:
        c = numbers(confidence, name="confidence")
        x = probabilities(loss, name="loss")
        if c.shape != x.shape or c.size == 0:
            raise CalibrationError(
                f"confidence and loss must be two arrays of one length, at least 1, "
                f"got {c.shape} and {x.shape}"
            )
        if np.isnan(c).any():
            raise CalibrationError(f"confidence[{int(np.argmax(np.isnan(c)))}] is nan")
        order = np.argsort(-c, kind="stable")
        c = c[order]
        last = np.append(c[1:] != c[:-1], True)
        return cls(
            thresholds=c[last],
            accepted=np.flatnonzero(last).astype(np.float64) + 1.0,
            losses=np.cumsum(x[order])[last],
            n=c.size,
            zero_one=bool(((x == 0.0) | (x == 1.0)).all()),
        )

    @property
    def total(self) -> float:
        # A running sum may end a rounding error above n.
        return min(float(self.losses[-1]), float(self.n))

    @property
    def test(self) -> str:
        return "exact binomial tail" if self.zero_one else "Hoeffding-Bentkus"

    def at(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Return how many rows are accepted at each threshold, and the sums of their losses."""
        index = np.searchsorted(-self.thresholds, -thresholds, side="right")
        return np.append(0.0, self.accepted)[index], np.append(0.0, self.losses)[index]

    def p_values(self, losses: Floats, accepted: Floats, alpha: float) -> Floats:
        test = binomial_p_values if self.zero_one else hoeffding_bentkus_p_values
        return test(losses, accepted, alpha=alpha)


def _joint(
    rows: _Rows, passed: NDArray[np.bool_], *, alpha: float, delta: float | None, rule: str
) -> RiskControl:
    kept = int(np.cumprod(passed).sum())
    return RiskControl(
        risk="joint",
        threshold=float(rows.thresholds[kept - 1]) if kept else math.inf,
        alpha=alpha,
        delta=delta,
        rule=rule,
        n=rows.n,
        accepted=int(rows.accepted[kept - 1]) if kept else 0,
        loss=float(rows.losses[kept - 1]) if kept else 0.0,
        steps=(),
        outlook=look_ahead(rows.n, loss=rows.total, alpha=alpha, delta=delta, risk="joint"),
    )


def _tested(rows: _Rows, grid: Floats, shares: Floats, alpha: float) -> tuple[ThresholdStep, ...]:
    """Test thresholds from strict to permissive; `shares` of delta join in where they stand.

    A threshold with too few rows to pass hands on what it got: nothing was tested there.
    """
    accepted, losses = rows.at(grid)
    some = np.maximum(accepted, 1.0)
    p = rows.p_values(losses, some, alpha)
    least = np.where(accepted > 0.0, rows.p_values(np.zeros_like(losses), some, alpha), math.inf)
    steps: list[ThresholdStep] = []
    level = 0.0
    for at in range(grid.size):
        level += float(shares[at])
        if least[at] > level:
            continue
        step = ThresholdStep(
            float(grid[at]), int(accepted[at]), float(losses[at]), float(p[at]), level
        )
        steps.append(step)
        level = level if step.passed else 0.0
    return tuple(steps)


def _quantiles(rows: _Rows, *, alpha: float, delta: float, starts: int) -> tuple[Floats, Floats]:
    """Return thresholds that each accept about equally many more rows, and their shares of delta.

    They go from the first start to all rows.
    """
    counts = _start_counts(rows.n, alpha=alpha, delta=delta, most=starts)
    if not counts.size:
        return np.zeros(0), np.zeros(0)
    wanted: Floats = np.linspace(float(counts[0]), float(rows.n), _STEPS)
    index = np.unique(_most_within(rows.accepted, wanted))
    shares = np.zeros(index.size)
    # Ties may leave two starts at one threshold.
    np.add.at(shares, _most_within(rows.accepted[index], counts), delta / counts.size)
    return rows.thresholds[index], shares


def _most_within(accepted: Floats, counts: Floats) -> Ints:
    """Return where the most rows are accepted that are no more than a count; else the first.

    Rows of equal confidence are accepted together. Sure ones are then not lost to a count that
    only the next, larger group reaches.
    """
    found: Ints = np.searchsorted(accepted, counts + 1e-9, side="right").astype(np.int64) - 1
    return np.maximum(found, 0)


def _start_counts(n: int, *, alpha: float, delta: float, most: int) -> Floats:
    """Return how many rows the starts accept, the first the fewest; none where n are too few.

    They may not depend on the losses, so they are fixed by the numbers alone.
    """
    first = fewest_rows(alpha=alpha, delta=delta / most, errors=_ERRORS)
    if first <= n * _SUREST:
        return np.linspace(first, n, most + 1)[:-1]
    # A share of delta certifies little on few rows: one start, at the errors that a third allow.
    for errors in range(_ERRORS, 0, -1):
        first = fewest_rows(alpha=alpha, delta=delta, errors=errors)
        if first <= n * _SUREST:
            return np.array([float(first)])
    first = fewest_rows(alpha=alpha, delta=delta)
    return np.array([float(first)] if first <= n else [])


def _sequences(count: int) -> str:
    return "fixed sequence" if count == 1 else f"fixed sequences from {count} starts"


def _given_grid(thresholds: ArrayLike) -> Floats:
    grid = numbers(thresholds, name="thresholds")
    if grid.ndim != 1 or grid.size == 0 or not (np.diff(grid) < 0.0).all():
        raise CalibrationError(
            f"thresholds must fall from strict to permissive, such as [0.9, 0.8, 0.7], "
            f"got {grid.tolist()!r}"
        )
    return grid
