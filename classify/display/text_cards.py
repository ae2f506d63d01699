"""A card as plain text, for notebooks and terminals that show no HTML."""

from __future__ import annotations

from rich.cells import cell_len

from classify.display.cards import (
    Card,
    Cell,
    Facts,
    Line,
    Note,
    Part,
    Passage,
    Picture,
    Table,
    cut,
    kept_rows,
)
from classify.display.screen import Screen

_ROWS = 60
_NAME = 60
"""Characters of a cell."""
_TEXT = 1200
"""Characters of anything longer."""
_BAR = 20
_SCREEN = Screen()


def card_text(card: Card) -> str:
    """Return the card as lines."""
    return "\n".join(_card(card))


def _card(card: Card) -> list[str]:
    lines = [": ".join(_safe(text) for text in (card.title, card.lead) if text)]
    for part in card.parts[:_ROWS]:
        lines += [f"  {line}".rstrip() for line in _part(part)]
    left = len(card.parts) - _ROWS
    return [*lines, f"  … {left} more parts"] if left > 0 else lines


def _part(part: Part) -> list[str]:
    match part:
        case Table():
            return _table(part)
        case Facts():
            return _facts(part)
        case Line():
            return [_safe(part.text)]
        case Note():
            return [": ".join(_safe(text) for text in (part.name, part.text) if text)]
        case Passage():
            text = _SCREEN.safe(cut(part.text, _TEXT), keep="\n\t")
            return [f"{_safe(part.name)}:", *(f"  {line}" for line in text.split("\n"))]
        case Picture():
            return [part.told]
        case Card():
            return ["", *_card(part)]


def _safe(text: str) -> str:
    return _SCREEN.safe(cut(text, _TEXT))


def _facts(part: Facts) -> list[str]:
    rows = part.rows[:_ROWS]
    names = [_SCREEN.safe(cut(name, _NAME)) for name, _ in rows]
    width = max(map(cell_len, names), default=0)
    lines = [
        f"{_SCREEN.fitted(name, width)}  {_safe(value)}"
        for name, (_, value) in zip(names, rows, strict=True)
    ]
    left = len(part.rows) - len(rows)
    return [*lines, f"… {left} more"] if left else lines


def _table(table: Table) -> list[str]:
    rows, told = kept_rows(table, _ROWS)
    cells = [[*table.headings], *([_cell(each) for each in row.cells] for row in rows)]
    columns = range(len(table.headings))
    widths = [max(cell_len(row[column]) for row in cells) for column in columns]
    lines = [
        "  ".join(_SCREEN.fitted(row[column], widths[column]) for column in columns).rstrip()
        for row in cells
    ]
    caption = [_safe(table.caption)] if table.caption else []
    return [*caption, *lines, *([told] if told else [])]


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return _SCREEN.safe(cut(cell, _NAME))
    full = round(min(max(cell.value, 0.0), 1.0) * _BAR)
    most = round(min(max(cell.high or 0.0, cell.value), 1.0) * _BAR)
    return f"{'█' * full}{'░' * (most - full)}{' ' * (_BAR - most)} {cell.text}"
