"""Wait for coroutines and async generators from plain code, also where an event loop runs."""

from __future__ import annotations

import asyncio
import os
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

    Closing the generator, or leaving it to be collected, closes the async one.
    """

    @wraps(call)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> Generator[T, None, None]:
        loop = _other_loop(call.__name__)
        items = call(*args, **kwargs)
        try:
            while (item := _result(_next(items), loop)) is not None:
                yield item[0]
        finally:
            _result(items.aclose(), loop)

    return waiting


async def _next(items: AsyncGenerator[T, None]) -> tuple[T] | None:
    """Return the next item, None at the end: StopAsyncIteration may not leave a coroutine."""
    async for item in items:
        return (item,)
    return None


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
            Thread(target=fresh.run_forever, name="classify", daemon=True).start()
        else:
            fresh.close()
    return _loops[pid]
