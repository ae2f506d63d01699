"""The agreement example, on made-up rows and a scripted model: what it prints is what it saw."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from classify import ProviderError
from classify.adapters.scorers.measures import faithfulness
from classify.decision import DecisionRequest
from classify.json_values import is_object
from classify.testing import ScriptedModel

EXAMPLE = Path(__file__).parents[4] / "examples" / "agreement.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    """Return the script as a module."""
    spec = importlib.util.spec_from_file_location("agreement_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


def answer(request: DecisionRequest) -> dict[str, dict[str, object]]:
    """Believe good claims, fail on broken ones and decline the rest."""
    assert is_object(request.state)
    claim = str(request.state["claim"])
    if claim == "broken":
        raise ProviderError("gone", status=400)
    if claim == "odd":
        return {"supported": {"type": "no_verdict", "cause": "declined", "message": "no"}}
    return {"supported": {"type": "boolean", "probability": 0.9 if claim == "good" else 0.1}}


def claim_of(row: dict[str, Any]) -> dict[str, Any]:
    """Return what the measure is given of a row."""
    return {"output": row["claim"]}


def test_failed_and_unscored_rows_are_counted(example: ModuleType) -> None:
    """Four of six rows have a score; one failed, and one item of five has no verdict."""
    labels = {"good": "consistent", "bad": "inconsistent"}
    words = ["good", "good", "bad", "bad", "odd", "broken"]
    rows: list[dict[str, Any]] = [{"claim": w, "label": labels.get(w, "consistent")} for w in words]
    comparison = example.Comparison(
        "rows.jsonl",
        faithfulness(ScriptedModel(answer), context=["text"]),
        claim_of,
        example.consistent,
        "consistent",
        "AUROC",
    )

    line = asyncio.run(example.compare(comparison, rows))

    assert "| AUROC 1.00 [1.00, 1.00] | 4 of 6 | 4 of 5 | 1 ['ProviderError'] |" in line


def test_one_class_only_has_no_agreement(example: ModuleType) -> None:
    """And the table says so."""
    assert "not defined" in example.described("AUROC", [0.1, 0.2], [1.0, 1.0])
    assert "not defined" in example.described("Spearman", [], [])


def test_rows_are_taken_evenly(example: ModuleType, tmp_path: Path) -> None:
    """The first rows of a file may all be of one kind."""
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps({"n": n}) for n in range(101)), encoding="utf-8")

    assert [row["n"] for row in example.evenly(path, 3)] == [0, 50, 100]
    assert len(example.evenly(path, 1000)) == 101
