"""Which rows of two results files belong together: the same id, about the same state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from classify.calibration.arrays import Ints
from classify.calibration.file_answers import FileAnswers, StateMark
from classify.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs, and how many rows have none."""

    pairs: tuple[tuple[int, int], ...]
    """The places of paired rows in the first file, ascending, and in the second."""
    only_first: int
    only_second: int
    repeated: int
    """Rows of either file whose id an earlier row of it has: the k-th goes with the k-th."""
    differing: int
    """Rows of one id whose states differ; left out, unless they were to be paired by id alone."""
    unchecked: int
    """Pairs for which a file holds no state, nor a key to tell it by."""
    by_id_alone: bool

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.pairs)

    @property
    def first(self) -> Ints:
        """(n,), the places in the first file."""
        return np.array([place for place, _ in self.pairs], dtype=np.int64)

    @property
    def second(self) -> Ints:
        """(n,), the places in the second file."""
        return np.array([place for _, place in self.pairs], dtype=np.int64)

    def lines(self) -> list[str]:
        """Say how many rows are compared, and what became of the others."""
        left = "paired all the same" if self.by_id_alone else "left out"
        counts = (
            (self.only_first, "only in A"),
            (self.only_second, "only in B"),
            (self.differing, f"with the same id and another state: {left}"),
            (self.repeated, "with the id of an earlier row: paired in order"),
            (self.unchecked, "paired by id, since a file holds no states to check"),
        )
        found = [f"{self.n} pairs of rows, by id"]
        return found + [f"{count} {rows(count)} {what}" for count, what in counts if count]


def rows(count: int) -> str:
    """Return "row" or "rows"."""
    return "row" if count == 1 else "rows"


def pair_rows(first: FileAnswers, second: FileAnswers, *, by_id_alone: bool = False) -> Pairing:
    """Pair the rows of two files; raises InvalidInput where no row has a partner.

    The k-th row of an id goes with the k-th row of that id. Rows of one id whose states differ
    are no pair, unless `by_id_alone`.
    """
    places = {name: place for place, name in enumerate(_numbered(second.ids))}
    pairs = [
        (place, places.pop(name))
        for place, name in enumerate(_numbered(first.ids))
        if name in places
    ]
    known = _Known(first.fingerprint, second.fingerprint)
    same = [known.same(first.states[a], second.states[b]) for a, b in pairs]
    kept = [pair for pair, one in zip(pairs, same, strict=True) if by_id_alone or one is not False]
    differing = same.count(False)
    if not kept:
        raise InvalidInput(_nothing(first, second, differing))
    return Pairing(
        pairs=tuple(kept),
        only_first=len(first.ids) - len(pairs),
        only_second=len(second.ids) - len(pairs),
        repeated=_repeated(first.ids) + _repeated(second.ids),
        differing=differing,
        unchecked=same.count(None),
        by_id_alone=by_id_alone,
    )


def _numbered(ids: Sequence[str]) -> list[tuple[str, int]]:
    seen: Counter[str] = Counter()
    numbered: list[tuple[str, int]] = []
    for name in ids:
        numbered.append((name, seen[name]))
        seen[name] += 1
    return numbered


def _repeated(ids: Sequence[str]) -> int:
    return len(ids) - len(set(ids))


class _Known(NamedTuple):
    """The fingerprints of both runs: a result's key is made of its run's and of the state."""

    first: str | None
    second: str | None

    def same(self, a: StateMark, b: StateMark) -> bool | None:
        """Return whether two rows are about one state; None where it cannot be told."""
        # Rows that could not be read have no state that could differ.
        if a.marks & b.marks or not (a.read and b.read):
            return True
        by_key = self.first is not None and self.first == self.second
        by_first = a.kept and (b.kept or self.second is not None)
        by_second = b.kept and self.first is not None
        return False if by_key or by_first or by_second else None


def _nothing(first: FileAnswers, second: FileAnswers, differing: int) -> str:
    if not first.ids or not second.ids:
        which = "A" if not first.ids else "B"
        return f"{which} has no rows: nothing can be compared"
    if differing:
        return (
            f"all {differing} rows of the same id have another state in B than in A: compare runs "
            "over the same rows and fields, or pair by id alone with --by-id-alone"
        )
    return (
        f"no row of A ({len(first.ids)} rows, such as {first.ids[0]!r}) has its id in B "
        f"({len(second.ids)} rows, such as {second.ids[0]!r}): compare runs over the same rows"
    )
