"""What type checkers see of a scorer: checked by mypy and pyright, never run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, assert_type

from pydantic import BaseModel

from classify.adapters.scorers.agent_messages import AgentInput, AgentOutput
from classify.adapters.scorers.builder import ScorerBuilder, create_scorer
from classify.adapters.scorers.prompt_step import PromptStep
from classify.adapters.scorers.result import (
    NotScorable,
    ScorerResult,
    ScorerRun,
    StepContext,
    not_scorable,
)
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.scorer_like import ScorerLike


@dataclass
class Question:
    """An input."""

    query: str


Begun = StepContext[Question, str, None, None]
Split = StepContext[Question, str, list[str], None]
Counted = StepContext[Question, str, list[str], int]


def split(context: Begun) -> list[str]:
    """Return what later steps get."""
    assert_type(context.run.input, Question)
    return context.run.output.split()


async def count(context: Split) -> int:
    """Return what later steps get, asynchronously."""
    assert_type(context.results.preprocess_step_result, list[str])
    return len(context.results.preprocess_step_result)


def share(context: Counted) -> float | NotScorable:
    """Return a score, or none."""
    assert_type(context.results.analyze_step_result, int)
    return not_scorable("empty") if not context.run.output else 1.0


async def explain(context: Counted) -> str:
    """Return a reason."""
    assert_type(context.score, float | None)
    return "because"


begun = create_scorer[Question, str]("typed")
after_split = begun.preprocess(split)
after_count = after_split.analyze(count)
scorer = after_count.generate_score(share)
assert_type(after_split, ScorerBuilder[Question, str, list[str], None])
assert_type(after_count, ScorerBuilder[Question, str, list[str], int])
assert_type(scorer, Scorer[Question, str, list[str], int])
assert_type(scorer.generate_reason(explain), Scorer[Question, str, list[str], int])
assert_type(
    scorer.run_sync(input=Question("q"), output="a"),
    ScorerResult[Question, str, list[str], int],
)


async def awaited() -> None:
    """Run it where a loop runs already."""
    result = await scorer.run(input=Question("q"), output="a")
    assert_type(result.preprocess_step_result, list[str] | None)
    assert_type(result.run, ScorerRun[Question, str])


def maybe(context: Begun) -> int | NotScorable:
    """Return a result or none: later steps see the result's type only."""
    return len(context.run.output) or not_scorable()


async def maybe_later(context: Begun) -> int | NotScorable:
    """Do the same asynchronously."""
    return len(context.run.output) or not_scorable()


assert_type(begun.preprocess(maybe), ScorerBuilder[Question, str, int, None])
assert_type(begun.preprocess(maybe_later), ScorerBuilder[Question, str, int, None])
assert_type(
    begun.preprocess(lambda context: context.run.output.upper()),
    ScorerBuilder[Question, str, str, None],
)
assert_type(
    begun.analyze(lambda context: context.run.input.query).generate_score(
        lambda context: len(context.results.analyze_step_result) > 3
    ),
    Scorer[Question, str, None, str],
)

untyped = create_scorer("untyped")
assert_type(untyped.generate_score(lambda context: 1.0), Scorer[Any, Any, None, None])

like: ScorerLike = scorer

agent = create_scorer("agent", type="agent").analyze(lambda context: len(context.run.output))
assert_type(agent, ScorerBuilder[AgentInput, AgentOutput, None, int])
own = create_scorer[Question, str]("own", type="trajectory")
assert_type(own.generate_score(lambda context: 1.0), Scorer[Question, str, None, None])


class Claims(BaseModel):
    """What a judge is asked for."""

    claims: list[str]


def asks(context: Begun) -> str:
    """Return a prompt."""
    return context.run.output


def asks_about(context: StepContext[Question, str, Claims, None]) -> str:
    """Return a prompt about what the judge found before."""
    return ", ".join(context.results.preprocess_step_result.claims)


judged = begun.preprocess(PromptStep("Extract", asks, output_schema=Claims))
assert_type(judged, ScorerBuilder[Question, str, Claims, None])
assert_type(
    judged.generate_score(
        PromptStep(
            "Count",
            asks_about,
            output_schema=Claims,
            calculate_score=lambda claims, context: len(claims.claims) / 10,
        )
    ),
    Scorer[Question, str, Claims, None],
)
assert_type(
    begun.generate_score(PromptStep("Score", asks)).generate_reason(
        PromptStep("Explain", lambda context: f"Why {context.score}?")
    ),
    Scorer[Question, str, None, None],
)
assert_type(
    begun.preprocess(PromptStep("Extract", asks, output_schema={"type": "object"})),
    ScorerBuilder[Question, str, Any, None],
)
assert_type(
    begun.preprocess(
        PromptStep("Extract", lambda context: context.run.input.query, output_schema=Claims)
    ),
    ScorerBuilder[Question, str, Claims, None],
)

begun.preprocess(PromptStep("Extract", asks_about, output_schema=Claims))  # type: ignore
begun.analyze(lambda context: context.run.input.missing)  # type: ignore[attr-defined]  # pyright: ignore
after_count.generate_score(lambda context: "high")  # type: ignore
after_count.preprocess(split)  # type: ignore
