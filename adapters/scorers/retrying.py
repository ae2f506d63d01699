"""Ask a judge's model again after failures that may pass, and only after those."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Sequence

from classify import calls
from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.errors import ClassifyError, ProviderError


def growing_delay(retry_count: int) -> float:
    """Return half a second, doubled with each retry up to 8 s, and up to a quarter more."""
    return calls.delay(retry_count + 1, retry_after=None)


class RetryProcessor:
    """An error processor that retries transient failures.

    It looks through the error and its causes for a ProviderError that says it is retryable, or
    for anything that one of `matchers` accepts. Authentication, an invalid request and a prompt
    that is too long are not retryable and fail at once, unless a matcher wants them.
    `retry_unknown_errors` retries what is no error of ours or of a provider.

    The wait is the server's Retry-After, at most `max_retry_after` seconds; else `delay`, in
    seconds or as a function of the retries so far (negative and non-finite count as 0). `sleep`
    is what waits. `max_retries` counts within one judge request; the judge's own
    `max_processor_retries` may allow fewer.

    Raises ScorerDefinitionError for unusable numbers.
    """

    def __init__(
        self,
        *,
        max_retries: int = 1,
        max_retry_after: float = 30.0,
        delay: float | Callable[[int], float] = growing_delay,
        matchers: Sequence[Callable[[BaseException], bool]] = (),
        retry_unknown_errors: bool = False,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        """Take the bounds; nothing is retried without this processor."""
        check_retries(max_retries, "max_retries")
        if not max_retry_after >= 0.0:
            raise ScorerDefinitionError(
                f"max_retry_after must be seconds of at least 0, got {max_retry_after!r}"
            )
        self.max_retries, self.max_retry_after = max_retries, max_retry_after
        self.retry_unknown_errors = retry_unknown_errors
        self._delay, self._matchers, self._sleep = delay, tuple(matchers), sleep

    async def process_error(self, error: Exception, /, *, retry_count: int) -> bool:
        """Wait and return True where another request may succeed and is allowed."""
        if retry_count >= self.max_retries or not self._may_pass(error):
            return False
        await self._sleep(self.seconds(error, retry_count))
        return True

    def seconds(self, error: BaseException, retry_count: int) -> float:
        """Return how long to wait before the next request."""
        for cause in causes(error):
            if isinstance(cause, ProviderError) and cause.retry_after is not None:
                return min(max(cause.retry_after, 0.0), self.max_retry_after)
        seconds = self._delay(retry_count) if callable(self._delay) else self._delay
        return seconds if math.isfinite(seconds) and seconds > 0.0 else 0.0

    def _may_pass(self, error: BaseException) -> bool:
        chain = tuple(causes(error))
        if any(matches(cause) for cause in chain for matches in self._matchers):
            return True
        ours = [cause for cause in chain if isinstance(cause, ClassifyError)]
        if not ours:
            return self.retry_unknown_errors
        return any(isinstance(cause, ProviderError) and cause.retryable for cause in ours)


def check_retries(retries: object, name: str) -> None:
    """Raise ScorerDefinitionError unless it is a whole number of at least 0."""
    if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
        raise ScorerDefinitionError(f"{name} must be a non-negative integer, got {retries!r}")


def causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and what caused it, and what caused that."""
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        hidden = current.__suppress_context__
        current = current.__cause__ or (None if hidden else current.__context__)
