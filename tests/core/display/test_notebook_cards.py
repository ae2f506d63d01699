"""Cards in a notebook: small, well-formed, escaped, readable in light, in dark, without style."""

from __future__ import annotations

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.display.card_sizes import LIMIT
from classify.display.cards import (
    Card,
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
from classify.display.html_cards import card_html
from classify.display.html_style import DARK, LIGHT, ROOT, stylesheet
from classify.display.safe_text import visible
from classify.display.text_cards import card_text
from tests.hostile_texts import HOSTILE, SURROGATES
from tests.notebook_cells import tree_words

TEXTS = {**HOSTILE, **SURROGATES}
TAGS = set("div p b em span style table caption thead tbody tr th td pre".split())
ATTRIBUTES = {"class", "role", "aria-label", "aria-hidden", "dir", "scope", "colspan", "style"}


def page(html: str) -> ElementTree.Element:
    """Return the card's tree; what is not well-formed, or no markup of ours, fails here."""
    # Two code points that XML does not allow, and HTML does.
    root = ElementTree.fromstring(re.sub("[\ufffe\uffff]", "\ufffd", html))
    for element in root.iter():
        assert element.tag in TAGS
        assert set(element.attrib) <= ATTRIBUTES
        assert re.fullmatch(r"(width:[\d.]+%)?", element.get("style", ""))
    return root


def words(root: ElementTree.Element) -> str:
    """Return what a person reads, piece by piece as it stands."""
    return "".join(tree_words(root))


def everywhere(text: str) -> Card:
    """Return a card with the text in every place that a text can have."""
    parts: tuple[Part, ...] = (
        Table((text, "p"), (Row((text, Share(0.25, text, 0.5)), strong=True),), "rows", text),
        Facts(((text, text),)),
        Line(text),
        Note(text, text),
        Passage(text, text),
        Card(text, text),
    )
    return Card(text, text, parts)


def options(n: int, name: str = "option") -> Table:
    """Return a table of options whose probabilities fall."""
    total = n * (n + 1) / 2
    rows = (Row((f"{name} {k}", Share(p, f"{p:.3f}")), weight=p) for k, p in _falling(n, total))
    return Table(("option", "probability"), tuple(rows), "options", weights_are_shares=True)


def _falling(n: int, total: float) -> list[tuple[int, float]]:
    return [(k, (n - k) / total) for k in range(n)]


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_is_shown_as_text_in_every_place(name: str) -> None:
    """As many times as it is there, and no tag or attribute comes of it."""
    text = TEXTS[name][:150]

    root = page(card_html(everywhere(text)))

    seen = words(root)
    shown = re.sub("[\ufffe\uffff]", "\ufffd", visible(text))
    assert seen.count(shown) >= 13
    assert root.get("aria-label") == shown
    assert "script" not in {element.tag for element in root.iter()}


@given(st.text(alphabet=st.characters(exclude_characters="\ufffe\uffff"), max_size=100))
def test_any_text_leaves_the_card_well_formed(text: str) -> None:
    """Whatever a model wrote."""
    page(card_html(everywhere(text)))


def test_dollar_signs_are_not_set_as_mathematics() -> None:
    """Jupyter typesets $…$ in HTML outputs, unless these classes say no."""
    classes = (page(card_html(Card("$x^2$"))).get("class") or "").split()

    assert {"tex2jax_ignore", "mathjax_ignore"} <= set(classes)


@pytest.mark.parametrize("text", ["x" * 1_000_000, "\u202e" * 1_000_000, '"' * 1_000_000])
def test_a_megabyte_of_text_is_cut_with_how_much_is_left_out(text: str) -> None:
    """Each of these characters takes six bytes or more as an escape."""
    card = Card(text, text, (Passage("reason", text), Line(text), options(255, text)))
    html, plain = card_html(card), card_text(card)

    for shown, seen in ((html, words(page(html))), (plain, plain)):
        assert len(shown.encode()) < LIMIT
        found = re.findall(r"… (\d+) more characters", seen)
        assert found and all(900_000 < int(left) < 1_000_000 for left in found)


def test_of_255_options_the_likeliest_are_shown_and_the_others_counted() -> None:
    """With how much probability they have together."""
    table = options(255)

    html = card_html(Card("c", "", (table,)))

    rows = page(html).findall(".//tbody/tr")
    shown = len(rows) - 1
    total = 255 * 256 / 2
    left = sum(p for _, p in _falling(255, total)[shown:])
    assert len(html.encode()) < LIMIT
    told = f"… {255 - shown} more options, {100 * left:.1f} % together"
    assert "".join(rows[-1].itertext()) == told
    assert "".join(rows[0].itertext()).startswith("option 0")


@pytest.mark.parametrize("sections", [9, 200])
def test_many_sections_of_many_long_rows_fit(sections: int) -> None:
    """By showing less of each, and saying so."""
    sea = "海" * 300
    card = Card("c", "", tuple(Card(f"{k}", sea, (options(255, sea),)) for k in range(sections)))

    html, plain = card_html(card), card_text(card)

    for shown, seen in ((html, words(page(html))), (plain, plain)):
        assert 4_000 < len(shown.encode()) < LIMIT
        assert "more options" in seen


def test_the_number_of_a_bar_is_text_beside_it() -> None:
    """Where styles are taken away, and for who does not see, the bar says nothing."""
    table = Table(("option", "probability"), (Row(("a", Share(0.25, "25.0 %", 0.4))),), "options")

    root = page(card_html(Card("c", "", (table,))))

    cell = root.find(".//tbody/tr/td")
    assert cell is not None and "".join(cell.itertext()) == "25.0 %"
    bar, solid, tail = cell.iter("span")
    assert bar.get("aria-hidden") == "true"
    assert solid.get("style") == "width:25.0%"
    assert (tail.get("class"), tail.get("style")) == ("tail", "width:15.0%")


def test_tables_name_their_rows_and_columns() -> None:
    """So that a screen reader can say where it is."""
    root = page(card_html(Card("c", "", (options(2), Facts((("a", "b"),))))))

    assert [each.get("scope") for each in root.findall(".//thead//th")] == ["col", "col"]
    assert {each.get("scope") for each in root.findall(".//tbody//th")} == {"row"}
    assert root.get("role") == "group"


def test_a_picture_gives_way_where_there_is_no_room() -> None:
    """Its words stay."""
    picture = Picture(f"<svg>{'x' * LIMIT}</svg>", "a picture of reliability")

    html = card_html(Card("c", "", (picture,)))

    assert len(html.encode()) < LIMIT
    assert "a picture of reliability" in words(page(html))


def test_text_says_the_same_as_html() -> None:
    """Row by row, and with what is left out."""
    card = Card("title", "lead", (options(100), Facts((("a", "b"),)), Note("why", "because")))

    lines = card_text(card).splitlines()

    assert lines[0] == "title: lead"
    assert lines[2].split() == ["option", "0", "0.020"]
    assert any(re.fullmatch(r" +… 60 more options, .* together", line) for line in lines)
    assert lines[-2:] == ["  a  b", "  why: because"]


@pytest.mark.parametrize("name", TEXTS)
def test_hostile_text_makes_no_lines_of_its_own(name: str) -> None:
    """A forged line would be taken for a result."""
    text = TEXTS[name][:100]
    plain = card_text(Card(text, text, (Facts(((text, text),)), Note(text, text), Line(text))))

    assert len(plain.splitlines()) == 4
    assert plain.encode().decode() == plain


def luminance(colour: str) -> float:
    """Return the relative luminance of #rrggbb (WCAG 2.2)."""
    channels = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize(
    ("name", "least"), [("ink", 7.0), ("soft", 4.5), ("note", 4.5), ("bar", 3.0)]
)
def test_contrast_is_that_of_wcag_aa(colours: dict[str, str], name: str, least: float) -> None:
    """4.5 for text, 3 for what must be seen to be understood."""
    low, high = sorted((luminance(colours[name]), luminance(colours["paper"])))

    assert (high + 0.05) / (low + 0.05) >= least


def test_every_rule_is_about_cards_alone_and_every_colour_is_defined() -> None:
    """A notebook's other outputs keep their looks."""
    style = re.sub(r"@media\([^)]*\)\{(.*?\})\}", r"\1", stylesheet())
    rules = re.findall(r"([^{}]+)\{([^{}]*)\}", style)

    assert all(ROOT in part for selector, _ in rules for part in selector.split(","))
    assert set(re.findall(r"var\(--(\w+)\)", style)) == set(LIGHT) == set(DARK)
    assert "url(" not in style and "@import" not in style


def test_importing_the_package_loads_no_card() -> None:
    """They are loaded when a cell asks."""
    code = (
        "import sys, classify, classify.calibration; "
        "sys.exit(any(name.startswith('classify.display.html') or name == 'classify.display.cards'"
        " for name in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
