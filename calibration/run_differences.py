"""What differs between the records of two runs, and which of their questions can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from classify.json_values import JSON
from classify.questions import Question
from classify.run_record import RunRecord


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the two runs do not have in common."""

    what: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class Comparable:
    """The questions of two runs."""

    questions: Mapping[str, Question]
    """Asked by both with the same options: as the first run asked them."""
    others: Mapping[str, str]
    """The others -> why they are not compared."""


def comparable(first: Mapping[str, Question], second: Mapping[str, Question]) -> Comparable:
    """Return the questions that both asked with the same options, and why not the others."""
    questions: dict[str, Question] = {}
    others: dict[str, str] = {}
    for name in [*first, *(name for name in second if name not in first)]:
        if name not in second or name not in first:
            others[name] = f"asked only by {'A' if name in first else 'B'}"
            continue
        a, b = first[name], second[name]
        if a.type != b.type:
            others[name] = f"a {a.type} in A, a {b.type} in B"
        elif set(a.options) != set(b.options):
            others[name] = _options_differ(a, b)
        else:
            questions[name] = a
    return Comparable(questions, others)


def run_differences(first: RunRecord, second: RunRecord) -> tuple[Difference, ...]:
    """Return what differs: model, options, and how common questions are worded."""
    found = [
        _difference("model", _model(first), _model(second)),
        *_fields("", first.options.model_dump(mode="json"), second.options.model_dump(mode="json")),
    ]
    for name, question in first.questions.items():
        if name in second.questions:
            other = second.questions[name]
            found += _fields(
                f"{name}: ", question.model_dump(mode="json"), other.model_dump(mode="json")
            )
    told = tuple(each for each in found if each is not None)
    if not told and first.fingerprint != second.fingerprint:
        # A calibrator, a policy or another version of the prompts, which the record does not hold.
        told = (Difference("fingerprint", first.fingerprint[:12], second.fingerprint[:12]),)
    return told


def _model(record: RunRecord) -> str:
    return f"{record.provider}/{record.model_id}"


def _options_differ(a: Question, b: Question) -> str:
    if a.type == "score":
        return f"{len(a.options)} levels in A, {len(b.options)} in B"
    only = [
        f"only in {side}: {', '.join(sorted(names))}"
        for side, names in (
            ("A", set(a.options) - set(b.options)),
            ("B", set(b.options) - set(a.options)),
        )
        if names
    ]
    return f"the options differ ({'; '.join(only)})"


def _fields(
    prefix: str, first: Mapping[str, JSON], second: Mapping[str, JSON]
) -> list[Difference | None]:
    return [
        _difference(f"{prefix}{name}", _text(first.get(name)), _text(second.get(name)))
        for name in {**first, **second}
    ]


def _text(value: JSON) -> str:
    if value is None:
        return "not set"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _difference(what: str, first: str, second: str) -> Difference | None:
    return None if first == second else Difference(what, first, second)
