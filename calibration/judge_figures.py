"""A judge against people and against itself, as matplotlib figures.

Levels met, scores by human label, and what the order of the options does.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from classify.calibration.agreement import Confusion
from classify.calibration.bias_reports import BiasReport
from classify.calibration.estimate import Estimate
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
    short_name,
)
from classify.calibration.label_scores import LabelledScores, ScoresByLabel
from classify.calibration.level_confusion import OrdinalConfusion
from classify.calibration.measurement import Measurement
from classify.calibration.order_effects import OrderSensitivity, PositionPreference
from classify.calibration.settings import of_type, texts
from classify.errors import CalibrationError

_LARGEST = 12.0
"""Inches."""
_MOST_NUMBERS = 12
"""Levels up to which every cell holds its numbers and every level its name."""
_LINE = 9
"""Characters of a name that are as wide as a cell."""


def ordinal_confusion_figure(
    found: OrdinalConfusion,
    *,
    title: str = "Judge and people",
    names: Sequence[str] | None = None,
) -> Figure:
    """Return the table of levels, shaded by the share of each human label, with its counts.

    `names` say what the levels mean, from the lowest up.
    """
    of_type(found, OrdinalConfusion, name="found", what="what ordinal_confusion() returns")
    table = found.table
    if names is not None:
        k = len(table.levels)
        names = texts(names, name="names", must=f"name the {k} levels", count=k)
    called = [short_name(name) for name in (table.levels if names is None else names)]
    size = min(max(4.8, 1.8 + 0.8 * len(called)), _LARGEST)
    figure = new_figure(width=size, height=size)
    _cells(table, figure.add_subplot(1, 1, 1), title=title, names=called)
    kappa = "" if found.kappa is None else f"\nquadratic kappa {_ends(found.kappa)}"
    footnote(
        figure,
        f"{table.n} used of {table.total}; same level {_ends(found.agreement)}\n"
        f"within one level {_ends(found.within_one)}{kappa}\n"
        f"judge less person {_ends(found.difference, signed=True)} levels",
    )
    return figure


def score_label_figure(found: ScoresByLabel, *, title: str = "Score and human label") -> Figure:
    """Return the mean score of each human label with its interval, and the middle half of rows."""
    of_type(found, ScoresByLabel, name="found", what="what scores_by_label() returns")
    figure = new_figure(width=5.6, height=5.2)
    axes = figure.add_subplot(1, 1, 1)
    if found.scale is not None:
        axes.plot(found.scale, found.scale, color=GREY, linestyle="--", label="score = label")
    axes.vlines(
        [each.label for each in found.labels],
        [each.low_quarter for each in found.labels],
        [each.high_quarter for each in found.labels],
        color=BLUE,
        alpha=0.25,
        linewidth=12,
        label="middle half of the rows",
    )
    _with_ends(
        axes,
        [each.label for each in found.labels],
        [each.mean for each in found.labels],
        label="mean and its 95 % interval",
    )
    labels = "human label, neighbours pooled" if found.pooled else "human label"
    named(axes, title=title, across=f"{labels} (rows)", up="score of the judge")
    ticks = [f"{each.label:.3g}\n({each.mean.n})" for each in found.labels]
    axes.set_xticks([each.label for each in found.labels], ticks)
    if found.scale is not None:
        axes.set(ylim=_padded(found.scale))
    axes.set(xlim=_padded(_across(found.labels, found.scale)))
    key(axes, lines=2)
    rank = found.correlation
    told = "undefined, one side never varies" if rank is None else f"{rank.value:z.3f}"
    footnote(figure, f"{found.n} used of {found.total}; Spearman's correlation {told}")
    return figure


def order_sensitivity_figure(report: BiasReport, *, title: str = "Order of the options") -> Figure:
    """Return how often a new order changes the answer, and what standing first does.

    Raises CalibrationError where the readings were all made in one order.
    """
    of_type(report, BiasReport, name="report", what="what bias_report() returns")
    if report.order is None:
        raise CalibrationError(
            "no item was read in two orders: ask a readout that lists the options, with orders=2 "
            "or more"
        )
    panels = 1 if report.position is None else 2
    figure = new_figure(width=4.6 * panels)
    _flips(report.order, figure.add_subplot(1, panels, 1), title=title)
    told = f"flips: {report.order.flips.n} items read in several orders"
    if report.position is not None:
        _places(report.position, figure.add_subplot(1, 2, 2))
        first = report.position.preference
        told += f"; an option gains {_ends(first, signed=True)} by standing first, {first.n} items"
    footnote(figure, told)
    return figure


def _cells(table: Confusion, axes: Axes, *, title: str, names: Sequence[str]) -> None:
    """Draw the table as it is printed: people in rows, from the lowest level down."""
    said = [sum(row) for row in table.counts]
    shares = [
        [count / of if of else 0.0 for count in row]
        for row, of in zip(table.counts, said, strict=True)
    ]
    axes.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest")
    if len(names) <= _MOST_NUMBERS:
        _numbers(axes, table, shares)
    places = list(range(0, len(names), -(-len(names) // _MOST_NUMBERS)))
    across = [fill(names[place], _LINE) for place in places]
    axes.set_xticks(places, across, parse_math=False)
    down = [f"{names[place]}\n({said[place]:g})" for place in places]
    axes.set_yticks(places, down, parse_math=False)
    named(axes, title=title, across="what the judge said", up="what people said (rows)")


def _numbers(axes: Axes, table: Confusion, shares: Sequence[Sequence[float]]) -> None:
    """Write the count and the share of its row into each cell; shades alone can be misread."""
    for person, row in enumerate(table.counts):
        for judge, count in enumerate(row):
            share = shares[person][judge]
            axes.text(
                judge,
                person,
                f"{count:g}\n{share:.0%}" if any(row) else "0",
                horizontalalignment="center",
                verticalalignment="center",
                color="white" if share > 0.6 else "black",
                fontweight="bold" if judge == person else "normal",
            )


def _flips(order: OrderSensitivity, axes: Axes, *, title: str) -> None:
    """Draw the flips, the noise they are above, and the difference of the two."""
    shown, names = [order.flips], ["in another order"]
    if order.noise is not None and order.excess is not None:
        shown += [order.noise, order.excess]
        names += ["asked again", "due to the order"]
    else:
        names.append("asked again:\nnot measured")
    _with_ends(axes, range(len(shown)), shown, label="")
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    axes.set_xticks(range(len(names)), names)
    named(axes, title=title, across="", up="chance that the answer changes")
    axes.set(xlim=(-0.5, len(names) - 0.5), ylim=(min(-0.05, _least(order)), 1.05))


def _places(position: PositionPreference, axes: Axes) -> None:
    """Draw the mean probability of whatever stood in each place."""
    places = [place + 1 for place in range(len(position.slots))]
    axes.bar(places, position.slots, color=BLUE, width=0.7)
    for place, share in zip(places, position.slots, strict=True):
        axes.text(
            place,
            share + 0.015,
            f"{share:.2f}",
            horizontalalignment="center",
            verticalalignment="bottom",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        )
    axes.axhline(1 / len(places), color=ORANGE, linestyle="--", label="no preference")
    axes.set_xticks(places, [str(place) for place in places])
    named(axes, title="Place in the list", across="place", up="mean probability")
    axes.set(ylim=(0, 1.05))
    key(axes)


def _with_ends(
    axes: Axes, places: Sequence[float], found: Sequence[Measurement], *, label: str
) -> None:
    """Draw points with their intervals; a hollow point has none.

    Rows that are all alike say nothing of others, so an interval of no width is none.
    """
    both = list(zip(places, found, strict=True))
    sure = [(x, m) for x, m in both if m.low is not None and m.low != m.high]
    below = [m.value - m.low for _, m in sure if m.low is not None]
    above = [m.high - m.value for _, m in sure if m.high is not None]
    axes.errorbar(
        [x for x, _ in sure],
        [m.value for _, m in sure],
        # Rounding may put an end of no width on the wrong side.
        yerr=[[max(0.0, gap) for gap in below], [max(0.0, gap) for gap in above]],
        fmt="o",
        color=BLUE,
        capsize=4,
        label=label,
    )
    alone = [(x, m) for x, m in both if m.low is None or m.low == m.high]
    if alone:
        axes.plot(
            [x for x, _ in alone],
            [m.value for _, m in alone],
            color=BLUE,
            marker="o",
            markerfacecolor="white",
            linestyle="none",
            label="no interval: one row, or all alike",
        )


def _ends(found: Measurement | Estimate, *, signed: bool = False) -> str:
    form = "+z.3f" if signed else "z.3f"
    if found.low is None or found.high is None:
        return f"{found.value:{form}}"
    return f"{found.value:{form}} [{found.low:{form}}, {found.high:{form}}]"


def _least(order: OrderSensitivity) -> float:
    excess = order.excess
    return 0.0 if excess is None else (excess.value if excess.low is None else excess.low)


def _across(
    labels: Sequence[LabelledScores], scale: tuple[float, float] | None
) -> tuple[float, float]:
    return scale or (labels[0].label, labels[-1].label)


def _padded(ends: tuple[float, float]) -> tuple[float, float]:
    room = 0.08 * (ends[1] - ends[0]) or 0.5
    return ends[0] - room, ends[1] + room
