"""Wait for coroutines from plain code, also where an event loop is already running."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from functools import cache, wraps
from threading import Thread
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def blocking(call: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, T]:
    """Wrap an async function in one that waits, keeping its signature.

    It must not be called from a callback that runs on the background loop itself: it would wait
    for its own thread.
    """

    @wraps(call)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        future = asyncio.run_coroutine_threadsafe(call(*args, **kwargs), _loop(os.getpid()))
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    return waiting


@cache
def _loop(pid: int) -> asyncio.AbstractEventLoop:
    # One loop for the life of the process: pooled connections belong to a loop, and a notebook
    # already runs one of its own in this thread. A forked child has the object but not the
    # thread, so each process has its own.
    loop = asyncio.new_event_loop()
    Thread(target=loop.run_forever, name="classify", daemon=True).start()
    return loop
