"""What a check finds in a run, and the scorer made of it: no model is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.result import NotScorable, ScorerRun, StepContext
from classify.adapters.scorers.scorer import Scorer
from classify.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Finding:
    """A score and what it rests on."""

    score: float
    """From 0 to 1."""
    reason: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


# Any: checks read inputs and outputs of every shape.
Check: TypeAlias = Scorer[Any, Any, None, Finding]
Look: TypeAlias = Callable[[ScorerRun[Any, Any]], Finding | NotScorable]


def check(id: str, description: str, look: Look) -> Check:
    """Return the scorer that gives what `look` finds; its analyze step's result is the Finding."""

    def analyze(context: StepContext[Any, Any, None, None]) -> Finding | NotScorable:
        return look(context.run)

    return (
        create_scorer(id, description=description)
        .analyze(analyze)
        .generate_score(_score)
        .generate_reason(_reason)
    )


def _score(context: StepContext[Any, Any, None, Finding]) -> float:
    return context.results.analyze_step_result.score


def _reason(context: StepContext[Any, Any, None, Finding]) -> str:
    return context.results.analyze_step_result.reason


def passed(holds: bool, reason: str, **details: Any) -> Finding:
    """Return 1 where something holds, else 0."""
    return Finding(float(holds), reason, details)


def required_text(text: object, name: str) -> str:
    """Return a text that a check needs; raises InvalidInput: "" is in every text."""
    if not isinstance(text, str) or not text:
        raise InvalidInput(f"{name} must be a text that is not empty, got {text!r}")
    return text
