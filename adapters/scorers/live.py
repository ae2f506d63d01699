"""Score what happens in production: some of it, later, and never in the caller's way.

Scoring runs in the caller's event loop where there is one, else in the package's own background
thread. It never fails the caller; what fails is counted, logged and told.
"""

from __future__ import annotations

import asyncio
import logging
import random
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from classify.adapters.scorers.live_filter import LiveContext, Predicate, read_filter
from classify.adapters.scorers.result import ScorerResult
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.adapters.scorers.settling import settled
from classify.blocking import background_loop
from classify.errors import InvalidInput

_log = logging.getLogger("classify.scorers")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How many of the runs are scored."""

    type: Literal["ratio", "none"] = "none"
    """"none" is no sampling: every run is scored, as in the reference."""
    rate: float = 1.0
    """For "ratio": the share of runs, from 0 (none) to 1 (all)."""

    def __post_init__(self) -> None:
        """Refuse a share that is none."""
        if self.type not in ("ratio", "none"):
            raise InvalidInput(f"sampling type must be 'ratio' or 'none', got {self.type!r}")
        if not 0.0 <= self.rate <= 1.0:
            raise InvalidInput(f"sampling rate must be from 0 to 1, got {self.rate!r}")

    def takes(self, drawn: float) -> bool:
        """Whether a run is taken that drew this number from 0 up to but not including 1."""
        return self.type == "none" or drawn < self.rate


@dataclass(frozen=True, slots=True)
class LiveEntry:
    """A scorer, and which runs it scores: those that pass the filter, then a sample of them."""

    scorer: ScorerLike
    sampling: Sampling = Sampling()
    filter: Mapping[str, Any] | None = None
    """See `live_filter`; None for every run."""


@dataclass(slots=True)
class LiveCounts:
    """What has become of the scorings so far; each was one scorer's turn at one run."""

    scored: int = 0
    """The scorer gave a score."""
    not_scorable: int = 0
    """The scorer declined."""
    failed: int = 0
    """The scorer failed, or what it was to be told to did."""
    filtered: int = 0
    """Left out by a filter."""
    unsampled: int = 0
    """Left out by sampling."""
    dropped: int = 0
    """Left out because too many were waiting."""
    pending: int = 0
    """Waiting, or being scored."""


@dataclass(frozen=True, slots=True)
class LiveFailure:
    """A scoring that failed."""

    scorer_id: str
    run_id: str | None
    error: Exception


@dataclass(slots=True)
class _State:
    counts: LiveCounts = field(default_factory=LiveCounts)
    pending: set[Future[None]] = field(default_factory=set[Future[None]])


class LiveScoring:
    """Scores runs in the background; `score` returns at once.

    `on_result` gets each result and `on_failure` each failure; both may be asynchronous. Failures
    are logged as warnings of "classify.scorers" too. With `max_pending` scorings waiting, further
    ones are dropped, and counted. Scorings that wait when the program ends are lost, which is
    logged: call `drain` before.

    Raises InvalidInput for a filter that says nothing.
    """

    def __init__(
        self,
        entries: Sequence[LiveEntry | ScorerLike],
        *,
        on_result: Callable[[ScorerResult[Any, Any, Any, Any]], object] | None = None,
        on_failure: Callable[[LiveFailure], object] | None = None,
        max_pending: int = 1000,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """Check the entries; `draw` gives a number from [0, 1) for each one sampled."""
        if isinstance(max_pending, bool) or not isinstance(max_pending, int) or max_pending < 1:
            raise InvalidInput(
                f"max_pending must be a whole number of at least 1, got {max_pending!r}"
            )
        self._entries = [_checked(entry) for entry in entries]
        self._on_result, self._on_failure = on_result, on_failure
        self._max_pending, self._draw = max_pending, draw
        self._state = _State()
        weakref.finalize(self, _tell_lost, self._state)

    @property
    def counts(self) -> LiveCounts:
        """What has become of the scorings so far."""
        return LiveCounts(**{**asdict(self._state.counts), "pending": len(self._state.pending)})

    def score(
        self,
        *,
        input: Any = None,
        output: Any = None,
        run_id: str | None = None,
        context: LiveContext | None = None,
        ground_truth: Any = None,
        target_trace_id: str | None = None,
        target_span_id: str | None = None,
    ) -> None:
        """Begin to score a run, and return; whatever goes wrong, nothing is raised."""
        known = context or LiveContext()
        run: dict[str, Any] = {
            "input": input,
            "output": output,
            "run_id": run_id,
            "ground_truth": ground_truth,
            "request_context": known.request_context,
            "score_source": known.source,
            "target_entity_type": known.entity_type,
            "target_trace_id": target_trace_id,
            "target_span_id": target_span_id,
        }
        for entry, predicate in self._entries:
            try:
                if self._wanted(entry, predicate, known):
                    self._begin(entry.scorer, run)
            except Exception as error:  # the caller's own work goes on
                self._state.counts.failed += 1
                _log.warning("live scorer %r could not begin: %r", entry.scorer.id, error)

    async def drain(self) -> LiveCounts:
        """Wait for all scorings begun so far, and return the counts."""
        waiting = [asyncio.wrap_future(future) for future in tuple(self._state.pending)]
        await asyncio.gather(*waiting, return_exceptions=True)
        return self.counts

    def drain_sync(self, timeout: float | None = None) -> LiveCounts:
        """Do the same where no event loop runs; after `timeout` seconds some may be pending."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            wait(tuple(self._state.pending), timeout)
            return self.counts
        raise RuntimeError("drain_sync would stop the event loop that scores: await drain()")

    def _wanted(self, entry: LiveEntry, predicate: Predicate | None, context: LiveContext) -> bool:
        counts = self._state.counts
        if predicate is not None and not predicate(context):
            counts.filtered += 1
        elif not entry.sampling.takes(self._draw()):
            counts.unsampled += 1
        elif len(self._state.pending) >= self._max_pending:
            counts.dropped += 1
            _log.warning("too many live scorings wait: one of %r is dropped", entry.scorer.id)
        else:
            return True
        return False

    def _begin(self, scorer: ScorerLike, run: Mapping[str, Any]) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = background_loop()
        future = asyncio.run_coroutine_threadsafe(self._scored(scorer, run), loop)
        # Kept here: a loop holds its tasks weakly.
        self._state.pending.add(future)
        future.add_done_callback(self._state.pending.discard)

    async def _scored(self, scorer: ScorerLike, run: Mapping[str, Any]) -> None:
        counts = self._state.counts
        try:
            result = await scorer.run(**run)
            if self._on_result is not None:
                await settled(self._on_result(result))
        except asyncio.CancelledError:  # the loop ends before the scoring does
            counts.failed += 1
            _log.warning("live scorer %r was cut off for run %r", scorer.id, run["run_id"])
            raise
        except Exception as error:
            counts.failed += 1
            await self._tell(LiveFailure(scorer.id, run["run_id"], error))
            return
        if result.not_scorable is None:
            counts.scored += 1
        else:
            counts.not_scorable += 1

    async def _tell(self, failure: LiveFailure) -> None:
        _log.warning(
            "live scorer %r failed for run %r: %s",
            failure.scorer_id,
            failure.run_id,
            type(failure.error).__name__,  # the message may hold what was judged
        )
        if self._on_failure is None:
            return
        try:
            await settled(self._on_failure(failure))
        except Exception as error:
            _log.warning("on_failure of live scoring failed: %r", error)


def _checked(entry: LiveEntry | ScorerLike) -> tuple[LiveEntry, Predicate | None]:
    whole = entry if isinstance(entry, LiveEntry) else LiveEntry(entry)
    if not isinstance(whole.scorer, ScorerLike):
        raise InvalidInput(f"entries must be scorers or LiveEntry(scorer, …), got {entry!r}")
    where = f"the filter of scorer {whole.scorer.id!r}"
    return whole, None if whole.filter is None else read_filter(whole.filter, where)


def _tell_lost(state: _State) -> None:
    if state.pending:
        count = len(state.pending)
        _log.warning("%d live scorings were not finished: drain() waits for them", count)
