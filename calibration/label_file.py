"""Labels that people gave, from a file of their own: one row per label, found by the item's id.

An item may have several rows, one for each person who labelled it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from classify.calibration.settings import of_type
from classify.display.card_sizes import cut
from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Question
from classify.records import BadRecord, Record
from classify.row_labels import Label, read_label
from classify.row_sources import read_records

_SHOWN = 40
"""Characters of a label that cannot be read, in a message."""


@dataclass(frozen=True, slots=True)
class RowLabels:
    """What one person said of one item."""

    labels: Mapping[str, Label]
    """Question id -> label."""
    weight: float = 1.0
    """As how many labels of the item it counts."""
    group: str | None = None
    """What the item belongs to, where items of one group are not independent."""


def read_label_file(
    path: str, questions: Mapping[str, Question], *, group: str = "group"
) -> dict[str, tuple[RowLabels, ...]]:
    """Return id -> labels, read from JSONL, JSON, CSV, TSV or Parquet.

    A row has `id`, a field for each question it labels (or `label`, where there is one question),
    and if wanted `weight` and the field that `group` names. Raises InvalidInput, with the row's
    place, for a row that cannot be used.
    """
    of_type(path, (str, Path), name="path", what="the path of a file")
    of_type(questions, Mapping, name="questions", what="a mapping of ids to questions")
    of_type(group, str, name="group", what="the name of a field")
    found: dict[str, list[RowLabels]] = {}
    fields: dict[str, bool] = {}  # whether any row has something there
    for record in read_records(path):
        if isinstance(record, BadRecord):
            raise InvalidInput(f"{path}, {record.place}: {record.message}")
        identity = record.fields.get("id")
        if identity is None or identity == "":
            raise InvalidInput(f"{path}, {record.place}: the field 'id' is missing")
        for field, value in record.fields.items():
            fields[field] = fields.get(field, False) or value not in (None, "")
        found.setdefault(str(identity), []).append(_row(record, path, questions, group))
    if not found:
        raise InvalidInput(f"{path} holds no rows: give it a row for each label")
    if not any(row.labels for rows in found.values() for row in rows):
        raise InvalidInput(f"{path} labels nothing: {_why_nothing(questions, fields)}")
    return {identity: tuple(rows) for identity, rows in found.items()}


def _why_nothing(questions: Mapping[str, Question], fields: Mapping[str, bool]) -> str:
    """Say why fields, filled or not, label none of the questions, and the way out."""
    names = ", ".join(questions)
    if fields.get("label") and "label" not in questions:
        if len(questions) > 1:
            return (
                f"'label' is read only where there is one question, and here are "
                f"{len(questions)}: name the field after the question that it labels ({names}), or "
                "choose that question (--question NAME)"
            )
        return f"{names} is empty in every row, and 'label' is read only where that field is not"
    empty = [field for field in (*questions, "label") if field in fields]
    if empty:
        return f"{', '.join(empty)} is empty in every row"
    return f"name its fields like the questions ({names}) or, where there is one question, 'label'"


def _row(
    record: Record, path: str, questions: Mapping[str, Question], group_field: str
) -> RowLabels:
    labels: dict[str, Label] = {}
    for name, question in questions.items():
        field = name if name in record.fields or len(questions) > 1 else "label"
        try:
            label = read_label(question, record.fields.get(field))
        except InvalidInput as error:
            # The labels of a file that is named here are its owner's to see.
            value = cut(str(record.fields.get(field)), _SHOWN)
            raise InvalidInput(
                f"{path}, {record.place}: {field!r} is {value!r}, which {error}"
            ) from None
        if label is not None:
            labels[name] = label
    group = record.fields.get(group_field)
    return RowLabels(
        labels, _weight(record, path), None if group is None or group == "" else str(group)
    )


def _weight(record: Record, path: str) -> float:
    value: JSON = record.fields.get("weight", 1.0)
    try:
        weight = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight >= 0.0):
        raise InvalidInput(f"{path}, {record.place}: weight must be at least 0, got {value!r}")
    return weight
