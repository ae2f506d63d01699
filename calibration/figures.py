"""The pictures of svg.py as matplotlib figures, for notebooks and papers.

Figures are made without pyplot: no window, no current figure, no style is touched, and nothing
has to be closed. Save one with `figure.savefig(path)`; a notebook shows it as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from classify.calibration.reliability import ReliabilityDiagram, RiskCoverage
from classify.errors import MissingExtra


class Axes(Protocol):
    """The little of matplotlib's axes that is used here."""

    def plot(self, x: Sequence[float], y: Sequence[float], **style: object) -> object: ...
    def vlines(
        self, x: Sequence[float], low: Sequence[float], high: Sequence[float], **style: object
    ) -> object: ...
    def bar(self, x: Sequence[float], height: Sequence[float], **style: object) -> object: ...
    def axhline(self, y: float, **style: object) -> object: ...
    def set(self, **properties: object) -> object: ...
    def legend(self, **style: object) -> object: ...


class Figure(Protocol):
    """The little of matplotlib's figure that is used here, and savefig."""

    def add_subplot(self, rows: int, columns: int, index: int) -> Axes: ...
    def savefig(self, target: object, **options: object) -> None: ...


def reliability_figure(diagram: ReliabilityDiagram, *, title: str = "Reliability") -> Figure:
    """Return one reliability diagram: bins with their band, isotonic curve, histogram of p."""
    figure = _figure(width=4.8)
    _reliability(diagram, figure.add_subplot(1, 1, 1), title=title)
    return figure


def before_after_figure(before: ReliabilityDiagram, after: ReliabilityDiagram) -> Figure:
    """Return two reliability diagrams side by side."""
    figure = _figure(width=9.2)
    _reliability(before, figure.add_subplot(1, 2, 1), title=f"before, n={before.n}")
    _reliability(after, figure.add_subplot(1, 2, 2), title=f"after, n={after.n}")
    return figure


def risk_coverage_figure(curve: RiskCoverage, *, title: str = "Risk and coverage") -> Figure:
    """Return the mean loss of the surest rows against the share of rows that are kept."""
    figure = _figure(width=4.8)
    axes = figure.add_subplot(1, 1, 1)
    axes.axhline(curve.base_risk, color="0.45", linestyle="--", label="all rows")
    axes.plot(curve.coverage, curve.risk, color="C0", label=f"AURC {curve.area:.4f}, n={curve.n}")
    axes.set(
        title=title,
        xlabel="share of rows kept, surest first",
        ylabel="mean loss of those",
        xlim=(0, 1),
    )
    axes.legend(frameon=False)
    return figure


def _reliability(diagram: ReliabilityDiagram, axes: Axes, *, title: str) -> None:
    _backdrop(diagram, axes)
    axes.plot([0, 1], [0, 1], color="0.45", linestyle="--", linewidth=1)
    axes.plot(
        [x for x, _ in diagram.curve], [y for _, y in diagram.curve], color="C0", label="isotonic"
    )
    for inside, fill in ((True, "C0"), (False, "white")):
        points = [point for point in diagram.points if point.inside is inside]
        axes.plot(
            [point.probability for point in points],
            [point.rate for point in points],
            color="C0",
            markerfacecolor=fill,
            marker="o",
            linestyle="none",
            label="bin" if inside else "bin outside its band",
        )
    axes.set(title=title, xlabel="probability given", ylabel="how often it came true")
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.legend(frameon=False, fontsize="small", loc="upper left")


def _backdrop(diagram: ReliabilityDiagram, axes: Axes) -> None:
    """Draw the consistency band of each bin and the histogram of the rows."""
    axes.vlines(
        [point.probability for point in diagram.points],
        [point.low for point in diagram.points],
        [point.high for point in diagram.points],
        color="C0",
        alpha=0.25,
        linewidth=9,
        label=f"as if calibrated, {diagram.confidence:.0%}",
    )
    width = 1 / len(diagram.histogram)
    axes.bar(
        [(index + 0.5) * width for index in range(len(diagram.histogram))],
        [0.15 * rows / max(diagram.histogram) for rows in diagram.histogram],
        width=0.9 * width,
        color="0.6",
        alpha=0.5,
        label="rows",
    )


def _figure(*, width: float) -> Figure:
    try:
        module = import_module("matplotlib.figure")
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots", "a calibration figure") from error
    figure: Figure = module.Figure(figsize=(width, 4.8), layout="constrained")
    return figure
