"""What there is to see of a run's summary, whatever it is shown on; texts are as they came."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from classify.display.views import tokens_known
from classify.run_summary import QuestionSummary, RunSummary, UsageSummary
from classify.summary_figures import Mean, Proportion

Fact: TypeAlias = tuple[str, str]
"""What it is, and its value as a person reads it."""


def run_facts(summary: RunSummary) -> list[Fact]:
    """Return what there is to say of all rows together, besides what went wrong."""
    found = [("rows answered", f"{summary.answered} of {summary.rows}")]
    found.append(("tokens", _tokens(summary.usage)))
    if summary.models:
        found.append(("model", ", ".join(summary.models)))
    return found


def question_facts(question: QuestionSummary) -> list[Fact]:
    """Return what there is to say of one question, every mean beside its number of rows."""
    found = [("answered", f"{question.answered} of {question.rows}")]
    if question.no_verdicts:
        found.append(("no verdict", counts(question.no_verdicts)))
    if question.answered:
        found.append(("answers", counts(question.distribution)))
    value_of = "mean score" if question.type == "score" else "mean P(true)"
    found += _mean(value_of, question.mean_value)
    found += _mean("confidence", question.mean_confidence)
    found += _mean("label mass", question.mean_label_mass)
    found += _share("order flips", question.flipped)
    if len(question.methods) > 1:
        found.append(("methods differ", f"{counts(question.methods)}: not comparable"))
    if question.labelled:
        found += _agreement(question)
    return found


def problems(summary: RunSummary) -> list[str]:
    """Return what went wrong, and what the models warned of."""
    found = [
        f"{count} row{'s' * (count > 1)} failed: {name}; the first: {summary.first_errors[name]}"
        for name, count in summary.errors.items()
    ]
    if summary.label_problems:
        found.append(f"{summary.label_problems} labels could not be read (label_problems)")
    return found + [f"{count} rows: {text}" for text, count in summary.warnings.items()]


def counts(of: Mapping[str, int]) -> str:
    """Return names with their counts."""
    return ", ".join(f"{name} {count}" for name, count in of.items())


def _tokens(usage: UsageSummary) -> str:
    if usage.input_tokens is None and usage.output_tokens is None:
        return "unknown"
    cached = f" ({usage.cached_tokens} of them cached)" if usage.cached_tokens else ""
    told = f"{tokens_known(usage.input_tokens, 'in')}{cached}, {tokens_known(usage.output_tokens)}"
    if not usage.rows_unknown:
        return told
    return f"at least {told}: {usage.rows_unknown} rows did not tell both"


def _agreement(question: QuestionSummary) -> list[Fact]:
    found = _share("accuracy", question.accuracy)
    found += _mean("MAE", question.mean_absolute_error)
    if question.correlation is not None:
        found.append(("correlation", f"{question.correlation:z.3f}"))
    if question.auroc is not None:
        found.append(("AUROC", f"{question.auroc:.3f}"))
    if question.accuracy is None or question.accuracy.n < question.labelled:
        found.append(("labelled", f"{question.labelled} rows; those without an answer not counted"))
    return found


def _mean(label: str, value: Mean | None) -> list[Fact]:
    return [] if value is None else [(label, f"{value.value:.3g} (n={value.n})")]


def _share(label: str, value: Proportion | None) -> list[Fact]:
    if value is None:
        return []
    interval = f"95% {value.low:.3f} to {value.high:.3f}"
    return [(label, f"{value.value:.3f} ({interval}), {value.count} of {value.n}")]
