"""The items of a run as an audit wants them: judge and people as numbers, group and length."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from classify.answers import Answer, AnyAnswer, ChoiceAnswer, NoVerdict
from classify.calibrating import log_distribution
from classify.calibration.arrays import Floats, same_probabilities
from classify.calibration.given_labels import GivenLabels
from classify.calibration.label_file import RowLabels
from classify.calibration.read_items import ReadItem, read_item
from classify.calibration.result_labels import (
    check_labels,
    check_question,
    checked_results,
    unusable,
)
from classify.calibration.settings import of_type
from classify.json_values import JSON
from classify.questions import Boolean, Question
from classify.results import Result
from classify.row_labels import Label


@dataclass(frozen=True, slots=True)
class AuditedItems:
    """One entry per item, by `read_item`; nan where there is no number, "" where no group.

    Rows of one item are averaged: a state that is read again is no new item.
    """

    judge: Floats
    """The expected level of a score, P(true) of a boolean; of a choice how often people agree."""
    people: Floats
    """The mean of their numbers; of a choice 1, so that judge less people is minus the errors."""
    lengths: Floats
    groups: tuple[str, ...]
    left_out: Mapping[str, int]
    """Why -> how many rows have no distribution."""
    rows: int
    """Rows of the results."""
    group_field: str
    """The field that says which group an item is of."""
    weighted: bool
    """Whether labels have different weights: they count within an item, not between items."""
    of_no_row: tuple[str, ...] = ()
    """The ids of labels that name no row of the results; an id is there for each of its labels."""

    @property
    def answered(self) -> int:
        """How many rows have an answer with a distribution."""
        return self.rows - sum(self.left_out.values())

    @property
    def used(self) -> str:
        """Say "n used of N" and why the others were not."""
        why = "; ".join(f"{reason}: {count}" for reason, count in self.left_out.items())
        return f"{self.answered} answers used of {self.rows}" + (f" ({why})" if why else "")


def audited_items(
    results: Iterable[Result],
    name: str,
    question: Question,
    *,
    labels: Mapping[str, Sequence[RowLabels]] | None = None,
    group: str = "group",
) -> AuditedItems:
    """Gather the answers to one question, with the results' own labels or those of a file.

    An item's group is that of its labels, else the field `group` of its state. Raises InvalidInput
    where no id of `labels` names a row.
    """
    check_question(question)
    check_labels(labels)
    of_type(name, str, name="name", what="the id of a question")
    of_type(group, str, name="group", what="the name of a field")
    found: dict[ReadItem, _Item] = {}
    left_out, given, weights = Counter[str](), GivenLabels(labels), set[float]()
    rows = 0
    for result in checked_results(results):
        rows += 1
        own = given.of(result)
        said = [row for row in own if name in row.labels and row.weight > 0.0]
        weights.update(row.weight for row in said)
        answer = result.answers.get(name)
        reason = unusable(answer)
        if reason:
            left_out[reason] += 1
        item = found.setdefault(read_item(result), _Item(state_length(result)))
        item.add(question, answer, [(row.labels[name], row.weight) for row in said])
        named = [row.group for row in own if row.group is not None]
        item.label_group = item.label_group or (named[0] if named else "")
        item.state_group = item.state_group or _field(result, group)
    items = found.values()
    return AuditedItems(
        judge=np.array([_mean(item.judge) for item in items]),
        people=np.array([_mean(item.people) for item in items]),
        lengths=np.array([item.length for item in items]),
        groups=tuple(item.label_group or item.state_group for item in items),
        left_out=dict(left_out),
        rows=rows,
        group_field=group,
        weighted=len(weights) > 1,
        of_no_row=given.of_no_row(name),
    )


@dataclass(slots=True)
class _Item:
    """What is gathered of the rows of one item: numbers with their weights."""

    length: float
    judge: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    people: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    label_group: str = ""
    state_group: str = ""

    def add(
        self, question: Question, answer: AnyAnswer | None, said: Sequence[tuple[Label, float]]
    ) -> None:
        if isinstance(answer, ChoiceAnswer):
            self.judge += [(float(label == answer.choice), weight) for label, weight in said]
            self.people += [(1.0, weight) for _, weight in said]
            return
        self.people += [(float(label), w) for label, w in said if not isinstance(label, str)]
        if answer is not None and not isinstance(answer, NoVerdict) and answer.probabilities:
            self.judge.append((_expected(question, answer), 1.0))


def _mean(numbers: Sequence[tuple[float, float]]) -> float:
    """Return the weighted mean, nan of nothing."""
    if not numbers:
        return np.nan
    values, weights = np.array(numbers).T
    return float(values @ weights / weights.sum())


def _expected(question: Question, answer: Answer) -> float:
    p = np.exp(log_distribution(answer))
    # A boolean's columns are (true, false).
    levels: Floats = np.arange(float(len(p)))
    mean = p[:1] if isinstance(question, Boolean) else np.array([float(p @ levels)])
    return float(same_probabilities(mean)[0])


def state_length(result: Result) -> float:
    """Return the characters of what was judged, nan where it was not kept."""
    if not result.has_state:
        return float("nan")
    state = result.state
    return float(len(state if isinstance(state, str) else json.dumps(state, ensure_ascii=False)))


def _field(result: Result, name: str) -> str:
    state: JSON = result.state if result.has_state else None
    value = state.get(name) if isinstance(state, dict) else None
    return "" if value is None else str(value)
