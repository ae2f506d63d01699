"""What probabilities are worth, as matplotlib figures for notebooks and papers.

Reliability, risk and coverage, confidence; `judge_figures` has those of a judge against people.
Save one with `figure.savefig(path)`; a notebook shows it as it is.
"""

from __future__ import annotations

from classify.calibration.confidence_bins import ConfidenceHistogram
from classify.calibration.figure_canvas import (
    BLUE,
    GREY,
    ORANGE,
    Axes,
    Figure,
    footnote,
    key,
    named,
    new_figure,
)
from classify.calibration.reliability import ReliabilityDiagram, RiskCoverage
from classify.calibration.settings import in_percent, of_type

_DIAGRAM = "what reliability_diagram() returns"


def reliability_figure(diagram: ReliabilityDiagram, *, title: str = "Reliability") -> Figure:
    """Return one reliability diagram: bins with their band, isotonic curve, histogram of p."""
    of_type(diagram, ReliabilityDiagram, name="diagram", what=_DIAGRAM)
    figure = new_figure(width=4.8, height=6.0)
    _reliability(diagram, figure.add_subplot(1, 1, 1), title=title)
    footnote(figure, f"{diagram.scale}\n{diagram.rule}")
    return figure


def before_after_figure(before: ReliabilityDiagram, after: ReliabilityDiagram) -> Figure:
    """Return two reliability diagrams side by side."""
    of_type(before, ReliabilityDiagram, name="before", what=_DIAGRAM)
    of_type(after, ReliabilityDiagram, name="after", what=_DIAGRAM)
    figure = new_figure(width=9.2, height=5.8)
    _reliability(before, figure.add_subplot(1, 2, 1), title="before")
    _reliability(after, figure.add_subplot(1, 2, 2), title="after")
    footnote(
        figure,
        f"before: {before.scale}; {before.rule}\nafter: {after.scale}; {after.rule}",
    )
    return figure


def risk_coverage_figure(curve: RiskCoverage, *, title: str = "Risk and coverage") -> Figure:
    """Return the mean loss of the surest rows against the share of rows that are kept."""
    of_type(curve, RiskCoverage, name="curve", what="what risk_coverage() returns")
    figure = new_figure(width=4.8, height=5.2)
    axes = figure.add_subplot(1, 1, 1)
    axes.axhline(curve.base_risk, color=GREY, linestyle="--", label="all rows")
    if curve.interval is not None:
        low, high = zip(*curve.interval, strict=True)
        # A single point has no area; a marker shows that it is there.
        axes.fill_between(
            curve.coverage, low, high, color=BLUE, alpha=0.2, linewidth=0, label="95 %, each alone"
        )
    marker = "o" if len(curve.coverage) == 1 else ""
    axes.plot(
        curve.coverage, curve.risk, color=BLUE, marker=marker, clip_on=False, label="kept rows"
    )
    named(axes, title=title, across="share of rows kept, surest first", up="mean loss of those")
    axes.set(xlim=(0, 1))
    key(axes)
    footnote(
        figure, f"{curve.n} rows; all: {curve.base_risk:.3f}; area below (AURC): {curve.area:.4f}"
    )
    return figure


def confidence_figure(found: ConfidenceHistogram, *, title: str = "Confidence") -> Figure:
    """Return the rows by confidence, right and wrong, with mean confidence and accuracy."""
    of_type(found, ConfidenceHistogram, name="found", what="what confidence_histogram() returns")
    figure = new_figure(width=5.6)
    axes = figure.add_subplot(1, 1, 1)
    _stacked(found, axes)
    axes.axvline(
        found.mean_confidence,
        color="black",
        linestyle="--",
        label=f"mean confidence {found.mean_confidence:.3f}",
    )
    right = found.accuracy
    if right is not None:
        ends = "" if right.low is None else f" [{right.low:.3f}, {right.high:.3f}]"
        axes.axvline(right.value, color="black", label=f"share right {right.value:.3f}{ends}")
        if right.low is not None and right.high is not None:
            axes.axvspan(right.low, right.high, color="0.88", linewidth=0, zorder=0)
    named(axes, title=title, across="probability of the answer", up="rows")
    most = max(each.right + each.wrong + each.unlabelled for each in found.bins)
    axes.set(xlim=(0, 1), ylim=(0, 1.05 * most))
    key(axes)
    known = 0 if right is None else right.n
    rule = "" if right is None else f"; interval: {right.rule}"
    footnote(figure, f"{found.n} answers of {found.total} rows, {known} with a label{rule}")
    return figure


def _stacked(found: ConfidenceHistogram, axes: Axes) -> None:
    """Draw the rows of each bin, the right ones at the bottom."""
    middles = [(each.low + each.high) / 2 for each in found.bins]
    below = [0.0] * len(found.bins)
    for name, rows, style in (
        ("right", [each.right for each in found.bins], {"color": BLUE}),
        # Hatched, so that it is told apart without colour.
        ("wrong", [each.wrong for each in found.bins], {"color": ORANGE, "hatch": "///"}),
        ("no label", [each.unlabelled for each in found.bins], {"color": "0.8"}),
    ):
        if any(rows):
            axes.bar(
                middles,
                rows,
                width=0.9 / len(found.bins),
                bottom=list(below),
                label=f"{name} ({sum(rows)})",
                edgecolor="white",
                **style,
            )
        below = [height + more for height, more in zip(below, rows, strict=True)]


def _reliability(diagram: ReliabilityDiagram, axes: Axes, *, title: str) -> None:
    _backdrop(diagram, axes)
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", linewidth=1)
    axes.plot(
        [x for x, _ in diagram.curve],
        [y for _, y in diagram.curve],
        color=BLUE,
        clip_on=False,
        label="isotonic",
    )
    for inside, fill in ((True, BLUE), (False, "white")):
        points = [point for point in diagram.points if point.inside is inside]
        if not points:  # a line of none, if not clipped, would widen the margins
            continue
        axes.plot(
            [point.probability for point in points],
            [point.rate for point in points],
            color=BLUE,
            markerfacecolor=fill,
            marker="o",
            linestyle="none",
            clip_on=False,
            label="bin" if inside else "bin outside its band",
        )
    named(axes, title=title, across="probability given", up="how often it came true")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    key(axes)


def _backdrop(diagram: ReliabilityDiagram, axes: Axes) -> None:
    """Draw the consistency band of each bin and the histogram of the rows."""
    axes.vlines(
        [point.probability for point in diagram.points],
        [point.low for point in diagram.points],
        [point.high for point in diagram.points],
        color=BLUE,
        alpha=0.25,
        linewidth=9,
        clip_on=False,
        label=f"as if calibrated, {in_percent(diagram.confidence)}",
    )
    width = 1 / len(diagram.histogram)
    axes.bar(
        [(index + 0.5) * width for index in range(len(diagram.histogram))],
        [0.15 * rows / max(diagram.histogram) for rows in diagram.histogram],
        width=0.9 * width,
        color="0.8",
        zorder=0,
        label="rows",
    )
