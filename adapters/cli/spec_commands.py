"""`classify validate`, `schema` and `init`: spec files without any model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from classify.adapters.cli.console import FAILED, reported, say
from classify.adapters.cli.field_options import (
    IdField,
    LabelField,
    Limit,
    Specification,
    StateField,
    chosen_fields,
)
from classify.display.safe_text import visible
from classify.display.views import label_text
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.rows import BadRow, Row
    from classify.spec import Spec

_SHOWN = 10
"""Bad rows that are named one by one."""


@reported
def validate(
    spec: Specification,
    rows: Annotated[
        str | None, typer.Argument(metavar="[ROWS]", help="Rows to check as well.")
    ] = None,
    state_field: StateField = None,
    label: LabelField = None,
    id_field: IdField = None,
    limit: Limit = None,
) -> None:
    """Check a spec file, and rows against it; nothing is sent to any model."""
    from classify.providers import check_provider
    from classify.rows import read_rows
    from classify.spec import load_spec

    loaded = load_spec(spec)
    if loaded.model is not None:
        check_provider(loaded.model)
    count = len(loaded.questions)
    print(f"{visible(spec)}: valid; {count} question{'s' * (count > 1)}")
    for name, question in loaded.questions.items():
        options = ", ".join(visible(option) for option in question.options)
        print(f"  {visible(name)} ({question.type}): {options}")
    if rows is None:
        return
    fields = chosen_fields(loaded.fields, state_field, label, id_field)
    found = read_rows(rows, fields, loaded.questions, limit=limit, note=say)
    if _check_rows(found, loaded):
        raise typer.Exit(FAILED)


@reported
def schema(
    score: Annotated[bool, typer.Option("--score", help="The schema of score specs.")] = False,
) -> None:
    """Print the JSON Schema of spec files."""
    from classify.adapters.scorers.score_spec import score_spec_schema
    from classify.spec_schema import spec_schema

    print(json.dumps(score_spec_schema() if score else spec_schema(), indent=2))


@reported
def init(
    path: Annotated[Path, typer.Argument(metavar="[PATH]", help="File to write.")] = Path(
        "classify.yaml"
    ),
) -> None:
    """Write a spec file to start from, with comments; an existing file is never replaced."""
    from classify.adapters.cli.starter import STARTER

    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(STARTER)
    except FileExistsError:
        raise InvalidInput(f"{str(path)!r} exists already: name another file") from None
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be written: {error.strerror}") from None
    say(f"wrote {path}; try: classify show {path} --state 'Where is my parcel?'")


def _check_rows(rows: Iterator[Row | BadRow], spec: Spec) -> bool:
    """Print what the rows hold; return whether any is bad."""
    from classify.rows import Row

    good = bad = problems = empty = 0
    labels: dict[str, Counter[str]] = {name: Counter() for name in spec.questions}
    ids: Counter[int] = Counter()
    for row in rows:
        if not isinstance(row, Row):
            bad += 1
            if bad <= _SHOWN:
                say(f"{row.place}: {row.message}", style="red")
            continue
        good += 1
        empty += row.state is None or row.state == ""
        ids[hash(row.id)] += 1
        for name, label in row.labels.items():
            labels[name][label_text(label)] += 1
        for name, problem in row.label_problems.items():
            problems += 1
            if problems <= _SHOWN:
                say(f"{row.place}: label of {name!r}: {problem}")
    print(f"rows: {good} good, {bad} bad, {problems} labels that cannot be read")
    if empty:
        print(f"  nothing to judge in {empty} (empty or null), which are judged all the same")
    if good > len(ids):
        print(f"  {good - len(ids)} rows have the id of an earlier row")
    for name, counts in labels.items():
        if counts:
            shares = ", ".join(f"{visible(label)} {n}" for label, n in counts.most_common())
            print(f"  labels of {visible(name)}: {shares}")
    return bad > 0 or good == 0
