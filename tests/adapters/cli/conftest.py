"""A folder with a spec and rows, and an endpoint on this machine that answers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from typer.testing import CliRunner, Result

from classify.adapters.cli.main import app
from classify.testing import Answer, LoopbackServer, Request, likely

SPEC = """\
id: s
model: vllm/m
questions:
  topic:
    type: choice
    instructions: What is it about?
    criteria: {refund: money back, delivery: ~}
"""
LIKELY_A = Answer(positions=[likely({"A": 0.7, "B": 0.2, "x": 0.1})])


class Desk:
    """The folder, the endpoint, and the command run against them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.answer: Callable[[Request], Answer] = lambda request: LIKELY_A
        self.server = LoopbackServer(lambda request: self.answer(request))
        self.spec, self.rows, self.out = (
            str(folder / name) for name in ("spec.yaml", "rows.jsonl", "out.jsonl")
        )
        self.write("spec.yaml", SPEC)
        self.write_rows(5)

    def write(self, name: str, content: str) -> str:
        """Write a file into the folder, and return its path."""
        path = self.folder / name
        path.write_text(content, encoding="utf-8", newline="")
        return str(path)

    def write_rows(self, count: int) -> None:
        """Write rows whose texts are found again in the requests."""
        lines = (json.dumps({"id": f"r{n}", "text": f"row-{n}."}) for n in range(count))
        self.write("rows.jsonl", "\n".join(lines) + "\n")

    def classify(self, *arguments: str, input: str | None = None) -> Result:
        """Run the command in this process."""
        return CliRunner().invoke(app, list(arguments), input=input)

    def results(self) -> list[dict[str, object]]:
        """Return the lines of the results file."""
        return [json.loads(line) for line in Path(self.out).read_text("utf-8").splitlines()]

    def answers(self, index: int) -> dict[str, dict[str, object]]:
        """Return the answers of a line."""
        return cast("dict[str, dict[str, object]]", self.results()[index]["answers"])

    def row(self, request: Request) -> int | None:
        """Return the number of the row that a request is about, None for a probe."""
        text = json.dumps(request.body)
        return int(text.split("row-")[1].split(".")[0]) if "row-" in text else None

    def asked(self) -> list[int]:
        """Return the numbers of the rows that the endpoint was asked about, in order."""
        rows = (self.row(request) for request in self.server.requests)
        return [row for row in rows if row is not None]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """Lay everything out, with an endpoint that answers "A" with 0.7 and "B" with 0.2."""
    desk = Desk(tmp_path)
    with desk.server:
        monkeypatch.setenv("VLLM_BASE_URL", desk.server.base_url)
        yield desk
