"""The site builds without a warning, from the code as it is, and needs no network."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.markdown_pages import ROOT

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("sphinx", "myst_parser", "pydata_sphinx_theme")),
    reason='the generator is not installed: pip install -e ".[docs]"',
)

_LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site once, warnings being errors."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", str(target)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return target


class _Page(HTMLParser):
    """What a page loads, where it links to, and the places it can be linked at."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places.add(values.get("id", ""))
        if tag in _LOADING and values.get("rel") not in ("canonical", "author"):
            self.loads.append(values.get(_LOADING[tag], ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


def _pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def test_pages_load_nothing_from_a_network(site: Path) -> None:
    """No script, style, font or picture of another host."""
    outside = [
        load
        for page in _pages(site).values()
        for load in page.loads
        if urlsplit(load).netloc or load.startswith("//")
    ]
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))

    assert outside == []
    assert re.findall(r"(?:url\(|@import )[\"']?(?:https?:)?//[^)\"']+", styles) == []


def test_links_inside_the_site_lead_to_pages_and_places_that_exist(site: Path) -> None:
    """Sphinx checks what pages write; this checks what came out, the generated parts included."""
    pages = _pages(site)
    broken: set[str] = set()
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == "#":
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            found = pages.get(target)
            place = unquote(parts.fragment)
            if not target.exists() or (found and place and place not in found.places):
                broken.add(f"{path.relative_to(site)}: {link}")

    assert broken == set()


def test_the_reference_of_commands_is_the_programs_own(site: Path) -> None:
    """It is made when the site is built, so it cannot lag behind."""
    text = (site / "reference" / "command-line.html").read_text(encoding="utf-8")

    assert 'id="classify-run"' in text
    assert "--resume" in text


def test_what_stands_under_a_field_is_shown(site: Path) -> None:
    """Attribute docstrings are where this project documents fields."""
    text = (site / "reference" / "python" / "ask.html").read_text(encoding="utf-8")

    assert "probability of answering with any label at all" in text
    assert 'id="classify.Options.min_coverage"' in text


def test_a_class_has_the_methods_of_parents_that_have_no_entry(site: Path) -> None:
    """Who looks up a calibrator wants to know how to apply it."""
    text = (site / "reference" / "python" / "calibration.html").read_text(encoding="utf-8")

    assert 'id="classify.calibration.TemperatureCalibrator.apply"' in text
