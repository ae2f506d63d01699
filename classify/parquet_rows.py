"""Read rows from Parquet, batch by batch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from classify.errors import InvalidInput, MissingExtra
from classify.json_values import JSON
from classify.records import BadRecord, Record

_BATCH = 256


class _Batch(Protocol):
    def to_pylist(self) -> list[dict[str, object]]: ...


class _Metadata(Protocol):
    @property
    def num_rows(self) -> int: ...


class _Table(Protocol):
    """What is used of pyarrow's ParquetFile, which comes without types."""

    @property
    def metadata(self) -> _Metadata: ...
    def iter_batches(self, batch_size: int) -> Iterator[_Batch]: ...


def read_parquet(path: Path) -> Iterator[Record | BadRecord]:
    """Yield the rows; dates become ISO text, decimals text and NaN null.

    Raises MissingExtra without pyarrow, InvalidInput where the file is no Parquet.
    """
    position = 0
    with _opened(path) as table:
        batches = table.iter_batches(batch_size=_BATCH)
        while True:
            try:
                batch = next(batches, None)
            except OSError as error:
                place = f"row {position + 1}"
                yield BadRecord(place, f"damaged file, what follows is lost: {error}")
                return
            if batch is None:
                return
            for fields in batch.to_pylist():
                position += 1
                yield _record(f"row {position}", fields)


def count_parquet(path: Path) -> int:
    """Return the number of rows, from the file's footer."""
    with _opened(path) as table:
        return table.metadata.num_rows


def _opened(path: Path) -> AbstractContextManager[_Table]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise MissingExtra("pyarrow", "parquet", f"reading {path.name}") from None
    try:
        table: AbstractContextManager[_Table] = parquet.ParquetFile(path)
    except (OSError, ValueError) as error:  # Arrow's own errors are kinds of these
        raise InvalidInput(f"{path}: no readable Parquet file: {error}") from None
    return table


def _record(place: str, fields: dict[str, object]) -> Record | BadRecord:
    try:
        return Record(place, {name: _json(value, name) for name, value in fields.items()})
    except InvalidInput as error:
        return BadRecord(place, str(error))


def _json(value: object, name: str) -> JSON:
    if isinstance(value, float):
        if math.isinf(value):
            raise InvalidInput(f"field {name!r} is {value!r}, which JSON has no form for")
        return None if math.isnan(value) else value
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, Decimal | timedelta):
        return str(value)
    if isinstance(value, Mapping):
        return {
            str(key): _json(item, name)
            for key, item in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, list | tuple):
        return [_json(item, name) for item in cast("list[object] | tuple[object, ...]", value)]
    raise InvalidInput(
        f"field {name!r} holds {type(value).__name__}, which JSON has no form for: store it as text"
    )
