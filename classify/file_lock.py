"""Keep two processes from writing the same file: a lock that dies with its process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

from classify.errors import InvalidInput

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileLock:
    """Hold the right to write `path`, by a lock on the file beside it that ends in .lock.

    Raises InvalidInput where another process (or another lock in this one) holds it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        self._file = self._acquire(path)

    def _acquire(self, path: Path) -> BinaryIO:
        while True:
            file = self._path.open("ab")
            try:
                _try_lock(file)
                # The holder before may have removed the name after we had opened it.
                if os.path.samestat(os.fstat(file.fileno()), self._path.stat()):
                    return file
            except FileNotFoundError:
                pass
            except (BlockingIOError, PermissionError):  # POSIX's and Windows' word for "taken"
                file.close()
                raise InvalidInput(
                    f"{str(path)!r} is being written by another run: wait for it to end, or write "
                    "to another file"
                ) from None
            file.close()

    def release(self) -> None:
        """Give the right back and remove the lock file."""
        if sys.platform == "win32":  # an open file cannot be removed there
            self._file.close()
            self._path.unlink(missing_ok=True)
        else:
            self._path.unlink(missing_ok=True)
            self._file.close()
