"""A comparison as lines of text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len

from classify.adapters.compare.facts import (
    Fact,
    closing,
    cost_facts,
    head_facts,
    labelled_facts,
    pair_lines,
    question_facts,
)
from classify.adapters.compare.two_runs import Run, TwoRuns
from classify.calibration.agreement import Confusion
from classify.calibration.question_comparison import QuestionComparison
from classify.display.screen import Screen

_LABEL = 17
_LONGEST_NAME = 14
_MOVES = 6


def comparison_lines(runs: TwoRuns, screen: Screen, *, seed: int) -> list[str]:
    """Return the summary: what differs, the pairs, each question, and the cost of both."""
    lines = [f"{side}  {screen.safe(f'{run.path}  {run.model}')}" for side, run in _sides(runs)]
    lines += ["", *_facts(head_facts(runs), screen), ""]
    for told in pair_lines(runs):
        lines += screen.folded(screen.safe(told), screen.width)
    for name, found in runs.comparison.questions.items():
        lines += ["", f"{screen.safe(name)} ({found.question.type})"]
        lines += _facts(question_facts(runs, name), screen)
        lines += _moves(found, screen)
        lines += _facts(labelled_facts(runs, name), screen)
    for (side, _), cost in zip(_sides(runs), runs.comparison.costs, strict=True):
        lines += ["", f"cost of {side}", *_facts(cost_facts(cost), screen)]
    return [*lines, "", *screen.folded(closing(seed), screen.width)]


def _sides(runs: TwoRuns) -> tuple[tuple[str, Run], ...]:
    return (("A", runs.first), ("B", runs.second))


def _facts(facts: Iterable[Fact], screen: Screen) -> list[str]:
    lines: list[str] = []
    for label, value in facts:
        first, *rest = screen.folded(screen.safe(value), screen.width - _LABEL - 2)
        name = screen.safe(label)
        # A question's name may be longer than the labels of numbers.
        if len(name) >= _LABEL:
            lines.append(f"  {name}")
            name = ""
        lines.append(f"  {name:<{_LABEL}}{first}".rstrip())
        lines += [f"  {'':<{_LABEL}}{line}" for line in rest]
    return lines


def _moves(found: QuestionComparison, screen: Screen) -> list[str]:
    """Return the table of changes; the commonest changes where it is too wide."""
    if found.table is None or found.changed is None or found.changed.value == 0.0:
        return []
    names = [screen.safe(name) for name in found.question.options]
    table = _table(found.table, names, screen)
    if max(map(cell_len, table)) <= screen.width:
        return ["  answers of A in rows, of B in columns:", *table]
    every = sorted(
        (
            (int(count), f"{names[a]} -> {names[b]}")
            for a, row in enumerate(found.table.counts)
            for b, count in enumerate(row)
            if a != b and count
        ),
        reverse=True,
    )
    facts = [("", f"{count} {told}") for count, told in every[:_MOVES]]
    rest = sum(count for count, _ in every[_MOVES:])
    return _facts(
        [("from A to B", ""), *facts, *([("", f"{rest} others")] if rest else [])], screen
    )


def _table(table: Confusion, names: list[str], screen: Screen) -> list[str]:
    cells = [[f"{count:g}" for count in row] for row in table.counts]
    longest = max(len(text) for text in [*names, *(count for row in cells for count in row)])
    width = min(longest, _LONGEST_NAME)
    fitted = [screen.fitted(name, width) for name in names]
    lines = [f"    {'':<{width}} {' '.join(fitted)}".rstrip()]
    for name, row in zip(fitted, cells, strict=True):
        lines.append(f"    {name} {' '.join(f'{count:<{width}}' for count in row)}".rstrip())
    return lines
