"""Live scoring: which runs are scored, and that it neither disturbs nor hides anything."""

from __future__ import annotations

import asyncio
import logging
import math
from typing import Any

import pytest

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.live import LiveCounts, LiveEntry, LiveFailure, LiveScoring, Sampling
from classify.adapters.scorers.live_filter import LiveContext, read_filter
from classify.adapters.scorers.result import ScorerResult, StepContext, not_scorable
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.errors import InvalidInput


def _boom(context: StepContext[Any, Any, Any, Any]) -> float:
    raise ValueError("the user's text")


GOOD = create_scorer("good").generate_score(lambda _: 1.0)
SILENT = create_scorer("silent").generate_score(lambda _: not_scorable())
BAD = create_scorer("bad").generate_score(_boom)


@pytest.mark.parametrize(
    ("sampling", "drawn", "scored"),
    [
        pytest.param(Sampling("ratio", 0.0), 0.0, 0, id="ratio-0-never"),
        pytest.param(Sampling("ratio", 1.0), 0.999999, 1, id="ratio-1-always"),
        pytest.param(Sampling("ratio", 0.5), 0.49, 1, id="below-the-rate"),
        pytest.param(Sampling("ratio", 0.5), 0.5, 0, id="at-the-rate"),
        pytest.param(Sampling("none"), 0.99, 1, id="none-is-no-sampling"),
        pytest.param(Sampling(), 0.99, 1, id="missing"),
    ],
)
def test_a_sample_is_what_was_asked_for(sampling: Sampling, drawn: float, scored: int) -> None:
    """The reference's "none" means no sampling: all are scored."""
    live = LiveScoring([LiveEntry(GOOD, sampling)], draw=lambda: drawn)
    live.score(output="a")
    counts = live.drain_sync()
    assert (counts.scored, counts.unsampled) == (scored, 1 - scored)


def test_filters_come_before_samples() -> None:
    """What is filtered out is not drawn for, so that a rate is of what passes."""
    draws: list[float] = []

    def draw() -> float:
        draws.append(0.0)
        return 0.0

    entry = LiveEntry(GOOD, Sampling("ratio", 0.5), {"field": "request_context.tier", "eq": "paid"})
    live = LiveScoring([entry], draw=draw)
    for tier in ("free", "paid"):
        live.score(context=LiveContext(request_context={"tier": tier}))
    counts = live.drain_sync()
    assert (counts.filtered, counts.scored, len(draws)) == (1, 1, 1)


def test_failures_never_reach_the_caller_and_are_never_hidden(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They are counted, told and logged, without what was judged."""
    told: list[LiveFailure] = []
    live = LiveScoring([BAD, GOOD, SILENT], on_failure=told.append)
    with caplog.at_level(logging.WARNING, "classify.scorers"):
        live.score(output="a", run_id="r1")
        counts = live.drain_sync()
    assert counts == LiveCounts(scored=1, not_scorable=1, failed=1)
    assert [(f.scorer_id, f.run_id) for f in told] == [("bad", "r1")]
    assert "live scorer 'bad' failed for run 'r1': ScorerRunError" in caplog.text
    assert "user's text" not in caplog.text


def test_a_callback_that_fails_is_a_failure_too(caplog: pytest.LogCaptureFixture) -> None:
    """A score that was not stored is lost (reference issue 9160)."""

    def broken(result: object) -> None:
        raise OSError("disk full")

    live = LiveScoring([GOOD], on_result=broken, on_failure=broken)
    live.score(output="a")
    counts = live.drain_sync()
    assert (counts.scored, counts.failed) == (0, 1)
    assert "on_failure of live scoring failed: OSError('disk full')" in caplog.text


def test_scoring_waits_for_nobody_in_an_event_loop() -> None:
    """The caller goes on first; results come with all fields of the run."""
    order: list[str] = []
    results: list[ScorerResult[Any, Any, Any, Any]] = []

    def score(context: StepContext[Any, Any, Any, Any]) -> float:
        order.append("scored")
        return 1.0

    async def main() -> LiveCounts:
        live = LiveScoring([create_scorer("s").generate_score(score)], on_result=results.append)
        live.score(input="q", output="a", run_id="r", target_trace_id="t")
        order.append("caller")
        assert live.counts.pending == 1
        return await live.drain()

    assert asyncio.run(main()).scored == 1
    assert order == ["caller", "scored"]
    run = results[0].run
    assert (run.input, run.output, run.run_id, run.score_source) == ("q", "a", "r", "live")
    assert run.target_trace_id == "t"


def _waiting(gate: asyncio.Event) -> ScorerLike:
    async def score(context: StepContext[Any, Any, Any, Any]) -> float:
        await gate.wait()
        return 1.0

    return create_scorer("slow").generate_score(score)


@pytest.mark.parametrize("most", [0, -1, 1.5, math.nan, True, "5"], ids=repr)
def test_how_many_may_wait_is_a_whole_number(most: Any) -> None:
    """Nothing is more than nan: then everything would wait."""
    with pytest.raises(InvalidInput, match="max_pending must be a whole number of at least 1, got"):
        LiveScoring([], max_pending=most)


def test_more_than_may_wait_are_dropped_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    """A slow judge must not fill the memory."""

    async def main() -> LiveCounts:
        gate = asyncio.Event()
        live = LiveScoring([_waiting(gate)], max_pending=2)
        for _ in range(3):
            live.score()
        gate.set()
        return await live.drain()

    counts = asyncio.run(main())
    assert (counts.scored, counts.dropped, counts.pending) == (2, 1, 0)
    assert "one of 'slow' is dropped" in caplog.text


def test_what_a_closing_loop_cuts_off_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    """A program that ends without drain() says so."""

    async def main() -> LiveScoring:
        live = LiveScoring([_waiting(asyncio.Event())])
        live.score(run_id="r")
        await asyncio.sleep(0)
        return live

    live = asyncio.run(main())
    assert live.counts.failed == 1
    assert "live scorer 'slow' was cut off for run 'r'" in caplog.text


def test_drain_sync_refuses_to_stop_the_loop_it_waits_for() -> None:
    """It would never return."""

    async def main() -> None:
        with pytest.raises(RuntimeError, match=r"await drain\(\)"):
            LiveScoring([GOOD]).drain_sync()

    asyncio.run(main())


CONTEXT = LiveContext(
    request_context={"user": {"tier": "paid"}, "a.b": 1, "a": {"b": 2}, "n": 5, "none": None},
    entity={"id": "support"},
    entity_type="agent",
    thread_id="t1",
)


@pytest.mark.parametrize(
    ("given", "holds"),
    [
        pytest.param({"field": "request_context.user.tier", "eq": "paid"}, True, id="nested"),
        pytest.param({"field": "requestContext.user.tier", "ne": "paid"}, False, id="their-name"),
        pytest.param({"field": "request_context.a.b", "eq": 1}, True, id="flat-key-first"),
        pytest.param({"field": "request_context.n", "gte": 5}, True, id="gte"),
        pytest.param({"field": "request_context.n", "gt": 5}, False, id="gt"),
        pytest.param({"field": "request_context.n", "lt": "6"}, False, id="not-comparable"),
        pytest.param({"field": "request_context.n", "lte": 5}, True, id="lte"),
        pytest.param({"field": "entity.id", "in": ["support", "sales"]}, True, id="in"),
        pytest.param({"field": "entity.id", "not_in": ["support"]}, False, id="not-in"),
        pytest.param({"field": "entityType", "eq": "agent"}, True, id="entity-type"),
        pytest.param({"field": "source", "eq": "live"}, True, id="source"),
        pytest.param({"field": "thread_id", "exists": True}, True, id="exists"),
        pytest.param({"field": "project_id", "exists": True}, False, id="missing-exists"),
        pytest.param({"field": "project_id", "not_exists": True}, True, id="missing-not-exists"),
        pytest.param({"field": "request_context.x", "ne": 1}, False, id="missing-is-false"),
        pytest.param({"field": "request_context.none", "exists": True}, True, id="null-is-there"),
        pytest.param({"not": {"field": "source", "eq": "live"}}, False, id="not"),
        pytest.param(
            {"all": [{"field": "source", "eq": "live"}, {"field": "source", "eq": "x"}]},
            False,
            id="all",
        ),
        pytest.param(
            {"any": [{"field": "source", "eq": "live"}, {"field": "source", "eq": "x"}]},
            True,
            id="any",
        ),
    ],
)
def test_a_filter_reads_what_is_known_of_a_run(given: Any, holds: bool) -> None:
    """A missing path makes all false but not_exists."""
    assert read_filter(given)(CONTEXT) is holds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param({"field": "input.text", "eq": 1}, "unknown root 'input'", id="input"),
        pytest.param({"field": "entity_typ", "eq": 1}, "did you mean 'entity_type'", id="root"),
        pytest.param({"field": "source", "equals": 1}, "unknown operator 'equals'", id="operator"),
        pytest.param({"field": "source"}, "must have one operator", id="no-operator"),
        pytest.param({"field": "source", "eq": 1, "ne": 2}, "one operator", id="two-operators"),
        pytest.param({"field": "entity", "eq": 1}, r"must be entity\.<key>", id="whole-object"),
        pytest.param({"field": "source.x", "eq": 1}, "must be source alone", id="below-a-value"),
        pytest.param({"field": "source", "in": "live"}, "must be a list", id="in-text"),
        pytest.param({"field": "source", "exists": False}, "must be true", id="exists-false"),
        pytest.param({"all": []}, "must have field and an operator", id="all-of-nothing"),
        pytest.param({}, "must be an object with", id="empty"),
    ],
)
def test_a_filter_that_says_nothing_is_refused_when_registered(given: Any, message: str) -> None:
    """At run time it would leave out everything, and nobody would know why."""
    with pytest.raises(InvalidInput, match=message):
        LiveScoring([LiveEntry(GOOD, filter=given)])


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")], ids=["below", "above", "nan"])
def test_a_rate_that_is_no_share_is_refused(rate: float) -> None:
    """Rates in percent are an easy mistake."""
    with pytest.raises(InvalidInput, match="rate must be from 0 to 1"):
        Sampling("ratio", rate)
