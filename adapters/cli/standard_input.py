"""Read from a source that blocks, without keeping requests in flight or signals waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from typing import TypeAlias, TypeVar

T = TypeVar("T")
_Read: TypeAlias = tuple[T] | Exception | None
"""An item, what reading ended with, or the end."""

_AHEAD = 64


async def from_thread(items: Iterator[T], stop: asyncio.Event) -> AsyncIterator[T]:
    """Yield what the iterator gives, read in a thread of its own; end when `stop` is set.

    The thread is a daemon: one that waits for input does not keep the program from ending.
    """
    queue: asyncio.Queue[_Read[T]] = asyncio.Queue()
    places = threading.Semaphore(_AHEAD)
    loop = asyncio.get_running_loop()

    def put(read: _Read[T]) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, read)

    threading.Thread(target=_read_all, args=(items, put, places), daemon=True).start()
    stopping = asyncio.create_task(stop.wait())
    try:
        while True:
            reading = asyncio.create_task(queue.get())
            await asyncio.wait({reading, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                reading.cancel()
                return
            got = reading.result()
            if got is None:
                return
            if isinstance(got, Exception):
                raise got
            places.release()
            yield got[0]
    finally:
        stopping.cancel()


def _read_all(
    items: Iterator[T], put: Callable[[_Read[T]], None], places: threading.Semaphore
) -> None:
    end: Exception | None = None
    # The loop is closed where the run has ended without reading everything.
    with suppress(RuntimeError):
        try:
            for item in items:
                places.acquire()
                put((item,))
        except Exception as error:
            end = error
        put(end)
