"""The items of a run as an audit wants them: judge and people as numbers, group and length."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from classify.answers import Answer, AnyAnswer, ChoiceAnswer, NoVerdict
from classify.calibrating import log_distribution
from classify.calibration.arrays import Floats, same_probabilities
from classify.calibration.label_file import RowLabels
from classify.calibration.result_labels import (
    check_labels,
    check_question,
    checked_results,
    unusable,
)
from classify.calibration.settings import of_type
from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Boolean, Question
from classify.results import Result

ReadItem: TypeAlias = tuple[Literal["id", "key"], str]


@dataclass(frozen=True, slots=True)
class AuditedItems:
    """One entry per row of the results; nan where there is no number, "" where no group."""

    judge: Floats
    """The expected level of a score, P(true) of a boolean; of a choice 1 where people agree."""
    people: Floats
    """The mean of their numbers; of a choice 1, so that judge less people is minus the errors."""
    lengths: Floats
    groups: tuple[str, ...]
    left_out: Mapping[str, int]
    """Why -> how many rows have no distribution."""
    items: int
    """Different items, by `read_item`."""
    group_field: str
    """The field that says which group an item is of."""
    weighted: bool
    """Whether labels have different weights: they count within an item, not between items."""

    @property
    def answered(self) -> int:
        """How many rows have an answer with a distribution."""
        return self.judge.size - sum(self.left_out.values())

    @property
    def used(self) -> str:
        """Say "n used of N" and why the others were not."""
        why = "; ".join(f"{reason}: {count}" for reason, count in self.left_out.items())
        return f"{self.answered} answers used of {self.judge.size}" + (f" ({why})" if why else "")


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
    where an id of `labels` names no row.
    """
    check_question(question)
    check_labels(labels)
    of_type(name, str, name="name", what="the id of a question")
    of_type(group, str, name="group", what="the name of a field")
    rows: list[tuple[float, float, float, str]] = []
    left_out, unknown, weights = Counter[str](), set(labels or ()), set[float]()
    read = set[ReadItem]()
    for result in checked_results(results):
        unknown.discard(result.id)
        read.add(read_item(result))
        own = (RowLabels(result.labels),) if labels is None else labels.get(result.id, ())
        said = [row for row in own if name in row.labels and row.weight > 0.0]
        weights.update(row.weight for row in said)
        answer = result.answers.get(name)
        reason = unusable(answer)
        if reason:
            left_out[reason] += 1
        judge, people = _numbers(question, answer, name, said)
        named = [row.group for row in own if row.group is not None]
        rows.append(
            (judge, people, state_length(result), named[0] if named else _field(result, group))
        )
    _check_known(unknown)
    judges, peoples, lengths = np.array([row[:3] for row in rows]).reshape(-1, 3).T
    return AuditedItems(
        judge=judges,
        people=peoples,
        lengths=lengths,
        groups=tuple(row[3] for row in rows),
        left_out=dict(left_out),
        items=len(read),
        group_field=group,
        weighted=len(weights) > 1,
    )


def read_item(result: Result) -> ReadItem:
    """Return what the model read: rows of one state are one item, whatever their ids.

    Rows without a key are told apart by their ids.
    """
    return ("id", result.id) if result.key is None else ("key", result.key)


def _check_known(unknown: set[str]) -> None:
    if unknown:
        raise InvalidInput(
            f"{len(unknown)} labelled ids name no row of the results, such as {min(unknown)!r}: "
            "label the rows that were run"
        )


def _numbers(
    question: Question, answer: AnyAnswer | None, name: str, said: Sequence[RowLabels]
) -> tuple[float, float]:
    """Return the judge's number and people's weighted mean."""
    weights = np.array([row.weight for row in said])
    values = [row.labels[name] for row in said]
    if isinstance(answer, ChoiceAnswer):
        agrees = np.array([float(value == answer.choice) for value in values])
        return (float(agrees @ weights / weights.sum()), 1.0) if said else (np.nan, np.nan)
    numbers = np.array([float(value) for value in values if not isinstance(value, str)])
    people = float(numbers @ weights / weights.sum()) if len(numbers) else np.nan
    if answer is None or isinstance(answer, NoVerdict) or not answer.probabilities:
        return np.nan, people
    return _expected(question, answer), people


def _expected(question: Question, answer: Answer) -> float:
    p = np.exp(log_distribution(answer))
    # A boolean's columns are (true, false).
    mean = p[:1] if isinstance(question, Boolean) else p @ np.arange(len(p))
    return float(same_probabilities(np.atleast_1d(mean))[0])


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
