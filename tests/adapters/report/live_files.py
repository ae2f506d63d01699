"""Results files that grow, for the tests of the live page."""

from __future__ import annotations

import json
from pathlib import Path

from classify.answers import BooleanAnswer
from classify.options import Options
from classify.questions import Boolean
from classify.results import Result, result_line
from classify.run_record import RunRecord, write_record


def line(row: int, *, question: str = "urgent", text: str | None = None) -> bytes:
    """Return the line of a row."""
    return result_line(
        Result(
            id=f"r{row}",
            index=row,
            key=f"k{row}",
            state=text or f"text of row {row}",
            answers={question: BooleanAnswer(probability=0.25)},
            labels={question: False} if row < 20 else {},
        )
    )


def append(path: Path, first: int, last: int, *, torn: bool = False) -> None:
    """Append rows, and the beginning of one more where the end is `torn`."""
    with path.open("ab") as file:
        file.write(b"".join(line(row) for row in range(first, last)))
        if torn:
            file.write(line(last)[:40])


def record(path: Path, question: str = "urgent", *, rows: int | None = None) -> None:
    """Write the record of a run that asks one question about so many rows."""
    write_record(
        path,
        RunRecord(
            classifier_id="s",
            provider="local",
            model_id="m",
            questions={question: Boolean(instructions="Is it?")},
            options=Options(),
            fingerprint="f",
            rows=rows,
        ),
    )


def labels(path: Path, **given: bool) -> str:
    """Write a file of labels."""
    path.write_text("".join(json.dumps({"id": i, "urgent": t}) + "\n" for i, t in given.items()))
    return str(path)
