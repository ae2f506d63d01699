"""What type checkers see of a classifier scorer: checked by mypy and pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from classify.adapters.scorers import (
    AgentInput,
    AgentOutput,
    ClassifierEvidence,
    ClassifierScorer,
    ScorerLike,
    ScorerResult,
    StepContext,
    assistant_text,
    create_classifier_scorer,
    user_text,
)
from classify.json_values import JSON


@dataclass
class Question:
    """An input."""

    query: str


def judged(context: StepContext[Question, str, None, None]) -> JSON:
    """Return the state, whose types the scorer takes over."""
    return {"question": context.run.input.query, "answer": context.run.output}


async def agent_judged(context: StepContext[AgentInput, AgentOutput, None, None]) -> JSON:
    """Return an agent's state, asynchronously."""
    return {"q": user_text(context.run.input), "a": assistant_text(context.run.output)}


scorer = create_classifier_scorer("typed", "rubric", "q", judged)
assert_type(scorer, ClassifierScorer[Question, str])
assert_type(
    scorer.run_sync(input=Question("why"), output="so"),
    ScorerResult[Question, str, None, ClassifierEvidence],
)
agent_scorer = create_classifier_scorer("agent", "rubric", "q", agent_judged, type="agent")
assert_type(agent_scorer, ClassifierScorer[AgentInput, AgentOutput])
like: ScorerLike = scorer
untyped: ClassifierScorer[Any, Any] = create_classifier_scorer(
    "untyped", "rubric", "q", lambda context: str(context.run.output)
)
