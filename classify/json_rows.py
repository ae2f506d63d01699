"""Read rows from JSON Lines and from a JSON array, one at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NoReturn, TextIO

from classify.errors import InvalidInput
from classify.json_values import JSON, check_json
from classify.records import (
    LONGEST_ROW,
    NOT_UTF8,
    TOO_LONG,
    BadRecord,
    Record,
    bounded_lines,
    has_bad_bytes,
)

_BOM = b"\xef\xbb\xbf"
_CHUNK = 1 << 16
_MARKS = re.compile(r'\\.|["\[\]{},]', re.DOTALL)


def read_json_lines(file: BinaryIO) -> Iterator[Record | BadRecord]:
    """Yield an object per line; blank lines are no rows."""
    for number, line in bounded_lines(file):
        place = f"line {number}"
        if line is None:
            yield BadRecord(place, TOO_LONG)
            continue
        if number == 1:
            line = line.removeprefix(_BOM)
        line = line.strip()
        if not line:
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            yield BadRecord(place, f"{NOT_UTF8} (byte {error.start + 1} of the line)")
            continue
        yield _record(place, text)


def read_json_array(file: TextIO) -> Iterator[Record | BadRecord]:
    """Yield the objects of one array; the file is never held whole.

    The file is to be opened with errors="surrogateescape", so that a byte that is not UTF-8
    spoils its own row only.
    """
    for position, (text, problem) in enumerate(_elements(_chunks(file)), start=1):
        place = f"row {position}"
        if problem is not None:
            yield BadRecord(place, problem)
        elif has_bad_bytes(text):
            yield BadRecord(place, NOT_UTF8)
        else:
            yield _record(place, text)


def strict_json(text: str) -> JSON:
    """Parse JSON that has no NaN and no repeated keys.

    Raises JSONDecodeError, ValueError or RecursionError; none quotes the text.
    """
    value: JSON = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unrepeated)
    return value


def parse_json(text: str) -> JSON:
    """Do the same with ValueError for every problem."""
    try:
        return strict_json(text)
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if error.lineno == 1 else f"line {error.lineno} of it"
        raise ValueError(f"invalid JSON at {where}: {error.msg}") from None
    except RecursionError:
        raise ValueError("invalid JSON: nested too deeply") from None


def _record(place: str, text: str) -> Record | BadRecord:
    try:
        value = parse_json(text)
        if not isinstance(value, dict):
            return BadRecord(place, f"must be a JSON object of fields, got {_kind(value)}")
        for name, field in value.items():
            check_json(name, "a field's name")
            check_json(field, f"field {name!r}")
    except (ValueError, InvalidInput) as error:
        return BadRecord(place, str(error))
    return Record(place, value)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value: write null, or leave the field out")


def _unrepeated(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} appears twice in one object")
    return found


def _kind(value: JSON) -> str:
    if isinstance(value, str):
        return "a string"
    if isinstance(value, list):
        return "an array"
    return "null" if value is None else "a number or truth value"


def _chunks(file: TextIO) -> Iterator[str]:
    kept = ""
    while chunk := file.read(_CHUNK):
        text = kept + chunk
        # An escape cut in half waits for its second half.
        kept = "\\" if (len(text) - len(text.rstrip("\\"))) % 2 else ""
        yield text[: len(text) - len(kept)]
    if kept:
        yield kept


def _elements(chunks: Iterable[str]) -> Iterator[tuple[str, str | None]]:
    """Yield the text of each element of an array, and what is wrong with its ending."""
    array = _Array()
    for chunk in chunks:
        yield from array.feed(chunk)
        if array.held > LONGEST_ROW:
            yield "", f"{TOO_LONG}; what follows was not read"
            return
    if array.depth:
        yield "", "cut off: the array does not end; what follows was not read"
    elif array.followed:
        yield "", "text after the end of the array, which was not read"


class _Array:
    """The text of an array cut at its own commas.

    Only quotes and brackets are followed, so that a broken element spoils itself and not the rest.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.held = 0
        """Characters of the element that has not ended yet."""
        self.followed = False
        """Whether there is more than blanks after the end."""
        self._parts: list[str] = []
        self._quoted = self._begun = self._closed = False

    def feed(self, chunk: str) -> Iterator[tuple[str, str | None]]:
        start = 0
        for mark in _MARKS.finditer(chunk):
            if self._closed:
                break
            sign = mark.group()
            if sign == '"':
                self._quoted = not self._quoted
            elif self._quoted or len(sign) == 2:
                continue
            elif sign in "[{":
                self.depth += 1
                start = mark.end() if self.depth == 1 else start
            elif self.depth > 1:
                self.depth -= sign != ","
            else:
                yield from self._end(chunk[start : mark.start()], closing=sign != ",")
                start = mark.end()
        self._keep(chunk[start:])

    def _keep(self, part: str) -> None:
        if self._closed:
            self.followed = self.followed or bool(part.strip())
        else:
            self._parts.append(part)
            self.held += len(part)

    def _end(self, part: str, *, closing: bool) -> Iterator[tuple[str, str | None]]:
        text = "".join((*self._parts, part)).strip()
        self._parts, self.held = [], 0
        if text or self._begun or not closing:
            yield text, None if text else "empty: there is a comma too many"
        self._begun = True
        if closing:
            self.depth, self._closed = 0, True
