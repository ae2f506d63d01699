"""Reliability, risk-coverage and before/after as SVG text, from the data of reliability.py."""

from __future__ import annotations

import math
from collections.abc import Sequence

from classify.calibration.reliability import ReliabilityDiagram, RiskCoverage
from classify.calibration.settings import of_type
from classify.calibration.svg_canvas import PANEL, SIDE, TOP, Panel, line, picture, text

_DIAGRAM = "what reliability_diagram() returns"
_HISTOGRAM_HEIGHT = 42


def reliability_svg(diagram: ReliabilityDiagram, *, title: str = "Reliability") -> str:
    """Draw one reliability diagram: bins with their band, isotonic curve, histogram of p."""
    of_type(diagram, ReliabilityDiagram, name="diagram", what=_DIAGRAM)
    parts = _reliability(diagram, Panel(), heading=diagram.scale)
    return picture([*parts, *_key(PANEL)], title=title, description=_told(diagram))


def before_after_svg(
    before: ReliabilityDiagram,
    after: ReliabilityDiagram,
    *,
    title: str = "Reliability before and after calibration",
) -> str:
    """Draw two reliability diagrams side by side."""
    of_type(before, ReliabilityDiagram, name="before", what=_DIAGRAM)
    of_type(after, ReliabilityDiagram, name="after", what=_DIAGRAM)
    parts = [
        *_reliability(before, Panel(), heading=f"before, {before.scale}"),
        *_reliability(after, Panel(left=PANEL), heading=f"after, {after.scale}"),
        *_key(2 * PANEL),
    ]
    told = f"Before: {_told(before)} After: {_told(after)}"
    return picture(parts, title=title, description=told, panels=2)


def risk_coverage_svg(curve: RiskCoverage, *, title: str = "Risk and coverage") -> str:
    """Draw the mean loss of the surest rows against the share of rows that are kept."""
    of_type(curve, RiskCoverage, name="curve", what="what risk_coverage() returns")
    ends = curve.interval or ()
    # The first few rows leave everything open: their ends do not set the scale.
    panel = Panel(top=_nice_top(max(*curve.risk, curve.base_risk, *(ends[-1] if ends else ()))))
    base = [(0.0, curve.base_risk), (1.0, curve.base_risk)]
    points = list(zip(curve.coverage, curve.risk, strict=True))
    told = [f"AURC {curve.area:.4f}, all rows {curve.base_risk:.4f} (dashed), n={curve.n}"]
    told += ["shaded: 95 % for each point alone"] if ends else []
    parts = [
        *([panel.area(curve.coverage, ends)] if ends else []),
        *panel.axes(heading="", across="share of rows kept, surest first", up="mean loss of those"),
        panel.path(base, style="ideal"),
        panel.path(points if len(points) > 1 else base),
        *_notes(told, panel),
    ]
    kept = ", ".join(
        f"{_risk_at(curve, share):.3f} at {share:.0%}" for share in (0.25, 0.5, 0.75, 1.0)
    )
    description = f"Mean loss of the surest rows by the share kept: {kept}. Area {curve.area:.4f}."
    return picture(parts, title=title, description=description)


def _notes(lines: Sequence[str], panel: Panel, *, skip: int = 0) -> list[str]:
    """Return small print below a panel, from its first line or a later one on."""
    x, y = panel.left + PANEL / 2, TOP + SIDE + 58 + 14 * skip
    # A letter is about 0.56 of its size wide: a long line is made smaller, not cut at the edge.
    sizes = [min(11, int(PANEL / 0.56 / len(words))) for words in lines]
    return [
        text(words, x, y + 14 * place, anchor="middle", style="soft", size=size)
        for place, (words, size) in enumerate(zip(lines, sizes, strict=True))
    ]


def _reliability(diagram: ReliabilityDiagram, panel: Panel, *, heading: str) -> list[str]:
    parts = panel.axes(heading=heading, across="probability given", up="how often it came true")
    for point in diagram.points:
        x = panel.x(point.probability)
        # A band of no height still shows where it is.
        low, high = panel.y(point.low) + 1, panel.y(point.high) - 1
        parts.append(line(x, low, x, high, "band"))
    parts += _histogram(diagram, panel)
    parts.append(panel.path([(0.0, 0.0), (1.0, 1.0)], style="ideal"))
    parts.append(panel.path(diagram.curve))
    for point in diagram.points:
        told = f"promised {point.probability:.3f}, happened {point.rate:.3f}, {point.rows} rows"
        parts.append(
            f'<circle class="{"in" if point.inside else "out"}" r="4.5" '
            f'cx="{panel.x(point.probability)}" cy="{panel.y(point.rate)}">'
            f"<title>{told}</title></circle>"
        )
    # The first line is for the key, which the panels of a picture share.
    return [*parts, *_notes([diagram.rule], panel, skip=1)]


def _histogram(diagram: ReliabilityDiagram, panel: Panel) -> list[str]:
    most, count = max(diagram.histogram), len(diagram.histogram)
    bars: list[str] = []
    for index, rows in enumerate(diagram.histogram):
        height = round(rows / most * _HISTOGRAM_HEIGHT, 2)
        bars.append(
            f'<rect class="bars" x="{panel.x(index / count)}" y="{panel.y(0) - height}" '
            f'width="{SIDE / count - 1}" height="{height}"><title>{rows} rows</title></rect>'
        )
    return bars


def _key(width: float) -> list[str]:
    words = "● as if calibrated   ○ outside that band   — isotonic   ▮ rows"
    return [text(words, width / 2, TOP + SIDE + 58, anchor="middle", style="soft", size=11)]


def _told(diagram: ReliabilityDiagram) -> str:
    """Say in words what the diagram shows, for those who do not see it."""
    bins = "; ".join(
        f"{point.probability:.2f} promised, {point.rate:.2f} happened in {point.rows} rows"
        + ("" if point.inside else " (outside the band)")
        for point in diagram.points
    )
    return f"{diagram.n} rows; {diagram.rule}. {bins}."


def _risk_at(curve: RiskCoverage, share: float) -> float:
    reached = [risk for kept, risk in zip(curve.coverage, curve.risk, strict=True) if kept >= share]
    return reached[0] if reached else curve.risk[-1]


def _nice_top(most: float) -> float:
    """Return the least of 1, 2, 4, 5, 10 times a power of ten that is not below `most`."""
    if most <= 0.0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next(step * power for step in (1, 2, 4, 5, 10) if step * power >= most)
