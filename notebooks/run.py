"""Run the notebooks from top to bottom: `python notebooks/run.py [NAME …]`, as CI does.

Each runs in a kernel of its own, and an exception or anything on standard error fails. Then the
copy in docs/notebooks is held against the cells. `--render` writes the copies and their pictures
anew; `--check` runs nothing.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_client.manager import AsyncKernelManager

from rendering import Cell, Page, dump, plain, read_cells, rendered, without_outputs

NOTEBOOKS = Path(__file__).parent
ROOT = NOTEBOOKS.parent
COPIES = ROOT / "docs" / "notebooks"
CELL_SECONDS = 600


def main() -> int:
    """Return 0 where every notebook ran and every copy is of its cells."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="part of a notebook's name")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--render", action="store_true", help="write docs/notebooks anew")
    mode.add_argument("--check", action="store_true", help="run nothing, only hold the copies")
    given = parser.parse_args()
    found = chosen(given.names)
    if not found:
        parser.error(f"no notebook is named like {given.names}")
    good = True
    for path in found:
        problems = not_clean(path)
        if not given.check:
            page, failures = executed(path)
            problems += failures
            if given.render and not failures:
                write(path, page)
        problems += stale(path)
        for problem in problems:
            print(f"error: {problem}", file=sys.stderr, flush=True)
        good = good and not problems
    return 0 if good else 1


def chosen(names: Sequence[str]) -> list[Path]:
    """Return the notebooks whose name holds one of the texts, all where there is none."""
    paths = sorted(NOTEBOOKS.glob("*.ipynb"))
    return [p for p in paths if not names or any(name in p.stem for name in names)]


def not_clean(path: Path) -> list[str]:
    """Return what a notebook was saved with that changes with every run."""
    kept = [n for n, cell in enumerate(read_cells(path), start=1) if cell.outputs or cell.count]
    return [f"{path.name}: cell {n} was saved with outputs: clear them" for n in kept]


def executed(path: Path) -> tuple[Page, list[str]]:
    """Run a notebook; return its page as rendered, and what went wrong."""
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = nbformat.read(path, as_version=4)
    started = time.monotonic()
    failures: list[str] = []
    with tempfile.TemporaryDirectory(prefix="classify-notebook-") as folder:
        client = NotebookClient(
            notebook,
            timeout=CELL_SECONDS,
            resources={"metadata": {"path": str(NOTEBOOKS)}},
            km=kernel_manager(folder),
        )
        try:
            # The kernel would write its history into the home folder, and outlive its notebook.
            client.execute(cleanup_kc=True, env={**os.environ, "IPYTHONDIR": folder})
        except CellExecutionError as error:
            failures.append(f"{path.name}: {plain(str(error))}")
    print(f"{path.name}: {time.monotonic() - started:.1f} s", flush=True)
    cells = dump(notebook)
    failures += [
        f"{path.name}: cell {number} wrote to standard error: {output['text']!r}"
        for number, cell in enumerate(cells, start=1)
        for output in cell.outputs
        if output.get("name") == "stderr"
    ]
    return rendered(path.stem, cells), failures


def kernel_manager(folder: str) -> AsyncKernelManager:
    """Return what starts a kernel that listens on no port, where there is another way."""
    from jupyter_client.manager import AsyncKernelManager

    if os.name == "nt":
        return AsyncKernelManager(kernel_name="python3")
    # What stands for an address over ipc is a path, and the kernel has a folder of its own.
    place = str(Path(folder) / "kernel")
    return AsyncKernelManager(kernel_name="python3", transport="ipc", ip=place)


def write(path: Path, page: Page) -> None:
    """Put a notebook's page and pictures in the place of the old ones."""
    COPIES.mkdir(parents=True, exist_ok=True)
    for old in COPIES.glob(f"{path.stem}-*.png"):
        old.unlink()
    (COPIES / f"{path.stem}.md").write_text(page.text, encoding="utf-8", newline="\n")
    for name, picture in page.pictures.items():
        (COPIES / name).write_bytes(picture)


def stale(path: Path) -> list[str]:
    """Return where the copy in docs is not one of these cells; outputs are not compared."""
    copy = COPIES / f"{path.stem}.md"
    again = f"run `python notebooks/run.py --render {path.stem}`"
    if not copy.exists():
        return [f"{copy.relative_to(ROOT)} is missing: {again}"]
    text = copy.read_text(encoding="utf-8")
    bare = [Cell(cell.kind, cell.source) for cell in read_cells(path)]
    if without_outputs(text) != without_outputs(rendered(path.stem, bare).text):
        return [f"{copy.relative_to(ROOT)} is of other cells: {again}"]
    shown = {picture.name for picture in COPIES.glob(f"{path.stem}-*.png") if picture.name in text}
    kept = {picture.name for picture in COPIES.glob(f"{path.stem}-*.png")}
    linked = text.count(f"]({path.stem}-")
    if shown != kept or linked != len(kept):
        return [f"{copy.relative_to(ROOT)} links {linked} pictures of {len(kept)}: {again}"]
    return []


if __name__ == "__main__":
    sys.exit(main())
