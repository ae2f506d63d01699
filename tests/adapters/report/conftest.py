"""Results for the pages, and a real browser: an installed Chromium, kept to its files."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from typer.testing import CliRunner

from classify.adapters.cli.main import app
from classify.classifier import Classifier
from classify.questions import Question
from classify.results import Result, result_line
from classify.run_record import RunRecord, write_record
from classify.testing import ScriptedModel
from tests.adapters.report.sample_results import QUESTIONS, sample

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Start a browser for one file of tests: while it is there, no other event loop can run."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"no browser on this machine: none of {', '.join(NAMES)}")
    # A busy machine is no fault.
    expect.set_options(timeout=30_000)
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


class Results:
    """A results file as a run leaves it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "results.jsonl"
        self.page = folder / "results.html"

    def write(
        self, results: Sequence[Result], questions: Mapping[str, Question] | None = None
    ) -> Path:
        """Write results, with the record of the run that asked these questions."""
        self.path.write_bytes(b"".join(map(result_line, results)))
        asked = QUESTIONS if questions is None else questions
        classifier = Classifier("tickets", ScriptedModel(lambda request: {}), asked)
        write_record(self.path, RunRecord.of(classifier))
        return self.path

    def make(self, *arguments: str) -> Path:
        """Make the page with the command, and return its path."""
        ran = CliRunner().invoke(app, ["report", str(self.path), *arguments])
        assert ran.exit_code == 0, ran.output
        return self.page


@pytest.fixture(scope="session")
def sample_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the page of the sample once: tests only read it."""
    results = Results(tmp_path_factory.mktemp("sample"))
    results.write(sample())
    return results.make()


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return Results(tmp_path)
