"""The figures draw the numbers that they are given, and touch nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from itertools import pairwise
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from classify.calibration.bias_reports import bias_report
from classify.calibration.confidence_bins import confidence_histogram
from classify.calibration.figure_canvas import Figure
from classify.calibration.figures import (
    before_after_figure,
    confidence_figure,
    reliability_figure,
    risk_coverage_figure,
)
from classify.calibration.judge_figures import (
    order_sensitivity_figure,
    ordinal_confusion_figure,
    score_label_figure,
)
from classify.calibration.label_scores import scores_by_label
from classify.calibration.level_confusion import ordinal_confusion
from classify.calibration.reliability import reliability_diagram, risk_coverage
from classify.errors import CalibrationError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes as RealAxes
    from matplotlib.figure import Figure as RealFigure
    from matplotlib.patches import Rectangle

pytest.importorskip("matplotlib")

P, Y = [0.2, 0.4, 0.6, 0.9, 0.95], [0, 1, 0, 1, 1]
READINGS = np.log([[0.9, 0.1], [0.2, 0.8], [0.9, 0.1], [0.8, 0.2]] * 2)
PLACES = [[0, 1], [1, 0], [0, 1], [1, 0]] * 2


def _order_figure() -> Figure:
    report = bias_report(
        READINGS, seed=0, item=[0, 0, 1, 1, 2, 2, 3, 3], order=[0, 1] * 4, position=PLACES
    )
    return order_sensitivity_figure(report)


FIGURES: dict[str, Callable[[], Figure]] = {
    "reliability": lambda: reliability_figure(reliability_diagram(P, Y, seed=0, draws=20)),
    "before-after": lambda: before_after_figure(
        reliability_diagram(P, Y, seed=0, draws=20), reliability_diagram(P, Y, seed=0, draws=20)
    ),
    "risk-coverage": lambda: risk_coverage_figure(risk_coverage(P, Y)),
    "confidence": lambda: confidence_figure(confidence_histogram(P, Y, seed=0)),
    "ordinal confusion": lambda: ordinal_confusion_figure(
        ordinal_confusion([0, 1, 2, 1], [0, 2, 2, None], levels=[0, 1, 2], seed=0)
    ),
    "order": _order_figure,
    "score and label": lambda: score_label_figure(scores_by_label(P, Y, seed=0, scale=(0, 1))),
}


def axes_of(figure: Figure, index: int = 0) -> RealAxes:
    """Return matplotlib's own axes of a figure."""
    return cast("RealFigure", figure).axes[index]


def told(figure: Figure) -> str:
    """Return the line below the picture."""
    return cast("RealFigure", figure).get_supxlabel()


def png(figure: Figure) -> bytes:
    """Return the picture."""
    target = BytesIO()
    figure.savefig(target, format="png")
    return target.getvalue()


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_every_figure_is_a_picture_and_leaves_the_settings_alone(
    make: Callable[[], Figure],
) -> None:
    """Nothing that other figures of the same program share is changed."""
    import matplotlib

    before = dict(matplotlib.rcParams)

    assert png(make()).startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before


def test_a_cell_that_ends_with_a_figure_shows_it() -> None:
    """Without "%matplotlib inline", which would load pyplot."""
    name = "_repr_png_"  # as IPython looks for it

    picture, facts = getattr(FIGURES["confidence"](), name)()

    assert picture.startswith(b"\x89PNG")
    assert facts == {
        "alt": "Confidence: rows by probability of the answer. "
        "5 answers of 5 rows, 5 with a label; interval: Wilson 95%"
    }


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message is the way out."""
    monkeypatch.delitem(sys.modules, "classify.calibration.notebook_figure", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # as if it were absent

    with pytest.raises(MissingExtra, match=r"classify-kit\[plots\]"):
        FIGURES["confidence"]()


def test_no_figure_needs_pyplot() -> None:
    """No window, no current figure, nothing to close."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from test_figures import FIGURES, png; "
        "[png(make()) for make in FIGURES.values()]; sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    here = __file__.rpartition("test_figures.py")[0]

    assert subprocess.run([sys.executable, "-c", code, here], check=False).returncode == 0


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_every_axis_says_what_it_shows_and_every_figure_how_much_it_rests_on(
    make: Callable[[], Figure],
) -> None:
    """A picture travels without the text around it."""
    figure = make()
    for axes in cast("RealFigure", figure).axes:
        assert axes.get_title() and axes.get_ylabel()
    words = told(figure) + "".join(axes.get_title() for axes in cast("RealFigure", figure).axes)

    assert any(number in words for number in ("5", "4", "3"))


@pytest.mark.parametrize("make", FIGURES.values(), ids=FIGURES)
def test_the_key_stands_between_the_name_of_the_axis_and_the_footnote(
    make: Callable[[], Figure],
) -> None:
    """Within the plot a curve would run through its words."""
    figure = cast("RealFigure", make())
    assert png(cast("Figure", figure))  # where texts stand is known once they are drawn
    note = [text for text in figure.texts if text.get_text() == figure.get_supxlabel()]
    footnote = note[0].get_window_extent()

    for axes in figure.axes:
        key = axes.get_legend()
        if key is not None:
            assert key.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
            assert key.get_window_extent().y0 >= footnote.y1
        assert axes.xaxis.label.get_window_extent().y0 >= footnote.y1
        assert axes.title.get_window_extent().y1 <= figure.bbox.y1


def test_points_on_the_edge_of_the_plot_are_whole() -> None:
    """Probabilities of 0 and 1, and a curve of one point that keeps every row."""
    sure = reliability_diagram([0.0] * 4 + [1.0] * 4, [0, 0, 0, 1, 1, 1, 1, 1], seed=0, draws=20)
    marked = [
        line
        for figure in (
            reliability_figure(sure),
            before_after_figure(sure, sure),
            risk_coverage_figure(risk_coverage([0.5], [1])),
        )
        for axes in cast("RealFigure", figure).axes
        for line in axes.lines
        if line.get_marker() == "o"
    ]

    assert {float(x) for line in marked for x in np.asarray(line.get_xdata())} == {0.0, 1.0}
    assert not any(line.get_clip_on() for line in marked)


def test_reliability_says_what_it_rests_on_and_by_what_rule() -> None:
    """The grey bars have no axis: the tallest gives them their scale, here of one row."""
    diagram = reliability_diagram(P, Y, seed=7, draws=20)
    basis = "n=5, 1 in the tallest bar", "mass, m=2, consistency band 90%, 20 draws, seed 7"

    assert told(reliability_figure(diagram)) == "\n".join(basis)
    assert told(before_after_figure(diagram, diagram)) == (
        f"before: {'; '.join(basis)}\nafter: {'; '.join(basis)}"
    )


def test_the_bars_of_a_confidence_histogram_are_the_rows() -> None:
    """Right below, wrong on top of it, those without a label on top of both."""
    axes = axes_of(
        confidence_figure(
            confidence_histogram(
                [0.1, 0.3, 0.7, 0.8, 0.9], [1, 0, 1, 0, np.nan], seed=0, bins=2, missing=3
            )
        )
    )
    bars = {
        str(group.get_label()): [
            (bar.get_y(), bar.get_height()) for bar in cast("Iterable[Rectangle]", group)
        ]
        for group in axes.containers
    }

    assert bars == {
        "right (2)": [(0, 1), (0, 1)],
        "wrong (2)": [(1, 1), (1, 1)],
        "no label (1)": [(2, 0), (2, 1)],
    }


def test_confidence_and_accuracy_are_of_the_same_rows() -> None:
    """The row without a label raises neither; of 2 in 4 Wilson's interval is .15 to .85."""
    figure = confidence_figure(
        confidence_histogram([0.1, 0.3, 0.7, 0.8, 0.9], [1, 0, 1, 0, np.nan], seed=0, missing=3)
    )
    mean, right = axes_of(figure).lines

    assert np.asarray(mean.get_xdata()) == pytest.approx([0.475, 0.475])
    assert np.asarray(right.get_xdata()).tolist() == [0.5, 0.5]
    assert right.get_label() == "share right 0.500 [0.150, 0.850]"
    assert told(figure).startswith("5 answers of 8 rows, 4 with a label")


def test_labels_of_weight_zero_say_nothing_of_the_accuracy() -> None:
    """They are in the bars; the lines are of the rows that count, or of all where none has a label.

    Of 1 in 2 Wilson's interval is .095 to .905.
    """
    some = confidence_histogram([0.2, 0.4, 0.9], [1, 0, 1], seed=0, weights=[1, 1, 0])
    none = confidence_histogram([0.2, 0.4, 0.9], [1, 0, np.nan], seed=0, weights=[0, 0, 1])

    assert some.accuracy is not None and some.accuracy.n == 2
    assert (some.accuracy.low, some.accuracy.high) == pytest.approx((0.0945, 0.9055), abs=1e-4)
    assert some.mean_confidence == pytest.approx(0.3)
    assert (none.accuracy, none.mean_confidence) == (None, 0.9)
    assert sum(one.right + one.wrong for one in none.bins) == 2


def test_a_confidence_histogram_needs_no_labels() -> None:
    """How sure a judge is can be seen before anybody labels."""
    figure = confidence_figure(confidence_histogram(P, seed=0))

    assert [line.get_label() for line in axes_of(figure).lines] == ["mean confidence 0.610"]
    assert "0 with a label" in told(figure)


def test_the_band_of_a_risk_curve_is_wilsons() -> None:
    """Of 1 error in 4 rows Wilson's interval is .0456 to .6994 (1927, by hand)."""
    curve = risk_coverage([0.9, 0.8, 0.7, 0.6], [0, 0, 0, 1])
    band = axes_of(risk_coverage_figure(curve)).collections[0].get_paths()[0].vertices

    at_the_end = sorted({round(float(y), 4) for x, y in np.asarray(band) if x == 1.0})
    assert (at_the_end[0], at_the_end[-1]) == (0.0456, 0.6994)


@pytest.mark.parametrize(
    ("losses", "weights"), [([0.0, 0.5], None), ([0, 1], [1.0, 2.0])], ids=["graded", "weighted"]
)
def test_a_risk_that_is_no_count_has_no_band(
    losses: list[float], weights: list[float] | None
) -> None:
    """Wilson's interval is for counts."""
    curve = risk_coverage([0.9, 0.8], losses, weights=weights)

    assert curve.interval is None
    assert not axes_of(risk_coverage_figure(curve)).collections


def test_the_cells_of_a_confusion_hold_counts_and_shares_of_each_human_label() -> None:
    """Three items were called 2 by people, of which the judge found one."""
    found = ordinal_confusion([0, 1, 1, 2, 1], [0, 2, 2, 2, None], levels=[0, 1, 2], seed=0)
    axes = axes_of(ordinal_confusion_figure(found, names=["bad", "fair", "good"]))
    cells = {(text.get_position()): text.get_text() for text in axes.texts}

    assert cells[0, 0] == "1\n100%" and cells[1, 2] == "2\n67%" and cells[2, 2] == "1\n33%"
    assert cells[0, 1] == cells[1, 1] == cells[2, 1] == "0"
    image = np.asarray(axes.images[0].get_array())
    assert image[2] == pytest.approx([0, 2 / 3, 1 / 3])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["bad", "fair", "good"]
    assert [tick.get_text() for tick in axes.get_yticklabels()][2] == "good\n(3)"
    assert axes.get_ylim()[0] > axes.get_ylim()[1], "as a table, from the top down"


def test_long_names_of_levels_are_folded_below_their_cells() -> None:
    """Side by side they would run into one another."""
    found = ordinal_confusion([0, 1, 2], [0, 1, 2], levels=[0, 1, 2], seed=0)
    figure = ordinal_confusion_figure(found, names=["unhappy or angry", "so-so", "very grateful"])
    assert png(figure)  # where texts stand is known once they are drawn
    boxes = [tick.get_window_extent() for tick in axes_of(figure).get_xticklabels()]

    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_a_confusion_counts_what_one_side_left_out() -> None:
    """And says how far apart the two are, which a share of hits does not."""
    figure = ordinal_confusion_figure(
        ordinal_confusion([0, 1, 1, 2, 1], [0, 2, 2, 2, None], levels=[0, 1, 2], seed=0)
    )

    assert "4 used of 5; same level 0.500 [0.150, 0.850]" in told(figure)
    assert "within one level 1.000" in told(figure)
    assert "judge less person -0.500" in told(figure)


def test_the_points_of_scores_by_label_are_their_means_with_the_ends_of_the_interval() -> None:
    """What is drawn is what was computed."""
    scores = [0.0, 0.2, 0.4, 0.6, 0.9, 1.0]
    found = scores_by_label(scores, [0, 0, 0, 1, 1, 1], seed=0, scale=(0.0, 1.0))
    axes = axes_of(score_label_figure(found))
    points = axes.lines[1]
    bars = axes.collections[1].get_paths()

    assert np.asarray(points.get_xdata()).tolist() == [0.0, 1.0]
    assert np.asarray(points.get_ydata()) == pytest.approx([0.2, 2.5 / 3])
    drawn = [np.asarray(path.vertices)[:, 1].tolist() for path in bars]
    wanted = [(each.mean.low, each.mean.high) for each in found.labels]
    assert np.asarray(drawn) == pytest.approx(np.asarray(wanted, dtype=np.float64))
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0\n(3)", "1\n(3)"]


def test_a_label_of_one_item_is_a_hollow_point() -> None:
    """One item has no interval, nor have rows all alike: one of no width would be a lie."""
    scores, labels = [0.1, 0.3, 0.8, 0.5, 0.5], [0, 0, 1, 2, 2]
    axes = axes_of(score_label_figure(scores_by_label(scores, labels, seed=0)))
    hollow = [line for line in axes.lines if str(line.get_label()).startswith("no interval")]

    assert [np.asarray(line.get_xdata()).tolist() for line in hollow] == [[1.0, 2.0]]


def test_mean_labels_of_many_values_are_pooled() -> None:
    """Twenty ticks with a row each say nothing."""
    labels = np.linspace(1, 5, 60)
    found = scores_by_label(labels / 5, labels, seed=0)

    assert found.pooled and len(found.labels) <= 12
    assert sum(each.mean.n for each in found.labels) == found.n == 60
    assert found.correlation is not None and found.correlation.value == pytest.approx(1.0)


def test_the_flips_of_an_order_figure_are_those_of_the_report() -> None:
    """Half of the items change their answer; the first place gains 0.1 or 0.7."""
    figure = _order_figure()
    assert np.asarray(axes_of(figure).lines[0].get_ydata()).tolist() == [0.5]
    assert "asked again:\nnot measured" in [t.get_text() for t in axes_of(figure).get_xticklabels()]
    heights = [cast("Rectangle", bar).get_height() for bar in axes_of(figure, 1).patches]
    assert sum(heights) == pytest.approx(1.0)
    assert "4 items read in several orders" in told(figure)


def test_readings_in_one_order_have_no_order_figure() -> None:
    """An empty picture would look like a finding."""
    with pytest.raises(CalibrationError, match=r"in two orders: .*orders=2"):
        order_sensitivity_figure(bias_report(READINGS, seed=0, item=range(8)))


@pytest.mark.parametrize(
    "name", ["costs $5 to $10", "$\\frac", "a\u202eb\x1b[31m", "<b>", "x" * 90]
)
def test_names_and_titles_are_shown_as_text(name: str) -> None:
    """Neither mathematics nor anything that turns text around; a long one is cut."""
    found = ordinal_confusion([0, 1, 1], [0, 1, 0], levels=[0, 1], seed=0)
    figure = ordinal_confusion_figure(found, title=name, names=[name, "other"])
    shown, _, rows = axes_of(figure).get_yticklabels()[0].get_text().rpartition("\n")

    assert png(figure).startswith(b"\x89PNG")
    assert rows == "(2)"
    assert len(shown) <= 24 and "\u202e" not in shown and "\x1b" not in shown
    assert not axes_of(figure).title.get_parse_math()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: confidence_histogram([], seed=0), "at least one answer"),
        (lambda: confidence_histogram([1.2], seed=0), r"confidence\[0\] must be between 0 and 1"),
        (lambda: confidence_histogram([0.5], [2], seed=0), r"right\[0\] must be 1, 0, or nan"),
        (lambda: confidence_histogram([0.5], [1, 0], seed=0), r"shape \(1,\), got \(2,\)"),
        (lambda: confidence_histogram([0.5], seed=0, bins=0), "from 1 to 1,000,000, got 0"),
        (lambda: scores_by_label([0.5], [np.nan], seed=0), "no item has both"),
        (lambda: scores_by_label([0.5], [1, 2], seed=0), "of one length, got 1 and 2"),
        (lambda: scores_by_label(["high"], [1], seed=0), "score must be an array of numbers"),
        (lambda: scores_by_label([np.inf], [1], seed=0), "finite"),
        (lambda: ordinal_confusion([], [], levels=[0, 1], seed=0), "no item was rated by both"),
        (lambda: ordinal_confusion([3], [0], levels=[0, 1], seed=0), "none of the levels"),
    ],
)
def test_what_cannot_be_drawn_is_refused_by_name(make: Callable[[], object], message: str) -> None:
    """Before a picture of nothing is made."""
    with pytest.raises(CalibrationError, match=message):
        make()


def test_a_scale_of_many_levels_is_no_larger_a_picture() -> None:
    """A hundred levels would be eight thousand pixels of numbers that nobody can read."""
    levels = range(101)
    found = ordinal_confusion([*levels], [*levels][::-1], levels=levels, seed=0)
    figure = ordinal_confusion_figure(found)

    assert cast("RealFigure", figure).get_size_inches().max() <= 12
    assert not axes_of(figure).texts
    assert [tick.get_text() for tick in axes_of(figure).get_xticklabels()][:2] == ["0", "9"]


def test_names_must_fit_the_levels() -> None:
    """Else a level would stand under another's name."""
    found = ordinal_confusion([0, 1], [0, 1], levels=[0, 1], seed=0)

    with pytest.raises(CalibrationError, match=r"names must name the 2 levels, got \['bad'\]"):
        ordinal_confusion_figure(found, names=["bad"])


def test_one_row_can_be_drawn() -> None:
    """A picture of little is better than a crash in a report."""
    for figure in (
        confidence_figure(confidence_histogram([1.0], [1], seed=0)),
        confidence_figure(confidence_histogram([0.9, 0.9], [1, 0], seed=0, groups=[7, 7])),
        score_label_figure(scores_by_label([0.5], [1], seed=0)),
        ordinal_confusion_figure(ordinal_confusion([1], [1], levels=[0, 1], seed=0)),
        risk_coverage_figure(risk_coverage([0.5], [1])),
    ):
        assert png(figure).startswith(b"\x89PNG")


def test_labels_of_one_item_do_not_count_as_several() -> None:
    """Three people who say the same of each item make an interval no narrower."""
    confidence, right = np.repeat([0.9, 0.8, 0.7, 0.6], 3), np.repeat([1, 1, 0, 1], 3)
    alone = confidence_histogram(confidence, right, seed=0).accuracy
    grouped = confidence_histogram(
        confidence, right, seed=0, groups=np.repeat([0, 1, 2, 3], 3)
    ).accuracy

    assert alone is not None and grouped is not None
    assert None not in (alone.low, alone.high, grouped.low, grouped.high)
    assert (grouped.high or 0) - (grouped.low or 0) > (alone.high or 0) - (alone.low or 0)
