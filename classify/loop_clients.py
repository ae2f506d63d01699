"""One client for each event loop: connections belong to the loop that opened them.

A client is closed when its loop shuts down, when its owner is closed or collected, and when the
process ends, whichever comes first: connections left open are reported on the user's screen.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, NoReturn, Protocol, TypeVar

_SECONDS_AT_EXIT = 2.0


class Closable(Protocol):
    """A client that holds connections."""

    async def close(self) -> None:
        """Close them."""
        ...


class ClosedAtExit(Protocol):
    """An owner of clients."""

    def close_at_exit(self) -> None:
        """Close them from outside any loop."""
        ...


C = TypeVar("C", bound=Closable)

_OWNERS: weakref.WeakSet[ClosedAtExit] = weakref.WeakSet()
_STOPPED: list[tuple[asyncio.AbstractEventLoop, AsyncGenerator[None, None]]] = []
"""Clients of loops that neither run nor are closed, to be closed at the end."""
_INHERITED: list[object] = []
"""Clients of the process that this one was forked from: kept, because collecting them would close
connections that are not ours."""


@dataclass(slots=True)
class _Kept(Generic[C]):
    """The clients in use. It does not know its owner, so that the owner can be collected."""

    entries: dict[asyncio.AbstractEventLoop, tuple[C, AsyncGenerator[None, None]]] = field(
        default_factory=dict[asyncio.AbstractEventLoop, tuple[C, AsyncGenerator[None, None]]]
    )
    lock: threading.Lock = field(default_factory=threading.Lock)
    pid: int = field(default_factory=os.getpid)

    def take_all(self) -> dict[asyncio.AbstractEventLoop, tuple[C, AsyncGenerator[None, None]]]:
        if self.pid != os.getpid():
            return {}
        with self.lock:
            taken, self.entries = self.entries, {}
        return taken


class LoopClients(Generic[C]):
    """Clients made when a loop first asks for one."""

    def __init__(self, create: Callable[[], C]) -> None:
        """Take what makes a client; nothing is made yet."""
        self._create = create
        self._kept = self._new_kept()
        _OWNERS.add(self)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Raise TypeError: a model that holds them is neither pickled nor copied deeply."""
        raise TypeError(
            "connections belong to this process and to their model: make the model anew where it "
            "is wanted, such as inside the worker"
        )

    async def get(self) -> C:
        """Return the running loop's client."""
        entry = self._kept.entries.get(asyncio.get_running_loop())
        return entry[0] if entry is not None else await self._made()

    async def aclose(self) -> None:
        """Close every client; raises nothing for those whose loop is gone."""
        here = asyncio.get_running_loop()
        for loop, (client, closing) in self._kept.take_all().items():
            if loop is here:
                await closing.aclose()
            elif loop.is_running():
                closed = asyncio.run_coroutine_threadsafe(closing.aclose(), loop)
                await asyncio.wrap_future(closed)
            else:
                _give_up(loop, client, closing)

    def close_at_exit(self) -> None:
        """Close every client from outside the loops, waiting a little."""
        for loop, (client, closing) in self._kept.take_all().items():
            if loop.is_running():
                closed = asyncio.run_coroutine_threadsafe(closing.aclose(), loop)
                with suppress(Exception):
                    closed.result(_SECONDS_AT_EXIT)
            else:
                _give_up(loop, client, closing)

    def _new_kept(self) -> _Kept[C]:
        kept = _Kept[C]()
        weakref.finalize(self, _close_when_collected, kept).atexit = False
        return kept

    async def _made(self) -> C:
        if self._kept.pid != os.getpid():
            _INHERITED.append(self._kept)
            self._kept = self._new_kept()
        loop, client = asyncio.get_running_loop(), self._create()
        closing = _closed_with_loop(self._kept, loop, client)
        with self._kept.lock:
            dead = [other for other in self._kept.entries if other.is_closed()]
            abandoned = [self._kept.entries.pop(other)[0] for other in dead]
            self._kept.entries[loop] = client, closing
        await anext(closing)
        for one in abandoned:
            _abandon(one)
        return client


async def _closed_with_loop(
    kept: _Kept[C], loop: asyncio.AbstractEventLoop, client: C
) -> AsyncGenerator[None, None]:
    # asyncio.run, and whatever shuts a loop down in order, finishes the generators begun in it.
    try:
        yield
    finally:
        with kept.lock:
            kept.entries.pop(loop, None)
        await client.close()


def _close_when_collected(kept: _Kept[C]) -> None:
    # This may run in any thread, in the loop's own too: it must not wait.
    for loop, (client, closing) in kept.take_all().items():
        if loop.is_running():
            asyncio.run_coroutine_threadsafe(closing.aclose(), loop)
        else:
            _give_up(loop, client, closing)


def _give_up(
    loop: asyncio.AbstractEventLoop, client: Closable, closing: AsyncGenerator[None, None]
) -> None:
    if loop.is_closed():
        _abandon(client)
    else:
        _STOPPED.append((loop, closing))


def _abandon(client: Closable) -> None:
    # Its loop can run nothing any more: what closing does before it first waits must do.
    closing = client.close()
    with suppress(Exception):
        closing.send(None)
    closing.close()


@atexit.register
def close_all_at_exit() -> None:
    """Close what is still open, so that nothing complains, or waits, when the process ends."""
    for owner in list(_OWNERS):
        owner.close_at_exit()
    for loop, closing in _STOPPED:
        with suppress(Exception):
            loop.run_until_complete(closing.aclose())
