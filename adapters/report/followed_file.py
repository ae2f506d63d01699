"""The lines of a file that something else is still writing: each whole line once, in order.

It knows nothing of what the lines hold. The file may not be there yet, end in half a line, grow,
be cut short, or be replaced by another of its name.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

from classify.line_file import Place

_TAIL = 64
"""Bytes before the place read up to, by which a file that was written anew is told."""


class FollowedFile:
    """A file that is read as it grows."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.generation = 0
        """How often the file was begun anew, since it was cut short, replaced or removed."""
        self._identity: tuple[int, int] | None = None
        self._read = 0
        self._tail = b""

    def lines(self, most: int) -> list[tuple[Place, bytes]]:
        """Return up to `most` whole lines that were not returned before, with their places.

        Where the file is another one than before, `generation` has changed and these are its
        first lines.
        """
        try:
            with self.path.open("rb") as file:
                self._recognise(file)
                return self._more(file, most)
        except FileNotFoundError:
            self._begin(None)
            return []

    def line(self, place: Place) -> bytes | None:
        """Return the line at a place, None where the file is another one by now."""
        try:
            with self.path.open("rb") as file:
                if self._identity != _identity(file):
                    return None
                file.seek(place[0])
                return file.read(place[1])
        except FileNotFoundError:
            return None

    def _recognise(self, file: BinaryIO) -> None:
        """Start from the beginning unless this is the file of before, with all that was read."""
        identity = _identity(file)
        file.seek(self._read - len(self._tail))
        if identity != self._identity or file.read(len(self._tail)) != self._tail:
            self._begin(identity)

    def _begin(self, identity: tuple[int, int] | None) -> None:
        if self._read:
            self.generation += 1
        self._identity, self._read, self._tail = identity, 0, b""

    def _more(self, file: BinaryIO, most: int) -> list[tuple[Place, bytes]]:
        file.seek(self._read)
        found: list[tuple[Place, bytes]] = []
        while len(found) < most and (line := file.readline()).endswith(b"\n"):
            found.append(((self._read, len(line)), line))
            self._read += len(line)
            self._tail = (self._tail + line)[-_TAIL:]
        return found


def _identity(file: BinaryIO) -> tuple[int, int]:
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino
