"""The notebooks are kept without outputs, and their copies in docs are of the same cells.

CI runs the cells themselves, with `python notebooks/run.py`.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMES = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))


def checked(root: Path, name: str) -> tuple[int, str]:
    """Return the exit code of a check that runs nothing, and what it said."""
    done = subprocess.run(
        [sys.executable, str(root / "notebooks" / "run.py"), "--check", name],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Return a folder with the notebooks and their copies, to be changed."""
    for folder in ("notebooks", "docs/notebooks"):
        # What a notebook program keeps beside its files is left out.
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns(".*"))
    return tmp_path


def changed(root: Path, kind: str, field: str, value: object) -> None:
    """Change the first cell of a kind in the first notebook."""
    path = root / "notebooks" / f"{NAMES[0]}.ipynb"
    notebook = json.loads(path.read_text(encoding="utf-8"))
    next(cell for cell in notebook["cells"] if cell["cell_type"] == kind)[field] = value
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_clean_and_its_copy_is_of_its_cells(name: str) -> None:
    """Else readers of docs see another story than the one that was run."""
    assert checked(ROOT, name) == (0, "")


@pytest.mark.parametrize("kind", ["markdown", "code"])
def test_a_copy_of_other_cells_is_refused(copied: Path, kind: str) -> None:
    """Prose and code alike."""
    changed(copied, kind, "source", "print('something else')")

    code, told = checked(copied, NAMES[0])
    assert code == 1
    assert f"docs/notebooks/{NAMES[0]}.md is of other cells" in told.replace("\\", "/")


def test_an_output_that_was_saved_is_refused(copied: Path) -> None:
    """It would change with every run."""
    changed(copied, "code", "outputs", [{"output_type": "stream", "name": "stdout", "text": "x"}])

    code, told = checked(copied, NAMES[0])
    assert code == 1 and "was saved with outputs" in told


def test_a_picture_that_is_gone_is_noticed(copied: Path) -> None:
    """A page with a hole in it."""
    next((copied / "docs" / "notebooks").glob(f"{NAMES[0]}-*.png")).unlink()

    code, told = checked(copied, NAMES[0])
    assert code == 1 and "pictures of" in told


def test_a_name_that_no_notebook_has_is_an_error() -> None:
    """Not a check of nothing that passes."""
    code, told = checked(ROOT, "no-such-notebook")

    assert code == 2 and "no notebook is named like" in told
