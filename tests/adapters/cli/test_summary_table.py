"""The summary of a run as people see it."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from classify.adapters.cli.summary_table import summary_table
from classify.answers import AnyAnswer, ChoiceAnswer
from classify.questions import Choice
from classify.results import Result
from classify.run_summary import summarize


@pytest.mark.parametrize("width", [80, 120])
def test_no_label_runs_into_its_value(width: int) -> None:
    """Indented, "methods differ" is as wide as its column."""
    topic = Choice(criteria={"a": None, "b": None})
    answers: list[AnyAnswer] = [
        ChoiceAnswer(choice="a", probabilities={"a": 0.9, "b": 0.1}, method=method)
        for method in ("logprobs", "sampled", "logprobs")
    ]
    rows = [
        Result(id=f"r{n}", index=n, key="0" * 64, answers={"topic": answer})
        for n, answer in enumerate(answers)
    ]
    console = Console(file=StringIO(), width=width)
    console.print(summary_table(summarize(rows, {"topic": topic}), seconds=1.0, asked=3))
    assert isinstance(console.file, StringIO)
    lines = console.file.getvalue().splitlines()
    assert "  methods differ logprobs 2, sampled 1: not comparable" in lines
    assert "  answered      3 of 3" in lines
