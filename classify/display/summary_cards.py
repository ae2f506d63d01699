"""The card of a run's summary: all rows, then each question with what was answered."""

from __future__ import annotations

from classify.display.cards import Card, Facts, Part, Row, Share, Table, notes
from classify.display.summary_views import problems, question_facts, run_facts
from classify.run_summary import QuestionSummary, RunSummary
from classify.summary_figures import Mean, Proportion

_SECTIONS = 8
"""Questions shown with their answers; more are shown in a line each."""


def summary_card(summary: RunSummary) -> Card:
    """Return the card of a run."""
    parts: list[Part] = [Facts(tuple(run_facts(summary))), *notes("note", problems(summary))]
    if len(summary.questions) <= _SECTIONS:
        parts += (_section(name, question) for name, question in summary.questions.items())
    else:
        parts.append(_overview(summary))
    lead = f"{summary.failed} of {summary.rows} rows failed" if summary.failed else ""
    return Card("Run", lead, tuple(parts))


def _section(name: str, question: QuestionSummary) -> Card:
    said = tuple(fact for fact in question_facts(question) if fact[0] != "answers")
    answers = (_distribution(question),) if question.answered else ()
    return Card(f"{name} ({question.type})", "", (*answers, Facts(said)))


def _distribution(question: QuestionSummary) -> Table:
    most = max(question.distribution.values())
    rows = (
        Row(
            (option, Share(count / question.answered, f"{count} of {question.answered}")),
            strong=count == most,
            weight=count / question.answered,
        )
        for option, count in question.distribution.items()
    )
    heading = "level" if question.type == "score" else "answer"
    return Table((heading, "rows"), tuple(rows), unit=f"{heading}s", weights_are_shares=True)


def _overview(summary: RunSummary) -> Table:
    headings = ("question", "kind", "answered", "no verdict", "confidence", "accuracy")
    rows = (
        Row(
            (
                name,
                question.type,
                f"{question.answered} of {question.rows}",
                str(sum(question.no_verdicts.values())),
                _mean(question.mean_confidence),
                _share(question.accuracy),
            )
        )
        for name, question in summary.questions.items()
    )
    return Table(headings, tuple(rows), unit="questions")


def _mean(mean: Mean | None) -> str:
    return "none" if mean is None else f"{mean.value:.3g} (n={mean.n})"


def _share(share: Proportion | None) -> str:
    return "none" if share is None else f"{share.value:.3f} ({share.count} of {share.n})"
