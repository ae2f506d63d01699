"""Docstrings are plain text with names in backticks: no other mark in them means anything."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MARKS = re.compile(r"(?<=\w)_(?!\w)|[*|]")


def plain_text(lines: Iterable[str]) -> list[str]:
    """Return the lines with what reStructuredText would take for markup escaped."""
    return [_escaped(line) for line in lines]


def _escaped(line: str) -> str:
    if line.lstrip().startswith((">>>", "...")):
        return line
    parts = line.split("`")  # every other one stands in backticks
    parts[::2] = [_MARKS.sub(lambda mark: "\\" + mark.group(), part) for part in parts[::2]]
    return "`".join(parts)
