"""A notebook's cells as a page of Markdown with its outputs as text and pictures."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Any: a notebook's JSON, whose outputs differ by kind.
Output = Mapping[str, Any]

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_OUTPUT = re.compile(r"^(`{3,})text\n.*?^\1$\n\n?|^!\[[^\n]*\]\([^\n]*\.png\)$\n\n?", re.S | re.M)


@dataclass(frozen=True)
class Cell:
    """A cell, and what running it gave."""

    kind: str
    source: str
    outputs: Sequence[Output] = ()
    count: int | None = None


@dataclass(frozen=True)
class Page:
    """A page and the pictures it links, by name."""

    text: str
    pictures: Mapping[str, bytes] = field(default_factory=dict[str, bytes])


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a notebook's file."""
    return dump(json.loads(path.read_text(encoding="utf-8")))


def dump(notebook: Mapping[str, Any]) -> list[Cell]:
    """Return the cells of a notebook in the format 4."""
    return [
        Cell(
            cell["cell_type"],
            _joined(cell["source"]),
            cell.get("outputs", ()),
            cell.get("execution_count"),
        )
        for cell in notebook["cells"]
    ]


def rendered(name: str, cells: Iterable[Cell]) -> Page:
    """Return the page; text and pictures of outputs stand below the cell that made them."""
    parts = [f"<!-- Made by `python notebooks/run.py --render` from notebooks/{name}.ipynb. -->"]
    pictures: dict[str, bytes] = {}
    for cell in cells:
        if cell.kind == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in _streams_joined(cell.outputs):
            data = output.get("data", {})
            if "image/png" in data:
                place = f"{name}-{len(pictures) + 1}.png"
                pictures[place] = base64.b64decode(data["image/png"])
                told = output["metadata"].get("image/png", {}).get("alt", "a picture")
                parts.append(f"![{told.replace('[', '(').replace(']', ')')}]({place})")
            else:
                parts.append(_fenced(_joined(output.get("text", data.get("text/plain", "")))))
    return Page("\n\n".join(parts) + "\n", pictures)


def without_outputs(page: str) -> str:
    """Return what of a page its cells hold: text and code, not what running them gave."""
    return _OUTPUT.sub("", page.rstrip("\n") + "\n\n").strip("\n")


def plain(text: str) -> str:
    """Return text without the colours of a terminal."""
    return _ANSI.sub("", text)


def _fenced(text: str) -> str:
    text = plain(text).rstrip()
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _streams_joined(outputs: Iterable[Output]) -> list[Output]:
    """Return outputs with what was printed in one piece; how it arrives is chance."""
    found: list[Output] = []
    for output in outputs:
        if found and output["output_type"] == found[-1]["output_type"] == "stream":
            together = _joined(found[-1]["text"]) + _joined(output["text"])
            found[-1] = {**found[-1], "text": together}
        else:
            found.append(output)
    return found


def _joined(text: str | Sequence[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
