"""What became of one item: what the target gave, and every score or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from classify.adapters.scorers.eval_items import EvalItem
from classify.adapters.scorers.eval_target import TargetResult
from classify.adapters.scorers.result import ScorerResult
from classify.display.notebook import Shown

if TYPE_CHECKING:
    from classify.display.cards import Card

Where: TypeAlias = Literal["target", "scorer", "gate"]


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong: counted and kept, never a score."""

    where: Where
    """Whose fault it was."""
    type: str
    """The class of the error."""
    message: str
    """What it said."""

    @classmethod
    def of(cls, error: BaseException, where: Where) -> Failure:
        """Return what is kept of an error."""
        return cls(where, type(error).__name__, str(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """What one scorer made of one item: a score, not scorable, or a failure."""

    score: float | None = None
    """As the scorer gives it; None where there is none."""
    reason: str | None = None
    """Why the score is what it is."""
    not_scorable: str | None = None
    """Why there is no score where the scorer said so; "" where it gave no reason."""
    no_verdict: bool = False
    """Whether it is not scorable because whoever judged gave no verdict."""
    failure: Failure | None = None
    """What went wrong, where something did."""
    methods: tuple[str, ...] = ()
    """How the answers behind the score were obtained, each once; () where no classifier was
    asked."""
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What else the scorer's result holds, as JSON: step results, prompts, raw score, judge."""
    result: ScorerResult[Any, Any, Any, Any] | None = None
    """The scorer's own result; None for a failure, and for what an earlier run left in a file."""


Scorings: TypeAlias = Mapping[str, Scoring]
"""Scorer's key -> what it made of an item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutcome:
    """One turn of a conversation, judged alone."""

    output: Any = None
    scores: Scorings = field(default_factory=dict[str, Scoring])
    gates: Scorings = field(default_factory=dict[str, Scoring])


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemResult(Shown):
    """What became of one item in one trial."""

    index: int
    """The item's position in the data, from 0."""
    trial: int
    """From 0."""
    id: str
    item: EvalItem
    target_result: TargetResult | None = None
    """None where the target failed, and for what an earlier run left in a file."""
    output: Any = None
    failure: Failure | None = None
    """Why the target gave nothing; no scorer was asked then."""
    scores: Scorings = field(default_factory=dict[str, Scoring])
    gates: Scorings = field(default_factory=dict[str, Scoring])
    turns: tuple[TurnOutcome, ...] = ()
    seconds: float = 0.0
    reused: bool = False
    """Whether an earlier run left it."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """All that went wrong, the target's failure first."""
        scorings = [*self.gates.values(), *self.scores.values()]
        for turn in self.turns:
            scorings += [*turn.gates.values(), *turn.scores.values()]
        found = [s.failure for s in scorings if s.failure is not None]
        return tuple(found if self.failure is None else [self.failure, *found])

    def _card(self) -> Card:
        from classify.adapters.scorers.report_cards import item_result_card

        return item_result_card(self)
