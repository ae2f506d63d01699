"""Cards of answers: one alone, those of an evaluation, those of a row's result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from classify.answers import Answer, NoVerdict
from classify.display.cards import (
    Card,
    Line,
    Note,
    Part,
    Passage,
    Row,
    Share,
    Table,
    facts,
    notes,
    percent,
)
from classify.display.views import (
    AnswerView,
    Bar,
    answer_view,
    answer_views,
    label_text,
    tokens_text,
)
from classify.questions import Question

if TYPE_CHECKING:
    from classify.evaluation import Evaluation
    from classify.question_sets import QuestionSet
    from classify.results import Result

_SECTIONS = 8
"""Answers shown with all their options; more are shown in a line each."""


def answer_card(answer: Answer | NoVerdict, question: Question | None = None) -> Card:
    """Return the card of an answer that stands alone, without its question's id."""
    view = answer_view("", answer, question)
    return Card(view.kind, view.verdict, _view_parts(view))


def answers_parts(
    answers: Mapping[str, Answer | NoVerdict], questions: Mapping[str, Question] | None = None
) -> tuple[Part, ...]:
    """Return a section for each answer, or a table where they are many."""
    views = answer_views(answers, questions)
    if len(views) > _SECTIONS:
        return (_overview(views), Line("look at one of the answers to see its options"))
    return tuple(
        Card(f"{view.question} ({view.kind})", view.verdict, _view_parts(view)) for view in views
    )


def question_set_card(answers: QuestionSet) -> Card:
    """Return the card of a question set that was answered."""
    asked = answers.questions()
    return Card(type(answers).__name__, "", answers_parts(answers.answers, asked))


def evaluation_card(evaluation: Evaluation) -> Card:
    """Return the card of one state's answers and what they took."""
    took = (
        evaluation.response.model_id or "unknown model",
        tokens_text(evaluation.usage),
        f"{evaluation.attempts} requests",
        f"{evaluation.seconds:.2f} s",
    )
    return Card(
        "Evaluation",
        evaluation.classifier_id,
        (
            Line("; ".join(took)),
            *notes("warning", evaluation.warnings),
            *answers_parts(evaluation.answers, evaluation.questions),
        ),
    )


def result_card(result: Result) -> Card:
    """Return the card of a row: what was judged, its answers or its error, and its labels."""
    error, labels = result.error, result.labels
    state = result.state
    judged = state if isinstance(state, str) else json.dumps(state, ensure_ascii=False, indent=1)
    head: list[Part] = [Passage("state", judged)] if result.has_state else []
    if error is not None:
        status = "" if error.status is None else f", status {error.status}"
        head.append(Note(f"{error.type}{status}", error.message))
    head += facts(*((f"label of {name}", label_text(label)) for name, label in labels.items()))
    head += (Note(f"label of {name}", text) for name, text in result.label_problems.items())
    took = [] if result.seconds is None else [f"{result.seconds:.2f} s"]
    if result.usage is not None:
        took = [tokens_text(result.usage), f"{result.attempts} requests", *took]
    if result.response is not None and result.response.model_id:
        took = [result.response.model_id, *took]
    head += [Line("; ".join(took))] if took else []
    head += notes("warning", result.warnings)
    return Card("Result", result.id, (*head, *answers_parts(result.answers)))


def _view_parts(view: AnswerView) -> tuple[Part, ...]:
    message = () if view.message is None else (Note("why", view.message),)
    bars = (_bars(view.bars),) if view.bars else ()
    flags = (Note(flag.name, flag.told) for flag in view.flags)
    reason = () if view.reason is None else (Passage("reason", view.reason),)
    return (*message, *bars, *flags, Line("; ".join(view.facts)), *reason)


def _bars(bars: Sequence[Bar]) -> Table:
    bounded = any(not bar.exact for bar in bars)
    changed = any(bar.raw is not None for bar in bars)
    known = ("known to lie in",) if bounded else ()
    before = ("raw",) if changed else ()
    return Table(
        ("option", "probability", *known, *before),
        tuple(_bar_row(bar, bounded=bounded, changed=changed) for bar in bars),
        unit="options",
        weights_are_shares=True,
    )


def _bar_row(bar: Bar, *, bounded: bool, changed: bool) -> Row:
    interval = "exact" if bar.exact else f"{100 * bar.low:.1f} to {100 * bar.high:.1f} %"
    raw = "unknown" if bar.raw is None else percent(bar.raw)
    high = None if bar.exact else bar.high
    return Row(
        (
            bar.name,
            Share(bar.probability, percent(bar.probability), high),
            *((interval,) if bounded else ()),
            *((raw,) if changed else ()),
        ),
        strong=bar.best,
        weight=bar.probability,
    )


def _overview(views: Sequence[AnswerView]) -> Table:
    rows = (
        Row(
            (
                view.question,
                view.verdict,
                _confidence(view.bars),
                ", ".join(flag.name for flag in view.flags),
            )
        )
        for view in views
    )
    headings = ("question", "answer", "its probability", "flags")
    return Table(headings, tuple(rows), unit="questions")


def _confidence(bars: Sequence[Bar]) -> Share | str:
    if not bars:
        return "none"
    best = max(bars, key=lambda bar: bar.probability)
    return Share(best.probability, percent(best.probability), None if best.exact else best.high)
