"""What `classify run` does, once its options are read."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar

from classify.adapters.cli.calibrated import calibrated_classifier
from classify.adapters.cli.console import FAILED, INTERRUPTED, say, show, show_json
from classify.adapters.cli.field_options import chosen_fields
from classify.adapters.cli.model_note import tell_model
from classify.adapters.cli.progress import Report, shown_progress
from classify.adapters.cli.standard_input import from_thread
from classify.adapters.cli.stopping import stoppable
from classify.adapters.cli.summary_table import summary_table
from classify.classifier import Classifier
from classify.errors import InvalidInput
from classify.prior import check_batch_size
from classify.results import read_results
from classify.row_sources import count_records, is_stream
from classify.rows import BadRow, Row, read_rows
from classify.run import RunCounts, RunSettings, check_resumable, run
from classify.run_record import RunRecord, write_record
from classify.run_summary import RunSummary, summarize
from classify.spec import Spec, load_spec
from classify.store import Existing, Store


@dataclass(slots=True)
class RunJob:
    """The options of one run, and how far it has come."""

    added: ClassVar[tuple[str, ...]] = ()
    """What the command puts into the lines of the results once all are there."""

    spec: str
    rows: str
    output: Path
    model: str | None
    state_fields: list[str] | None
    label_fields: list[str] | None
    id_field: str | None
    limit: int | None
    concurrency: int
    timeout: float | None
    max_retries: int
    existing: Existing
    strict: bool
    with_state: bool
    as_json: bool
    calibrators: Sequence[str] = ()
    accept: Sequence[str] = ()
    abstain: float | None = None
    counts: RunCounts = field(default_factory=RunCounts)
    stopped_by: int | None = None
    """The signal that stopped the run."""

    def perform(self) -> int:
        """Run, tell what came of it, and return the exit code."""
        _check_apart(self.output, spec=self.spec, rows=self.rows)
        spec = self._load()
        fields = chosen_fields(spec.fields, self.state_fields, self.label_fields, self.id_field)
        classifier = self._classifier(spec)
        tell_model(classifier, named=self.model or spec.model)
        if self.rows == "-" and sys.stdin is not None and sys.stdin.isatty():
            say("reading rows from standard input, a JSON object a line")
        rows = read_rows(self.rows, fields, spec.questions, limit=self.limit, note=say)
        total = self._total()
        if classifier.options.prior == "batch" and total is not None:
            check_batch_size(total)
        started = time.monotonic()
        with Store(self.output, existing=self.existing, added=self.added) as store:
            if store.damaged:
                say(f"{store.damaged} damaged lines in {self.output}: their rows are asked again")
            check_resumable(classifier, store)
            if classifier.fingerprint_problem is not None:
                say(f"this run cannot be resumed once it stops: {classifier.fingerprint_problem}")
            write_record(self.output, RunRecord.of(classifier, rows=total))
            with suppress(asyncio.CancelledError):  # the second Ctrl-C
                asyncio.run(self._classify(classifier, rows, store, total))
        self._tell_counts(store)
        return self._report(spec, seconds=time.monotonic() - started)

    def _load(self) -> Spec:
        return load_spec(self.spec)

    def _report(self, spec: Spec, *, seconds: float) -> int:
        """Tell what the results come to, and return the exit code."""
        summary = summarize(read_results(self.output), spec.questions)
        self._show(summary, seconds=seconds)
        return self._exit_code(summary)

    def _classifier(self, spec: Spec) -> Classifier:
        return calibrated_classifier(
            spec,
            self.model,
            calibrators=self.calibrators,
            accept=self.accept,
            abstain=self.abstain,
        )

    async def _classify(
        self,
        classifier: Classifier,
        rows: Iterator[Row | BadRow],
        store: Store,
        total: int | None,
    ) -> None:
        settings = RunSettings(
            concurrency=self.concurrency,
            max_retries=self.max_retries,
            timeout=self.timeout,
            strict=self.strict,
            with_state=self.with_state,
        )
        try:
            with stoppable(say) as stopping, shown_progress(total) as report:
                source = from_thread(rows, stopping.event) if is_stream(self.rows) else rows
                try:
                    self.counts = await run(
                        classifier,
                        source,
                        store,
                        settings,
                        progress=self._remembered(report),
                        stop=stopping.event,
                    )
                finally:
                    self.stopped_by = stopping.signal
        finally:
            await classifier.aclose()

    def _remembered(self, report: Report) -> Report:
        def remember(counts: RunCounts) -> None:
            self.counts = counts  # for a run that is cut off
            report(counts)

        return remember

    def _total(self) -> int | None:
        total = count_records(self.rows)
        return total if total is None or self.limit is None else min(total, self.limit)

    def _tell_counts(self, store: Store) -> None:
        counts = self.counts
        if self.existing == "resume":
            new = counts.answered + counts.failed - counts.retried
            say(f"resumed: {counts.reused} rows reused, {counts.retried} retried, {new} new")
        if counts.unlabelled:
            say(
                f"{counts.unlabelled} of them had labels, which this run does not read: give "
                "--label QUESTION=FIELD as before, and resume again"
            )
        if counts.unused:
            say(
                f"{counts.unused} answers belong to another spec, model or input and were not "
                f"used; they are kept in {store.unused_path.name}"
            )
        if counts.repeated_ids:
            say(f"{counts.repeated_ids} rows have the id of an earlier row: go by `index`")
        if counts.stopped_by is not None:
            say(f"error: stopped by --strict at {counts.stopped_by}", style="red")
        if self.stopped_by is not None:
            say(f"stopped: {counts.rows} rows are in {self.output}; continue with")
            say(f"  {_resume_command()}")

    def _show(self, summary: RunSummary, *, seconds: float) -> None:
        asked = self.counts.answered + self.counts.failed
        if self.as_json:
            facts = asdict(self.counts) | {
                "seconds": seconds,
                "rows_per_second": asked / seconds if seconds > 0.0 else None,
                "interrupted": self.stopped_by is not None,
                "results": str(self.output),
            }
            show_json({**summary.to_json(), "run": facts})
        elif self.stopped_by is None:
            show(summary_table(summary, seconds=seconds, asked=asked))
            say(f"results: {self.output}")

    def _exit_code(self, summary: RunSummary) -> int:
        if self.stopped_by is not None:
            return INTERRUPTED if self.stopped_by == signal.SIGINT else FAILED
        verdicts = any(question.answered for question in summary.questions.values())
        return FAILED if summary.failed or self.counts.stopped_by or not verdicts else 0


def _check_apart(output: Path, **read: str) -> None:
    for what, path in read.items():
        with suppress(OSError):  # one of them is not there
            if path != "-" and os.path.samefile(path, output):
                raise InvalidInput(
                    f"results would replace the {what} in {path!r}: name another file"
                )


def _resume_command() -> str:
    given = [argument for argument in sys.argv[1:] if argument not in ("--resume", "--overwrite")]
    return shlex.join(["classify", *given, "--resume"])
