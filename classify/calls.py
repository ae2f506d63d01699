"""Make requests: bounded in flight, ramped up, retried once in one place.

Whatever sends a request on behalf of an evaluation sends it through `Calls.run`, so limits and
attempts never multiply. It knows nothing of what the requests are.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from types import MappingProxyType, TracebackType
from typing import TypeVar

from classify.errors import InvalidInput, ProviderError

T = TypeVar("T")

FIRST_DELAY = 0.5
LONGEST_DELAY = 8.0
LONGEST_RETRY_AFTER = 60.0
FIRST_IN_FLIGHT = 8


class Limiter:
    """Let at most `most` requests run at a time, starting with fewer.

    The limit starts at 8 and grows by one with each success: a thousand requests opened at once
    spend their connect timeout waiting for one another. A throttled request halves it.
    """

    def __init__(self, most: int) -> None:
        """Take the bound; raises InvalidInput below 1."""
        self._most = checked_concurrency(most)
        self._now = min(most, FIRST_IN_FLIGHT)
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def most(self) -> int:
        """The bound; set while requests run, it holds for the next ones."""
        return self._most

    @most.setter
    def most(self, most: int) -> None:
        throttled = self._now < min(self._most, FIRST_IN_FLIGHT)
        self._most = checked_concurrency(most)
        self._now = min(most, self._now if throttled else max(self._now, FIRST_IN_FLIGHT))
        self._wake()

    def succeeded(self) -> None:
        """Allow one more in flight, up to the bound."""
        self._now = min(self._most, self._now + 1)

    def throttled(self) -> None:
        """Halve what is allowed in flight."""
        self._now = max(1, self._now // 2)

    async def __aenter__(self) -> None:
        """Wait for a place; places go in the order of asking."""
        while self._in_flight >= self._now or self._waiting:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
                break
            except asyncio.CancelledError:
                self._give_up(turn)
                raise
        else:
            self._in_flight += 1

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give the place back."""
        self._in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        # A place is taken on behalf of the one woken, so that nobody can slip in between.
        while self._waiting and self._in_flight < self._now:
            turn = self._waiting.popleft()
            if not turn.done():
                self._in_flight += 1
                turn.set_result(None)

    def _give_up(self, turn: asyncio.Future[None]) -> None:
        if turn.done() and not turn.cancelled():
            self._in_flight -= 1
        elif turn in self._waiting:
            self._waiting.remove(turn)
        self._wake()


def checked_concurrency(most: int | None) -> int:
    """Return a bound of what is in flight; raises InvalidInput below 1."""
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise InvalidInput(f"concurrency must be a whole number of at least 1, got {most!r}")
    return most


class Deadline:
    """A time limit that stands still while all that is asked waits for a place.

    How many others ask the same endpoint is no reason to give up.
    """

    def __init__(self, seconds: float | None) -> None:
        """Take the seconds; None for no limit."""
        self.clock = asyncio.timeout(None)
        self._left, self._since = seconds, 0.0
        self._waiting = self._working = 0
        self._runs = False

    async def __aenter__(self) -> Deadline:
        """Start."""
        await self.clock.__aenter__()
        self._turn()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Raise TimeoutError where the time ran out."""
        self._left = None
        await self.clock.__aexit__(kind, error, trace)

    def note(self, *, waiting: int = 0, working: int = 0) -> None:
        """Count requests that wait for a place, and that have one."""
        self._waiting += waiting
        self._working += working
        self._turn()

    def _turn(self) -> None:
        if self._left is None or self.clock.expired():
            return
        now, runs = asyncio.get_running_loop().time(), bool(self._working or not self._waiting)
        if runs and not self._runs:
            self._since = now
            self.clock.reschedule(now + self._left)
        elif self._runs and not runs:
            self._left -= now - self._since
            self.clock.reschedule(None)
        self._runs = runs


_PLACES: ContextVar[Mapping[Limiter, asyncio.Lock]] = ContextVar(
    "_PLACES", default=MappingProxyType({})
)
"""Limiter -> the turns at the place that it gave to the request being made. What that request asks
in turn goes there, one by one: where there is one place, it would wait for ever for another."""


class Calls:
    """Where the requests of one evaluation run."""

    deadline: Deadline | None = None
    """What is told of requests that wait."""

    def __init__(
        self,
        *,
        max_retries: int = 2,
        limiter: Limiter | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        parent: Calls | None = None,
    ) -> None:
        """Take the retries allowed to each request, and the limiter shared with other evaluations.

        Requests made here count at the `parent` too.
        Raises InvalidInput where `max_retries` is not a whole number of at least 0.
        """
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
            raise InvalidInput(f"max_retries must be a non-negative integer, got {max_retries!r}")
        self.max_retries = max_retries
        self.limiter = limiter or Limiter(FIRST_IN_FLIGHT)
        self.attempts = 0
        """Requests made so far, failed ones included; those that wait for a place are not made."""
        self.counts = False
        """Whether requests come this way; a model may make its own, which nothing counts."""
        self._sleep, self._parent = sleep, parent

    def child(self) -> Calls:
        """Return calls with the same bounds and a count of their own, which is part of this one."""
        child = Calls(
            max_retries=self.max_retries, limiter=self.limiter, sleep=self._sleep, parent=self
        )
        child.deadline = self.deadline
        return child

    async def run(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make one request, in its turn, and again while it fails for a reason that may pass.

        At most `max_retries` + 1 attempts; then the provider's own last error is raised.
        """

        async def in_turn() -> T:
            async with self._place():
                self._count(1)
                result = await call()
            self.limiter.succeeded()
            return result

        self._count(0)
        return await self.retry(in_turn)

    @asynccontextmanager
    async def _place(self) -> AsyncGenerator[None]:
        held = _PLACES.get()
        place = held.get(self.limiter, self.limiter)
        self._note(waiting=1)
        try:
            await place.__aenter__()
        finally:
            self._note(waiting=-1)
        before = _PLACES.set({**held, self.limiter: asyncio.Lock()})
        try:
            with self._working():
                yield
        finally:
            _PLACES.reset(before)
            await place.__aexit__(None, None, None)

    async def retry(self, call: Callable[[], Awaitable[T]]) -> T:
        """Do the same without a place or a count: for a call whose own requests have them."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await call()
            except ProviderError as error:
                if error.attempts is not None:  # a loop further in has tried already
                    raise
                if error.status in (429, 529):
                    self.limiter.throttled()
                if not error.retryable or attempt > self.max_retries:
                    error.attempts = attempt
                    raise
                with self._working():  # waiting for the server, not for a place
                    await self._sleep(delay(attempt, retry_after=error.retry_after))

    @contextmanager
    def _working(self) -> Generator[None]:
        self._note(working=1)
        try:
            yield
        finally:
            self._note(working=-1)

    def _note(self, *, waiting: int = 0, working: int = 0) -> None:
        if self.deadline is not None:
            self.deadline.note(waiting=waiting, working=working)

    def _count(self, requests: int) -> None:
        calls: Calls | None = self
        while calls is not None:
            calls.counts = True
            calls.attempts += requests
            calls = calls._parent


def delay(attempt: int, *, retry_after: float | None) -> float:
    """Seconds to wait after a failed attempt (the first is 1).

    What the server asks for, up to a minute, else 0.5 s doubling up to 8 s; up to a quarter more
    at random, so that many clients do not come back at once.
    """
    if retry_after is not None and retry_after >= 0.0:
        base = min(retry_after, LONGEST_RETRY_AFTER)
    else:
        # Four doublings reach the longest; a thousand would be too large for a float.
        base = min(FIRST_DELAY * 2.0 ** min(attempt - 1, 10), LONGEST_DELAY)
    return base * (1.0 + 0.25 * random.random())
