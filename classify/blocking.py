"""Wait for coroutines from plain code, also where an event loop is already running."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
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
        loop = background_loop()
        if asyncio.events._get_running_loop() is loop:
            raise RuntimeError(
                "a blocking call from the thread that would have to answer it: await "
                f"{call.__name__} instead"
            )
        future = asyncio.run_coroutine_threadsafe(call(*args, **kwargs), loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    return waiting


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
