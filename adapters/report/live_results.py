"""Results as they arrive: what a page that is open has not seen yet.

One thread reads (`step`), others ask (`news`, `detail`). A file that is begun anew, by --overwrite
or by a run that puts its lines into order, is another generation of rows.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock

from classify.adapters.report.followed_file import FollowedFile
from classify.adapters.report.gathered import Gathered
from classify.adapters.report.labelled_figures import labelled_figures
from classify.adapters.report.overview import Origin, overview
from classify.adapters.report.repeat_figures import repeat_figures
from classify.calibration.label_file import RowLabels, read_label_file
from classify.calibration.result_labels import labelled_results, seen_questions
from classify.errors import CalibrationError, ClassifyError, InvalidInput
from classify.json_values import JSON
from classify.line_file import Place
from classify.questions import Question
from classify.results import Result, parse_result
from classify.run_record import RunRecord, read_record
from classify.run_summary import RunTotal

BATCH = 250
"""Lines read at a time: between two, others may ask."""
SLICE = 5000
"""Rows sent at a time: more would keep a page from answering its reader."""
_LONGEST = 32_000_000
"""Bytes of results whose texts are sent at a time."""

_MORE = 1.2
"""Times as many rows as before, while a file is read that is there already."""


class LiveResults:
    """A results file that may still be written; raises InvalidInput for unusable labels."""

    def __init__(
        self,
        results: Path,
        *,
        questions: Mapping[str, Question] | None = None,
        labels: str | None = None,
    ) -> None:
        self.name = results.name
        # A run locks and replaces the file that a link names.
        self._path = Path(os.path.realpath(results))
        self._asked, self._label_file = questions, labels
        self._guard = Lock()
        self._begin(read_record(self._path), questions)

    def step(self) -> bool:
        """Read some more lines; return whether there may be others to read at once."""
        lines = self._file.lines(BATCH)
        # After the lines: a run writes its record before its first line.
        record = read_record(self._path)
        found = [(place, _parsed(line)) for place, line in lines]
        results = [result for _, result in found if result is not None]
        with self._guard:
            # A file begun anew has other lines in the places of those that were read.
            if record != self._record or self._file.generation > 0:
                self._begin(record, self._asked)
                return True
            if record is None and self._asked is None:
                unknown = seen_questions(results).keys() - self.questions.keys()
                if unknown:
                    self._begin(None, {**self.questions, **seen_questions(results)})
                    return True
            self._take(found)
            self._caught_up = len(lines) < BATCH
        if self._caught_up:
            self._measure()
        return not self._caught_up

    def news(self, generation: str, have: int, version: str) -> dict[str, JSON]:
        """Return what a page that has so many rows of a generation has not got.

        A page with another generation gets this one from its first row. The overview comes
        where it is not the page's `version`.
        """
        with self._guard:
            start = max(0, have) if generation == self._generation else 0
            stop = self._stop(start)
            self._renew_overview()
            state = self._state()
            seen = version if generation == self._generation else None
            columns = self._gathered.columns
            return {
                "generation": self._generation,
                "version": self._version,
                "start": start,
                "total": self._rows,
                "expected": None if self._record is None else self._record.rows,
                "caught_up": self._caught_up and (state == "running" or not self._unmeasured()),
                "state": state,
                "quiet_seconds": round(time.monotonic() - self._last, 1),
                "problems": self._problems(),
                "columns": _cut(columns.columns(), start, stop),
                "texts": _cut(columns.texts(), start, stop),
                "overview": self._whole if seen != self._version else None,
            }

    def detail(self, generation: str, row: int) -> JSON:
        """Return everything kept of a row; None where the file has been begun anew."""
        with self._guard:
            if generation != self._generation or not 0 <= row < self._rows:
                return None
            line = self._file.line(self._places[row])
            result = None if line is None else _parsed(line)
            return None if result is None else self._gathered.detail(result)

    def _begin(self, record: RunRecord | None, questions: Mapping[str, Question] | None) -> None:
        """Begin with the file's first line."""
        if questions is None:
            questions = {} if record is None else record.questions
        # First, since it may raise: what is shown stays whole then.
        self._labels = self._read_labels(questions)
        self.questions = questions
        self._record = record
        self._file = FollowedFile(self._path)
        # No other page has seen it, nor has one that another server left open.
        self._generation = str(time.time_ns())
        self._gathered = Gathered(questions, self._labels)
        self._total = RunTotal(questions)
        self._places: list[Place] = []
        self._rows = self._unread = self._figured = 0
        self._figures: dict[str, JSON] = {}
        self._repeats: dict[str, JSON] = {}
        self._whole: JSON = None
        self._version = ""
        self._summed_up = 0
        self._caught_up = False
        self._strange: str | None = None
        self._unmade: str | None = None
        self._last = time.monotonic()

    def _read_labels(
        self, questions: Mapping[str, Question]
    ) -> Mapping[str, Sequence[RowLabels]] | None:
        if self._label_file is None or not questions:
            return None
        return read_label_file(self._label_file, questions)

    def _take(self, found: Sequence[tuple[Place, Result | None]]) -> None:
        for place, result in found:
            if result is None:
                self._unread += 1
                continue
            if self._strange is not None:
                return  # what follows would not stand beside its own row
            try:
                self._gathered.add(result)
            except InvalidInput as error:
                self._strange = str(error)
                return
            self._total.add(self._gathered.with_labels(result))
            self._places.append(place)
            self._rows += 1
            self._last = time.monotonic()

    def _state(self) -> str:
        """Say whether a run holds the file, and whether there is one yet."""
        if self._path.with_name(f"{self._path.name}.lock").exists():
            return "running"
        return "ended" if self._path.exists() else "waiting"

    def _stop(self, start: int) -> int:
        """Return up to which row to send: as many as a page takes in without a pause."""
        stop, size = start, 0
        while stop < min(self._rows, start + SLICE) and size < _LONGEST:
            size += self._places[stop][1]
            stop += 1
        return stop

    def _problems(self) -> list[JSON]:
        unread = f"{self._unread} lines could not be read and are not shown."
        told = (unread if self._unread else None, self._strange, self._unmade)
        return [each for each in told if each is not None]

    def _renew_overview(self) -> None:
        """Sum up anew where there is more to say; in a long file not after every few rows."""
        version = f"{self._rows}-{self._figured}"
        if version == self._version:
            return
        if self._caught_up or self._rows >= _MORE * self._summed_up:
            self._whole, self._version = self._overview(), version
            self._summed_up = self._rows

    def _overview(self) -> JSON:
        origin = Origin(
            name=self.name,
            record=self._record,
            torn=False,
            label_file=self._label_file and Path(self._label_file).name,
        )
        return overview(
            origin,
            self._total.summary(),
            self._gathered,
            labelled=self._figures,
            repeats=self._repeats,
        )

    def _measure(self) -> None:
        """Make figures of labels and repeats where rows are twice as many, or no more will come.

        They take a second for some thousand rows. Only the reading thread adds rows, so that
        nobody has to wait for it.
        """
        if not self._unmeasured():
            return
        if self._state() == "running" and self._rows < 2 * self._figured:
            return
        figures, problem = dict[str, JSON](), None
        repeats = repeat_figures(self._gathered.plain, self.questions)
        try:
            figures = self._made_figures()
        except ClassifyError as error:
            problem = f"The figures of labels could not be made: {error}"
        with self._guard:
            self._figures, self._repeats = figures, repeats
            self._figured, self._unmade = self._rows, problem

    def _unmeasured(self) -> int:
        """Return how many rows came after the figures of labels were made."""
        return self._rows - self._figured

    def _made_figures(self) -> dict[str, JSON]:
        gathered = self._gathered
        if self._labels and self._state() == "running":
            # The rows that people labelled may come later.
            if not any(result.id in self._labels for result in gathered.plain):
                return {}
        answers = labelled_results(gathered.plain, self.questions, labels=self._labels)
        figures: dict[str, JSON] = {}
        for name, each in answers.items():
            # A few labels may be too few for a figure.
            with suppress(CalibrationError):
                if each.labelled.any():
                    figures[name] = labelled_figures(each)
        return figures


def _parsed(line: bytes) -> Result | None:
    try:
        return parse_result(line)
    except InvalidInput:
        return None


def _cut(values: JSON, start: int, stop: int) -> JSON:
    """Return some rows of a column, or of columns in columns."""
    if isinstance(values, Mapping):
        return {name: _cut(each, start, stop) for name, each in values.items()}
    if isinstance(values, list) and values and isinstance(values[0], Mapping):
        return [_cut(each, start, stop) for each in values]
    return values[start:stop] if isinstance(values, list) else values
