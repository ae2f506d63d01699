"""What the tests of README and docs share: the pages, their blocks and their headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(?P<kind>[\w{}-]*)[^\n]*\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


def pages() -> list[Path]:
    """Return README and its kind, and every page of docs."""
    beside = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
    return [*beside, *sorted((ROOT / "examples").rglob("*.md")), *docs_pages()]


def docs_pages() -> list[Path]:
    """Return the pages of the documentation."""
    return sorted((ROOT / "docs").rglob("*.md"))


def name(page: Path) -> str:
    """Return how a page is called in the name of a test."""
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    """Return a page as it is written."""
    return page.read_text(encoding="utf-8")


def blocks(text: str, *kinds: str) -> Iterator[str]:
    """Yield the fenced blocks of these languages."""
    return (block["text"] for block in _BLOCK.finditer(text) if block["kind"] in kinds)


def without_blocks(text: str) -> str:
    """Return the text without its fenced blocks."""
    return _BLOCK.sub("", text)


def anchors(text: str) -> set[str]:
    """Return the anchors that a code host gives to the headings."""
    return {_slug(heading) for heading in _HEADING.findall(without_blocks(text))}


def _slug(heading: str) -> str:
    kept = re.sub(r"[^\w\- ]", "", heading.lower())
    return kept.replace(" ", "-")
