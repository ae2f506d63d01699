"""What a scorer is given and what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from classify.adapters.scorers.judge_records import JudgeRecord
from classify.display.notebook import PrintedCard

if TYPE_CHECKING:
    from classify.display.cards import Card

In = TypeVar("In")
Out = TypeVar("Out")
Pre = TypeVar("Pre")
Ana = TypeVar("Ana")

StepName: TypeAlias = Literal["preprocess", "analyze", "generate_score", "generate_reason"]
Direction: TypeAlias = Literal["higher", "lower"]
"""Which end of the score is the good one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerRun(Generic[In, Out]):
    """One thing to score."""

    run_id: str
    """A name for this run."""
    input: In
    """What led to the output."""
    output: Out
    """What is scored."""
    ground_truth: Any = None
    """What the output should have been; of whatever type the scorer's author chose."""
    expected_trajectory: Any = None
    """The steps it should have taken, for scorers of trajectories."""
    request_context: Mapping[str, Any] | None = None
    """What the caller passes along for the steps to read."""
    additional_context: Mapping[str, Any] | None = None
    """The older name for context, passed on as it is."""
    runtime_context: Mapping[str, Any] | None = None
    score_source: str | None = None
    """"live", "trace", "experiment" …"""
    target_scope: Literal["span", "trajectory"] | None = None
    target_entity_type: str | None = None
    target_trace_id: str | None = None
    """The trace it was taken from."""
    target_span_id: str | None = None
    """The span it was taken from."""
    target_metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class NotScorable:
    """No score for this run, and why; returned by a function step."""

    reason: str | None = None
    """Why, for people."""
    no_verdict: bool = False
    """True where the run should have a score and whoever judged gave no verdict: no gate passes."""


def not_scorable(reason: str | None = None, *, no_verdict: bool = False) -> NotScorable:
    """Say that a run has no score: later steps are skipped and no mean counts it.

    Gates and thresholds leave out a run with nothing to score. With `no_verdict`, for a run that
    should have a score, it fails a gate, and a threshold beyond `max_failures` of them.
    """
    return NotScorable(reason, no_verdict)


@dataclass(frozen=True, slots=True)
class Results(Generic[Pre, Ana]):
    """The results of the steps so far; None for a step that has not run or does not exist."""

    preprocess_step_result: Pre
    analyze_step_result: Ana


@dataclass(frozen=True, slots=True)
class StepContext(Generic[In, Out, Pre, Ana]):
    """What a step is called with."""

    run: ScorerRun[In, Out]
    results: Results[Pre, Ana]
    score: float | None = None
    """The normalised score; None before generate_score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerResult(PrintedCard, Generic[In, Out, Pre, Ana]):
    """A score with everything that led to it."""

    scorer_id: str
    run: ScorerRun[In, Out]
    """The run as it was scored, after prepare_run."""
    score: float | None = None
    """In [0, 1] unless the scorer has bounds=None; None where there is none."""
    reason: str | None = None
    """Why the score is what it is; None where no step says so."""
    preprocess_step_result: Pre | None = None
    """What that step returned."""
    analyze_step_result: Ana | None = None
    """What that step returned; of a classifier scorer, its evidence."""
    prompts: Mapping[StepName, str] = field(default_factory=dict[StepName, str])
    """The prompt of each prompt step that ran."""
    judge: Mapping[StepName, JudgeRecord] = field(default_factory=dict[StepName, JudgeRecord])
    """What the judge did in each prompt step that ran; empty where no step asked it."""
    not_scorable: NotScorable | None = None
    """Why there is no score, where a step said so."""
    raw_score: float | None = None
    """What generate_score gave, before it was normalised."""
    bounds: tuple[float, float] | None = (0.0, 1.0)
    """What the raw score ranges between; None where it is not normalised."""
    direction: Direction = "higher"
    """Which end is the good one."""

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.run.run_id

    def _card(self) -> Card:
        from classify.adapters.scorers.result_cards import scorer_result_card

        return scorer_result_card(self)
