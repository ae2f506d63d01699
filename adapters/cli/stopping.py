"""Stop a run by Ctrl-C or SIGTERM: first gently, then at once."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType


class Stopping:
    """Whether a run was told to stop, and by what."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.signal: int | None = None


@contextmanager
def stoppable(say: Callable[[str], None]) -> Generator[Stopping]:
    """Let signals stop what runs inside, in the running loop.

    The first sets the event; a second cancels the current task.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    stopping = Stopping()

    def stop(number: int) -> None:
        if stopping.event.is_set():
            if task is not None:
                task.cancel()
            return
        stopping.signal = number
        stopping.event.set()
        say("stopping: requests in flight may end; press Ctrl-C again to stop at once")

    def handle(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop, number)

    # signal.signal and not the loop's own handlers, which Windows does not have.
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
