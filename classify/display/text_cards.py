"""A card as plain text, for notebooks and terminals that show no HTML."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len

from classify.display.card_sizes import Detail, cut, fitted, kept_rows
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
)
from classify.display.screen import Screen

_WIDEST = 60
"""Characters of a cell: a table of text cannot fold its cells."""
_BAR = 20
_SCREEN = Screen()


def card_text(card: Card) -> str:
    """Return the card as lines, with all the detail that fits."""
    return fitted(card, lambda card, detail: "\n".join(_Writer(detail).card(card)))


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes every part at one level of detail."""

    detail: Detail

    def name(self, text: str) -> str:
        return _SCREEN.safe(cut(text, min(self.detail.name, _WIDEST)))

    def text(self, text: str, *, keep: str = "") -> str:
        return _SCREEN.safe(cut(text, self.detail.text), keep=keep)

    def card(self, card: Card) -> list[str]:
        lines = [": ".join(self.text(text) for text in (card.title, card.lead) if text)]
        for part in card.parts[: self.detail.rows]:
            lines += [f"  {line}".rstrip() for line in self.part(part)]
        left = len(card.parts) - self.detail.rows
        return [*lines, f"  … {left} more parts"] if left > 0 else lines

    def part(self, part: Part) -> list[str]:
        match part:
            case Table():
                return self.table(part)
            case Facts():
                return self.facts(part)
            case Line():
                return [self.text(part.text)]
            case Note():
                return [": ".join(self.text(text) for text in (part.name, part.text) if text)]
            case Passage():
                lines = self.text(part.text, keep="\n\t").split("\n")
                return [f"{self.name(part.name)}:", *(f"  {line}" for line in lines)]
            case Picture():
                return [part.told]
            case Card():
                return ["", *self.card(part)]

    def facts(self, part: Facts) -> list[str]:
        rows = part.rows[: self.detail.rows]
        names = [self.name(name) for name, _ in rows]
        width = max(map(cell_len, names), default=0)
        lines = [
            f"{_SCREEN.fitted(name, width)}  {self.text(value)}"
            for name, (_, value) in zip(names, rows, strict=True)
        ]
        left = len(part.rows) - len(rows)
        return [*lines, f"… {left} more"] if left else lines

    def table(self, table: Table) -> list[str]:
        rows, told = kept_rows(table, self.detail.rows)
        heads = [self.name(each) for each in table.headings]
        cells = [heads, *([self.cell(each) for each in row.cells] for row in rows)]
        widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(_SCREEN.fitted, row, widths)).rstrip() for row in cells]
        caption = [self.text(table.caption)] if table.caption else []
        return [*caption, *lines, *([told] if told else [])]

    def cell(self, cell: Cell) -> str:
        if isinstance(cell, str):
            return self.name(cell)
        full = round(min(max(cell.value, 0.0), 1.0) * _BAR)
        most = round(min(max(cell.high or 0.0, cell.value), 1.0) * _BAR)
        bar = "█" * full + "░" * (most - full) + " " * (_BAR - most)
        return f"{bar} {self.name(cell.text)}"
