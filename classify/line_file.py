"""Files of lines that are only appended to: places of lines, torn ends, replacement in one step.

It knows nothing of what the lines hold.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

from classify.errors import ClassifyError

Place: TypeAlias = tuple[int, int]
"""Where a line starts in its file, and its length in bytes."""

_BLOCK = 1 << 16


class ResultsError(ClassifyError):
    """The results could not be written; what was written before is whole."""


def cut_torn_line(file: BinaryIO) -> None:
    """Cut off what follows the last line break: a crash came while that line was written."""
    end = file.seek(0, os.SEEK_END)
    while end > 0:
        start = max(0, end - _BLOCK)
        file.seek(start)
        last = file.read(end - start).rfind(b"\n")
        if last >= 0:
            file.truncate(start + last + 1)
            return
        end = start
    file.truncate(0)


def write_all(file: BinaryIO, data: bytes) -> None:
    """Write all of it: an unbuffered file may take a part at a time."""
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def read_line(file: BinaryIO, place: Place) -> bytes:
    """Return the line at a place."""
    file.seek(place[0])
    return file.read(place[1])


def unchanged(file: BinaryIO, path: Path, *, size: int) -> bool:
    """Whether the path still names the open file, which nobody has cut or continued."""
    mine = os.fstat(file.fileno())
    with suppress(FileNotFoundError):
        return mine.st_size == size and os.path.samestat(mine, path.stat())
    return False


def contiguous(order: list[Place], end: int) -> bool:
    """Whether the places follow one another from the file's start to its end."""
    return all(
        start == expected for (start, _), expected in zip(order, _ends(order), strict=False)
    ) and end == sum(length for _, length in order)


def replace_file(path: Path, lines: Iterable[bytes]) -> None:
    """Put new lines in the place of a file's, all or nothing; raises ResultsError."""
    os.replace(written(path, lines), path)


def written(path: Path, lines: Iterable[bytes]) -> Path:
    """Write the file that is to take the path's place; raises ResultsError, leaving nothing."""
    new = path.with_name(path.name + ".new")
    try:
        with new.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, new)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise ResultsError(
            f"{str(path)!r} cannot be put into order: {error.strerror}; every answer is in it: "
            "make room and run again with --resume"
        ) from None
    return new


def _ends(order: list[Place]) -> Iterator[int]:
    yield 0
    for start, length in order:
        yield start + length
