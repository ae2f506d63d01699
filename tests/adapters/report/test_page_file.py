"""A page is in its file whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from classify.adapters.report.page_file import write_page
from classify.errors import InvalidInput


def test_a_name_that_is_no_text_is_shown_with_question_marks(tmp_path: Path) -> None:
    """As the results are named that a page is of."""
    page = tmp_path / "page.html"

    size = write_page(page, ["caf\u00e9 ", "r\udcff.jsonl"])

    assert page.read_bytes() == "caf\u00e9 r?.jsonl".encode()
    assert size == len(page.read_bytes())


def test_parts_that_break_leave_the_page_before_and_nothing_else(tmp_path: Path) -> None:
    """They are made while the page is written, of results that may be damaged."""
    page = tmp_path / "page.html"
    write_page(page, ["before"])

    def parts() -> Iterator[str]:
        yield "now"
        raise InvalidInput("damaged")

    with pytest.raises(InvalidInput, match="damaged"):
        write_page(page, parts())

    assert page.read_text("utf-8") == "before"
    assert [*tmp_path.iterdir()] == [page]
