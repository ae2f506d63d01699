"""How much of a card is shown: all of it where that fits, else less, always with what is left out.

A notebook keeps every output, and fifty cells should still open; so a card has a limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from classify.display.cards import Card, Note, Row, Table, percent

LIMIT = 50_000
"""Bytes of a card, on every medium."""


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is shown of what may be any length."""

    rows: int
    """Of a table, and parts of a card."""
    name: int
    """Characters in a cell or a title."""
    text: int
    """Characters of a passage, a line or a note."""
    pictures: bool = False


_DETAILS = (
    Detail(40, 200, 4000, pictures=True),
    Detail(40, 100, 1200),
    Detail(20, 60, 400),
    Detail(10, 40, 200),
    Detail(5, 24, 80),
    Detail(3, 12, 40),
)


def fitted(card: Card, draw: Callable[[Card, Detail], str]) -> str:
    """Return the card drawn with the most detail that stays below the limit."""
    for detail in _DETAILS:
        drawn = draw(card, detail)
        if len(drawn.encode()) < LIMIT:
            return drawn
    told = Note("too much to show here", "print it, or look at a part of it")
    return draw(Card(card.title, card.lead, (told,)), _DETAILS[-1])


def kept_rows(table: Table, most: int) -> tuple[tuple[Row, ...], str | None]:
    """Return at most so many rows, in their order, and what to say of the others."""
    rows = table.rows
    if len(rows) <= most:
        return rows, None
    ranked = sorted(range(len(rows)), key=lambda index: -rows[index].weight)
    kept = sorted(ranked[:most])
    told = f"… {len(rows) - most} more {table.unit}"
    if table.weights_are_shares:
        told += f", {percent(sum(rows[index].weight for index in ranked[most:]))} together"
    return tuple(rows[index] for index in kept), told


def cut(text: str, most: int) -> str:
    """Return the text, or its beginning with how much is left out."""
    if len(text) <= most:
        return text
    return f"{text[:most].rstrip()} … {len(text) - most} more characters"
