"""The study of what labels buy says no more than its cells do."""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_a_cell_that_differs_by_rounding_is_not_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where every draw kept the raw answers, 0.1 + 0.2 and 0.3 are one measure."""
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
    # Any: the scripts of benchmarks are no package, so their types are not known here.
    study: Any = import_module("calibration_study")
    trials: Any = import_module("calibration_trials")
    sets: Any = import_module("calibration_sets")

    raw = trials.Measured(0.3, 0.3, 0.3, 0.1, 0.5, None, None)
    same = replace(raw, loss=0.1 + 0.2, classwise=0.1 + 0.2)
    worse = [replace(same, error=0.31), replace(same, error=0.33)]
    answers = sets.Answers(sets.CONFIRMED_ON[1], None, None, None)
    kept = trials.Cell(answers, 20, (trials.Trial("identity", raw, same),) * 2)
    harmed = trials.Cell(answers, 50, tuple(trials.Trial("platt", raw, each) for each in worse))

    loss, options, confidence = study.verdict([kept, harmed])

    none = (
        "by more than its standard error in 0 of 2 cells, by more than twice that in 0, "
        "and on average, but within it, in 0."
    )
    assert loss.endswith(none) and options.endswith(none)
    found = f"in 1 of 2 cells ({answers.of.task.name} with 50 labels +0.0200), by more than twice "
    assert f"{found}that in 0, " in confidence
    assert confidence.endswith("within it, in 0.")
