"""The verdicts of a judge and of people on the same items, out of the results of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, ScoreAnswer
from classify.calibration.given_labels import GivenLabels, told_of_no_row
from classify.calibration.judge_reports import JudgeReport, judge_report
from classify.calibration.label_file import RowLabels
from classify.calibration.ratings import Level
from classify.calibration.read_items import ReadItem, read_item
from classify.calibration.result_labels import (
    check_questions,
    checked_results,
    no_distribution,
    unusable,
)
from classify.calibration.true_rates import Drawn, TrueRate, true_rate
from classify.errors import CalibrationError, InvalidInput
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result
from classify.row_labels import Label

JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class JudgedItems:
    """One entry per row of the results, None where a rater said nothing."""

    question: Question
    items: tuple[ReadItem, ...]
    """By `read_item`: rows of one are not independent, and count together as one."""
    judge: tuple[Level | None, ...]
    """The option chosen; of a score the level nearest to its mean, of a boolean whether P(true) >=
    0.5."""
    probability: tuple[float | None, ...]
    """P(true) of a boolean."""
    people: tuple[tuple[Level, ...], ...]
    """What the people who labelled a row said; the first of one row need not be the first of
    another."""
    weights: tuple[float, ...]
    """What the labels of a row weigh, each of them; 1 where it has none."""
    between: int
    """Labels between two levels, which are no verdicts and left out."""
    left_out: Mapping[str, int]
    """Why -> how many rows have no verdict of the judge."""
    of_no_row: tuple[str, ...] = ()
    """The ids of labels that name no row of the results; an id is there for each of its labels."""

    @property
    def levels(self) -> tuple[Level, ...]:
        """What can be said, in order where there is one."""
        options = self.question.options
        return tuple(range(len(options))) if isinstance(self.question, Score) else options

    @property
    def rule(self) -> str:
        """How the judge's verdict follows from its answer."""
        if isinstance(self.question, Score):
            return "the level nearest to the mean of its probabilities, not the likeliest"
        if isinstance(self.question, Choice):
            return "the option it chose"
        return "yes where P(true) is at least 0.5"

    def report(self, *, drawn: Drawn = "unknown", epsilon: float | None = None) -> JudgeReport:
        """Return the agreement of judge and people, and the true rate of a boolean.

        `epsilon`: see judge_report. Raises CalibrationError where there is no label or no verdict.
        """
        if all(verdict is None for verdict in self.judge):
            raise CalibrationError(f"no answer has a verdict ({no_distribution(self.left_out)})")
        if not any(self.people):
            raise CalibrationError("no item has a label: give --labels FILE")
        most = max(map(len, self.people))
        ratings: dict[str, Sequence[Level | None]] = {JUDGE: self.judge}
        for person in range(most):
            name = "people" if most == 1 else f"person {person + 1}"
            ratings[name] = [said[person] if person < len(said) else None for said in self.people]
        ordered = isinstance(self.question, Score)
        found = judge_report(
            ratings,
            levels=self.levels,
            ordered=ordered,
            epsilon=epsilon,
            weights=self.weights,
            groups=[" ".join(item) for item in self.items],
        )
        notes = (*found.notes, *self._notes(tested=found.replacing is not None))
        found = replace(found, verdicts=f"{JUDGE}: {self.rule}", notes=notes)
        return self._with_rate(found, drawn) if isinstance(self.question, Boolean) else found

    def _notes(self, *, tested: bool) -> list[str]:
        """Return what of the rows is not in the numbers, or not as it may seem."""
        notes: list[str] = []
        if self.left_out:
            why = "; ".join(f"{reason}: {count}" for reason, count in self.left_out.items())
            notes.append(
                f"{sum(self.left_out.values())} of {len(self.judge)} rows have no verdict of the "
                f"judge ({why}): every number is of the others alone"
            )
        if tested:
            notes.append(
                "person 1 is whoever gave the first label of an item: where those are different "
                "people, compare named ones with a ratings file (--raters)"
            )
        if (several := len(self.items) - len(set(self.items))) > 0:
            notes.append(
                f"{several} rows read an item again: it counts once, its readings in equal parts"
            )
        if self.between:
            notes.append(f"{self.between} labels between two levels name none and are left out")
        if self.of_no_row:
            notes.append(told_of_no_row(self.of_no_row))
        return notes

    def _with_rate(self, found: JudgeReport, drawn: Drawn) -> JudgeReport:
        try:
            return replace(found, rate=self._rate(drawn))
        except CalibrationError as error:
            return replace(found, notes=(*found.notes, f"true rate: {error}"))

    def _rate(self, drawn: Drawn) -> TrueRate:
        answered: dict[ReadItem, tuple[list[float], list[Level]]] = {}
        for item, p, said in zip(self.items, self.probability, self.people, strict=True):
            if p is not None:
                readings, people = answered.setdefault(item, ([], []))
                readings.append(p)
                people.extend(said)
        items = [(fmean(readings), people) for readings, people in answered.values()]
        known = [(p, _share_of_yes(said)) for p, said in items if said]
        pool = [p for p, said in items if not said]
        if len({w for w, said in zip(self.weights, self.people, strict=True) if said}) > 1:
            raise CalibrationError(
                "the labels have different weights, and the rate counts items: give labels of one "
                "weight, of items drawn at random"
            )
        if len(pool) < 2:
            without = "one answered item" if pool else "no answered item"
            raise CalibrationError(
                f"{without} is without a label, so nothing is left to estimate: "
                f"yes in {sum(truth for _, truth in known):g} of {len(known)}"
            )
        human, judge = [truth for _, truth in known], [p for p, _ in known]
        rate = true_rate(human, judge, pool, drawn=drawn, name="the rate of yes")
        if any(len(set(said)) > 1 for _, said in items) or max(map(len, self.people)) > 1:
            reason = "an item counts with the share of its people who said yes"
            if tied := human.count(0.5):
                reason += f", {tied} without a majority"
            rate = replace(rate, reason=f"{rate.reason}; {reason}")
        return rate


def judged_items(
    results: Iterable[Result],
    questions: Mapping[str, Question],
    *,
    labels: Mapping[str, Sequence[RowLabels]] | None = None,
) -> dict[str, JudgedItems]:
    """Return question id -> verdicts, with the results' own labels or those of a file.

    A mean of levels is no verdict and is left out, like a label of weight 0 and one of a row that
    is not there. Raises InvalidInput where no id of `labels` names a row, and where the labels of
    one item have different weights.
    """
    check_questions(questions, labels)
    rows = {name: _Rows(name, question) for name, question in questions.items()}
    people = GivenLabels(labels)
    for result in checked_results(results):
        own = people.of(result)
        for name, gathering in rows.items():
            gathering.add(result, [row for row in own if name in row.labels and row.weight > 0.0])
    return {
        name: gathering.gathered(of_no_row=people.of_no_row(name))
        for name, gathering in rows.items()
    }


@dataclass(slots=True)
class _Rows:
    """What is gathered of one question."""

    name: str
    question: Question
    items: list[ReadItem] = field(default_factory=list[ReadItem])
    judge: list[Level | None] = field(default_factory=list[Level | None])
    probability: list[float | None] = field(default_factory=list[float | None])
    people: list[tuple[Level, ...]] = field(default_factory=list[tuple[Level, ...]])
    weights: list[float] = field(default_factory=list[float])
    left_out: Counter[str] = field(default_factory=Counter[str])
    between: int = 0

    def add(self, result: Result, labels: Sequence[RowLabels]) -> None:
        answer = result.answers.get(self.name)
        verdict = _verdict(answer)
        if verdict is None:
            self.left_out[unusable(answer)] += 1
        said = [_level(self.question, row.labels[self.name]) for row in labels]
        kept = tuple(level for level in said if level is not None)
        weights = sorted({row.weight for row in labels})
        if len(weights) > 1:
            raise InvalidInput(
                f"the labels of {result.id!r} have different weights ({weights[0]:g} and "
                f"{weights[-1]:g}), and agreement weighs items: give all labels of an item one "
                "weight"
            )
        self.items.append(read_item(result))
        self.judge.append(verdict)
        self.probability.append(answer.probability if isinstance(answer, BooleanAnswer) else None)
        self.people.append(kept)
        self.weights.append(weights[0] if kept else 1.0)
        self.between += len(said) - len(kept)

    def gathered(self, *, of_no_row: tuple[str, ...]) -> JudgedItems:
        return JudgedItems(
            question=self.question,
            items=tuple(self.items),
            judge=tuple(self.judge),
            probability=tuple(self.probability),
            people=tuple(self.people),
            weights=tuple(self.weights),
            between=self.between,
            left_out=dict(self.left_out),
            of_no_row=of_no_row,
        )


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


def _share_of_yes(said: Sequence[Level]) -> float:
    return sum(level == "true" for level in said) / len(said)
