"""The record of a run beside its results."""

from __future__ import annotations

from pathlib import Path

import pytest

from classify.classifier import Classifier
from classify.errors import InvalidInput
from classify.questions import Boolean, Choice, Question
from classify.run_record import RunRecord, read_record, record_path, write_record
from classify.testing import ScriptedModel


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    """With the questions word for word: a calibrator's fingerprint is made of them."""
    questions: dict[str, Question] = {
        "b": Boolean(words={"true": ["yes", "sure"], "false": "no"}),
        "c": _choice(),
    }
    record = RunRecord.of(Classifier("c", ScriptedModel(lambda request: {}), questions, orders=2))

    write_record(tmp_path / "out.jsonl", record)

    assert read_record(tmp_path / "out.jsonl") == record
    assert [each.name for each in tmp_path.iterdir()] == ["out.jsonl.run.json"]


def test_results_without_a_record_have_none(tmp_path: Path) -> None:
    """Results of another tool, or moved without it."""
    assert read_record(tmp_path / "out.jsonl") is None


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    """It is not taken for none."""
    record_path(tmp_path / "out.jsonl").write_text('{"questions": {}', encoding="utf-8")

    with pytest.raises(InvalidInput) as raised:
        read_record(tmp_path / "out.jsonl")

    (line,) = str(raised.value).splitlines()
    assert "out.jsonl.run.json' is no record of a run" in line
    assert line.endswith("without that file, name the spec of the run")
    assert "pydantic" not in line


def _choice() -> Choice:
    return Choice(criteria={"b": None, "a": {"means": ["x", 1]}}, instructions={"ask": "which?"})
