"""A real browser for the pages: an installed Chromium, which reaches nothing but files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(NAMES)}")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open a file; at the end there was no console error and nothing else was asked for."""
    context = browser.new_context()
    problems: list[str] = []
    pages: list[Path] = []

    def watch(page: Page) -> None:
        page.on("console", lambda said: _note(problems, said.type, said.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.append(request.url))

    def open_file(path: Path, *, width: int = 1280, dark: bool = False, hash: str = "") -> Page:
        page = context.new_page()
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        pages.append(path)
        watch(page)
        page.goto(path.as_uri() + hash)
        return page

    yield open_file
    context.close()
    own = {path.as_uri() for path in pages} | {"data:,"}
    assert [problem for problem in problems if problem.partition("#")[0] not in own] == []


def _note(problems: list[str], kind: str, text: str) -> None:
    if kind in ("error", "warning"):
        problems.append(text)


@pytest.fixture
def browser_page(browser: Browser) -> Iterator[Page]:
    """Yield a page on which nothing is watched."""
    page = browser.new_page()
    yield page
    page.close()
