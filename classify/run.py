"""Run a classifier over rows into a results file: bounded, resumable, stoppable.

It knows nothing of file formats or of how the file stays whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Iterable
from contextlib import aclosing
from dataclasses import dataclass

from classify.classifier import Classifier
from classify.errors import CalibrationError, ClassifyError, InvalidInput
from classify.evaluation import Evaluation
from classify.json_values import JSON
from classify.results import (
    Result,
    bad_row_result,
    is_key_of,
    read_results,
    reused_result,
    row_result,
    state_key,
    unanswered,
)
from classify.rows import BadRow, Row
from classify.store import Store, replace_results
from classify.validation import check_timeout

GRACE_SECONDS = 5.0
"""How long requests in flight may go on once a run is told to stop."""

_ROWS_A_TURN = 64


@dataclass(slots=True)
class RunCounts:
    """What has become of the rows so far."""

    rows: int = 0
    """Results that stand in the file."""
    answered: int = 0
    """Rows evaluated now, with or without a verdict."""
    failed: int = 0
    """Rows that the model did not answer."""
    bad: int = 0
    """Rows that could not be read."""
    reused: int = 0
    """Rows answered by an earlier run and not asked again."""
    retried: int = 0
    """Rows asked again, because an earlier run got no answer."""
    repeated_ids: int = 0
    """Rows whose id an earlier row has."""
    unused: int = 0
    """Answers of another spec, model or input, found in the file and put aside."""
    stopped_by: str | None = None
    """The bad row that a strict run stopped at."""
    unlabelled: int = 0
    """Rows reused whose earlier result had labels, and that come without any now."""
    interrupted: bool = False
    """Whether the run was told to stop before its last row."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How to run: limits for each request and row, and what is kept."""

    concurrency: int = 8
    """Rows and requests in flight at a time, at most."""
    max_retries: int = 2
    """Of each request."""
    timeout: float | None = None
    """Seconds for each row."""
    strict: bool = False
    """Whether to stop at a row that cannot be read."""
    with_state: bool = True
    """Whether results hold what was judged."""


async def run(
    classifier: Classifier,
    rows: Iterable[Row | BadRow] | AsyncIterable[Row | BadRow],
    store: Store,
    settings: RunSettings | None = None,
    *,
    progress: Callable[[RunCounts], None] | None = None,
    stop: asyncio.Event | None = None,
) -> RunCounts:
    """Classify the rows that the store has no answer for, and put its file into their order.

    Each result is written as soon as it is there, whatever came before it in the input.
    `progress` is called after each result. Once `stop` is set no row is begun and those in flight
    have five seconds to end; the results so far stay, and another run resumes them. A cancelled
    run leaves the file resumable too. Raises InvalidInput for unusable settings and as
    `check_resumable` does, ResultsError where the file cannot be written, CalibrationError where a
    calibrator refuses the answers from the first one on, and what reading the rows raises.
    """
    stop, settings = stop or asyncio.Event(), settings or RunSettings()
    check_timeout(settings.timeout)
    check_resumable(classifier, store)
    runner = _Runner(classifier, store, settings, progress, stop)
    runner.counts.unused = store.begin(classifier.fingerprint)
    await _until_stopped(runner.consume(_each(rows)), stop)
    counts = runner.counts
    counts.interrupted = stop.is_set()
    if not counts.interrupted and counts.stopped_by is None:
        counts.unused += store.finish()
        if classifier.options.prior == "batch":
            _correct_batch(classifier, store)
    return counts


def check_resumable(classifier: Classifier, store: Store) -> None:
    """Raise InvalidInput where none of the answers in the store can be known for the classifier's.

    Every row would be asked again.
    """
    if classifier.fingerprint_problem is None:
        return
    found = store.earlier()
    # This very object may have made them.
    if found is not None and not is_key_of(found.key or "", classifier.fingerprint):
        raise InvalidInput(
            f"the answers in {str(store.path)!r} cannot be resumed, as nothing tells whether they "
            f"are this classifier's: {classifier.fingerprint_problem}. Or replace them with "
            "--overwrite, or write to another file"
        )


async def _until_stopped(work: Coroutine[object, None, None], stop: asyncio.Event) -> None:
    running = asyncio.create_task(work)
    stopping = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            await asyncio.wait({running}, timeout=GRACE_SECONDS)
    finally:
        stopping.cancel()
        running.cancel()
        await asyncio.gather(running, stopping, return_exceptions=True)
    if not (stop.is_set() and running.cancelled()):
        running.result()


class _Runner:
    """One run's state: the rows that wait for their answers."""

    def __init__(
        self,
        classifier: Classifier,
        store: Store,
        settings: RunSettings,
        progress: Callable[[RunCounts], None] | None,
        stop: asyncio.Event,
    ) -> None:
        self.counts = RunCounts()
        self._classifier, self._store, self._settings = classifier, store, settings
        self._progress, self._stop = progress, stop
        self._fingerprint = classifier.fingerprint
        self._waiting: dict[int, Result] = {}
        """How many states were asked before a row's -> what is kept of the row whatever comes."""
        self._asked = 0
        self._ids: set[int] = set()
        self._accepted = False
        """Whether the calibrators took an answer."""

    async def consume(self, rows: AsyncIterator[Row | BadRow]) -> None:
        arrivals = self._classifier.as_completed(
            self._states(rows),
            concurrency=self._settings.concurrency,
            max_retries=self._settings.max_retries,
            timeout=self._settings.timeout,
        )
        async with aclosing(arrivals):
            async for position, outcome in arrivals:
                self._count(outcome)
                self._write(row_result(outcome, self._waiting.pop(position)))
                if not self._accepted:
                    self._check_calibrators(outcome)

    def _check_calibrators(self, outcome: Evaluation | ClassifyError) -> None:
        """Raise CalibrationError where a calibrator refuses the first answer.

        It is for another model or prompt: no row would be calibrated, and every one be paid for.
        """
        if isinstance(outcome, CalibrationError):
            raise outcome
        if isinstance(outcome, Evaluation):
            if self._classifier.options.prior == "batch":
                self._classifier.check_calibrators(outcome)
            self._accepted = True

    async def _states(self, rows: AsyncIterator[Row | BadRow]) -> AsyncIterator[JSON]:
        """Yield the states to ask about, and write the results that need no asking."""
        renamed: list[Row] = []
        async for row in rows:
            if self._stop.is_set():
                return
            if isinstance(row, BadRow):
                self.counts.bad += 1
                self._write(bad_row_result(row))
                if self._settings.strict:
                    self.counts.stopped_by = f"{row.place}: {row.message}"
                    return
                continue
            self._note_id(row.id)
            key = state_key(self._fingerprint, row.state)
            if self._reused(row, key, self._store.take(key, row.id)):
                continue
            if self._store.left(key) and not self._store.failed(key, row.id):
                renamed.append(row)
            else:
                yield self._begun(row, key)
        # Only now is it known which answers the rows that they were given to no longer ask for.
        for row in renamed:
            if self._stop.is_set():
                return
            key = state_key(self._fingerprint, row.state)
            if not self._reused(row, key, self._store.take(key)):
                yield self._begun(row, key)

    def _reused(self, row: Row, key: str, found: Result | None) -> bool:
        """Write the answer found for a row; return whether there was one."""
        if found is None:
            return False
        if not self._accepted:
            self._check_calibrators(found.evaluation(self._classifier.id))
        base = self._base(row, key)
        self.counts.reused += 1
        self.counts.unlabelled += bool(found.labels and not base.labels)
        self._write(reused_result(found, base))
        return True

    def _begun(self, row: Row, key: str) -> JSON:
        """Return the state to ask about, and note whose it is."""
        self.counts.retried += self._store.failed(key, row.id)
        self._waiting[self._asked] = self._base(row, key)
        self._asked += 1
        return row.state

    def _base(self, row: Row, key: str) -> Result:
        return unanswered(row, key=key, with_state=self._settings.with_state)

    def _note_id(self, name: str) -> None:
        mark = hash(name)
        self.counts.repeated_ids += mark in self._ids
        self._ids.add(mark)

    def _count(self, outcome: Evaluation | ClassifyError) -> None:
        if isinstance(outcome, Evaluation):
            self.counts.answered += 1
        else:
            self.counts.failed += 1

    def _write(self, result: Result) -> None:
        self._store.put(result)
        self.counts.rows += 1
        if self._progress is not None:
            self._progress(self.counts)


def _correct_batch(classifier: Classifier, store: Store) -> None:
    """Divide the batch's prior out of every answer, and put the file anew in one step.

    Raises CalibrationError, with the file as it was, where a calibrator refuses all of them.
    """
    results = list(read_results(store.path))
    outcomes = [
        ClassifyError(r.error.message) if r.error else r.evaluation(classifier.id) for r in results
    ]
    corrected = classifier.batch_corrected(outcomes)
    refused = [o for o in corrected if isinstance(o, CalibrationError)]
    if refused and not any(isinstance(outcome, Evaluation) for outcome in corrected):
        raise refused[0]
    replace_results(store.path, map(_corrected, results, corrected))


def _corrected(result: Result, outcome: Evaluation | ClassifyError) -> Result:
    if result.error is not None:
        return result
    if isinstance(outcome, Evaluation):
        return result.model_copy(update={"answers": outcome.answers})
    refused = row_result(outcome, result.model_copy(update={"answers": {}}))
    return refused.model_copy(update={"attempts": result.attempts})


async def _each(
    rows: Iterable[Row | BadRow] | AsyncIterable[Row | BadRow],
) -> AsyncIterator[Row | BadRow]:
    if isinstance(rows, AsyncIterable):
        async for row in rows:
            yield row
        return
    for number, row in enumerate(rows, start=1):
        if number % _ROWS_A_TURN == 0:
            await asyncio.sleep(0)  # rows that need no answer must not keep signals waiting
        yield row
