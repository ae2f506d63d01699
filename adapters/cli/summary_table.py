"""The summary of a run, for people."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from classify.display.safe_text import visible
from classify.display.summary_views import problems, question_facts, run_facts
from classify.run_summary import RunSummary

_LABEL_WIDTH = 16


def summary_table(summary: RunSummary, *, seconds: float, asked: int) -> Group:
    """Return the summary: all rows, a block for each question, then what went wrong."""
    facts = run_facts(summary)
    if asked:
        took = f"{seconds:.1f} s for {asked} rows, {asked / seconds:.3g} rows/s"
        facts.insert(1, ("time", took))
    lines = [_line(*fact) for fact in facts]
    for name, question in summary.questions.items():
        lines.append(Text(f"\n{visible(name)} ({question.type})", style="bold"))
        lines += [_line(f"  {label}", value) for label, value in question_facts(question)]
    errors = len(summary.errors)
    for index, problem in enumerate(problems(summary)):
        lines.append(Text(f"\n{visible(problem)}", style="red" if index < errors else ""))
    return Group(*lines)


def _line(label: str, value: str) -> Text:
    # A space at least: a label may be as wide as its column.
    return Text(f"{label:<{_LABEL_WIDTH - 1}} {visible(value)}")
