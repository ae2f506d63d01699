"""Reliability data, and the pictures made of it."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import EqualMass, EqualWidth
from classify.calibration.reliability import (
    ReliabilityDiagram,
    reliability_diagram,
    risk_coverage,
)
from classify.calibration.svg import before_after_svg, reliability_svg, risk_coverage_svg
from classify.errors import CalibrationError

SVG = "{http://www.w3.org/2000/svg}"


def rows(n: int, *, sharpen: float = 1.0, seed: int = 0) -> tuple[Floats, Ints]:
    """Return probabilities that are too sure by a factor in log odds, and outcomes."""
    random = np.random.default_rng(seed)
    z = random.normal(size=n)
    y = random.random(n) < 1 / (1 + np.exp(-z))
    return 1 / (1 + np.exp(-sharpen * z)), y.astype(np.int64)


def diagram(*, sharpen: float = 1.0) -> ReliabilityDiagram:
    """Return the diagram of 300 rows."""
    return reliability_diagram(*rows(300, sharpen=sharpen), seed=0, draws=300)


def test_rates_of_a_calibrated_model_fall_inside_the_band() -> None:
    """At 90 % about a tenth of the bins lie outside."""
    points = [
        point
        for seed in range(30)
        for point in reliability_diagram(*rows(300, seed=seed), seed=seed, draws=300).points
    ]

    assert 0.85 < np.mean([point.inside for point in points]) < 0.98


def test_an_over_confident_model_leaves_the_band() -> None:
    """That is what the band is for."""
    assert sum(not point.inside for point in diagram(sharpen=4.0).points) >= 3


def test_every_row_is_counted_once() -> None:
    """In the bins and in the histogram."""
    found = diagram()

    assert sum(point.rows for point in found.points) == sum(found.histogram) == found.n == 300


def test_the_isotonic_curve_never_falls() -> None:
    """Corners are in order on both axes."""
    x, y = np.array(diagram(sharpen=4.0).curve).T

    assert (np.diff(x) >= 0).all() and (np.diff(y) >= 0).all()


@pytest.mark.parametrize(
    ("p", "y"),
    [
        pytest.param([0.3], [1], id="one-row"),
        pytest.param([0.0, 1.0], [0, 1], id="certain"),
        pytest.param([0.5] * 4, [0, 1, 0, 1], id="ties"),
    ],
)
def test_degenerate_rows_can_be_drawn(p: list[float], y: list[int]) -> None:
    """A picture of little is better than a crash in a report."""
    drawn = reliability_svg(reliability_diagram(p, y, seed=0, draws=20))
    curve = risk_coverage_svg(risk_coverage(p, [1 - value for value in y]))

    for text in (drawn, curve):
        ElementTree.fromstring(text)
        assert "nan" not in text and "inf" not in text


@pytest.mark.parametrize("bins", [EqualMass(4), EqualWidth(4)], ids=["mass", "width"])
def test_the_rule_names_bins_and_band(bins: EqualMass | EqualWidth) -> None:
    """The picture can be made again from its rule."""
    found = reliability_diagram(*rows(50), seed=3, bins=bins, draws=20)

    assert found.rule == f"{bins.rule(4)}, consistency band 90%, 20 draws, seed 3"


def test_a_percentage_is_no_confidence() -> None:
    """90 for 0.9 is the usual slip."""
    with pytest.raises(CalibrationError, match="between 0 and 1, got 90"):
        reliability_diagram([0.5], [1], seed=0, confidence=90)


def test_pictures_are_accessible() -> None:
    """Role, title and a description in words; and not by colour alone."""
    root = ElementTree.fromstring(reliability_svg(diagram(sharpen=4.0), title="Judge"))
    ids = {element.get("id"): element.text for element in root.iter() if element.get("id")}

    title, description = (ids[name] for name in (root.get("aria-labelledby") or "").split())

    assert root.get("role") == "img"
    assert title == "Judge"
    assert description is not None and "outside the band" in description
    assert "○ outside" in "".join(root.itertext())


def words_of(picture: str) -> list[str]:
    """Return the words that are seen in a picture, and not only on pointing at it."""
    return [part.text or "" for part in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_a_picture_says_how_many_rows_it_rests_on_and_by_what_rule() -> None:
    """Also where it is an image in a page, and titles of its parts are not shown.

    The bars have no axis: the tallest gives them their scale.
    """
    raw, found = diagram(sharpen=4.0), diagram()
    rows_told = [f"n=300, {max(each.histogram)} in the tallest bar" for each in (raw, found)]
    both = words_of(before_after_svg(raw, found))

    assert rows_told[1] in words_of(reliability_svg(found))
    assert found.rule in words_of(reliability_svg(found))
    assert f"before, {rows_told[0]}" in both and f"after, {rows_told[1]}" in both
    assert both.count(raw.rule) == 2


def test_a_long_rule_is_not_cut_at_the_edge() -> None:
    """A seed may have nineteen digits."""
    drawn = reliability_svg(reliability_diagram([0.5], [1], seed=2**62, draws=10_000))
    root = ElementTree.fromstring(drawn)
    note = next(part for part in root.iter(f"{SVG}text") if "seed" in (part.text or ""))

    wide = 0.55 * float(note.get("font-size") or 0) * len(note.text or "")
    assert wide <= float(root.get("width") or 0)


def test_the_shaded_area_holds_the_curve_of_risk() -> None:
    """From Wilson's lower ends to the upper ones and back, at every share kept."""
    curve = risk_coverage([0.9, 0.8, 0.7, 0.6], [0, 1, 0, 1])
    root = ElementTree.fromstring(risk_coverage_svg(curve))
    heights = {
        part.get("class"): [float(xy.split(",")[1]) for xy in (part.get("points") or "").split()]
        for part in root.iter()
        if part.get("points")
    }

    line, area = heights["line"], heights["area"]
    low, high = area[: len(line)], area[: len(line) - 1 : -1]
    # In a picture, up is less.
    assert all(top <= y <= bottom for bottom, y, top in zip(low, line, high, strict=True))
    assert "95 % for each point alone" in "".join(root.itertext())


def test_words_are_escaped() -> None:
    """A question's text is not markup."""
    drawn = before_after_svg(diagram(), diagram(), title="<script>&'\"")

    assert "<script>" not in drawn
    assert ElementTree.fromstring(drawn).findtext(f"{SVG}title") == "<script>&'\""


def test_two_pictures_in_a_page_share_no_identifier() -> None:
    """A screen reader would read the first title for both."""
    pictures = [reliability_svg(diagram(sharpen=sharp)) for sharp in (1.0, 2.0)]

    first, second = (set(re.findall(r' id="([^"]+)"', picture)) for picture in pictures)

    assert len(first) == 2 and not first & second


def test_both_colour_schemes_style_the_same_classes() -> None:
    """A class without a dark colour would vanish on dark paper."""
    style = ElementTree.fromstring(reliability_svg(diagram())).findtext(f"{SVG}style") or ""
    light, dark = style.split("@media (prefers-color-scheme: dark)")

    names = set(re.findall(r"calibration-picture \.(\w+)", light))
    used = set(re.findall(r'class="(\w+)"', reliability_svg(diagram())))
    assert names == set(re.findall(r"calibration-picture \.(\w+)", dark))
    assert used <= names


def test_importing_metrics_loads_neither_scipy_nor_matplotlib() -> None:
    """They cost a second that a plain log loss does not need."""
    code = (
        "import sys, classify.calibration.summary, classify.calibration.bias_reports, "
        "classify.calibration.figures, classify.calibration.svg; "
        "sys.exit(any(name in sys.modules for name in ('scipy', 'matplotlib', 'pandas')))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
