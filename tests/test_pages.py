"""README and the pages of docs run as they are written; copies of notebooks run as notebooks."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Runs between its commands, in test_docs_whole_pages.py.
TUTORIAL = ROOT / "docs" / "tutorial.md"
PYTHON = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def _pages() -> list[object]:
    docs = ROOT / "docs"
    own = [page for page in sorted(docs.rglob("*.md")) if page.parent != docs / "notebooks"]
    pages = [ROOT / "README.md", *own]
    return [
        pytest.param(
            page,
            id=page.relative_to(ROOT).as_posix(),
            marks=[pytest.mark.model] if '"local"' in page.read_text(encoding="utf-8") else [],
        )
        for page in pages
        if page != TUTORIAL and PYTHON.search(page.read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("page", _pages())
def test_the_blocks_of_a_page_run_one_after_the_other(
    page: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People copy them; what they assert is true."""
    text = page.read_text(encoding="utf-8")
    if '"local"' in text and find_spec("xllamacpp") is None:
        pytest.skip("the embedded engine, xllamacpp, is not installed")
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": "page"}

    for block in PYTHON.findall(text):
        exec(compile(block, page.name, "exec"), names)
