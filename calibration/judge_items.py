"""The verdicts of a judge and of people on the same items, out of the results of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, ScoreAnswer
from classify.calibration.judge_reports import JudgeReport, judge_report
from classify.calibration.label_file import RowLabels
from classify.calibration.ratings import Level
from classify.calibration.true_rates import Drawn, TrueRate, true_rate
from classify.errors import CalibrationError, InvalidInput
from classify.questions import Boolean, Question, Score
from classify.results import Result
from classify.row_labels import Label

JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """One entry per item, None where a rater said nothing."""

    question: Question
    judge: tuple[Level | None, ...]
    """The option chosen; of a score the nearest level, of a boolean whether P(true) >= 0.5."""
    probability: tuple[float | None, ...]
    """P(true) of a boolean."""
    people: tuple[tuple[Level, ...], ...]
    """What the people who labelled an item said; the first of one item need not be the first of
    another."""
    between: int
    """Labels between two levels, which are no verdicts and left out."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """What can be said, in order where there is one."""
        options = self.question.options
        return tuple(range(len(options))) if isinstance(self.question, Score) else options

    def report(self, *, drawn: Drawn = "unknown", epsilon: float | None = None) -> JudgeReport:
        """Return the agreement of judge and people, and the true rate of a boolean.

        `epsilon`: see judge_report.
        """
        if not any(self.people):
            raise CalibrationError("no item has a label: give --labels FILE")
        most = max(map(len, self.people))
        ratings: dict[str, Sequence[Level | None]] = {JUDGE: self.judge}
        for person in range(most):
            name = "people" if most == 1 else f"person {person + 1}"
            ratings[name] = [said[person] if person < len(said) else None for said in self.people]
        ordered = isinstance(self.question, Score)
        found = judge_report(ratings, levels=self.levels, ordered=ordered, epsilon=epsilon)
        if self.between:
            note = f"{self.between} labels between two levels name none and are left out"
            found = replace(found, notes=(*found.notes, note))
        return self._with_rate(found, drawn) if isinstance(self.question, Boolean) else found

    def _with_rate(self, found: JudgeReport, drawn: Drawn) -> JudgeReport:
        try:
            return replace(found, rate=self._rate(drawn))
        except CalibrationError as error:
            return replace(found, notes=(*found.notes, f"true rate: {error}"))

    def _rate(self, drawn: Drawn) -> TrueRate:
        pairs = [
            (p, _majority(said))
            for p, said in zip(self.probability, self.people, strict=True)
            if p is not None
        ]
        known = [(p, truth) for p, truth in pairs if truth is not None]
        pool = [p for p, truth in pairs if truth is None]
        if len(pool) < 2:
            raise CalibrationError(
                "every answered item has a label, so nothing is left to estimate: "
                f"yes in {sum(truth for _, truth in known):g} of {len(known)}"
            )
        human, judge = [truth for _, truth in known], [p for p, _ in known]
        return true_rate(human, judge, pool, drawn=drawn, name="the rate of yes")


def judged_items(
    results: Iterable[Result],
    questions: Mapping[str, Question],
    *,
    labels: Mapping[str, Sequence[RowLabels]] | None = None,
) -> dict[str, JudgedItems]:
    """Return question id -> verdicts, with the results' own labels or those of a file.

    A mean of levels is no verdict and is left out. Raises InvalidInput where an id of `labels`
    names no row.
    """
    rows: dict[str, list[tuple[AnyAnswer | None, tuple[Level, ...]]]] = {n: [] for n in questions}
    unknown, between = set(labels or ()), dict.fromkeys(questions, 0)
    for result in results:
        unknown.discard(result.id)
        own = (RowLabels(result.labels),) if labels is None else labels.get(result.id, ())
        for name, question in questions.items():
            said = [_level(question, row.labels[name]) for row in own if name in row.labels]
            kept = tuple(level for level in said if level is not None)
            between[name] += len(said) - len(kept)
            rows[name].append((result.answers.get(name), kept))
    if unknown:
        raise InvalidInput(
            f"{len(unknown)} labelled ids name no row of the results, such as {min(unknown)!r}"
        )
    return {
        name: JudgedItems(
            question=questions[name],
            judge=tuple(_verdict(answer) for answer, _ in found),
            probability=tuple(
                answer.probability if isinstance(answer, BooleanAnswer) else None
                for answer, _ in found
            ),
            people=tuple(said for _, said in found),
            between=between[name],
        )
        for name, found in rows.items()
    }


def _verdict(answer: AnyAnswer | None) -> Level | None:
    if isinstance(answer, ChoiceAnswer):
        return answer.choice
    if isinstance(answer, ScoreAnswer):
        return int(answer.score + 0.5)
    if isinstance(answer, BooleanAnswer):
        return "true" if answer.probability >= 0.5 else "false"
    return None


def _level(question: Question, label: Label) -> Level | None:
    if isinstance(question, Boolean):
        return "true" if label else "false"
    if isinstance(question, Score):
        return int(label) if float(label).is_integer() else None
    return label


def _majority(said: Sequence[Level]) -> float | None:
    """Return 1 for yes, 0 for no, None without a majority."""
    yes = sum(level == "true" for level in said)
    return None if 2 * yes == len(said) else float(2 * yes > len(said))
