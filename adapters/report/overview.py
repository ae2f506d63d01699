"""What whole results come to, as the JSON that a page's head and figures are made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from classify.adapters.report.columns import CAUSES, FLAGS
from classify.adapters.report.gathered import ROWS_PER_CHUNK, Gathered, Times
from classify.display.views import option_name
from classify.json_values import JSON
from classify.questions import Question
from classify.run_record import RunRecord
from classify.run_summary import QuestionSummary, RunSummary, UsageSummary


@dataclass(frozen=True, slots=True)
class Prices:
    """Money per million tokens, in whatever currency."""

    input: float
    output: float


@dataclass(frozen=True, slots=True)
class Origin:
    """Where results come from."""

    name: str
    """The file's name, without its folder."""
    record: RunRecord | None
    torn: bool
    """Whether the last line is cut off."""
    label_file: str | None = None
    """The name of the file that labels were read from, in place of the results' own."""


def overview(
    origin: Origin,
    summary: RunSummary,
    gathered: Gathered,
    *,
    labelled: Mapping[str, JSON],
    repeats: Mapping[str, JSON],
    prices: Prices | None = None,
    problems: Sequence[str] = (),
) -> dict[str, JSON]:
    """Return the overview.

    `labelled` are the figures of the questions that have labels, `repeats` of those that were
    asked several times about some item; `problems` say what is missing.
    """
    return {
        "name": origin.name,
        "chunk": ROWS_PER_CHUNK,
        "causes": CAUSES,
        "flags": FLAGS,
        "error_types": gathered.columns.error_types,
        "run": _run(origin.record),
        "rows": summary.rows,
        "answered": summary.answered,
        "errors": [
            {"type": name, "rows": rows, "first": summary.first_errors[name]}
            for name, rows in summary.errors.items()
        ],
        "models": summary.models,
        "warnings": summary.warnings,
        "attempts": summary.attempts,
        "usage": asdict(summary.usage),
        "cost": _cost(summary.usage, prices),
        "times": _times(gathered.times),
        "notes": [*_notes(origin, summary, gathered), *problems],
        "questions": [
            {
                **_question(name, question, summary.questions[name]),
                "labelled": gathered.columns.questions[name].labelled,
                "measured": labelled.get(name),
                "repeats": repeats.get(name),
            }
            for name, question in gathered.questions.items()
        ],
    }


def _run(record: RunRecord | None) -> JSON:
    if record is None:
        return None
    return {
        "classifier": record.classifier_id,
        "provider": record.provider,
        "model": record.model_id,
        "fingerprint": record.fingerprint,
        "options": {
            name: value
            for name, value in record.options.model_dump(mode="json").items()
            if value is not None
        },
    }


def _question(name: str, question: Question, summary: QuestionSummary) -> dict[str, JSON]:
    return {
        **asdict(summary),
        "id": name,
        "instructions": _as_text(question.instructions),
        "options": [
            {
                "option": option,
                "name": option_name(option, question),
                "description": None
                if question.type == "score"
                else _as_text(question.described(option)),
            }
            for option in question.options
        ],
    }


def _cost(usage: UsageSummary, prices: Prices | None) -> JSON:
    if prices is None or (usage.input_tokens is None and usage.output_tokens is None):
        return None
    money = (usage.input_tokens or 0) * prices.input + (usage.output_tokens or 0) * prices.output
    return {"amount": money / 1e6, "at_least": usage.rows_unknown > 0, **asdict(prices)}


def _times(times: Times | None) -> JSON:
    if times is None:
        return None
    return {
        "first": times.first.isoformat(timespec="seconds"),
        "last": times.last.isoformat(timespec="seconds"),
        "seconds": (times.last - times.first).total_seconds(),
        "median_seconds": times.median_seconds,
        "n": times.n,
    }


def _notes(origin: Origin, summary: RunSummary, gathered: Gathered) -> list[str]:
    """Return what a reader must know before believing any number."""
    notes: list[str] = []
    if not summary.rows:
        notes.append("The results hold no row yet.")
    if origin.torn:
        notes.append(
            "The last line of the results is cut off: the run is still going, or was stopped. "
            "That row is not shown."
        )
    if origin.record is not None and summary.rows < (origin.record.rows or 0):
        notes.append(
            f"These are {summary.rows} of the {origin.record.rows} rows of the run, which was "
            "stopped or still goes on."
        )
    if origin.record is None and summary.rows:
        notes.append(
            "No record of the run (.run.json) was found: questions and options are those that "
            "the answers show, without their texts."
        )
    if len(summary.models) > 1:
        notes.append(f"{len(summary.models)} models answered: rows are not comparable.")
    notes += [
        f"Answers to {name!r} were obtained by {len(question.methods)} methods: not comparable."
        for name, question in summary.questions.items()
        if len(question.methods) > 1
    ]
    if gathered.without_state:
        notes.append(f"{gathered.without_state} rows were kept without the text that was judged.")
    if gathered.repeated_ids:
        notes.append(f"{gathered.repeated_ids} rows have the id of an earlier row.")
    if gathered.other_questions:
        others = ", ".join(sorted(gathered.other_questions))
        notes.append(f"Answers to other questions are not shown: {others}.")
    if summary.label_problems:
        notes.append(f"{summary.label_problems} labels could not be read and do not count.")
    if origin.label_file is not None:
        notes.append(f"Labels are those of {origin.label_file}.")
    return notes


def _as_text(value: JSON) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)
