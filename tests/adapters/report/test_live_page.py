"""The live page in a real browser, with a file that grows under it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from classify.adapters.report.live_results import LiveResults
from classify.adapters.report.live_server import LiveServer
from tests.adapters.report.live_files import append, line, record


class Run:
    """A results file that a run seems to be writing, and the server that shows it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "out.jsonl"
        self.lock = folder / "out.jsonl.lock"
        record(self.path)
        self.lock.touch()
        append(self.path, 0, 30)
        self.server = LiveServer(LiveResults(self.path))


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Serve a run of which 30 rows are there."""
    begun = Run(tmp_path)
    with begun.server as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield begun
        server.shutdown()
        thread.join()


@pytest.fixture
def watched(browser: Browser, run: Run) -> Iterator[Page]:
    """Open the page; it asks nobody but its server, and no error is told."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on(
        "request", lambda asked: problems.append(asked.url) if _foreign(asked.url, run) else None
    )
    page.goto(run.server.url)
    expect(_rows(page)).to_have_text("30 rows")
    yield page
    page.close()
    assert [] == problems


def _foreign(url: str, run: Run) -> list[str]:
    return [] if url.startswith(run.server.url) or url == "data:," else [url]


def _rows(page: Page) -> Locator:
    return page.locator(".rows-section .status")


def _state(page: Page) -> Locator:
    return page.locator(".live [role=status]")


def test_rows_are_shown_as_they_arrive_until_the_run_has_ended(watched: Page, run: Run) -> None:
    """Half a line is no row; a file that a run has let go is finished."""
    expect(_state(watched)).to_have_text("live")

    append(run.path, 30, 40, torn=True)
    expect(_rows(watched)).to_have_text("40 rows")
    with run.path.open("ab") as file:
        file.write(line(40)[40:])
    run.lock.unlink()

    expect(_rows(watched)).to_have_text("41 rows")
    expect(_state(watched)).to_have_text("finished")
    expect(watched).to_have_title(re.compile("finished: out.jsonl"))


def test_a_run_that_knows_its_rows_tells_how_many_are_left_and_how_long_they_take(
    browser: Browser, run: Run
) -> None:
    """Ten rows in ten seconds: sixty more take about a minute."""
    record(run.path, rows=100)
    page = browser.new_page()
    page.clock.install()
    page.goto(run.server.url)
    told = page.locator(".live .number")
    expect(told).to_have_text(" · 30 of 100 rows")

    append(run.path, 30, 40)
    page.clock.fast_forward(10_000)
    expect(told).to_have_text(re.compile(r"40 of 100 rows · about 1 min \d s left"))
    append(run.path, 40, 100)
    run.lock.unlink()
    page.clock.fast_forward(10_000)

    expect(told).to_have_text(" · 100 rows")
    page.close()


def test_nothing_changes_under_an_open_row_and_all_is_there_when_it_is_closed(
    watched: Page, run: Run
) -> None:
    """The reader is told how many rows are waiting."""
    watched.get_by_role("grid").focus()
    watched.keyboard.press("Enter")
    dialog = watched.get_by_role("dialog")
    expect(dialog).to_contain_text("text of row 0")

    append(run.path, 30, 45)
    expect(_state(watched)).to_have_text("paused while a row is open")
    expect(watched.locator(".live")).to_contain_text("45 rows, 15 of them new")
    expect(_rows(watched)).to_have_text("30 rows")
    watched.keyboard.press("Escape")

    expect(_rows(watched)).to_have_text("45 rows")
    expect(_state(watched)).to_have_text("live")


def test_the_reader_keeps_place_and_search_while_rows_arrive(watched: Page, run: Run) -> None:
    """The row that was active stays so, and what is sought is sought in new rows too."""
    watched.locator("input[type=search]").fill("row 2")
    expect(_rows(watched)).to_have_text("12 of 30 rows")
    watched.get_by_role("grid").focus()
    watched.keyboard.press("End")
    expect(watched.locator(".grid-row.active")).to_contain_text("r29")

    append(run.path, 30, 300)

    expect(_rows(watched)).to_have_text("138 of 300 rows")
    expect(watched.locator(".grid-row.active")).to_contain_text("r29")
    expect(watched.get_by_role("grid")).to_be_focused()


def test_a_file_put_into_order_at_the_end_shows_its_rows_in_that_order(
    watched: Page, run: Run
) -> None:
    """Another file has taken its place."""
    new = run.path.with_name("new")
    new.write_bytes(b"".join(line(row) for row in reversed(range(35))))

    os.replace(new, run.path)
    run.lock.unlink()

    expect(_rows(watched)).to_have_text("35 rows")
    expect(watched.locator(".grid-body .id-cell").first).to_have_text("r34")


def test_the_page_says_when_its_server_has_stopped(run: Run, browser: Browser) -> None:
    """What it has stays to be read."""
    page = browser.new_page()
    page.goto(run.server.url)
    expect(_rows(page)).to_have_text("30 rows")

    run.server.shutdown()
    run.server.server_close()

    expect(_state(page)).to_have_text("the server has stopped")
    expect(_rows(page)).to_have_text("30 rows")
    page.close()
