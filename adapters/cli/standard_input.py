"""Read from a source that blocks, without keeping requests in flight or signals waiting."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

_AHEAD = 64


async def from_thread(items: Iterator[T], stop: asyncio.Event) -> AsyncIterator[T]:
    """Yield what the iterator gives, read in a thread of its own; end when `stop` is set.

    The thread is a daemon: one that waits for input does not keep the program from ending.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[tuple[T] | BaseException | None] = asyncio.Queue()
    places = threading.Semaphore(_AHEAD)

    def read() -> None:
        end: BaseException | None = None
        # The loop is closed where the run has ended without reading everything.
        with suppress(RuntimeError):
            try:
                for item in items:
                    places.acquire()
                    loop.call_soon_threadsafe(queue.put_nowait, (item,))
            except Exception as error:
                end = error
            loop.call_soon_threadsafe(queue.put_nowait, end)

    threading.Thread(target=read, name="classify-rows", daemon=True).start()
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
            if isinstance(got, BaseException):
                raise got
            places.release()
            yield got[0]
    finally:
        stopping.cancel()
