"""Fill marks such as `<!-- generated: spec -->` in pages with what is made from the code."""

from __future__ import annotations

import re
from typing import cast

from classify.adapters.scorers import score_spec_schema
from classify.results import Result
from classify.run_record import RunRecord
from classify.spec_schema import spec_schema
from generate.commands import commands_page
from generate.schemas import Schema, schema_tables

_MARK = re.compile(r"^<!-- generated: ([a-z-]+) -->$", re.MULTILINE)


def fill_marks(page: str) -> str:
    """Return the page with every mark replaced; raises KeyError for one that nothing fills."""
    return _MARK.sub(lambda mark: _PARTS[mark[1]](), page)


def _spec() -> str:
    return schema_tables(spec_schema(), "The file")


def _score_spec() -> str:
    # What it shares with every spec is above.
    whole, shared = score_spec_schema(), spec_schema()
    return schema_tables(_without(whole, shared), "The file of a score spec", level=3)


def _results() -> str:
    schema = cast("Schema", Result.model_json_schema(mode="serialization"))
    return schema_tables(schema, "A line")


def _record() -> str:
    schema = cast("Schema", RunRecord.model_json_schema(mode="serialization"))
    tables = schema_tables({"properties": schema["properties"]}, "The record beside it")
    return tables.replace("](#", "](spec-file.md#")  # where questions and options are described


def _without(schema: Schema, known: Schema) -> Schema:
    parts, others = cast("Schema", schema["$defs"]), cast("Schema", known["$defs"])
    return {**schema, "$defs": {name: part for name, part in parts.items() if name not in others}}


_PARTS = {
    "commands": commands_page,
    "spec": _spec,
    "score-spec": _score_spec,
    "results": _results,
    "record": _record,
}
