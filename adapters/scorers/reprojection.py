"""Score stored answers anew, without a model: other `scores` for the results of `classify run`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.projection import (
    Interval,
    Options,
    Projection,
    projected,
    projected_bounds,
    projection_of,
)
from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.errors import InvalidInput
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result, read_results
from classify.validation import unknown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class RowScore:
    """The score of one stored row, or why it has none."""

    id: str
    index: int
    """The row's position in its source, from 0."""
    score: float | None = None
    """In [0, 1]."""
    score_bounds: Interval | None = None
    not_scorable: str | None = None
    """Why there is no verdict to score."""
    error: str | None = None
    """Why the row was not answered at all."""


def reproject(
    results: str | Path | Iterable[Result],
    question: str,
    *,
    scores: Mapping[str, float] | None = None,
    correct: Options | None = None,
    projection: Literal["expected"] | None = None,
    asked: Question | None = None,
) -> Iterator[RowScore]:
    """Yield the score of every stored result, in order; no model is asked.

    `results` is a results file of `classify run`, or what `read_results` gives. `asked` is the
    question itself; where it is left out, its options are those of the first stored distribution.

    Raises InvalidInput for a broken line or a question that a result does not have,
    ScorerDefinitionError for a projection that does not fit.
    """
    rows = read_results(results) if isinstance(results, str | Path) else results
    settled: tuple[Question, Projection] | None = None
    for row in rows:
        if row.error is not None:
            yield RowScore(id=row.id, index=row.index, error=row.error.message)
            continue
        answer = _answer(row, question)
        if isinstance(answer, NoVerdict):
            why = f"{answer.cause}: {answer.message}"
            yield RowScore(id=row.id, index=row.index, not_scorable=why)
            continue
        if settled is None:
            known = _question(question, answer) if asked is None else asked
            settled = (
                known,
                projection_of(
                    question, known, scores=scores, correct=correct, projection=projection
                ),
            )
        yield _row_score(row, question, answer, *settled)


def _row_score(
    row: Result, name: str, answer: Answer, question: Question, projection: Projection
) -> RowScore:
    options = set(answer.probabilities or ())
    if isinstance(answer, ChoiceAnswer):
        options.add(answer.choice)
    if answer.type != question.type or not options <= set(question.options):
        raise InvalidInput(
            f"row {row.id!r}: the stored answer to {name!r} is a {answer.type} of the options "
            f"{sorted(options)!r}, and the question is a {question.type} of "
            f"{list(question.options)!r}; these are results of another question"
        )
    return RowScore(
        id=row.id,
        index=row.index,
        score=projected(projection, answer, question),
        score_bounds=projected_bounds(projection, answer, question),
    )


def _answer(row: Result, question: str) -> Answer | NoVerdict:
    if question not in row.answers:
        raise InvalidInput(f"row {row.id!r}: {unknown_name('question', question, row.answers)}")
    return row.answers[question]


def _question(name: str, answer: Answer) -> Question:
    """Return a question with the options that an answer shows."""
    if isinstance(answer, BooleanAnswer):
        return Boolean()
    if answer.probabilities is None:
        raise ScorerDefinitionError(
            f"the stored answers to {name!r} do not show all options: give the question, asked=..."
        )
    if isinstance(answer, ChoiceAnswer):
        return Choice(criteria=dict.fromkeys(answer.probabilities))
    return Score(criteria=list(answer.probabilities))
