"""The rows of results as columns of small numbers: all that a table of them needs at once.

Options, causes and errors are numbers here; `overview` names them. What a row holds besides is in
`details`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

from classify.answers import (
    Answer,
    AnyAnswer,
    BooleanAnswer,
    Cause,
    NoVerdict,
    ScoreAnswer,
    most_probable,
)
from classify.display.views import FlagName, answer_flags
from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Question
from classify.results import Result
from classify.row_labels import Label

CAUSES: tuple[str, ...] = get_args(Cause)
FLAGS: tuple[str, ...] = get_args(FlagName)
TEXT_START = 160
"""Characters of a row's text that the table has at once; the rest follows apart."""

_NONE, _DIFFERENT = -1, -2


@dataclass(slots=True)
class QuestionColumns:
    """The answers to one question, row by row."""

    question: Question
    codes: list[int] = field(default_factory=list[int])
    """The option's index; -1 where there is no answer; -2 and below for a cause of no verdict."""
    confidences: list[int] = field(default_factory=list[int])
    """The greatest probability in ten thousandths; -1 where there is none."""
    values: list[int] = field(default_factory=list[int])
    """A score in thousandths of a level, P(true) in ten thousandths; -1 where there is none."""
    labels: list[int] = field(default_factory=list[int])
    """The index of the option that people named, a score's level in hundredths; -1 where there is
    no label, -2 where people named different ones."""
    losses: list[int] = field(default_factory=list[int])
    """How far the answer is from the label, in ten thousandths; -1 where one of them is not."""
    flags: list[int] = field(default_factory=list[int])
    """The flags of the answer, a bit each."""

    def add(self, answer: AnyAnswer | None, labels: Sequence[Label]) -> None:
        """Append one row; InvalidInput where it is no answer to this question."""
        _check(self.question, answer, labels)
        best = max(answer.probabilities.values()) if answer and answer.probabilities else None
        self.codes.append(self._code(answer))
        self.confidences.append(_NONE if best is None else round(best * 10_000))
        self.values.append(_value(answer))
        self.labels.append(self._label(labels))
        self.losses.append(self._loss(answer, labels))
        names = {flag.name for flag in answer_flags(answer)} if answer else ()
        self.flags.append(sum(1 << FLAGS.index(name) for name in names))

    @property
    def labelled(self) -> int:
        """Rows with a label, of one person or several."""
        return len(self.labels) - self.labels.count(_NONE)

    def to_json(self) -> JSON:
        """Return the columns under their names."""
        columns: dict[str, JSON] = {
            "codes": self.codes,
            "confidences": self.confidences,
            "labels": self.labels,
            "losses": self.losses,
            "flags": self.flags,
        }
        return columns if self.question.type == "choice" else {**columns, "values": self.values}

    def _code(self, answer: AnyAnswer | None) -> int:
        if answer is None:
            return _NONE
        if isinstance(answer, NoVerdict):
            return -2 - CAUSES.index(answer.cause)
        return self.question.options.index(most_probable(answer))

    def _label(self, labels: Sequence[Label]) -> int:
        if not labels:
            return _NONE
        codes = {self._label_code(label) for label in labels}
        return codes.pop() if len(codes) == 1 else _DIFFERENT

    def _label_code(self, label: Label) -> int:
        if self.question.type == "score":
            return round(float(label) * 100)
        return self.question.options.index(_option(label))

    def _loss(self, answer: AnyAnswer | None, labels: Sequence[Label]) -> int:
        if answer is None or isinstance(answer, NoVerdict) or not labels:
            return _NONE
        losses = [_loss(answer, label, self.question) for label in labels]
        return round(10_000 * sum(losses) / len(losses))


class RowColumns:
    """All rows: their ids, texts and answers."""

    def __init__(self, questions: Mapping[str, Question]) -> None:
        self.questions = {name: QuestionColumns(each) for name, each in questions.items()}
        self.error_types: list[str] = []
        self._ids: list[str] = []
        self._starts: list[str] = []
        self._rests: list[str] = []
        self._errors: list[int] = []
        self._warned: list[int] = []
        self._seconds: list[int] = []

    def add(self, result: Result, labels: Mapping[str, Sequence[Label]]) -> None:
        """Append one row, with what people said of it."""
        text = row_text(result)
        self._ids.append(result.id)
        self._starts.append(text[:TEXT_START])
        self._rests.append(text[TEXT_START:])
        self._errors.append(_NONE if result.error is None else self._error(result.error.type))
        self._warned.append(int(bool(result.warnings or result.label_problems)))
        self._seconds.append(_NONE if result.seconds is None else round(result.seconds * 1000))
        for name, columns in self.questions.items():
            try:
                columns.add(result.answers.get(name), labels.get(name, ()))
            except InvalidInput as error:
                raise InvalidInput(f"row {result.id!r}, question {name!r}: {error}") from None

    def columns(self) -> JSON:
        """Return everything but the rest of long texts."""
        return {
            "ids": self._ids,
            "texts": self._starts,
            "errors": self._errors,
            "warned": self._warned,
            "milliseconds": self._seconds,
            "questions": [columns.to_json() for columns in self.questions.values()],
        }

    def texts(self) -> JSON:
        """Return of every row the text beyond its beginning."""
        return self._rests

    def _error(self, name: str) -> int:
        if name not in self.error_types:
            self.error_types.append(name)
        return self.error_types.index(name)


def _check(question: Question, answer: AnyAnswer | None, labels: Sequence[Label]) -> None:
    """Raise InvalidInput for an answer or a label that this question cannot have."""
    options, kind = question.options, question.type
    named = [] if question.type == "score" else [*map(_option, labels)]
    if answer is not None:
        kind = answer.kind if isinstance(answer, NoVerdict) else answer.type
        named += answer.probabilities or ()
    if isinstance(answer, Answer):
        named.append(most_probable(answer))
    whole = answer is None or not answer.probabilities or len(answer.probabilities) == len(options)
    if kind != question.type or not whole or not set(named) <= set(options):
        found = f"{kind} of {', '.join(dict.fromkeys(named))}"
        raise InvalidInput(
            f"an answer or a label belongs to another question ({found}), for this one is a "
            f"{question.type} of {', '.join(options)}: give the run's own --spec"
        )


def row_text(result: Result) -> str:
    """Return what was judged as one text: a text as it is, fields of an object name by name."""
    state = result.state
    if state is None:
        return ""
    if isinstance(state, dict):
        return "\n".join(f"{name}: {_as_text(value)}" for name, value in state.items())
    return _as_text(state)


def _as_text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _value(answer: AnyAnswer | None) -> int:
    if isinstance(answer, ScoreAnswer):
        return round(answer.score * 1000)
    if isinstance(answer, BooleanAnswer):
        return round(answer.probability * 10_000)
    return _NONE


def _option(label: Label) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _loss(answer: Answer, label: Label, question: Question) -> float:
    """Return how far the answer is from the label, from 0 to 1.

    For a score the distance in levels, over the greatest there is; else the probability that was
    not given to the label.
    """
    if isinstance(answer, ScoreAnswer):
        return abs(answer.score - float(label)) / max(1, len(question.options) - 1)
    if answer.probabilities is None:
        return float(most_probable(answer) != _option(label))
    return 1.0 - answer.probabilities.get(_option(label), 0.0)
