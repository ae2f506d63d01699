"""Read rows from CSV and TSV: the first line names the fields, every value is text."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import chain
from typing import TextIO

from classify.errors import InvalidInput
from classify.records import LONGEST_ROW, NOT_UTF8, BadRecord, Record, has_bad_bytes


def read_csv(file: TextIO, name: str, *, delimiter: str) -> Iterator[Record | BadRecord]:
    """Yield the rows; blank lines are no rows.

    The file is to be opened with newline="" and errors="surrogateescape". Raises InvalidInput
    where the header is unusable.
    """
    # The limit belongs to the module, not to a reader: it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_ROW))
    first, separator = _separated(file, delimiter)
    reader = csv.reader(chain([first], file), delimiter=separator, strict=True)
    header = _header(reader, name)
    while True:
        place = f"line {reader.line_num + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield BadRecord(place, f"invalid CSV: {error}")
            continue
        if cells:
            yield _record(place, header, cells)


def count_csv(file: TextIO, *, delimiter: str) -> int:
    """Return how many rows there are, bad ones included; raises csv.Error where none can be."""
    first, separator = _separated(file, delimiter)
    rows = csv.reader(chain([first], file), delimiter=separator)
    return max(0, sum(1 for row in rows if row) - 1)


def _separated(file: TextIO, delimiter: str) -> tuple[str, str]:
    """Return the first line and what separates the columns.

    Where commas are decimal, Excel writes a .csv with semicolons: a header without the delimiter
    that the file's ending promises has the one that it does have.
    """
    first = file.readline()
    found = (each for each in (delimiter, ";", "\t", ",") if each in first)
    return first, next(found, delimiter)


def _header(reader: Iterator[list[str]], name: str) -> list[str]:
    try:
        cells = next(reader, list[str]())
    except csv.Error as error:
        raise InvalidInput(f"{name}:1: invalid CSV in the header: {error}") from None
    if cells[:1] == ["sep="]:
        raise InvalidInput(f"{name}:1: a line that tells Excel the separator is no header: drop it")
    header = [cell.strip() or f"column_{number}" for number, cell in enumerate(cells, start=1)]
    if any(has_bad_bytes(cell) for cell in header):
        raise InvalidInput(f"{name}:1: the header is {NOT_UTF8}")
    for cell in header:
        if header.count(cell) > 1:
            raise InvalidInput(f"{name}:1: column {cell!r} appears twice: rename one of them")
    return header


def _record(place: str, header: list[str], cells: list[str]) -> Record | BadRecord:
    if len(cells) != len(header):
        return BadRecord(
            place,
            f"{len(cells)} cell{'s' * (len(cells) != 1)} where the header has {len(header)}: quote "
            "cells that hold separators or line breaks",
        )
    for name, cell in zip(header, cells, strict=True):
        if has_bad_bytes(cell):
            return BadRecord(place, f"field {name!r} is {NOT_UTF8}")
    return Record(place, dict(zip(header, cells, strict=True)))
