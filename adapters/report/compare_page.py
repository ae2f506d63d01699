"""Make the page of two runs, compared."""

from __future__ import annotations

from collections.abc import Iterator

from classify.adapters.compare.facts import (
    closing,
    cost_facts,
    head_facts,
    headline,
    labelled_facts,
    pair_lines,
    question_facts,
)
from classify.adapters.compare.two_runs import Run, TwoRuns
from classify.adapters.report.compare_rows import paired_rows
from classify.adapters.report.gathered import ROWS_PER_CHUNK
from classify.adapters.report.shell import (
    PAGE,
    STYLES,
    Shell,
    html_page,
    packed_payload,
    plain_payload,
)
from classify.calibration.results_comparison import Cost
from classify.display.views import option_name
from classify.json_values import JSON


def compare_page(runs: TwoRuns, *, seed: int) -> Iterator[str]:
    """Yield the page in parts."""
    title = f"{runs.first.path.name} and {runs.second.path.name}"
    shell = Shell(title, PAGE / "compare.js", (*STYLES, PAGE / "compare.css"))
    rows = paired_rows(runs, runs.comparison.labels)
    first = (
        plain_payload("overview", _overview(runs, seed)),
        packed_payload("columns", rows.columns),
    )
    later = (packed_payload("texts", [*rows.texts]), *rows.details)
    yield from html_page(shell, first, later=later)


def _overview(runs: TwoRuns, seed: int) -> JSON:
    costs = runs.comparison.costs
    return {
        "chunk": ROWS_PER_CHUNK,
        "a": _run(runs.first, costs[0]),
        "b": _run(runs.second, costs[1]),
        "differences": [list(fact) for fact in head_facts(runs)],
        "pairs": runs.comparison.pairing.n,
        "notes": pair_lines(runs)[1:],
        "closing": closing(seed),
        "questions": [_question(runs, name) for name in runs.comparison.questions],
    }


def _run(run: Run, cost: Cost) -> JSON:
    return {
        "name": run.path.name,
        "model": run.model,
        "fingerprint": None if run.record is None else run.record.fingerprint,
        "cost": [list(fact) for fact in cost_facts(cost)],
    }


def _question(runs: TwoRuns, name: str) -> JSON:
    found = runs.comparison.questions[name]
    return {
        "id": name,
        "type": found.question.type,
        "options": [
            {"option": option, "name": option_name(option, found.question)}
            for option in found.question.options
        ],
        "headline": headline(runs, name),
        "facts": [list(fact) for fact in question_facts(runs, name)],
        "labelled": [list(fact) for fact in labelled_facts(runs, name)],
    }
