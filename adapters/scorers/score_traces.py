"""Score traces, several at a time; one that fails never stops the others."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from classify.adapters.scorers.agent_run import agent_run
from classify.adapters.scorers.definition import AnyResult
from classify.adapters.scorers.message_reading import plain
from classify.adapters.scorers.registry import Registry
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.adapters.scorers.settling import settled
from classify.adapters.scorers.traces import Trace, TraceError, read_trace
from classify.adapters.scorers.trajectory_extraction import extract_trajectory_from_trace
from classify.blocking import blocking
from classify.display.notebook import Shown
from classify.errors import InvalidInput
from classify.shared_limits import concurrency_asked

if TYPE_CHECKING:
    from classify.display.cards import Card

Load: TypeAlias = Callable[[str], "Trace | Awaitable[Trace | None] | None"]
"""Find a trace by its id; None where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceTarget:
    """What to score: a trace, or the id of one that `load` finds; a span of it, or its root."""

    trace: Trace | None = None
    """The trace itself."""
    trace_id: str | None = None
    """The id of one that `load` finds, in place of the trace."""
    span_id: str | None = None
    """The span to score; the root where absent."""
    # Any: as in a ScorerRun, of whatever type the scorer's author chose.
    ground_truth: Any = None
    """What the output should have been."""
    expected_trajectory: Any = None
    """The steps that should have been taken."""
    request_context: Mapping[str, Any] | None = None
    """What is passed along for the steps to read."""
    dataset_item_id: str | None = None


Target: TypeAlias = "TraceTarget | Trace | str | Mapping[str, Any]"
"""A trace, its id, or a trace of the reference's shape, scored from its root."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceScore(Shown):
    """One target and its result, or why it has none."""

    target: TraceTarget
    result: AnyResult | None = None
    """None where it failed."""
    error: Exception | None = None
    """Why it failed."""

    @property
    def score(self) -> float | None:
        """The score; None where the target failed or is not scorable."""
        return None if self.result is None else self.result.score

    def _card(self) -> Card:
        from classify.adapters.scorers.report_cards import trace_score_card

        return trace_score_card(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceScores(Shown):
    """The results of several targets, in their order."""

    scores: tuple[TraceScore, ...]
    batch_id: str

    @property
    def scored_count(self) -> int:
        """How many have a score."""
        return sum(one.score is not None for one in self.scores)

    @property
    def failed_count(self) -> int:
        """How many failed."""
        return sum(one.error is not None for one in self.scores)

    @property
    def excluded_count(self) -> int:
        """How many are not scorable."""
        return len(self.scores) - self.scored_count - self.failed_count

    def _card(self) -> Card:
        from classify.adapters.scorers.report_cards import trace_scores_card

        return trace_scores_card(self)


async def score_trace(
    scorer: ScorerLike | str,
    target: Target,
    *,
    load: Load | None = None,
    registry: Registry | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> AnyResult:
    """Score one trace, or one span of it.

    A scorer of type "agent" is given the agent's run, one of type "trajectory" the steps, any
    other the span's own input and output. A scorer's id is looked up in `registry`.

    Raises TraceError for a trace that is not there or does not fit, ScorerRunError where a step
    failed. What is not scorable is a result with `not_scorable` (the reference gives null).
    """
    found = _scorer(scorer, registry)
    aim = as_target(target)
    trace = await _trace(aim, load)
    span = trace.span(aim.span_id)
    given: dict[str, Any] = {"input": span.input, "output": span.output}
    if found.type == "agent":
        run = agent_run(trace, aim.span_id)
        span, given = run.span, {"input": run.input, "output": run.output}
    elif found.type == "trajectory":
        given["output"] = extract_trajectory_from_trace(trace, aim.span_id)
    marks = dict(metadata or {})
    if aim.dataset_item_id is not None:
        marks["dataset_item_id"] = aim.dataset_item_id
    return await found.run(
        **given,
        ground_truth=aim.ground_truth,
        expected_trajectory=aim.expected_trajectory,
        request_context=aim.request_context,
        score_source="trace",
        target_scope="trajectory" if found.type == "trajectory" else "span",
        target_entity_type=span.kind,
        target_trace_id=trace.trace_id,
        target_span_id=span.span_id,
        target_metadata=marks or None,
    )


async def score_traces(
    scorer: ScorerLike | str,
    targets: Iterable[Target],
    *,
    concurrency: int = 3,
    load: Load | None = None,
    registry: Registry | None = None,
    batch_id: str | None = None,
    dataset_id: str | None = None,
) -> TraceScores:
    """Score every target, `concurrency` at a time, in order, with as many requests in flight.

    A target that fails has its error in its place. The batch's, the dataset's and the item's ids
    are in each run's `target_metadata`. Raises InvalidInput for an unknown scorer or target.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise InvalidInput(f"concurrency must be a whole number of at least 1, got {concurrency!r}")
    found = _scorer(scorer, registry)
    batch = str(uuid.uuid4()) if batch_id is None else batch_id
    marks = {"batch_id": batch} | ({} if dataset_id is None else {"dataset_id": dataset_id})
    turns = asyncio.Semaphore(concurrency)

    async def outcome(target: Target) -> TraceScore:
        async with turns:
            try:
                aim = as_target(target)
            except InvalidInput as error:
                return TraceScore(target=TraceTarget(), error=error)
            try:
                return TraceScore(
                    target=aim, result=await score_trace(found, aim, load=load, metadata=marks)
                )
            except Exception as error:  # whatever went wrong with one, the others go on
                return TraceScore(target=aim, error=error)

    token = concurrency_asked.set(concurrency)
    try:
        scores = await asyncio.gather(*map(outcome, targets))
    finally:
        concurrency_asked.reset(token)
    return TraceScores(scores=tuple(scores), batch_id=batch)


score_trace_sync = blocking(score_trace)
"""Do the same as `score_trace`, and wait."""
score_traces_sync = blocking(score_traces)
"""Do the same as `score_traces`, and wait."""


def as_target(target: object) -> TraceTarget:
    """Return a target; raises TraceError for a trace that cannot be scored."""
    target = plain(target)
    if isinstance(target, TraceTarget):
        return target
    if isinstance(target, str):
        return TraceTarget(trace_id=target)
    return TraceTarget(trace=read_trace(target))


def _scorer(scorer: ScorerLike | str, registry: Registry | None) -> ScorerLike:
    if not isinstance(scorer, str):
        return scorer
    if registry is None:
        raise InvalidInput(f"a scorer's id, {scorer!r}, needs a registry=... to find it in")
    return registry.get_scorer_by_id(scorer)


async def _trace(target: TraceTarget, load: Load | None) -> Trace:
    if target.trace is not None:
        return target.trace
    if target.trace_id is None:
        raise TraceError("a target needs a trace or a trace_id")
    if load is None:
        raise TraceError(f"trace {target.trace_id!r} was given by its id: say how, with load=...")
    found: Trace | None = await settled(load(target.trace_id))
    if found is None:
        raise TraceError(f"trace {target.trace_id!r} was not found")
    return found
