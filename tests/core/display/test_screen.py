"""Text laid out: in cells, and in characters that the output has."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from classify.display.screen import Screen


@given(st.text(), st.integers(4, 40))
def test_fitted_text_is_exactly_as_wide_as_asked(text: str, width: int) -> None:
    """Wide characters count for two cells, so that bars begin in one column."""
    screen = Screen()

    assert width == cell_len(screen.fitted(screen.safe(text), width))


@given(st.text(), st.integers(4, 40))
def test_folded_text_fits_and_loses_nothing(text: str, width: int) -> None:
    """Only the spaces and isolations at which lines end and begin are others."""
    screen = Screen()
    safe = screen.safe(text)

    lines = screen.folded(safe, width)

    assert all(cell_len(line) <= width for line in lines)
    assert _bare("".join(lines)) == _bare(safe)


def _bare(text: str) -> str:
    return text.replace(" ", "").replace("\u2068", "").replace("\u2069", "")


def test_a_word_that_no_line_can_hold_begins_beside_the_others() -> None:
    """The number of a level does not stand alone above a sentence without spaces."""
    assert ["1 不満で", "あるが二", "度来る"] == Screen().folded("1 不満であるが二度来る", 8)
    assert ["one two", "threefou", "r"] == Screen().folded("one two threefour", 8)


@given(st.text(min_size=60), st.integers(4, 40))
def test_text_of_too_many_lines_ends_with_an_ellipsis(text: str, width: int) -> None:
    """So that nobody takes it for the whole."""
    screen = Screen()
    safe = screen.safe(text)

    lines = screen.folded(safe, width, most=1)

    assert 1 == len(lines)
    assert lines == screen.folded(safe, width) or "…" in lines[0]


def test_what_the_output_lacks_is_an_escape_before_it_is_laid_out() -> None:
    """Replaced later, it would be wider than its column."""
    screen = Screen(encoding="ascii")

    text = screen.fitted(screen.safe("日本語"), 20)

    assert "\\u65e5\\u672c\\u..." == text.rstrip()[:15] or text.isascii()
    assert 20 == len(text)


@pytest.mark.parametrize("encoding", ["ascii", "cp1255", "latin-1", "utf-8", "utf-16"])
@given(text=st.text())
def test_safe_text_can_be_written(encoding: str, text: str) -> None:
    """In whatever encoding."""
    screen = Screen(encoding=encoding)

    assert screen.can_show(screen.fitted(screen.safe(text), 12))


def test_standard_output_that_is_no_terminal_has_80_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And a stream in memory takes any character."""
    monkeypatch.setattr(sys, "stdout", io.StringIO())

    assert Screen(80, "utf-8") == Screen.standard_output()


def test_printing_without_any_standard_output_is_no_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Programs without a console on Windows have none."""
    monkeypatch.setattr(sys, "stdout", None)

    assert Screen(80, "utf-8") == Screen.standard_output()
