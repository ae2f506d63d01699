"""Many states asked at once: outcomes as they come, or in the states' order.

It knows nothing of models: `ask` makes the outcome of one state and raises nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any, TypeAlias, TypeVar

from classify.json_values import JSON

T = TypeVar("T")
Ask: TypeAlias = Callable[[JSON], Coroutine[Any, Any, T]]


async def as_completed(
    states: AsyncGenerator[JSON, None], ask: Ask[T], *, window: int
) -> AsyncGenerator[tuple[int, T], None]:
    """Yield each state's position and its outcome as soon as it is there.

    At most `window` states are read and not yet yielded. Where reading them fails, what was asked
    is yielded before the error is raised.
    """
    room = asyncio.Semaphore(window)
    async with aclosing(_arrivals(states, ask, room)) as arrivals:
        async for arrival in arrivals:
            yield arrival
            room.release()


async def in_order(
    states: AsyncGenerator[JSON, None], ask: Ask[T], *, window: int
) -> AsyncGenerator[T, None]:
    """Yield the outcomes in the states' order; all else is as with `as_completed`."""
    room = asyncio.Semaphore(window)
    early: dict[int, T] = {}
    following = 0
    async with aclosing(_arrivals(states, ask, room)) as arrivals:
        async for position, outcome in arrivals:
            early[position] = outcome
            while following in early:
                yield early.pop(following)
                following += 1
                room.release()


async def _arrivals(
    states: AsyncGenerator[JSON, None], ask: Ask[T], room: asyncio.Semaphore
) -> AsyncGenerator[tuple[int, T], None]:
    arrived: asyncio.Queue[tuple[int, asyncio.Task[T]] | None] = asyncio.Queue()
    tasks: set[asyncio.Task[T]] = set()

    def note(position: int, task: asyncio.Task[T]) -> None:
        arrived.put_nowait((position, task))

    async def read() -> None:
        # A task of its own, so that outcomes are not kept waiting for a slow source.
        position = 0
        async with aclosing(states):
            await room.acquire()
            async for state in states:
                task = asyncio.create_task(ask(state))
                tasks.add(task)
                task.add_done_callback(partial(note, position))
                position += 1
                await room.acquire()

    reader = asyncio.create_task(read())
    reader.add_done_callback(lambda _: arrived.put_nowait(None))
    try:
        while tasks or not reader.done():
            arrival = await arrived.get()
            if arrival is not None:
                position, task = arrival
                tasks.discard(task)
                yield position, task.result()
        await reader
    finally:
        for running in (reader, *tasks):
            running.cancel()
        await asyncio.gather(reader, *tasks, return_exceptions=True)
