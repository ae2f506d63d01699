"""The summary of a run, for people."""

from __future__ import annotations

from rich.console import Group
from rich.text import Text

from classify.display.safe_text import visible
from classify.run_summary import QuestionSummary, RunSummary, UsageSummary
from classify.summary_figures import Mean, Proportion

_LABEL_WIDTH = 16


def summary_table(summary: RunSummary, *, seconds: float, asked: int) -> Group:
    """Return the summary: all rows, a block for each question, then what went wrong."""
    lines = [_line(*fact) for fact in _overall(summary, seconds=seconds, asked=asked)]
    for name, question in summary.questions.items():
        lines.append(Text(f"\n{visible(name)} ({question.type})", style="bold"))
        lines += [_line(f"  {label}", value) for label, value in _lines(question)]
    return Group(*lines, *_problems(summary))


def _line(label: str, value: str) -> Text:
    return Text(f"{label:<{_LABEL_WIDTH}}{value}")


def _overall(summary: RunSummary, *, seconds: float, asked: int) -> list[tuple[str, str]]:
    found = [("rows answered", f"{summary.answered} of {summary.rows}")]
    if asked:
        found.append(("time", f"{seconds:.1f} s for {asked} rows, {asked / seconds:.3g} rows/s"))
    found.append(("tokens", _tokens(summary.usage)))
    if summary.models:
        found.append(("model", ", ".join(visible(name) for name in summary.models)))
    return found


def _tokens(usage: UsageSummary) -> str:
    if usage.input_tokens is None:
        return "unknown"
    cached = f" ({usage.cached_tokens} of them cached)" if usage.cached_tokens else ""
    unknown = f", unknown for {usage.rows_unknown} rows" if usage.rows_unknown else ""
    return f"{usage.input_tokens} in{cached}, {usage.output_tokens or 0} out{unknown}"


def _lines(question: QuestionSummary) -> list[tuple[str, str]]:
    found = [("answered", f"{question.answered} of {question.rows}")]
    if question.no_verdicts:
        found.append(("no verdict", _counts(question.no_verdicts)))
    if question.answered:
        found.append(("answers", _counts(question.distribution)))
    value_of = "mean score" if question.type == "score" else "mean P(true)"
    found += _mean(value_of, question.mean_value)
    found += _mean("confidence", question.mean_confidence)
    found += _mean("label mass", question.mean_label_mass)
    found += _share("order flips", question.flipped)
    if len(question.methods) > 1:
        found.append(("methods differ", f"{_counts(question.methods)}: not comparable"))
    if question.labelled:
        found += _agreement(question)
    return found


def _agreement(question: QuestionSummary) -> list[tuple[str, str]]:
    found = _share("accuracy", question.accuracy)
    found += _mean("mean error", question.mean_absolute_error)
    if question.correlation is not None:
        found.append(("correlation", f"{question.correlation:.3f}"))
    if question.auroc is not None:
        found.append(("AUROC", f"{question.auroc:.3f}"))
    if question.accuracy is None or question.accuracy.n < question.labelled:
        found.append(("labelled", f"{question.labelled} rows; those without an answer not counted"))
    return found


def _problems(summary: RunSummary) -> list[Text]:
    lines: list[Text] = []
    for name, count in summary.errors.items():
        first = visible(summary.first_errors[name])
        lines.append(Text(f"\n{count} rows failed: {name}; the first: {first}", style="red"))
    if summary.label_problems:
        lines.append(Text(f"\n{summary.label_problems} labels could not be read (label_problems)"))
    lines += [Text(f"\n{count} rows: {visible(text)}") for text, count in summary.warnings.items()]
    return lines


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{visible(name)} {count}" for name, count in counts.items())


def _mean(label: str, value: Mean | None) -> list[tuple[str, str]]:
    return [] if value is None else [(label, f"{value.value:.3g} (n={value.n})")]


def _share(label: str, value: Proportion | None) -> list[tuple[str, str]]:
    if value is None:
        return []
    interval = f"95% {value.low:.3f} to {value.high:.3f}"
    return [(label, f"{value.value:.3f} ({interval}), {value.count} of {value.n}")]
