"""The how-to page on gates does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from classify.adapters.scorers.score_spec import load_score_spec

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "gates-in-ci.md"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_python_of_the_page_runs_and_prints_what_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Readers copy it."""
    names: dict[str, Any] = {}
    for block in _blocks("python"):
        exec(compile(block, str(PAGE), "exec"), names)
    printed = capsys.readouterr().out.strip()
    assert printed
    assert f"`{printed}`" in PAGE.read_text("utf-8")


def test_the_score_spec_of_the_page_is_one(tmp_path: Path) -> None:
    """A field that was renamed since would be refused."""
    path = tmp_path / "quality.yaml"
    path.write_text(_blocks("yaml")[0], "utf-8")
    spec = load_score_spec(path)
    scorers, gates = spec.plan()
    assert list(scorers) == ["correctness", "private"]
    assert list(gates) == ["private"]
