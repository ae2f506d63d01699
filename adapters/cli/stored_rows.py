"""Rows of a results file by their id, with what was asked of them; nothing is asked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic_core import to_json

from classify.adapters.cli.results_input import check_results
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.options import Options
    from classify.questions import Question
    from classify.results import Result


@dataclass(frozen=True, slots=True)
class Asked:
    """What a run put to its model besides the states."""

    classifier_id: str
    questions: dict[str, Question]
    options: Options


def what_was_asked(results: Path, spec: str | None) -> Asked | None:
    """Return what the spec says, else the record beside the results; None where there is none."""
    from classify.run_record import read_record
    from classify.spec import load_spec

    if spec is not None:
        read = load_spec(spec)
        return Asked(read.id, dict(read.questions), read.options)
    record = read_record(results)
    if record is None:
        return None
    return Asked(record.classifier_id, record.questions, record.options)


def rows_with_id(results: Path, id: str) -> list[Result]:
    """Return every row with the id, in order; InvalidInput where there is none."""
    if not results.is_fifo():  # a pipe is read only once
        check_results(results)
    found = [row for row in _candidates(results, id) if row.id == id]
    if not found:
        raise InvalidInput(f"{str(results)!r} has no row with the id {id!r}{_first(results)}")
    return found


def _candidates(results: Path, id: str) -> Iterator[Result]:
    from classify.results import parse_result

    # Most lines are passed over unread: they are long, and there may be a million.
    written = (to_json(id)[1:-1], json.dumps(id).encode()[1:-1])
    with results.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not any(text in line for text in written):
                continue
            try:
                yield parse_result(line)
            except InvalidInput as error:
                if not line.endswith(b"\n"):  # a crash has cut it off
                    return
                raise InvalidInput(f"{results}:{number}: {error}") from None


def _first(results: Path) -> str:
    from classify.results import read_results

    for row in read_results(results):
        return f": the first row's is {row.id!r}"
    return ": it has no whole line"
