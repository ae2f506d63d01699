"""Decide what a llama.cpp server evaluates anew and what it takes from its cache.

The same tokens give slightly different logits when they are evaluated in other batches: a label's
probability moves by up to 0.04 with a small 4-bit model. `OwnSlot` therefore evaluates a prompt in
the same pieces every time, whatever was asked before; `SharedSlots` leaves it to a server that
others use too.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from itertools import chain
from types import TracebackType
from typing import Protocol, TypeAlias

from classify.adapters.models.llama_http import LlamaHTTP
from classify.adapters.models.llama_replies import Completion
from classify.json_values import JSON
from classify.language_model import Usage

Pieces: TypeAlias = tuple[tuple[int, ...], ...]
"""The tokens of a prompt, in the pieces in which they are evaluated."""


class Slots(Protocol):
    """Where prompts are evaluated."""

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Entered around the requests that belong together."""
        ...

    async def evaluate(
        self, server: LlamaHTTP, pieces: Pieces, readout: Mapping[str, JSON]
    ) -> tuple[Completion, Usage]:
        """Evaluate the prompt and read out the token after it; the usage counts every request."""
        ...

    @property
    def fresh(self) -> Mapping[str, JSON]:
        """What to add to another request, so that its answer depends on nothing cached."""
        ...

    def forget(self) -> None:
        """Assume nothing about what is cached, as after another request."""
        ...


class SharedSlots:
    """The slots of a server that others use too: it reuses what it finds."""

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait for nobody."""
        return nullcontext()

    async def evaluate(
        self, server: LlamaHTTP, pieces: Pieces, readout: Mapping[str, JSON]
    ) -> tuple[Completion, Usage]:
        """Send one request."""
        body = {**readout, "prompt": list(chain(*pieces)), "cache_prompt": True}
        reply = await server.post("/completion", body, Completion)
        return reply, reply.usage

    @property
    def fresh(self) -> Mapping[str, JSON]:
        """Leave it to the server."""
        return {}

    def forget(self) -> None:
        """Do nothing: nothing is remembered."""


class OwnSlot:
    """The only slot of a server that nobody else uses."""

    def __init__(self) -> None:
        """Start with nothing cached."""
        self._turns = Turns()
        self._held: Pieces = ()

    @property
    def turn(self) -> AbstractAsyncContextManager[None]:
        """Wait until the slot is free."""
        return self._turns

    async def evaluate(
        self, server: LlamaHTTP, pieces: Pieces, readout: Mapping[str, JSON]
    ) -> tuple[Completion, Usage]:
        """Evaluate each piece as a batch of its own, keeping those that were evaluated so before.

        The last piece is always evaluated anew. Call it inside `turn`.
        """
        kept = _common(self._held, pieces[:-1])
        usage = Usage()
        for end in range(kept + 1, len(pieces)):
            usage += (await self._extend(server, pieces[:end], {"n_predict": 1}))[1]
        reply, last = await self._extend(server, pieces, readout)
        return reply, usage + last

    @property
    def fresh(self) -> Mapping[str, JSON]:
        """Evaluate from the first token."""
        return {"cache_prompt": False}

    def forget(self) -> None:
        """Evaluate the next prompt from its first token."""
        self._held = ()

    async def _extend(
        self, server: LlamaHTTP, pieces: Pieces, readout: Mapping[str, JSON]
    ) -> tuple[Completion, Usage]:
        # What must be in the cache for exactly the last piece to be evaluated.
        before = list(chain(*pieces[:-1]))
        held, wanted = list(chain(*self._held)), [*before, *pieces[-1]]
        usage = Usage()
        self._held = ()  # until the reply is here, and for good if none comes
        if before and _common(held, wanted) > len(before):
            # The server would take more than `before` from its cache. One token that neither
            # goes on with cuts the cache back to `before`.
            other = next(t for t in range(3) if t not in (held[len(before)], wanted[len(before)]))
            body: dict[str, JSON] = {"n_predict": 1, "prompt": [*before, other]}
            usage = (await server.post("/completion", body, Completion)).usage
        body = {**readout, "prompt": wanted, "cache_prompt": bool(before)}
        reply = await server.post("/completion", body, Completion)
        self._held = pieces
        return reply, usage + reply.usage


class Turns:
    """A lock for coroutines of several event loops; turns go in the order of asking."""

    def __init__(self) -> None:
        """Start free."""
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()

    async def __aenter__(self) -> None:
        """Wait for the turn."""
        loop = asyncio.get_running_loop()
        waiter = (loop, loop.create_future())
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            self._waiting.append(waiter)
        try:
            await waiter[1]
        except asyncio.CancelledError:
            with self._guard:
                queued = waiter in self._waiting
                if queued:
                    self._waiting.remove(waiter)
            if not queued:  # the turn was already on its way here
                self._pass_on()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the turn to the next."""
        self._pass_on()

    def _pass_on(self) -> None:
        with self._guard:
            while self._waiting:
                loop, future = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(_wake, future)
                except RuntimeError:  # that loop has ended, and its coroutine with it
                    continue
                return
            self._taken = False


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _common(a: Sequence[object], b: Sequence[object]) -> int:
    """Return how many items two sequences have in common at the start."""
    for index, (x, y) in enumerate(zip(a, b, strict=False)):
        if x != y:
            return index
    return min(len(a), len(b))
