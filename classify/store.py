"""The results file of a run: written line by line, safe against crashes, in input order at the end.

A line is appended by one write as soon as its answer is there, and is never changed. A run that is
resumed looks up what the file already holds by key and appends what is new. At the end of a run
the lines are put into input order in a new file that takes the old one's place.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, Self, TypeAlias

from pydantic_core import from_json

from classify.errors import InvalidInput
from classify.file_lock import FileLock
from classify.json_values import is_object
from classify.line_file import (
    Place,
    ResultsError,
    contiguous,
    cut_torn_line,
    read_line,
    replace_file,
    unchanged,
    write_all,
    written,
)
from classify.results import Result, is_key_of, parse_result, result_line

Existing: TypeAlias = Literal["error", "resume", "overwrite"]
"""What to do with results that are there already."""

_SYNC_SECONDS = 5.0
_BEGINNING = b'{"id":'


class Store:
    """The results file, held by one run at a time; a context manager.

    `added` names the fields that the caller puts into the lines once the run is over: a resumed run
    may drop them. Raises InvalidInput where the file cannot be written, is no results file, belongs
    to another run, holds results that `existing` says nothing about, or is to be resumed and has
    lines with fields that are neither a result's nor `added`: they would be lost.
    """

    def __init__(
        self, path: str | Path, *, existing: Existing = "error", added: Collection[str] = ()
    ) -> None:
        # A link stays a link: the file it names is replaced.
        self.path = Path(os.path.realpath(path))
        self.unused_path = self.path.with_name(self.path.name + ".unused")
        """Answers of another spec, model or input that a resumed run found: kept, not deleted."""
        self.damaged = 0
        """Lines found that could not be read; their rows are asked again."""
        self._left: dict[str, list[tuple[str, Place]]] = {}
        """The answers of each key and the ids of their rows, the first one last: several where
        rows of one state were asked one by one. Some may be taken, but never the last."""
        self._of_row: dict[tuple[str, str], list[Place]] = {}
        """The answers of each key and id that no row has taken yet, the first one last."""
        self._failed: dict[tuple[str | None, str], list[Place]] = {}
        """The key and the id of each row without an answer, None as the key of one that could not
        be read, and where its lines are that no other took the place of yet."""
        self._taken: tuple[str, Place] | None = None
        """The key of the answer that was taken last, and where it is."""
        self._placed: list[tuple[int, Place]] = []
        """Index of each row that has a result now, and where its line is."""
        self._replaced: set[Place] = set()
        """Where the lines are that another line of their row took the place of."""
        self._fields = {*Result.model_fields, *added}
        """The fields that a line may have."""
        self._synced = time.monotonic()
        _check_output(self.path)
        self._lock = _locked(self.path)
        try:
            self._file = self._opened(existing)
        except BaseException:
            self._lock.release()
            raise
        self._end = self._file.seek(0, os.SEEK_END)

    def __enter__(self) -> Self:
        """Hold the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the file; every line written so far is on the disk.

        Of a run that was stopped it keeps no line beside the one that took its place, which
        whoever reads it would count for another row.
        """
        with suppress(OSError):
            os.fsync(self._file.fileno())
        still_mine = unchanged(self._file, self.path, size=self._end)
        self._file.close()
        if self._replaced and still_mine:
            with suppress(OSError, ResultsError):
                replace_file(self.path, self._without(self._replaced))
        self._lock.release()

    def begin(self, fingerprint: str) -> int:
        """Move what other classifiers answered to `unused_path`; return how many answers.

        Whoever reads the file of a run that was stopped would count them for this one's.
        """
        others = [
            place
            for key, answers in self._left.items()
            if not is_key_of(key, fingerprint)
            for _, place in reversed(answers)
        ]
        failures = [
            place
            for (key, _), places in self._failed.items()
            if key is not None and not is_key_of(key, fingerprint)
            for place in places
        ]
        if others:
            replace_file(self.unused_path, (read_line(self._file, place) for place in others))
        if others or failures:
            self._rewrite(self._without({*others, *failures, *self._replaced}))
            self._index(self.path)
        return len(others)

    def _without(self, places: Collection[Place]) -> Iterator[bytes]:
        start = 0
        for line in _lines(self.path):
            if (start, len(line)) not in places:
                yield line
            start += len(line)

    def _rewrite(self, lines: Iterable[bytes]) -> None:
        """Put these lines in the place of the file's; raises ResultsError, with the file held."""
        new = written(self.path, lines)
        # Windows replaces no file that is open.
        self._file.close()
        try:
            os.replace(new, self.path)
        finally:
            self._file = self.path.open("a+b", buffering=0)
        self._end = self._file.seek(0, os.SEEK_END)

    def left(self, key: str) -> bool:
        """Whether an earlier run left an answer with this key that no row has taken."""
        return key in self._left

    def earlier(self) -> Result | None:
        """Return some answer that an earlier run left, None where there is none; none is taken."""
        for _, place in next(iter(self._left.values()), ()):
            return parse_result(read_line(self._file, place))
        return None

    def take(self, key: str, id: str | None = None) -> Result | None:
        """Return an answer that an earlier run left, None where there is none; each only once.

        It is the answer of the row with that id, or of any row where none is given. Rows of one
        key and one id get theirs in the order of the file.
        """
        if id is None and key in self._left:
            id = self._left[key][-1][0]
        if id is None or (key, id) not in self._of_row:
            return None
        place = self._of_row[key, id].pop()
        if not self._of_row[key, id]:
            del self._of_row[key, id]
        self._drop_taken(key)
        self._taken = key, place
        return parse_result(read_line(self._file, place))

    def _drop_taken(self, key: str) -> None:
        """Take from the end of a key's answers those that are taken."""
        left = self._left[key]
        while left and self._of_row.get((key, left[-1][0]), [None])[-1] != left[-1][1]:
            left.pop()
        if not left:
            del self._left[key]

    def failed(self, key: str, id: str) -> bool:
        """Whether an earlier run asked for the row with this key and id and got no answer."""
        return (key, id) in self._failed

    def put(self, result: Result) -> None:
        """Write a row's result, where the file does not hold that very line already.

        Raises ResultsError, with nothing of the line left in the file.
        """
        line = result_line(result)
        taken, self._taken = self._taken, None
        if taken is None or result.key != taken[0]:
            place = self._append(line)
            if earlier := self._failed.get((result.key, result.id)):
                self._replaced.add(earlier.pop())
        elif line == read_line(self._file, taken[1]):
            place = taken[1]
        else:
            place = self._append(line)
            self._replaced.add(taken[1])
        self._placed.append((result.index, place))

    def _append(self, line: bytes) -> Place:
        start = self._end
        self._check_unchanged()
        try:
            write_all(self._file, line)
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                os.fsync(self._file.fileno())
                self._synced = time.monotonic()
        except OSError as error:
            with suppress(OSError):
                self._file.truncate(start)
            raise ResultsError(
                f"{str(self.path)!r} cannot be written to: {error.strerror}; the rows so far "
                f"({len(self._placed)}) are kept: make room and run again with --resume"
            ) from None
        self._end = start + len(line)
        return start, len(line)

    def _check_unchanged(self) -> None:
        if not unchanged(self._file, self.path, size=self._end):
            raise ResultsError(
                f"{str(self.path)!r} was changed by another program while results were written "
                "to it: see what it holds now, and run again with --resume"
            )

    def finish(self) -> int:
        """Put the lines into input order; return how many earlier answers no row took.

        Those join the others in `unused_path`, where a later run with --resume finds them.
        """
        self._check_unchanged()
        free = {place for places in self._of_row.values() for place in places}
        unused = [p for left in self._left.values() for _, p in reversed(left) if p in free]
        if unused:
            lines = (read_line(self._file, place) for place in unused)
            replace_file(self.unused_path, chain(_lines(self.unused_path), lines))
        order = [place for _, place in sorted(self._placed)]
        if not contiguous(order, self._end):
            self._rewrite(read_line(self._file, place) for place in order)
        self._replaced.clear()
        return len(unused)

    def _opened(self, existing: Existing) -> BinaryIO:
        if existing == "error":
            # Another run's unused answers would be taken for this one's once it is resumed.
            _check_fresh(self.path, self.unused_path)
        try:
            file = self.path.open("a+b", buffering=0)
        except OSError as error:
            raise InvalidInput(f"{str(self.path)!r} cannot be written: {error.strerror}") from None
        try:
            if existing == "overwrite":
                file.truncate(0)
                self.unused_path.unlink(missing_ok=True)
            elif existing == "resume":
                _check_results(file, self.path)
                cut_torn_line(file)
                self._index(self.path, self.unused_path)
                _absorb(self.unused_path, file)
        except BaseException:
            file.close()
            raise
        return file

    def _index(self, *paths: Path) -> None:
        """Note where the answered and the failed results are, as if the files were one."""
        for each in (self._left, self._of_row, self._failed, self._replaced):
            each.clear()
        self.damaged = start = 0
        latest: dict[tuple[str, object], tuple[str, Place]] = {}
        for path, line in ((each, line) for each in paths for line in _lines(each)):
            result = _read(line)
            if result is None:
                self.damaged += 1
            elif more := from_json(line).keys() - self._fields:
                raise InvalidInput(_dropped(path, sorted(more)))
            elif result.key and result.error is None:
                # Of lines with one answer the last says what its row says now.
                asking = result.asking or result.id
                earlier, place = latest.get((result.key, asking)), (start, len(line))
                if earlier is not None and earlier[0] == result.id and result.asking is not None:
                    self._replaced.add(earlier[1])
                latest[result.key, asking] = result.id, place
            else:
                self._failed.setdefault((result.key, result.id), []).append((start, len(line)))
            start += len(line)
        for (key, _), answer in latest.items():
            self._left.setdefault(key, []).append(answer)
            self._of_row.setdefault((key, answer[0]), []).append(answer[1])
        for answers in self._left.values():
            answers.reverse()
        for places in self._of_row.values():
            places.reverse()


def replace_results(path: Path, results: Iterable[Result]) -> None:
    """Put new results in the place of a file's, all or nothing."""
    replace_file(path, map(result_line, results))


def _read(line: bytes) -> Result | None:
    """Return a line's result, None where it is none: someone may have edited it."""
    try:
        return parse_result(line)
    except InvalidInput:
        return None


def _lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, none where there is no such file."""
    if path.is_file():
        with path.open("rb") as lines:
            yield from lines


def _dropped(path: Path, fields: list[str]) -> str:
    way = "take them out of a copy and resume that"
    if fields == ["scores"]:
        way = "continue with `classify score --resume`, which puts them back at its end"
    return (
        f"{str(path)!r} has fields that a resumed run would drop ({', '.join(fields)}): {way}, or "
        "write to another file"
    )


def _like_result(line: bytes) -> bool:
    """Whether a line has a result's fields, whatever they hold."""
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return is_object(fields) and fields.keys() >= {"key", "error", "answers"}


def _check_fresh(*paths: Path) -> None:
    for path in paths:
        if path.is_file() and path.stat().st_size:
            raise InvalidInput(
                f"{str(path)!r} has results already: continue them with --resume, replace them "
                "with --overwrite, or write to another file"
            )


def _check_results(file: BinaryIO, path: Path) -> None:
    """Raise InvalidInput where the file's first line is no result, nor the beginning of one."""
    file.seek(0)
    first = file.readline()
    whole = first.endswith(b"\n")
    if not (_like_result(first) if whole else _BEGINNING.startswith(first[:6])):
        raise InvalidInput(f"{str(path)!r} is no results file: write to another file")


def _check_output(path: Path) -> None:
    if path.is_dir():
        raise InvalidInput(f"{str(path)!r} is a directory: name a file in it")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{str(path)!r} is no ordinary file: results need one")
    if not path.parent.is_dir():
        raise InvalidInput(f"the directory {str(path.parent)!r} does not exist: create it first")


def _locked(path: Path) -> FileLock:
    try:
        return FileLock(path)
    except OSError as error:
        raise InvalidInput(f"{str(path)!r} cannot be written: {error.strerror}") from None


def _absorb(unused: Path, file: BinaryIO) -> None:
    """Bring back what an earlier run had put aside; a crash in between leaves it twice, no less."""
    if not unused.is_file():
        return
    with unused.open("rb") as lines:
        for line in lines:
            write_all(file, line)
    os.fsync(file.fileno())
    unused.unlink()
