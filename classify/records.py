"""What row sources yield: the fields of one row, or why it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from classify.json_values import JSON

LONGEST_ROW = 64 * 1024 * 1024
"""Bytes (or characters) of one row beyond which it is not read into memory."""
TOO_LONG = f"longer than {LONGEST_ROW // 1024 // 1024} MiB: split it, or leave it out"
NOT_UTF8 = "not UTF-8: save the file as UTF-8"

_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Record:
    """One row as it was read: its place in the source and its fields."""

    place: str
    """"line 3" of a text file, "row 3" of an array or a table; both count from 1."""
    fields: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A row that cannot be read, and why; never what it holds."""

    place: str
    message: str


def has_bad_bytes(text: str) -> bool:
    """Whether text decoded with "surrogateescape" came from bytes that are not UTF-8."""
    return not text.isascii() and _ESCAPED_BYTE.search(text) is not None


def bounded_lines(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield line number and line, None for one that is too long to hold."""
    number = 0
    while line := file.readline(LONGEST_ROW + 1):
        number += 1
        if len(line) <= LONGEST_ROW:
            yield number, line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(LONGEST_ROW)
        yield number, None
