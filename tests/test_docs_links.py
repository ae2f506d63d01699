"""Links between pages lead somewhere, here and on a code host; links out are few and listed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.markdown_pages import ROOT, anchors, name, pages, text_of, without_blocks

LINKS_OUT: frozenset[str] = frozenset()
"""The addresses that pages may link to; nothing here looks whether they are still there."""

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_INLINE_CODE = re.compile(r"`[^`\n]*`")


def _links(page: Path) -> list[str]:
    return _LINK.findall(_INLINE_CODE.sub("", without_blocks(text_of(page))))


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_between_pages_name_files_and_headings_that_exist(page: Path) -> None:
    """A renamed heading breaks links without a word."""
    broken: list[str] = []
    for link in _links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.is_relative_to(ROOT) or not target.exists():
            broken.append(link)
        elif anchor and anchor not in anchors(text_of(target)):
            broken.append(link)

    assert broken == []


def test_links_out_of_the_project_are_listed() -> None:
    """Each is a promise that somebody else's page stays."""
    found = {link for page in pages() for link in _links(page) if link.startswith("http")}

    assert found <= LINKS_OUT
