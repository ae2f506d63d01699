"""Pages that are followed from top to bottom run so, commands and all, with the embedded model."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.markdown_pages import ROOT, name, text_of

PAGES = [ROOT / "docs" / "tutorial.md", ROOT / "docs" / "how-to" / "read-answers.md"]
_NOT_RUN = "<!-- not run by the tests -->\n"
_STEP = re.compile(r"^```(sh|python|yaml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.model
@pytest.mark.parametrize("page", PAGES, ids=name)
@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")
@pytest.mark.skipif(find_spec("xllamacpp") is None, reason="the embedded engine is not installed")
def test_every_command_and_block_runs_one_after_the_other(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever follows the page does just this."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    bin_folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{bin_folder}{os.pathsep}{os.environ['PATH']}")
    names: dict[str, object] = {"__name__": "page"}

    for kind, block in _steps(text_of(page)):
        if kind == "yaml":
            Path(block.partition("\n")[0].removeprefix("# ")).write_text(block, encoding="utf-8")
        elif kind == "sh":
            subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=True)
        else:
            exec(compile(block, page.name, "exec"), names)


def _steps(text: str) -> list[tuple[str, str]]:
    return [
        (step[1], step[2])
        for step in _STEP.finditer(text)
        if not text[: step.start()].endswith(_NOT_RUN)
    ]
