"""Text from anywhere, made safe: nothing in it is unseen or moves what is seen."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.display.safe_text import isolated, isolated_lines, visible
from tests.hostile_texts import HOSTILE, SURROGATES

TEXTS = {**HOSTILE, **SURROGATES}


@given(st.text(alphabet=st.characters()))
def test_no_text_can_steer_a_terminal(text: str) -> None:
    """Control and bidi characters become escapes; the rest stays."""
    shown = visible(text)

    kinds = {unicodedata.category(c) for c in shown if c not in "\u200c\u200d"}
    assert not kinds & {"Cc", "Cf", "Cs", "Zl", "Zp"}


@pytest.mark.parametrize("name", TEXTS)
def test_every_hostile_text_can_be_written_and_read_back_as_seen(name: str) -> None:
    """Half a surrogate pair could not be written, and a control character would not be seen."""
    shown = visible(TEXTS[name])

    assert shown == shown.encode().decode()
    assert all(c.isprintable() or c in "\u200c\u200d" or c.isspace() for c in shown if c < "\ue000")
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("[bold]x[/bold]", "[bold]x[/bold]", id="markup"),
        pytest.param("\x1b[31mred", "\\x1b[31mred", id="escape"),
        pytest.param("a\u202eb", "a\\u202eb", id="bidi override"),
        pytest.param("a\nb", "a\\nb", id="line break"),
        pytest.param("👩\u200d🚀 é 日本", "👩\u200d🚀 é 日本", id="joined emoji"),
        pytest.param("م\u200cن", "م\u200cن", id="joiner of a script"),
        pytest.param("pay\u200dpal\u200c", "pay\\u200dpal\\u200c", id="joiner that only hides"),
        pytest.param("a\u3164b", "a\\u3164b", id="blank letter"),
        pytest.param("a\U000e0100", "a\\U000e0100", id="selector that carries data"),
    ],
)
def test_what_moves_or_hides_is_made_visible(text: str, expected: str) -> None:
    """And what does not is left alone."""
    assert expected == visible(text)


def test_what_is_kept_stays() -> None:
    """Lines of prose stay lines."""
    assert "a\nb\\t" == visible("a\nb\t", keep="\n")


def test_only_right_to_left_text_is_isolated() -> None:
    """It would turn around the bar beside it."""
    hebrew = "\u05e9\u05dc\u05d5\u05dd"

    assert f"\u2068{hebrew}\u2069" == isolated(hebrew)
    assert "日本" == isolated("日本")


def test_an_isolation_ends_with_each_line_and_begins_again() -> None:
    """A line is a paragraph to what shows it: there an open isolation would be forgotten."""
    assert ["a \u2068b\u2069", "\u2068c\u2069 d", "e"] == isolated_lines(
        ["a \u2068b", "c\u2069 d", "e"]
    )
