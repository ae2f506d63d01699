"""The results file of an evaluation: a line per item and trial, safe against crashes.

Lines are appended while the evaluation runs; a resumed one finds by key what is there already;
at the end they stand in the order of the data. It is the same file as `classify.store` keeps,
with other lines.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal, Self, TypeAlias

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from classify.adapters.scorers.eval_items import PlannedItem
from classify.adapters.scorers.eval_outcomes import Failure, ItemResult, Scoring, TurnOutcome
from classify.adapters.scorers.kept_json import kept_json
from classify.errors import InvalidInput
from classify.file_lock import FileLock
from classify.json_values import JSON, check_json
from classify.line_file import Place, cut_torn_line, read_line, replace_file, write_all
from classify.rows import canonical_json

Existing: TypeAlias = Literal["error", "resume", "overwrite"]
"""What to do with results that are there already."""

_SCORINGS = TypeAdapter(dict[str, Scoring])
_LEFT_OUT = ("item", "target_result", "reused", "turns", "scores", "gates")


class EvalStore:
    """The file, held by one evaluation at a time; a context manager.

    Raises InvalidInput where it is no such file, or holds results that `existing` says nothing of.
    """

    def __init__(self, path: str | Path, *, existing: Existing = "error") -> None:
        """Open the file, and note what it holds."""
        self.path = Path(os.path.realpath(path))
        self._places: dict[str, Place] = {}
        if not self.path.parent.is_dir():
            raise InvalidInput(f"the directory {str(self.path.parent)!r} does not exist")
        self._lock = FileLock(self.path)
        try:
            self._file = self._opened(existing)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        """Hold the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the file."""
        self._file.close()
        self._lock.release()

    def find(self, key: str, planned: PlannedItem) -> ItemResult | None:
        """Return what an earlier run left for this key; None for a failure, or for nothing."""
        if key not in self._places:
            return None
        return _parsed(read_line(self._file, self._places[key]), planned)

    def put(self, key: str, result: ItemResult) -> None:
        """Append a result."""
        line = _line(key, result)
        start = self._file.seek(0, os.SEEK_END)
        write_all(self._file, line)
        self._places[key] = (start, len(line))

    def finish(self, keys: Sequence[str]) -> None:
        """Put the lines of these keys into this order; others, of other data, follow behind."""
        wanted = dict.fromkeys(keys)
        order = [*wanted, *(key for key in self._places if key not in wanted)]
        self._file.flush()
        os.fsync(self._file.fileno())
        lines = [read_line(self._file, self._places[key]) for key in order if key in self._places]
        self._file.close()  # Windows replaces no file that is open
        replace_file(self.path, lines)
        self._file = self.path.open("a+b", buffering=0)

    def _opened(self, existing: Existing) -> BinaryIO:
        file = self.path.open("a+b", buffering=0)
        try:
            if existing == "overwrite":
                file.truncate(0)
            elif existing == "resume":
                cut_torn_line(file)
                self._index(file)
            elif file.seek(0, os.SEEK_END):
                raise InvalidInput(
                    f"{str(self.path)!r} has results already: existing='resume' continues them, "
                    "existing='overwrite' replaces them"
                )
        except BaseException:
            file.close()
            raise
        return file

    def _index(self, file: BinaryIO) -> None:
        start = 0
        file.seek(0)
        for number, line in enumerate(file, start=1):
            try:
                key = json.loads(line)["key"]
            except (ValueError, KeyError, TypeError):
                raise InvalidInput(
                    f"{str(self.path)!r}, line {number}: no result of an evaluation"
                ) from None
            self._places[key] = (start, len(line))
            start += len(line)


def item_key(identity: JSON, planned: PlannedItem, trial: int) -> str:
    """Return the key of an item's result: a hash of all that can change it and can be seen.

    Raises InvalidInput for an item that is no JSON: it could not be found again.
    """
    item = planned.item
    fields: dict[str, Any] = {
        "single": planned.single,
        "turns": [
            [turn.input, [each.key for each in (*turn.scorers, *turn.gates)]]
            for turn in planned.turns
        ],
        "ground_truth": item.ground_truth,
        "expected_trajectory": item.expected_trajectory,
        "request_context": item.request_context,
        "start_options": item.start_options,
    }
    check_json(fields, f"data[{planned.index}], to be found again in a file,")
    text = canonical_json({"identity": identity, "item": fields, "trial": trial})
    return hashlib.sha256(text.encode()).hexdigest()


def _line(key: str, result: ItemResult) -> bytes:
    plain = {
        name: kept_json(getattr(result, name))
        for name in result.__dataclass_fields__
        if name not in _LEFT_OUT
    }
    fields = {
        "key": key,
        **plain,
        "scores": kept_json(_kept(result.scores)),
        "gates": kept_json(_kept(result.gates)),
        "turns": [
            {
                "output": kept_json(t.output),
                "scores": kept_json(_kept(t.scores)),
                "gates": kept_json(_kept(t.gates)),
            }
            for t in result.turns
        ],
    }
    return to_json(fields, inf_nan_mode="strings") + b"\n"


def _kept(scorings: Mapping[str, Scoring]) -> dict[str, dict[str, Any]]:
    names = ("score", "reason", "not_scorable", "no_verdict", "failure", "methods", "details")
    every = {key: {name: getattr(s, name) for name in names} for key, s in scorings.items()}
    return {
        key: {
            name: value
            for name, value in fields.items()
            if value is not None and value is not False and value not in ({}, ())
        }
        for key, fields in every.items()
    }


def _parsed(line: bytes, planned: PlannedItem) -> ItemResult | None:
    fields = json.loads(line)
    try:
        result = ItemResult(
            index=planned.index,
            trial=fields["trial"],
            id=planned.name,
            item=planned.item,
            output=fields["output"],
            failure=None if fields["failure"] is None else Failure(**fields["failure"]),
            scores=_SCORINGS.validate_python(fields["scores"]),
            gates=_SCORINGS.validate_python(fields["gates"]),
            turns=tuple(
                TurnOutcome(
                    output=turn["output"],
                    scores=_SCORINGS.validate_python(turn["scores"]),
                    gates=_SCORINGS.validate_python(turn["gates"]),
                )
                for turn in fields["turns"]
            ),
            seconds=fields["seconds"],
            reused=True,
        )
    except (KeyError, TypeError, ValidationError):
        return None  # of another version: run it again
    return None if result.failures else result
