"""Open a source of rows: the format follows the file's name, "-" is standard input.

It knows nothing of what the fields mean.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from classify.csv_rows import count_csv, read_csv
from classify.errors import InvalidInput
from classify.json_rows import read_json_array, read_json_lines
from classify.parquet_rows import count_parquet, read_parquet
from classify.records import BadRecord, Record

FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
"""File name endings; all but Parquet may end in .gz as well."""

_BOM = b"\xef\xbb\xbf"
_LARGEST_COUNTED = 256 * 1024 * 1024


def read_records(source: str) -> Iterator[Record | BadRecord]:
    """Return the rows of a file, or of standard input as JSON Lines.

    Raises InvalidInput where the source cannot be opened or its format is not known, MissingExtra
    where Parquet is to be read without pyarrow. A row that cannot be read is a BadRecord.
    """
    if source == "-":
        return _standard_input()
    path = Path(source)
    ending = _format(path)
    _check_readable(path)
    return read_parquet(path) if ending == ".parquet" else _read_text(path, ending)


def is_stream(source: str) -> bool:
    """Whether rows can be read once, as they are made: from standard input or a named pipe."""
    return source == "-" or Path(source).is_fifo()


def is_table(source: str) -> bool:
    """Whether every row of the source has the same fields."""
    return source != "-" and _format(Path(source)) in (".csv", ".tsv", ".parquet")


def count_records(source: str) -> int | None:
    """Return how many rows a file has, None where counting would be as slow as reading it."""
    path = Path(source)
    if is_stream(source) or path.suffix.lower() == ".gz":
        return None
    ending = _format(path)
    _check_readable(path)
    if ending == ".parquet":
        return count_parquet(path)
    with _opened(path) as file:
        if path.stat().st_size > _LARGEST_COUNTED or _is_array(file, ending):
            return None
        if ending in (".csv", ".tsv"):
            with _decoded(file, newline="") as text, suppress(csv.Error):
                return count_csv(text, delimiter=_delimiter(ending))
            return None
        return sum(1 for line in file if line.strip())


def _format(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    for ending in FORMATS:
        if name.endswith(ending):
            return ending
    raise InvalidInput(
        f"{str(path)!r} has no ending that tells its format: rows are read from "
        f"{', '.join(FORMATS)} (or .gz of a text format), and from - as JSON Lines"
    )


def _check_readable(path: Path) -> None:
    if path.is_fifo():  # to open it would wait for its writer, and to close it send that away
        return
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise InvalidInput(f"rows cannot be read from {str(path)!r}: {error.strerror}") from None


def _opened(path: Path) -> io.BufferedReader:
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(cast("io.RawIOBase", gzip.open(path, "rb")))
    return path.open("rb")


def _standard_input() -> Iterator[Record | BadRecord]:
    if sys.stdin is None:  # another file may have its descriptor
        raise InvalidInput("standard input is closed: name a file of rows")
    # A second object on the descriptor: at exit nothing waits for sys.stdin's lock.
    with open(0, "rb", closefd=False) as file:
        first = file.peek().removeprefix(_BOM).partition(b"\n")[0]
        if first.strip() and b"{" not in first:
            raise InvalidInput(
                "standard input is read as JSON Lines, and its first line holds no object: "
                "write rows of another format to a file whose name ends in it, such as rows.csv"
            )
        yield from read_json_lines(file)


def _read_text(path: Path, ending: str) -> Iterator[Record | BadRecord]:
    try:
        with _opened(path) as file:
            if file.peek(4).startswith((b"\xff\xfe", b"\xfe\xff")):
                raise InvalidInput(f"{path} is UTF-16: save it as UTF-8")
            if ending in (".csv", ".tsv"):
                with _decoded(file, newline="") as text:
                    yield from read_csv(text, path.name, delimiter=_delimiter(ending))
            elif _is_array(file, ending):
                with _decoded(file, newline=None) as text:
                    yield from read_json_array(text)
            else:
                yield from read_json_lines(file)
    except (OSError, EOFError, zlib.error) as error:  # gzip's ways of being cut off or damaged
        raise InvalidInput(f"{path} cannot be read to its end: {error}") from None


def _delimiter(ending: str) -> str:
    return "\t" if ending == ".tsv" else ","


def _decoded(file: BinaryIO, *, newline: str | None) -> io.TextIOWrapper:
    return io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline=newline)


def _is_array(file: io.BufferedReader, ending: str) -> bool:
    # A .json file may hold lines of objects too: its first sign tells.
    return ending == ".json" and file.peek(64).removeprefix(_BOM).lstrip()[:1] == b"["
