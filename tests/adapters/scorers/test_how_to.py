"""The pages on scorers run as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs" / "how-to"


@pytest.mark.parametrize(
    "page", ["multi-step-scorer", "rubric-scorer", "score-agent-traces"], ids=str
)
def test_the_blocks_of_a_page_run_one_after_the_other(page: str) -> None:
    """People copy them; what they assert is true."""
    text = (PAGES / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)

    names: dict[str, object] = {"__name__": "page"}
    for block in blocks:
        exec(compile(block, f"{page}.md", "exec"), names)

    assert len(blocks) >= 2
