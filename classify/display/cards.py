"""What is shown of an object where there is room for a card; knows nothing of media.

Texts are as they came: whoever shows a card makes them safe, and cuts what is too long.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Share:
    """A number between 0 and 1, for a bar with its number."""

    value: float
    text: str
    """The number as a person reads it."""
    high: float | None = None
    """What the number may be at most, where it is not exact."""


Cell: TypeAlias = str | Share


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table; its first cell names it."""

    cells: tuple[Cell, ...]
    strong: bool = False
    weight: float = 0.0
    """Where a table is cut, the rows of the largest weights are kept."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under headings."""

    headings: tuple[str, ...]
    rows: tuple[Row, ...]
    unit: str
    """What the rows are, in the plural."""
    caption: str = ""
    weights_are_shares: bool = False
    """Whether the weights add up to 1, so that what is left out has a size."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of small print."""

    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something that a person should notice."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A text of several lines, under its name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that this package drew, with its title and description inside."""

    svg: str
    told: str
    """What it is, where no picture can be shown."""


@dataclass(frozen=True, slots=True)
class Card:
    """A title, what matters most, and the parts; a card in a card is a section of it."""

    title: str
    lead: str = ""
    parts: tuple[Part, ...] = ()


Part: TypeAlias = Table | Facts | Line | Note | Passage | Picture | Card


def percent(p: float) -> str:
    """Return a probability as a person reads it."""
    return f"{100 * p:.1f} %"


def facts(*rows: tuple[str, str | None]) -> tuple[Facts, ...]:
    """Return the rows that have a value, as no part where none has."""
    known = tuple((name, value) for name, value in rows if value is not None)
    return (Facts(known),) if known else ()


def notes(name: str, texts: Iterable[str]) -> tuple[Note, ...]:
    """Return a note for each text."""
    return tuple(Note(name, text) for text in texts)
