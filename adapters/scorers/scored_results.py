"""Score the results file of a classifier: its lines get scores, and scorers their figures."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json, to_json

from classify.adapters.scorers.eval_outcomes import Failure, Scoring
from classify.adapters.scorers.eval_report import Judged, Verdict, judged, verdict_of
from classify.adapters.scorers.projection import Projection, projected, projected_bounds
from classify.adapters.scorers.score_spec import ScoreSpec
from classify.answers import NoVerdict
from classify.display.notebook import Shown
from classify.errors import InvalidInput
from classify.line_file import replace_file
from classify.results import Result, read_results, result_line

if TYPE_CHECKING:
    from classify.display.cards import Card


@dataclass(frozen=True, slots=True)
class ScoredResults(Shown):
    """What scores a results file holds."""

    judged: Judged
    verdict: Verdict | None
    rows: int
    failed: int
    """Rows that have no answer."""

    def _card(self) -> Card:
        from classify.adapters.scorers.report_cards import scored_results_card

        return scored_results_card(self)


def score_results(path: str | Path, spec: ScoreSpec, *, max_failures: int = 0) -> ScoredResults:
    """Return what the answers in a results file come to; no model is asked."""
    rules = _rules(spec)
    found: dict[str, list[list[Scoring | None]]] = {name: [] for name in rules}
    rows = failed = 0
    for result in read_results(path):
        rows += 1
        failed += result.error is not None
        for name in rules:
            scoring = _scoring(result, spec, name, rules[name])
            found[name].append([scoring])
    scorers, gates = spec.plan()
    figures = judged(
        {planned: found[name] for name, planned in scorers.items()},
        {gate: found[name] for name, gate in gates.items()},
        max_failures=max_failures,
    )
    return ScoredResults(figures, verdict_of([figures]), rows, failed)


def write_scores(path: str | Path, spec: ScoreSpec) -> None:
    """Give every line of a results file its scores, in one step; raises ResultsError.

    It stays a results file: a resumed run reads it, and puts scores back at its end.
    """
    rules = _rules(spec)

    def lines() -> Iterator[bytes]:
        for result in read_results(path):
            scores = {
                name: _kept(_scoring(result, spec, name, rule)) for name, rule in rules.items()
            }
            fields: dict[str, Any] = from_json(result_line(result))
            yield to_json({**fields, "scores": scores}) + b"\n"

    replace_file(Path(os.path.realpath(path)), lines())


def _rules(spec: ScoreSpec) -> dict[str, Projection]:
    return {
        name: scorer.projected(spec.questions[scorer.question])
        for name, scorer in spec.scorers.items()
    }


def _scoring(result: Result, spec: ScoreSpec, name: str, rule: Projection) -> Scoring | None:
    """Return what a scorer makes of a row; None where the row has no answer at all."""
    if result.error is not None:
        return None
    asked = spec.scorers[name].question
    question, answer = spec.questions[asked], result.answers[asked]
    if isinstance(answer, NoVerdict):
        return Scoring(not_scorable=f"{answer.cause}: {answer.message}", no_verdict=True)
    try:
        score = projected(rule, answer, question)
    except InvalidInput as error:  # the model gave no probabilities
        return Scoring(failure=Failure.of(error, "scorer"))
    bounds = projected_bounds(rule, answer, question)
    details = {} if bounds is None else {"score_bounds": bounds}
    return Scoring(score=score, methods=(answer.method,), details=details)


def _kept(scoring: Scoring | None) -> Mapping[str, Any]:
    if scoring is None:
        return {"error": "the row has no answer"}
    if scoring.failure is not None:
        return {"error": scoring.failure.message}
    if scoring.not_scorable is not None:
        return {"not_scorable": scoring.not_scorable}
    return {"score": scoring.score, **scoring.details}
