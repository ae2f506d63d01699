"""One client for each event loop: connections belong to the loop that opened them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    """A client that holds connections."""

    async def close(self) -> None:
        """Close them."""
        ...


C = TypeVar("C", bound=Closable)


class LoopClients(Generic[C]):
    """Clients made when a loop first asks, and closed when the loop shuts down.

    The end of a loop is noticed through an asynchronous generator: `asyncio.run` and everything
    that shuts a loop down in order finishes the generators begun in it.
    """

    def __init__(self, create: Callable[[], C]) -> None:
        """Take what makes a client; nothing is made yet."""
        self._create = create
        self._kept: dict[asyncio.AbstractEventLoop, tuple[C, AsyncGenerator[None, None]]] = {}
        self._lock = threading.Lock()

    async def get(self) -> C:
        """Return the running loop's client."""
        kept = self._kept.get(asyncio.get_running_loop())
        return kept[0] if kept is not None else await self._made()

    async def aclose(self) -> None:
        """Close every client whose loop still runs; raises nothing for those that cannot be."""
        here = asyncio.get_running_loop()
        with self._lock:
            kept, self._kept = self._kept, {}
        for loop, (client, closing) in kept.items():
            if loop is here:
                await closing.aclose()
            elif loop.is_running():
                closed = asyncio.run_coroutine_threadsafe(closing.aclose(), loop)
                await asyncio.wrap_future(closed)
            else:
                await _abandon(client)

    async def _made(self) -> C:
        loop, client = asyncio.get_running_loop(), self._create()
        closing = self._closing(loop, client)
        with self._lock:
            dead = [other for other in self._kept if other.is_closed()]
            abandoned = [self._kept.pop(other)[0] for other in dead]
            self._kept[loop] = client, closing
        await anext(closing)
        for one in abandoned:
            await _abandon(one)
        return client

    async def _closing(
        self, loop: asyncio.AbstractEventLoop, client: C
    ) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            with self._lock:
                self._kept.pop(loop, None)
            await client.close()


async def _abandon(client: Closable) -> None:
    # Its loop was closed without being shut down, and its transports can no longer be.
    with suppress(RuntimeError):
        await client.close()
