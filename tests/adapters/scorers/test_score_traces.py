"""Many traces at once: in order, a few at a time, and none stopped by another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from classify.adapters.scorers.agent_text import assistant_text, user_text
from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.errors import ScorerRunError
from classify.adapters.scorers.registry import NotRegistered, Registry
from classify.adapters.scorers.result import NotScorable, StepContext, not_scorable
from classify.adapters.scorers.score_traces import (
    Target,
    TraceTarget,
    score_trace_sync,
    score_traces,
    score_traces_sync,
)
from classify.adapters.scorers.traces import Trace, TraceError, read_trace
from classify.adapters.scorers.trajectory_accuracy import create_trajectory_accuracy_scorer
from classify.errors import InvalidInput

Context = StepContext[Any, Any, None, None]


def trace(answer: str, *, id: str = "t") -> Trace:
    """Return the trace of an agent that used one tool."""
    return read_trace(
        {
            "traceId": id,
            "spans": [
                {"spanId": "a", "spanType": "agent_run", "input": "why", "output": answer},
                {
                    "spanId": "m",
                    "parentSpanId": "a",
                    "spanType": "model_generation",
                    "input": {"messages": [{"role": "user", "content": "why"}]},
                    "output": {"text": answer},
                },
                {
                    "spanId": "s",
                    "parentSpanId": "a",
                    "spanType": "tool_call",
                    "entityName": "search",
                    "input": {"q": 1},
                    "output": {"n": 2},
                },
            ],
        }
    )


def length(context: Context) -> float | NotScorable:
    """Score by the length of the answer; nothing to say is no score, and "bad" breaks."""
    text = assistant_text(context.run.output)
    if text == "bad":
        raise ValueError("a broken row")
    return not_scorable("nothing was said") if text == "-" else len(text) / 10


AGENT = create_scorer("length", type="agent").generate_score(length)


def test_an_agents_scorer_is_given_the_agents_run() -> None:
    """And the run says where it comes from."""
    result = score_trace_sync(AGENT, trace("fine"))
    assert result.score == 0.4
    assert user_text(result.run.input) == "why"
    run = result.run
    assert (run.score_source, run.target_scope, run.target_entity_type) == (
        "trace",
        "span",
        "agent_run",
    )
    assert (run.target_trace_id, run.target_span_id) == ("t", "a")


def test_another_scorer_is_given_the_spans_own_input_and_output() -> None:
    """A step's scorer wants what the step was given (row 16985)."""
    seen = list[Any]()

    def look(context: Context) -> float:
        seen.append((context.run.input, context.run.output, context.run.target_entity_type))
        return 1.0

    plain = create_scorer("plain").generate_score(look)
    score_trace_sync(plain, trace("fine"))
    score_trace_sync(plain, TraceTarget(trace=trace("fine"), span_id="s"))
    assert seen == [("why", "fine", "agent_run"), ({"q": 1}, {"n": 2}, "tool_call")]


def test_a_trajectorys_scorer_is_given_the_steps() -> None:
    """With the expectation that the target brings (row 21743)."""
    scorer = create_trajectory_accuracy_scorer()
    target = TraceTarget(
        trace=trace("fine"), expected_trajectory=[{"name": "search", "stepType": "tool_call"}]
    )
    result = score_trace_sync(scorer, target)
    assert (result.score, result.run.target_scope) == (1.0, "trajectory")


def test_a_trace_of_the_references_shape_is_a_target() -> None:
    """Nobody has to convert what an export holds."""
    document = {
        "traceId": "t",
        "spans": [{"spanId": "x", "spanType": "workflow_step", "output": {"text": "12345"}}],
    }
    plain = create_scorer("plain").generate_score(length)
    assert score_trace_sync(plain, document).score == 0.5


TARGETS: list[Target] = [
    trace("12345"),
    trace("bad", id="u"),
    trace("-", id="v"),
    {"spans": []},
    trace("1"),
]


def test_one_failure_never_stops_the_others() -> None:
    """Results keep their places; failures and exclusions are counted apart."""
    batch = score_traces_sync(AGENT, TARGETS, batch_id="b", dataset_id="d")
    assert [one.score for one in batch.scores] == [0.5, None, None, None, 0.1]
    assert (batch.scored_count, batch.failed_count, batch.excluded_count) == (2, 2, 1)
    failed, broken = batch.scores[1], batch.scores[3]
    assert isinstance(failed.error, ScorerRunError)
    assert failed.target.trace is TARGETS[1]
    assert isinstance(broken.error, TraceError)
    assert batch.scores[0].result is not None
    assert batch.scores[0].result.run.target_metadata == {"batch_id": "b", "dataset_id": "d"}


def test_an_items_id_is_kept_with_its_run() -> None:
    """Scores of a data set go back to its rows."""
    targets = [TraceTarget(trace=trace("1"), dataset_item_id=str(i)) for i in range(2)]
    batch = score_traces_sync(AGENT, targets)
    marks = [one.result.run.target_metadata for one in batch.scores if one.result is not None]
    assert [mark["dataset_item_id"] for mark in marks if mark is not None] == ["0", "1"]
    assert {mark["batch_id"] for mark in marks if mark is not None} == {batch.batch_id}


@pytest.mark.parametrize("concurrency", [1, 3, 5])
def test_no_more_than_so_many_run_at_a_time(concurrency: int) -> None:
    """Three without a setting, as in the reference."""
    running, most = 0, 0

    async def slow(_: Context) -> float:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _turn in range(5):
            await asyncio.sleep(0)
        running -= 1
        return 1.0

    scorer = create_scorer("slow", type="agent").generate_score(slow)
    options: dict[str, Any] = {} if concurrency == 3 else {"concurrency": concurrency}
    asyncio.run(score_traces(scorer, [trace("x")] * 12, **options))
    assert most == concurrency


@pytest.mark.parametrize("concurrency", [0, -1, 1.5, True], ids=repr)
def test_an_unusable_concurrency_is_refused(concurrency: Any) -> None:
    """None at a time would wait for ever."""
    with pytest.raises(InvalidInput, match="concurrency must be a whole number of at least 1"):
        score_traces_sync(AGENT, [], concurrency=concurrency)


async def found_later(id: str) -> Trace | None:
    """Find a trace asynchronously."""
    return trace("1234", id=id) if id == "here" else None


def found_at_once(id: str) -> Trace | None:
    """Find a trace."""
    return trace("1234", id=id) if id == "here" else None


@pytest.mark.parametrize("load", [found_later, found_at_once])
def test_a_trace_is_found_by_its_id(load: Callable[[str], Any]) -> None:
    """Traces live in stores of all kinds."""
    assert score_trace_sync(AGENT, "here", load=load).score == 0.4
    with pytest.raises(TraceError, match="trace 'gone' was not found"):
        score_trace_sync(AGENT, "gone", load=load)


def test_a_target_without_a_trace_says_what_is_missing() -> None:
    """Two ways to fix two mistakes."""
    with pytest.raises(TraceError, match="say how, with load="):
        score_trace_sync(AGENT, "here")
    with pytest.raises(TraceError, match="needs a trace or a trace_id"):
        score_trace_sync(AGENT, TraceTarget())


def test_a_scorer_is_found_by_its_id() -> None:
    """A batch may be described in a file."""
    registry = Registry(scorers={"any": AGENT})
    assert score_trace_sync("length", trace("fine"), registry=registry).score == 0.4
    with pytest.raises(NotRegistered, match="unknown scorer id 'x'"):
        score_traces_sync("x", TARGETS, registry=registry)
    with pytest.raises(InvalidInput, match="'length', needs a registry"):
        score_trace_sync("length", trace("fine"))


def test_a_span_that_is_not_there_is_an_error_of_its_target() -> None:
    """The id of another trace's span is a common mistake."""
    batch = score_traces_sync(AGENT, [TraceTarget(trace=trace("1"), span_id="x"), trace("1")])
    assert [one.score for one in batch.scores] == [None, 0.1]
    assert str(batch.scores[0].error) == "trace 't' has no span 'x'"
