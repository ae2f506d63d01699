"""What a page needs of results, gathered while they are read once: columns, details, times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from classify.adapters.report.columns import RowColumns
from classify.adapters.report.details import row_detail
from classify.adapters.report.shell import Payload, packed_payload
from classify.answers import AnyAnswer, NoVerdict
from classify.calibration.label_file import RowLabels
from classify.display.views import answer_views
from classify.json_values import JSON
from classify.questions import Question
from classify.results import Result
from classify.row_labels import Label

ROWS_PER_CHUNK = 256
"""Rows whose details are compressed together: quick to open, and yet small."""


@dataclass(frozen=True, slots=True)
class Times:
    """When answers were made; None where no answer says."""

    first: datetime
    last: datetime
    median_seconds: float
    """Of a row, from its first request to its answers."""
    n: int


class Gathered:
    """Results on their way to someone else: what passes is remembered in a small form."""

    def __init__(
        self,
        questions: Mapping[str, Question],
        labels: Mapping[str, Sequence[RowLabels]] | None = None,
    ) -> None:
        self.questions = questions
        self.columns = RowColumns(questions)
        self.chunks: list[Payload] = []
        """The details, a payload for every ROWS_PER_CHUNK rows."""
        self.plain: list[Result] = []
        """Which item and asking, labels and distributions, without evidence or state."""
        self.without_state = 0
        self.repeated_ids = 0
        self.other_questions: set[str] = set()
        """Answers that are there and not shown."""
        self._labels = labels
        self._seen: set[str] = set()
        self._open: list[JSON] = []
        self._ends: list[datetime] = []
        self._seconds: list[float] = []

    def passing(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the results with the labels that count, each after it was taken note of."""
        for result in map(self.with_labels, results):
            self.add(result)
            self._open.append(self.detail(result))
            if len(self._open) == ROWS_PER_CHUNK:
                self._close()
            yield result
        self._close()

    def add(self, result: Result) -> None:
        """Take note of a result, but for its details."""
        answers = self._asked(result)
        self.other_questions |= result.answers.keys() - self.questions.keys()
        self.columns.add(result, self._given(result))
        self.plain.append(_plain(result, answers))
        self.without_state += not result.has_state and result.key is not None
        self.repeated_ids += result.id in self._seen
        self._seen.add(result.id)
        self._note_time(result)

    def with_labels(self, result: Result) -> Result:
        """Return a result with a file's labels, where there is one, in place of its own.

        People who differ leave it without a label.
        """
        if self._labels is None:
            return result
        given = self._given(result).items()
        agreed = {name: labels[0] for name, labels in given if len(set(labels)) == 1}
        return result.model_copy(update={"labels": agreed, "label_problems": {}})

    def detail(self, result: Result) -> JSON:
        """Return what a page shows of a result that is opened."""
        views = answer_views(self._asked(result), self.questions)
        return row_detail(result, views, self._given(result))

    @property
    def times(self) -> Times | None:
        """When the answers were made."""
        if not self._ends:
            return None
        return Times(min(self._starts()), max(self._ends), median(self._seconds), len(self._ends))

    def _asked(self, result: Result) -> dict[str, AnyAnswer]:
        return {name: result.answers[name] for name in self.questions if name in result.answers}

    def _given(self, result: Result) -> dict[str, list[Label]]:
        rows = (
            (RowLabels(result.labels),) if self._labels is None else self._labels.get(result.id, ())
        )
        given = {
            name: [row.labels[name] for row in rows if name in row.labels]
            for name in self.questions
        }
        return {name: labels for name, labels in given.items() if labels}

    def _note_time(self, result: Result) -> None:
        stamp = result.response.timestamp if result.response else None
        if stamp is not None and stamp.tzinfo is not None and result.seconds is not None:
            self._ends.append(stamp)
            self._seconds.append(result.seconds)

    def _starts(self) -> Iterator[datetime]:
        for end, seconds in zip(self._ends, self._seconds, strict=True):
            yield end - timedelta(seconds=seconds)

    def _close(self) -> None:
        if self._open:
            self.chunks.append(packed_payload(f"rows-{len(self.chunks)}", self._open))
            self._open = []


def _plain(result: Result, answers: Mapping[str, AnyAnswer]) -> Result:
    return Result(
        id=result.id,
        index=result.index,
        key=result.key,
        answers={name: _without_evidence(answer) for name, answer in answers.items()},
        labels=result.labels,
        response=result.response,
        seconds=result.seconds,
    )


def _without_evidence(answer: AnyAnswer) -> AnyAnswer:
    if isinstance(answer, NoVerdict):
        return answer.model_copy(
            update={"evidence": None, "message": "", "raw_probabilities": None}
        )
    return answer.model_copy(update={"evidence": None, "bounds": None, "raw_probabilities": None})
