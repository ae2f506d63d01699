"""Cards of scorers and of what they return: the score, why, and what it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.measures.items import ItemAnswer, MeasureEvidence
from classify.answers import NoVerdict
from classify.display.answer_cards import answers_parts
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
)
from classify.display.field_cards import spaced_name
from classify.display.views import tokens_known, verdict
from classify.language_model import Usage

if TYPE_CHECKING:
    from classify.adapters.scorers.judge_records import JudgeRecord
    from classify.adapters.scorers.legacy import LegacyResult
    from classify.adapters.scorers.result import ScorerResult
    from classify.adapters.scorers.scorer import Defined

# Any: scorers take inputs and steps' results of every type.
AnyScorerResult: TypeAlias = "ScorerResult[Any, Any, Any, Any]"


def scorer_card(scorer: Defined) -> Card:
    """Return the card of a scorer: what it measures, and its steps. Its judge may hold a key."""
    bounds = "any number" if scorer.bounds is None else "{:g} to {:g}".format(*scorer.bounds)
    about = facts(
        ("measures", scorer.description or None),
        ("for", scorer.type),
        ("better is", scorer.direction),
        ("scores from", bounds),
    )
    rows = tuple(Row((step.name, step.kind, step.description)) for step in scorer.steps())
    steps = (Table(("step", "by a", "description"), rows, unit="steps"),) if rows else ()
    return Card(spaced_name(type(scorer)), scorer.name, (*about, *steps))


def scorer_result_card(result: AnyScorerResult) -> Card:
    """Return the card of a score with everything that led to it."""
    parts: list[Part] = []
    if result.not_scorable is not None:
        parts.append(Note("not scorable", result.not_scorable.reason or "no reason was given"))
    parts += _score_bar(result)
    parts += _passages(
        ("reason", result.reason), ("input", result.run.input), ("output", result.run.output)
    )
    parts += _passages(("ground truth", result.run.ground_truth))
    parts += _step_result("preprocess", result.preprocess_step_result)
    parts += _step_result("analyze", result.analyze_step_result)
    parts += (_judge(result.judge),) if result.judge else ()
    return Card(result.scorer_id, score_text(result.score), (*parts, Line(f"run {result.run_id}")))


def legacy_result_card(result: LegacyResult) -> Card:
    """Return the card of what a legacy scorer returned."""
    parts = _passages(
        ("reason", result.reason), ("input", result.input), ("output", result.output),
        ("extract", result.extract_step_result), ("analyze", result.analyze_step_result),
    )  # fmt: skip
    return Card("Legacy result", score_text(result.score), (*parts, Line(f"run {result.run_id}")))


def classifier_evidence_card(evidence: ClassifierEvidence) -> Card:
    """Return the card of the answer that a score was made of."""
    rule = f"the score is made by the rule {evidence.projection.rule!r}"
    bounds = evidence.score_bounds
    known = "" if bounds is None else f", and known to lie in {bounds[0]:.3f} to {bounds[1]:.3f}"
    answers = answers_parts(
        {evidence.question: evidence.answer}, {evidence.question: evidence.asked}
    )
    warned = notes("warning", evidence.warnings)
    return Card("Answer", f"by {evidence.classifier_id}", (*answers, Line(rule + known), *warned))


def measure_evidence_card(evidence: MeasureEvidence) -> Card:
    """Return the card of what a measure asked, item by item."""
    lead = f"{score_text(evidence.score)}, {evidence.used} of {evidence.of} items with a verdict"
    about = facts(
        ("formula", evidence.formula), ("counting", evidence.counting), ("note", evidence.note)
    )
    rows = tuple(map(_item_row, evidence.items))
    items = Table(("asked", "about", "answer"), rows, unit="items")
    return Card(evidence.measure, lead, (*about, *((items,) if rows else ())))


def score_text(score: float | None) -> str:
    """Return a score as a person reads it."""
    return "no score" if score is None else f"{score:.3f}"


def json_text(value: object) -> str:
    """Return a text as it is, and anything else as JSON as far as it can be."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1, default=str)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _score_bar(result: AnyScorerResult) -> tuple[Part, ...]:
    if result.score is None:
        return ()
    raw = None if result.raw_score is None else f"{result.raw_score:g}"
    if result.bounds is None:
        return facts(("raw score", raw), ("better is", result.direction))
    bar = Share(result.score, f"{result.score:.3f}")
    row = Row(("score", bar, raw or "", result.direction))
    return (Table(("", "from 0 to 1", "raw", "better is"), (row,), unit="scores"),)


def _passages(*named: tuple[str, object]) -> tuple[Passage, ...]:
    return tuple(Passage(name, json_text(value)) for name, value in named if value is not None)


def _step_result(step: str, result: object) -> tuple[Part, ...]:
    if isinstance(result, ClassifierEvidence):
        return (classifier_evidence_card(result),)
    if isinstance(result, MeasureEvidence):
        return (measure_evidence_card(result),)
    return _passages((f"{step} found", result))


def _judge(records: Mapping[Any, JudgeRecord]) -> Table:
    rows = tuple(
        Row(
            (
                str(step),
                execution.status,
                f"{execution.provider}: {execution.model}",
                _tokens(execution.usage),
                f"{execution.duration_ms} ms",
            )
        )
        for step, record in records.items()
        for execution in record.executions
    )
    return Table(("judge in", "status", "model", "tokens", "time"), rows, unit="executions")


def _tokens(usage: Usage | None) -> str:
    if usage is None or (usage.input_tokens is None and usage.output_tokens is None):
        return "unknown"
    return f"{tokens_known(usage.input_tokens, 'in')}, {tokens_known(usage.output_tokens)}"


def _item_row(item: ItemAnswer) -> Row:
    # Where not all is shown, what has no verdict is.
    unsure = float(isinstance(item.answer, NoVerdict))
    return Row((item.question, item.text, verdict(item.answer)), weight=unsure)
