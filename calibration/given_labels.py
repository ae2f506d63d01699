"""The labels of results as they are read: those of a file where there is one, else their own.

Labels may name rows that are not there, since a run can be stopped: they are counted and said.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from classify.calibration.label_file import RowLabels
from classify.errors import InvalidInput
from classify.results import Result


class GivenLabels:
    """What people said of each result that passes; `labels` are found by the ids of rows."""

    def __init__(self, labels: Mapping[str, Sequence[RowLabels]] | None) -> None:
        self._labels = labels
        self._seen: set[str] = set()

    def of(self, result: Result) -> Sequence[RowLabels]:
        """Return the labels of a result."""
        if self._labels is None:
            return (RowLabels(result.labels),)
        self._seen.add(result.id)
        return self._labels.get(result.id, ())

    def of_no_row(self, question: str) -> tuple[str, ...]:
        """Return the ids of the question's labels that name no result so far.

        An id is there for each of its labels. Raises InvalidInput where no label of any question
        names a result.
        """
        if self._labels is None:
            return ()
        return tuple(
            name
            for name in without_row(self._labels, self._seen)
            for row in self._labels[name]
            if question in row.labels
        )


def without_row(
    labels: Mapping[str, Sequence[RowLabels]], rows: Collection[str], *, of: str = "the results"
) -> list[str]:
    """Return the labelled ids that are no row's; InvalidInput where none of several is one's."""
    waiting = [name for name in labels if name not in rows]
    if labels and len(waiting) == len(labels):
        known = f"whose ids are such as {min(rows)!r}" if rows else "which has no rows"
        lone = f"{len(waiting)}, such as {waiting[0]!r}"
        raise InvalidInput(
            f"no labelled id ({lone}) names a row of {of}, {known}: give labels the ids of the "
            "rows that were run"
        )
    return waiting


def told_of_no_row(ids: Sequence[str]) -> str:
    """Say how many labels name no row, with an example; `ids` as `of_no_row` returns them."""
    labels = "1 label names" if len(ids) == 1 else f"{len(ids)} labels name"
    return f"{labels} no row of the results, such as {ids[0]!r}"
