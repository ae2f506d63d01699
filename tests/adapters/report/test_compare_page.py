"""The page of two runs in a real browser: what changed, found, filtered and opened."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from classify.adapters.compare.two_runs import compare_runs
from classify.adapters.report.compare_page import compare_page
from classify.adapters.report.page_file import write_page
from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.results import Result, result_line
from tests.hostile_texts import HOSTILE

Opened = Callable[..., Page]
ROWS = 300
"""More than the details of one chunk."""


def _answers(row: int, *, second: bool) -> dict[str, AnyAnswer]:
    """Return answers of which every tenth choice changes; row 3 has no verdict in B."""
    changed = second and row % 10 == 0
    p = 0.9 - 0.4 * row / ROWS
    option, other = ("right", "left") if changed else ("left", "right")
    side: AnyAnswer = ChoiceAnswer(choice=option, probabilities={option: p, other: 1 - p})
    if second and row == 3:
        side = NoVerdict(kind="choice", cause="refusal", message="It would not say.")
    return {"side": side, "urgent": BooleanAnswer(probability=0.25)}


def _write(path: Path, *, second: bool, texts: list[str] | None = None) -> Path:
    states = texts or [f"text of row {row}" for row in range(ROWS)]
    lines = (
        result_line(
            Result(
                id=f"r{row}",
                index=row,
                key=f"k{row}",
                state=state,
                answers=_answers(row, second=second),
                labels={"side": "left"} if row < 50 else {},
            )
        )
        for row, state in enumerate(states)
    )
    path.write_bytes(b"".join(lines))
    return path


def _page(folder: Path, texts: list[str] | None = None) -> Path:
    first = _write(folder / "a.jsonl", second=False, texts=texts)
    second = _write(folder / "b.jsonl", second=True, texts=texts)
    target = folder / "page.html"
    write_page(target, compare_page(compare_runs(first, second), seed=0))
    return target


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the page once."""
    return _page(tmp_path_factory.mktemp("page"))


def _rows(page: Page) -> list[str]:
    """Return the ids of the rows in sight."""
    return page.locator(".grid-body .grid-row .id-cell").all_inner_texts()


def test_changed_rows_come_first_and_those_that_moved_furthest_lead(
    page_file: Path, opened: Opened
) -> None:
    """Row 0 changed from left at 0.9 to right at 0.9, which is a distance of 0.8."""
    page = opened(page_file)

    expect(page.locator(".status")).to_have_text("300 pairs")
    assert ["r0", "r10", "r20"] == _rows(page)[:3]
    expect(page.locator(".grid-body .grid-row").first).to_contain_text("0.800")
    expect(page.locator(".grid-body .grid-row").first).to_contain_text("left ✓ → right ✗")


def test_a_filter_is_kept_in_the_address_and_found_there_again(
    page_file: Path, opened: Opened
) -> None:
    """30 changed, 269 the same, one without a verdict."""
    page = opened(page_file)

    page.get_by_label("Question").select_option("side")
    page.get_by_label("Change").select_option("changed")
    expect(page.locator(".status")).to_have_text("30 of 300 pairs")
    address = page.evaluate("location.hash")
    assert "question=side&change=changed" in address
    again = opened(page_file, hash="#question=side&change=missing")

    expect(again.locator(".status")).to_have_text("1 of 300 pairs")
    assert ["r3"] == _rows(again)


def test_a_number_of_the_table_shows_its_rows(page_file: Path, opened: Opened) -> None:
    """The reader presses what went from left to right."""
    page = opened(page_file)

    page.get_by_role("button", name="A left, B right: 30 rows").click()

    expect(page.locator(".status")).to_have_text("30 of 300 pairs")
    expect(page.get_by_label("Answer of B")).to_have_value("right")


def test_words_are_sought_in_texts_and_ids(page_file: Path, opened: Opened) -> None:
    """All of them must be there."""
    page = opened(page_file)

    page.get_by_label("Search").fill("row 299")

    expect(page.locator(".status")).to_have_text("1 of 300 pairs")


def test_a_row_opens_by_keyboard_with_both_distributions_side_by_side(
    page_file: Path, opened: Opened
) -> None:
    """Enter opens, the arrow goes on, Escape closes and gives the focus back."""
    page = opened(page_file)

    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="r10")).to_be_focused()
    expect(dialog).to_contain_text("text of row 10")
    bars = dialog.locator(".pair-bars").first.locator("tbody tr").first
    expect(bars).to_contain_text("left0.8870.113")
    page.keyboard.press("ArrowRight")
    expect(dialog.get_by_role("heading", name="r20")).to_be_focused()
    page.keyboard.press("Escape")

    expect(dialog).to_be_hidden()
    expect(page.get_by_role("grid")).to_be_focused()


def test_a_side_without_a_verdict_says_why(page_file: Path, opened: Opened) -> None:
    """And shows the other side's bars."""
    page = opened(page_file, hash="#row=3")

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("no verdict (refusal)")
    expect(dialog).to_contain_text("B: It would not say.")
    expect(dialog.locator(".pair-bars").first).to_contain_text("0.896")


def test_a_row_of_a_later_chunk_opens(page_file: Path, opened: Opened) -> None:
    """Its details are decompressed when they are wanted."""
    page = opened(page_file, hash="#row=290")

    expect(page.get_by_role("dialog")).to_contain_text("text of row 290")


def test_hostile_texts_are_shown_as_text(tmp_path: Path, opened: Opened) -> None:
    """None of them runs, and what is invisible is seen."""
    texts = [*HOSTILE.values()]
    page = opened(_page(tmp_path, texts), hash="#row=0")

    expect(page.get_by_role("dialog")).to_contain_text(texts[0])
    assert page.evaluate("window.hostile") is None
    for _ in texts[1:]:
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("dialog")).to_contain_text(f"row {len(texts)} of {len(texts)} listed")
    assert page.evaluate("window.hostile") is None


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_nothing_is_wider_than_a_phone(page_file: Path, opened: Opened, dark: bool) -> None:
    """Tables scroll in themselves."""
    page = opened(page_file, width=400, dark=dark)

    expect(page.locator(".status")).to_have_text("300 pairs")
    assert 400 == page.evaluate("document.documentElement.scrollWidth")
