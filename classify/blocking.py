"""Wait for coroutines and async generators from plain code, also where an event loop runs."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from functools import wraps
from threading import Thread
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def blocking(call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Wrap an async function in one that waits, keeping its signature.

    Called on the background loop itself (in a `transform`, say) it would wait for its own thread
    for ever, and raises RuntimeError instead.
    """

    @wraps(call)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        loop = _other_loop(call.__name__)
        return _result(call(*args, **kwargs), loop)

    return waiting


def blocking_iterator(
    call: Callable[P, AsyncGenerator[T, None]],
) -> Callable[P, Generator[T, None, None]]:
    """Wrap an async generator function in a generator function that waits for each item.

    Closing the generator, or leaving it to be collected, closes the async one. In a forked process
    the generator cannot go on: RuntimeError.
    """

    @wraps(call)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        loop = _other_loop(call.__name__)
        items, turn = call(*args, **kwargs), asyncio.Lock()
        _open.add(items)
        try:
            while (item := _result(_next(items, turn), loop)) is not None:
                yield item[0]
                if _other_loop(call.__name__) is not loop:
                    raise RuntimeError(f"{call.__name__} was begun before a fork: begin it anew")
        finally:
            _close(items, turn, loop)

    return waiting


async def _next(items: AsyncGenerator[T, None], turn: asyncio.Lock) -> tuple[T] | None:
    """Return the next item, None at the end: StopAsyncIteration may not leave a coroutine."""
    async with turn:
        async for item in items:
            return (item,)
    return None


def _close(
    items: AsyncGenerator[object, None], turn: asyncio.Lock, loop: asyncio.AbstractEventLoop
) -> None:
    """Close the async generator, and wait for it where that can end."""
    if sys.is_finalizing() or _loops.get(os.getpid()) is not loop:
        return  # the loop's thread is no more, or the parent's
    closing = asyncio.run_coroutine_threadsafe(_closed(items, turn), loop)
    # The garbage collector may come by in the loop's own thread.
    if asyncio.events._get_running_loop() is not loop:
        closing.result()


async def _closed(items: AsyncGenerator[object, None], turn: asyncio.Lock) -> None:
    async with turn:  # an interrupted step may not have ended yet
        try:
            await items.aclose()
        finally:
            _open.discard(items)


# Iterators that have not ended. A loop holds its tasks weakly: collected in one cycle with the
# plain generator, they would end without having been closed.
_open: set[AsyncGenerator[object, None]] = set()


def _other_loop(name: str) -> asyncio.AbstractEventLoop:
    loop = background_loop()
    if asyncio.events._get_running_loop() is loop:
        raise RuntimeError(
            f"a blocking call from the thread that would have to answer it: await {name} instead"
        )
    return loop


def _result(awaited: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
    future = asyncio.run_coroutine_threadsafe(awaited, loop)
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


# Process id -> its loop. Connections belong to a loop, so there is one for the life of the process;
# a notebook already runs one of its own in this thread. A forked child has the object but not the
# thread, so each process has its own.
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def background_loop() -> asyncio.AbstractEventLoop:
    """Return the loop that blocking calls run in, in a thread of its own."""
    pid = os.getpid()
    if pid not in _loops:
        fresh = asyncio.new_event_loop()
        # Of threads that come here at once, one wins.
        if _loops.setdefault(pid, fresh) is fresh:
            Thread(target=_run, args=(fresh,), name="classify", daemon=True).start()
        else:
            fresh.close()
    return _loops[pid]


def _run(loop: asyncio.AbstractEventLoop) -> None:
    while True:
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit):
            # A model's or a transform's: asyncio gives it to whoever waits, and raises it here too.
            continue
