"""What an evaluation came to: averages, gates, thresholds, a verdict, and every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from classify.adapters.scorers.eval_figures import Figures, figures
from classify.adapters.scorers.eval_outcomes import Failure, ItemResult, Scoring
from classify.adapters.scorers.eval_plan import Planned
from classify.adapters.scorers.thresholds import Threshold, bounds_of, full_marks
from classify.display.notebook import PrintedCard, Shown

if TYPE_CHECKING:
    from classify.display.cards import Card

Verdict: TypeAlias = Literal["passed", "scored", "failed"]
"""All gates and thresholds held; a threshold was missed; a gate failed."""
Trials: TypeAlias = Sequence[Sequence[Scoring | None]]
"""Item -> trial -> what a scorer made of it; None where the target failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult(Shown):
    """Whether every single score was good enough; what is not scorable needs none."""

    id: str
    """The gate's key."""
    passed: bool
    """False too where nothing was scored, or anything failed or got no verdict."""
    limits: Threshold
    """Full marks where no threshold was given: 1, or 0 for a scorer of which less is better."""
    figures: Figures
    """What its scores come to."""
    missed: int = 0
    """Scores beyond the limits."""
    errors: tuple[str, ...] = ()
    """What went wrong with the gate or the target; each fails the gate, and is no score of 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdResult(Shown):
    """Whether an average lies in its range."""

    id: str
    """The scorer's key."""
    passed: bool
    """False too where nothing was scored, or more failed or got no verdict than may."""
    threshold: Threshold
    """Where the average has to lie."""
    figures: Figures
    """What the scores come to."""

    @property
    def average_score(self) -> float | None:
        """The average that was compared."""
        return self.figures.mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged(PrintedCard):
    """The figures of some scorers, gates and thresholds."""

    scores: Mapping[str, Figures] = field(default_factory=dict[str, Figures])
    """Scorer's key -> its figures."""
    gates: tuple[GateResult, ...] = ()
    thresholds: tuple[ThresholdResult, ...] = ()

    def _card(self) -> Card:
        from classify.adapters.scorers.report_cards import judged_card

        return judged_card(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalReport(Judged):
    """An evaluation."""

    verdict: Verdict | None
    """None where there are neither gates nor thresholds."""
    turns: Mapping[int, Judged] = field(default_factory=dict[int, Judged])
    """Position of a turn -> what its own scorers and gates came to, over all items."""
    items: tuple[ItemResult, ...]
    """In the order of the data, trial after trial."""
    total_items: int
    """Items of the data."""
    trials: int
    """How often each was run."""
    failed_targets: int
    """Item runs in which the target failed."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All that went wrong, item by item."""
        return tuple(failure for item in self.items for failure in item.failures)

    def item_figures(self, index: int, key: str) -> Figures:
        """Return one item's mean over its trials, with the interval over them."""
        own = [item for item in self.items if item.index == index]
        of = self.scores[key]
        return figures(
            [[item.scores.get(key) for item in own]], direction=of.direction, bounded=False
        )

    def to_json(self) -> dict[str, Any]:
        """Return the figures without the items, as JSON; what does not exist is left out."""
        found: dict[str, Any] = {
            "verdict": self.verdict,
            **_judged_json(self),
            "turns": {str(turn): _judged_json(judged) for turn, judged in self.turns.items()},
        }
        summary = {
            "total_items": self.total_items,
            "trials": self.trials,
            "failed_targets": self.failed_targets,
            "failures": len(self.failures),
        }
        return {name: value for name, value in found.items() if value} | {"summary": summary}

    def _card(self) -> Card:
        from classify.adapters.scorers.report_cards import eval_report_card

        return eval_report_card(self)


def judged(
    scorers: Mapping[Planned, Trials], gates: Mapping[Planned, Trials], *, max_failures: int
) -> Judged:
    """Return the figures of scorers and gates."""
    scores = {planned.key: _figures(planned, trials) for planned, trials in scorers.items()}
    return Judged(
        scores=scores,
        gates=tuple(_gate(planned, trials) for planned, trials in gates.items()),
        thresholds=tuple(
            _threshold(planned.key, planned.threshold, scores[planned.key], max_failures)
            for planned in scorers
            if planned.threshold is not None
        ),
    )


def verdict_of(parts: Sequence[Judged]) -> Verdict | None:
    """Return the verdict over the whole and its turns."""
    gates = [gate.passed for part in parts for gate in part.gates]
    thresholds = [threshold.passed for part in parts for threshold in part.thresholds]
    if not gates and not thresholds:
        return None
    if not all(gates):
        return "failed"
    return "passed" if all(thresholds) else "scored"


def _figures(planned: Planned, trials: Trials) -> Figures:
    scorer = planned.scorer
    bounded = bounds_of(scorer) is not None
    return figures(trials, direction=scorer.direction, bounded=bounded)


def _gate(planned: Planned, trials: Trials) -> GateResult:
    found = _figures(planned, trials)
    scorings = [scoring for item in trials for scoring in item]
    scores = [s.score for s in scorings if s is not None and s.score is not None]
    limits = planned.threshold or full_marks(planned.scorer)
    missed = sum(not limits.met(score) for score in scores)
    return GateResult(
        id=planned.key,
        passed=bool(scores) and not found.missing and not missed,
        limits=limits,
        figures=found,
        missed=missed,
        errors=tuple(_error(s) for s in scorings if s is None or s.failure is not None),
    )


def _error(scoring: Scoring | None) -> str:
    if scoring is None or scoring.failure is None:
        return "the target failed"
    return f"{scoring.failure.type}: {scoring.failure.message}"


def _threshold(
    key: str, threshold: Threshold, found: Figures, max_failures: int
) -> ThresholdResult:
    reached = found.mean is not None and threshold.met(found.mean)
    return ThresholdResult(
        id=key,
        passed=reached and found.failed + found.no_verdict <= max_failures,
        threshold=threshold,
        figures=found,
    )


def _judged_json(part: Judged) -> dict[str, Any]:
    found: dict[str, Any] = {
        "scores": {key: asdict(each) for key, each in part.scores.items()},
        "gates": [asdict(gate) for gate in part.gates],
        "thresholds": [asdict(threshold) for threshold in part.thresholds],
    }
    return {name: value for name, value in found.items() if value}
