"""Paper, ink and axes for small SVG pictures; knows nothing of what they show.

A picture stands alone or inside a page, follows the reader's light or dark preference, has a
title and a description for screen readers, and needs no script. Colours are written out, not put
in CSS variables, because many viewers do not read those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from classify.calibration.settings import of_type

SIDE = 280
"""Side of a panel's square, in SVG units."""
LEFT, TOP, RIGHT, BOTTOM = 62, 56, 20, 78
PANEL = LEFT + SIDE + RIGHT
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LIGHT = dict(
    paper="#ffffff", ink="#1f2328", soft="#59636e", grid="#e4e8ec", band="#c6dcf3", data="#0b5cad"
)
_DARK = dict(
    paper="#0d1117", ink="#e6edf3", soft="#9ba5af", grid="#262c34", band="#1d3f63", data="#6cb6ff"
)


@dataclass(frozen=True, slots=True)
class Panel:
    """A square plot at a place in the picture, from (0, 0) to (1, `top`)."""

    left: float = 0.0
    top: float = 1.0

    def x(self, value: float) -> float:
        return round(self.left + LEFT + value * SIDE, 2)

    def y(self, value: float) -> float:
        return round(TOP + SIDE - value / self.top * SIDE, 2)

    def axes(self, *, heading: str, across: str, up: str) -> list[str]:
        """Return the grid with its numbers, and the names of both axes."""
        parts = [
            text(heading, self.x(0.5), TOP - 12, anchor="middle", style="head"),
            text(across, self.x(0.5), TOP + SIDE + 38, anchor="middle"),
            f'<g transform="translate({self.left + 16} {TOP + SIDE / 2}) rotate(-90)">'
            f"{text(up, 0, 0, anchor='middle')}</g>",
        ]
        for tick in _TICKS:
            parts += [
                line(self.x(tick), TOP, self.x(tick), TOP + SIDE, style="grid"),
                line(
                    self.x(0), self.y(tick * self.top), self.x(1), self.y(tick * self.top), "grid"
                ),
                text(f"{tick:g}", self.x(tick), TOP + SIDE + 18, anchor="middle", style="soft"),
                text(
                    f"{tick * self.top:.3g}",
                    self.x(0) - 8,
                    self.y(tick * self.top) + 4,
                    anchor="end",
                    style="soft",
                ),
            ]
        return parts

    def path(self, points: Sequence[tuple[float, float]], *, style: str = "line") -> str:
        """Return a line through points of the plot."""
        corners = " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)
        return f'<polyline class="{style}" points="{corners}"/>'

    def area(self, across: Sequence[float], ends: Sequence[tuple[float, float]]) -> str:
        """Return the area between the lower and the upper end at each place, within the plot."""
        low = [(x, end[0]) for x, end in zip(across, ends, strict=True)]
        high = [(x, end[1]) for x, end in zip(across, ends, strict=True)]
        corners = " ".join(
            f"{self.x(x)},{self.y(min(y, self.top))}" for x, y in [*low, *reversed(high)]
        )
        return f'<polygon class="area" points="{corners}"/>'


def text(
    words: str, x: float, y: float, *, anchor: str = "start", style: str = "ink", size: int = 12
) -> str:
    """Return words at a place; they are escaped here."""
    return (
        f'<text class="{style}" x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}">'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    """Return a straight line."""
    return f'<line class="{style}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>'


def picture(parts: Sequence[str], *, title: str, description: str, panels: int = 1) -> str:
    """Return the whole picture; title and description are escaped here."""
    of_type(title, str, name="title", what="a text")
    width, height = PANEL * panels, TOP + SIDE + BOTTOM
    # Two pictures in one page must not share identifiers; the same picture may.
    mark = "c" + sha256("".join([title, description, *parts]).encode()).hexdigest()[:10]
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="calibration-picture" role="img" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'aria-labelledby="{mark}-title {mark}-text" '
        f'font-family="system-ui, sans-serif">\n'
        f'<title id="{mark}-title">{escape(title)}</title>\n'
        f'<desc id="{mark}-text">{escape(description)}</desc>\n'
        f"<style>{_style()}</style>\n"
        f'<rect class="paper" width="{width}" height="{height}"/>\n'
        f"{text(title, width / 2, 20, anchor='middle', style='ink', size=15)}\n{body}\n</svg>\n"
    )


def _style() -> str:
    dark = _rules(**_DARK)
    return f"{_rules(**_LIGHT)}@media (prefers-color-scheme: dark) {{{dark}}}"


def _rules(*, paper: str, ink: str, soft: str, grid: str, band: str, data: str) -> str:
    rules = {
        "paper": f"fill:{paper}",
        "ink": f"fill:{ink}",
        "head": f"fill:{ink};font-weight:600",
        "soft": f"fill:{soft}",
        "grid": f"stroke:{grid}",
        "ideal": f"fill:none;stroke:{soft};stroke-dasharray:4 4",
        "band": f"stroke:{band};stroke-width:14",
        "area": f"fill:{band};opacity:0.6",
        "bars": f"fill:{soft};opacity:0.35",
        "line": f"fill:none;stroke:{data};stroke-width:1.5",
        "in": f"fill:{data};stroke:{data};stroke-width:2",
        "out": f"fill:{paper};stroke:{data};stroke-width:2",
    }
    return "".join(f".calibration-picture .{name}{{{rule}}}" for name, rule in rules.items())
