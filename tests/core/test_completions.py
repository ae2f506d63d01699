"""Outcomes of many states under any schedule: none lost, none twice, nothing left behind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.classifier import Classifier
from classify.completions import as_completed, in_order
from classify.decision import DecisionRequest
from classify.errors import UnexpectedError
from classify.json_values import JSON
from classify.rows import Row
from classify.run import run
from classify.store import Store
from classify.testing.scripted import RawAnswer, ScriptedModel

turns = st.integers(0, 6)


@dataclass
class _Schedule:
    """How many turns of the loop each part takes, and what has happened."""

    reading: list[int]
    asking: list[int]
    yielding: list[int]
    window: int
    breaks: bool
    read: int = 0
    yielded: int = 0
    most_ahead: int = 0
    source_ended: bool = False
    asked: list[int] = field(default_factory=list[int])

    async def states(self) -> AsyncGenerator[JSON, None]:
        try:
            for position, wait in enumerate(self.reading):
                await _pass(wait)
                self.read += 1
                self.most_ahead = max(self.most_ahead, self.read - self.yielded)
                yield position
            if self.breaks:
                raise OSError("gone")
        finally:
            self.source_ended = True

    async def ask(self, state: JSON) -> int:
        assert isinstance(state, int)
        self.asked.append(state)
        await _pass(self.asking[state])
        return state * 10

    async def took(self, outcome: int) -> int:
        await _pass(self.yielding[self.yielded])
        self.yielded += 1
        return outcome


@st.composite
def schedules(draw: st.DrawFn) -> _Schedule:
    """Draw a schedule of up to a dozen states."""
    count = draw(st.integers(0, 12))
    each = st.lists(turns, min_size=count, max_size=count)
    return _Schedule(
        draw(each),
        draw(each),
        draw(each),
        window=draw(st.integers(1, 5)),
        breaks=draw(st.booleans()),
    )


async def _pass(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def _ordered(schedule: _Schedule, got: list[int]) -> None:
    async with aclosing(
        in_order(schedule.states(), schedule.ask, window=schedule.window)
    ) as outcomes:
        async for outcome in outcomes:
            got.append(await schedule.took(outcome))


async def _unordered(schedule: _Schedule, got: list[int]) -> None:
    async with aclosing(
        as_completed(schedule.states(), schedule.ask, window=schedule.window)
    ) as arrivals:
        async for position, outcome in arrivals:
            assert outcome == position * 10
            got.append(await schedule.took(outcome))


@given(schedules(), st.booleans())
def test_every_state_has_its_outcome_once_whatever_the_schedule(
    schedule: _Schedule, ordered: bool
) -> None:
    """Also where the source breaks: what was asked comes first, then the error."""
    got: list[int] = []

    async def consume() -> int:
        take = _ordered if ordered else _unordered
        if schedule.breaks:
            with pytest.raises(OSError, match="gone"):
                await take(schedule, got)
        else:
            await take(schedule, got)
        return len(asyncio.all_tasks())

    left = asyncio.run(consume())

    expected = [position * 10 for position in range(len(schedule.reading))]
    assert (got if ordered else sorted(got)) == expected
    assert left == 1
    assert schedule.source_ended
    assert schedule.most_ahead <= schedule.window


@given(schedules(), st.booleans(), st.integers(0, 40))
def test_a_cancelled_consumer_leaves_nothing_behind_whenever_it_is(
    schedule: _Schedule, ordered: bool, after: int
) -> None:
    """No task goes on, the source is closed, and what came had come in order."""
    got: list[int] = []

    async def consume() -> int:
        consuming = asyncio.create_task((_ordered if ordered else _unordered)(schedule, got))
        await _pass(after)
        consuming.cancel()
        await asyncio.wait([consuming])
        asked, left = list(schedule.asked), len(asyncio.all_tasks())
        await _pass(3)
        assert schedule.asked == asked
        return left

    assert asyncio.run(consume()) == 1
    assert schedule.source_ended or schedule.read == 0
    assert not ordered or got == [position * 10 for position in range(len(got))]


def _cancels_one(request: DecisionRequest) -> dict[str, RawAnswer]:
    if request.state == 3:
        raise asyncio.CancelledError
    return {"q": {"type": "boolean", "probability": 0.8}}


def test_a_model_that_cancels_itself_costs_only_its_own_state() -> None:
    """A client's scope may be cancelled within; nobody cancelled the run."""
    built = Classifier("c", ScriptedModel(_cancels_one), {"q": {"type": "boolean"}})

    outcomes = built.evaluate_many_sync(range(5))

    assert [isinstance(outcome, UnexpectedError) for outcome in outcomes] == [
        state == 3 for state in range(5)
    ]


def test_a_source_that_is_cancelled_is_no_run_that_ended(tmp_path: Path) -> None:
    """The rows it still had would be missing without a word."""

    async def rows() -> AsyncGenerator[Row, None]:
        yield Row(0, "line 1", "r0", "text")
        raise asyncio.CancelledError

    built = Classifier("c", ScriptedModel(_cancels_one), {"q": {"type": "boolean"}})
    with Store(tmp_path / "r.jsonl") as store, pytest.raises(asyncio.CancelledError):
        asyncio.run(run(built, rows(), store))
