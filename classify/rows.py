"""Rows to classify: which fields are judged, which name the row, which hold its labels.

It knows nothing of file formats.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TypeAlias

from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Question
from classify.records import BadRecord, Record
from classify.row_labels import Label, read_label
from classify.row_sources import is_stream, is_table, read_records
from classify.validation import unknown_name

STATE_ALIASES = (
    "state",
    "text",
    "message",
    "content",
    "input",
    "prompt",
    "review",
    "comment",
    "body",
    "document",
    "sentence",
    "question",
    "query",
)
"""Fields that are taken for the state where none is named, the first that a row has."""

_ROWS_LOOKED_AT = 20

StateFields: TypeAlias = str | Mapping[str, str]
"""The field that is the state, or the state's own keys -> the fields they come from."""


@dataclass(frozen=True, slots=True)
class FieldMap:
    """Which fields of a row mean what; what is None is found by the fields' names."""

    state: StateFields | None = None
    """None for the first field that has a usual name."""
    labels: Mapping[str, str] | None = None
    """Question id -> field; None for the fields that have a question's id. Of the others a field
    with a question's id is neither a label nor part of a state that is the whole row."""
    id: str | None = None
    """None for "id" where there is one, else a hash of the state."""


@dataclass(frozen=True, slots=True)
class Row:
    """One state to classify."""

    index: int
    """Its position among all rows, from 0."""
    place: str
    """Where it stands in its source, such as "line 3"."""
    id: str
    """Its own, or the beginning of a hash of its state."""
    state: JSON
    """What is judged."""
    labels: Mapping[str, Label] = field(default_factory=dict[str, Label])
    """Question id -> what a person said."""
    label_problems: Mapping[str, str] = field(default_factory=dict[str, str])
    """Question id -> why its label could not be read."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be classified, and why; never its text."""

    index: int
    """Its position among all rows, from 0."""
    place: str
    """Where it stands in its source, such as "line 3"."""
    message: str
    """Why it cannot be classified."""


def read_rows(
    source: str,
    fields: FieldMap,
    questions: Mapping[str, Question],
    *,
    limit: int | None = None,
    note: Callable[[str], None],
) -> Iterator[Row | BadRow]:
    """Return the rows of a file or of "-" (standard input), read one by one.

    `note` is told what was decided by the fields' names. The first rows are read at once, so
    InvalidInput is raised here for a source that cannot be read, a question that does not exist,
    and a field named for the state or the id that none of a file's first rows has (for labels
    too in a table).
    """
    for name in fields.labels or ():
        if name not in questions:
            raise InvalidInput(f"labels: {unknown_name('question', name, questions)}")
    if limit is not None and limit < 1:
        raise InvalidInput(f"limit must be at least 1, got {limit!r}")
    records = islice(read_records(source), limit)
    first = list(islice(records, _looked_at(source)))
    if not first:
        raise InvalidInput(f"{source!r} has no rows")
    readable = [record.fields for record in first if isinstance(record, Record)]
    # In lines of JSON the rows that people labelled may come later.
    labels = (fields.labels or {}).values() if is_table(source) else ()
    _check_named((*_named(fields.state), *labels, *filter(None, [fields.id])), readable)
    reader = _Reader(fields, questions, note=note)
    rows = reader.read_all(chain(first, records))
    return chain(list(islice(rows, 1)), rows)


def _looked_at(source: str) -> int:
    """Return how many rows tell whether a field exists: few where waiting for more would hurt."""
    return 1 if is_stream(source) or is_table(source) else _ROWS_LOOKED_AT


def _check_named(names: Iterable[str], rows: Sequence[Mapping[str, JSON]]) -> None:
    """Raise InvalidInput for a named field that no row has: all would fail for one reason."""
    for name in names:
        if rows and not any(name in fields for fields in rows):
            _require(rows[0], name)


def canonical_json(value: JSON) -> str:
    """Return the one text that stands for a JSON value: keys sorted, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


class _Reader:
    """Turns records into rows; what fields mean is decided on the first readable record."""

    def __init__(
        self,
        fields: FieldMap,
        questions: Mapping[str, Question],
        *,
        note: Callable[[str], None],
    ) -> None:
        self._given, self._questions, self._note = fields, questions, note
        self._decided = False
        self._state = fields.state
        """None for the whole row without its id and labels."""
        used = _named(fields.state)
        self._labels = (
            {name: name for name in questions if name not in used}
            if fields.labels is None
            else fields.labels
        )
        self._id = fields.id or "id"
        self._left: Sequence[str] = ()
        """Fields named like questions that are no labels, because others were named."""
        self._unseen = dict(fields.labels or {})
        """Fields named for labels that no row has had so far."""

    def read_all(self, records: Iterable[Record | BadRecord]) -> Iterator[Row | BadRow]:
        for index, record in enumerate(records):
            yield self.read(index, record)
        for question, name in self._unseen.items():
            self._note(f"labels: no row has the field {name!r}, named for {question!r}")

    def read(self, index: int, record: Record | BadRecord) -> Row | BadRow:
        if isinstance(record, BadRecord):
            return BadRow(index, record.place, record.message)
        if not self._decided:
            self._decide(record.fields)
        try:
            state = self._read_state(record.fields)
            name = self._read_id(record.fields, state)
        except InvalidInput as error:
            return BadRow(index, record.place, str(error))
        labels, problems = self._read_labels(record.fields)
        return Row(index, record.place, name, state, labels, problems)

    def _decide(self, fields: Mapping[str, JSON]) -> None:
        given = self._given
        if given.labels is not None:
            taken = {self._id, *_named(given.state), *self._labels.values()}
            self._left = [
                name
                for name in self._questions
                if name in fields and name not in taken and name not in self._labels
            ]
        if given.state is None:
            self._choose_state(fields)
        self._left = [name for name in self._left if name != self._state]
        if self._left:
            self._note(
                f"labels: {', '.join(self._left)} not used, although named like questions, since "
                f"other labels are named: name these too (--label {self._left[0]}={self._left[0]})"
            )
        if given.labels is None:
            found = [name for name in self._labels if name in fields and name != self._state]
            self._labels = {name: name for name in self._labels if name != self._state}
            if found:
                self._note(f"labels: {', '.join(found)} (fields named like questions)")
        self._decided = True

    def _choose_state(self, fields: Mapping[str, JSON]) -> None:
        taken = {self._id, *self._labels.values()}
        free = [name for name in fields if name not in taken]
        self._state = next((alias for alias in STATE_ALIASES if alias in free), None)
        if self._state is None:
            free = [name for name in free if name not in self._left]
            self._note(
                f"state: all fields but id and labels ({', '.join(free)}), because none has a "
                "usual name; choose with --state-field"
            )
            return
        unused = [name for name in free if name != self._state]
        rest = f"; not used: {', '.join(unused)}" if unused else ""
        self._note(f"state: field {self._state!r}{rest} (choose with --state-field)")

    def _read_state(self, fields: Mapping[str, JSON]) -> JSON:
        if self._state is None:
            taken = {self._id, *self._labels.values(), *self._left}
            return {name: value for name, value in fields.items() if name not in taken}
        if isinstance(self._state, str):
            return _require(fields, self._state)
        return {key: _require(fields, name) for key, name in self._state.items()}

    def _read_id(self, fields: Mapping[str, JSON], state: JSON) -> str:
        value = _require(fields, self._id) if self._given.id else fields.get(self._id)
        if value is None or value == "":
            if self._given.id:
                raise InvalidInput(f"field {self._id!r}, the id, is empty")
            return hashlib.sha256(canonical_json(state).encode()).hexdigest()[:16]
        return value if isinstance(value, str) else canonical_json(value)

    def _read_labels(self, fields: Mapping[str, JSON]) -> tuple[dict[str, Label], dict[str, str]]:
        labels: dict[str, Label] = {}
        problems: dict[str, str] = {}
        for question, name in self._labels.items():
            if name in fields:
                self._unseen.pop(question, None)
            try:
                label = read_label(self._questions[question], fields.get(name))
            except InvalidInput as error:
                problems[question] = f"the value of field {name!r} {error}"
                continue
            if label is not None:
                labels[question] = label
        return labels, problems


def _named(state: StateFields | None) -> tuple[str, ...]:
    if state is None:
        return ()
    return (state,) if isinstance(state, str) else tuple(state.values())


def _require(fields: Mapping[str, JSON], name: str) -> JSON:
    if name not in fields:
        raise InvalidInput(unknown_name("field", name, fields))
    return fields[name]
