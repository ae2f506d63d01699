"""Cards of what many scores come to: evaluations, their parts, and scored traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from classify.adapters.scorers.result_cards import json_text, score_text, scorer_result_card
from classify.display.cards import Card, Note, Part, Passage, Row, Share, Table, facts

if TYPE_CHECKING:
    from classify.adapters.scorers.eval_figures import Figures
    from classify.adapters.scorers.eval_outcomes import ItemResult, Scoring
    from classify.adapters.scorers.eval_report import (
        EvalReport,
        GateResult,
        Judged,
        ThresholdResult,
    )
    from classify.adapters.scorers.score_traces import TraceScore, TraceScores
    from classify.adapters.scorers.scored_results import ScoredResults

_SCORERS = 6
"""Scorers up to which items have a column for each."""


def eval_report_card(report: EvalReport) -> Card:
    """Return the card of an evaluation: the verdict, every scorer, what failed, and the items."""
    about = facts(
        ("items", str(report.total_items)),
        ("trials of each", str(report.trials)),
        ("failed targets", str(report.failed_targets)),
        ("failures in all", str(len(report.failures))),
    )
    turns = (Card(f"Turn {turn}", "", judged_parts(part)) for turn, part in report.turns.items())
    parts: list[Part] = [*about, *judged_parts(report), *turns]
    parts += (*_failures(report.items), *_items(report))
    return Card("Evaluation report", report.verdict or "no gates or thresholds", tuple(parts))


def judged_card(judged: Judged) -> Card:
    """Return the card of some scorers, gates and thresholds."""
    return Card("Judged", "", judged_parts(judged))


def scored_results_card(scored: ScoredResults) -> Card:
    """Return the card of the scores that a results file holds."""
    about = facts(("rows", f"{scored.rows}, {scored.failed} of them without an answer"))
    lead = scored.verdict or "no gates or thresholds"
    return Card("Scored results", lead, (*about, *judged_parts(scored.judged)))


def judged_parts(judged: Judged) -> tuple[Part, ...]:
    """Return a table of the scorers with what is to be known of them, and one of what was held."""
    scorers = tuple(_scorer_row(key, figures) for key, figures in judged.scores.items())
    rows = (*map(_gate_row, judged.gates), *map(_threshold_row, judged.thresholds))
    headings = ("scorer", "mean", "95 %", "n", "not scorable", "failed", "better is")
    found: tuple[Part, ...] = (Table(headings, scorers, unit="scorers"),) if scorers else ()
    found += tuple(Note(key, each.mixed) for key, each in judged.scores.items() if each.mixed)
    required = Table(("required", "of", "wanted", "is", "held"), rows, unit="requirements")
    return (*found, required) if rows else found


def item_result_card(item: ItemResult) -> Card:
    """Return the card of one item: what went in, what came out, and every score."""
    given = (item.item.input, item.item.inputs, item.item.turns)
    said = (each for each in given if each is not None)
    parts: list[Part] = [Passage("input", json_text(each)) for each in said]
    if item.output is not None:
        parts.append(Passage("output", json_text(item.output)))
    parts += _failures((item,))
    scorings = {**item.scores, **item.gates}
    rows = tuple(
        Row((key, _scoring(scoring), scoring.reason or scoring.not_scorable or ""))
        for key, scoring in scorings.items()
    )
    if rows:
        parts.append(Table(("scorer", "score", "reason"), rows, unit="scorers"))
    return Card("Item", f"{item.id}, trial {item.trial}", tuple(parts))


def trace_scores_card(scores: TraceScores) -> Card:
    """Return the card of scored traces; those that failed are counted, never averaged."""
    lead = (
        f"{scores.scored_count} scored, {scores.failed_count} failed, "
        f"{scores.excluded_count} not scorable"
    )
    rows = tuple(map(_trace_row, scores.scores))
    table = Table(("trace", "score", "reason"), rows, unit="traces")
    return Card("Trace scores", lead, (table, *facts(("batch", scores.batch_id))))


def trace_score_card(score: TraceScore) -> Card:
    """Return the card of one trace's score, or of why there is none."""
    if score.result is not None:
        return scorer_result_card(score.result)
    error = score.error
    failed = () if error is None else (Note(type(error).__name__, str(error)),)
    return Card("Trace score", "no score", failed)


def _scorer_row(key: str, figures: Figures) -> Row:
    interval = figures.interval
    mean: Share | str = score_text(figures.mean)
    if figures.mean is not None and 0.0 <= figures.mean <= 1.0:
        mean = Share(figures.mean, f"{figures.mean:.3f}")
    sure = "none" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
    return Row(
        (
            key,
            mean,
            sure,
            f"{figures.n} of {figures.of}",
            str(figures.not_scorable),
            str(figures.failed),
            figures.direction,
        )
    )


def _gate_row(gate: GateResult) -> Row:
    missed = f", {gate.missed} of {gate.figures.n} are not" if gate.missed else ""
    held = "yes" if gate.passed else f"no{missed}"
    cells = (gate.id, "every score", str(gate.limits), _held_by(gate.figures), held)
    return Row(cells, strong=not gate.passed)


def _threshold_row(threshold: ThresholdResult) -> Row:
    held = "yes" if threshold.passed else "no"
    cells = (threshold.id, "the mean", str(threshold.threshold), _held_by(threshold.figures), held)
    return Row(cells, strong=not threshold.passed)


def _held_by(figures: Figures) -> str:
    return ", ".join(filter(None, (str(figures), figures.missing)))


def _failures(items: Sequence[ItemResult]) -> tuple[Table, ...]:
    rows = tuple(
        Row((item.id, failure.where, failure.type, failure.message))
        for item in items
        for failure in item.failures
    )
    headings = ("failed", "where", "error", "message")
    return (Table(headings, rows, unit="failures"),) if rows else ()


def _items(report: EvalReport) -> tuple[Table, ...]:
    keys = list(report.scores)
    if not keys or len(keys) > _SCORERS:
        return ()
    rows = (
        Row(
            (item.id, str(item.trial), *(_scoring(item.scores.get(key)) for key in keys)),
            weight=float(len(item.failures)),
        )
        for item in report.items
    )
    return (Table(("item", "trial", *keys), tuple(rows), unit="items"),)


def _scoring(scoring: Scoring | None) -> str:
    if scoring is None or scoring.failure is not None:
        return "failed"
    return "not scorable" if scoring.not_scorable is not None else score_text(scoring.score)


def _trace_row(score: TraceScore) -> Row:
    target, error, result = score.target, score.error, score.result
    trace_id = target.trace_id or (None if target.trace is None else target.trace.trace_id)
    if error is not None:
        return Row((trace_id or "", "failed", f"{type(error).__name__}: {error}"), weight=1.0)
    reason = "" if result is None else result.reason or ""
    return Row((trace_id or "", score_text(score.score), reason))
