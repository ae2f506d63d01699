"""A card as one piece of HTML for a notebook's cell: no script, at most 50 KB, all text escaped.

Without its stylesheet, as on pages that take styles away, it is a table with its numbers as text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

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
    Row,
    Share,
    Table,
)
from classify.display.html_style import ROOT, stylesheet
from classify.display.safe_text import visible


def card_html(card: Card) -> str:
    """Return the card with all the detail that fits."""
    return fitted(card, _framed)


def _framed(card: Card, detail: Detail) -> str:
    writer = _Writer(detail)
    # Notebooks set what stands between dollar signs as mathematics, unless a class says no.
    return (
        f'<div class="{ROOT} tex2jax_ignore mathjax_ignore" role="group" '
        f'aria-label="{writer.name(card.title)}"><style>{stylesheet()}</style>'
        f"{writer.card(card)}</div>"
    )


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes every part at one level of detail."""

    detail: Detail

    def name(self, text: str) -> str:
        return escape(visible(cut(text, self.detail.name)))

    def text(self, text: str, *, keep: str = "") -> str:
        return escape(visible(cut(text, self.detail.text), keep=keep))

    def card(self, card: Card) -> str:
        shown = card.parts[: self.detail.rows]
        left = len(card.parts) - len(shown)
        parts = "".join(self.part(part) for part in shown)
        more = f"<p><em>… {left} more parts</em></p>" if left else ""
        colon = ": " if card.lead else ""
        title = f'<b dir="auto">{self.name(card.title)}</b>{colon}'
        lead = f'<span class="lead" dir="auto">{self.text(card.lead)}</span>' if card.lead else ""
        return f"<p>{title}{lead}</p>{parts}{more}"

    def part(self, part: Part) -> str:
        match part:
            case Table():
                return self.table(part)
            case Facts():
                return self.facts(part)
            case Line():
                return f'<p class="line" dir="auto">{self.text(part.text)}</p>'
            case Note():
                told = f": {self.text(part.text)}" if part.text else ""
                return f'<p class="note" dir="auto"><b>{self.name(part.name)}</b>{told}</p>'
            case Passage():
                text = self.text(part.text, keep="\n\t")
                return f'<p class="line">{self.name(part.name)}:</p><pre dir="auto">{text}</pre>'
            case Picture():
                return part.svg if self.detail.pictures else f"<p>{escape(part.told)}</p>"
            case Card():
                label = self.name(part.title)
                return (
                    f'<div class="part" role="group" aria-label="{label}">{self.card(part)}</div>'
                )

    def table(self, table: Table) -> str:
        rows, told = kept_rows(table, self.detail.rows)
        caption = f"<caption>{self.name(table.caption)}</caption>" if table.caption else ""
        heads = "".join(f'<th scope="col">{self.name(each)}</th>' for each in table.headings)
        body = "".join(self.row(row) for row in rows)
        width = len(table.headings)
        more = f'<tr><td colspan="{width}"><em>{told}</em></td></tr>' if told else ""
        head = f"<thead><tr>{heads}</tr></thead>"
        return f"<table>{caption}{head}<tbody>{body}{more}</tbody></table>"

    def row(self, row: Row) -> str:
        first, *others = row.cells
        cells = "".join(self.cell(each) for each in others)
        named = first if isinstance(first, str) else first.text
        mark = ' class="strong"' if row.strong else ""
        return f'<tr{mark}><th scope="row" dir="auto">{self.name(named)}</th>{cells}</tr>'

    def cell(self, cell: Cell) -> str:
        if isinstance(cell, Share):
            return f'<td class="share">{_bar(cell)}{self.name(cell.text)}</td>'
        return f'<td dir="auto">{self.name(cell)}</td>'

    def facts(self, part: Facts) -> str:
        rows = part.rows[: self.detail.rows]
        left = len(part.rows) - len(rows)
        lines: Iterable[str] = (
            f'<tr><th scope="row">{self.name(name)}</th><td dir="auto">{self.text(value)}</td></tr>'
            for name, value in rows
        )
        more = f'<tr><td colspan="2"><em>… {left} more</em></td></tr>' if left else ""
        return f'<table class="facts"><tbody>{"".join(lines)}{more}</tbody></table>'


def _bar(share: Share) -> str:
    # The number stands beside it as text.
    full = 100 * min(max(share.value, 0.0), 1.0)
    most = 100 * min(max(share.high or 0.0, share.value), 1.0)
    tail = f'<span class="tail" style="width:{most - full:.1f}%"></span>' if most > full else ""
    return (
        f'<span class="bar" aria-hidden="true"><span style="width:{full:.1f}%"></span>{tail}</span>'
    )
