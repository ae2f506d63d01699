"""Which rows of results are of one item: those in which the model read the same."""

from __future__ import annotations

from typing import Literal, TypeAlias

from classify.results import Result

ReadItem: TypeAlias = tuple[Literal["id", "key"], str]


def read_item(result: Result) -> ReadItem:
    """Return what the model read: rows of one state are one item, whatever their ids.

    Rows without a key are told apart by their ids.
    """
    return ("id", result.id) if result.key is None else ("key", result.key)
