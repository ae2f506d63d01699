"""The paired rows of two runs as a page needs them: columns for its table, details to open.

Answers are numbers here, options in the order of the question; the page's overview names them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classify.adapters.compare.two_runs import Run, TwoRuns
from classify.adapters.report.columns import TEXT_START, row_text
from classify.adapters.report.gathered import ROWS_PER_CHUNK
from classify.adapters.report.shell import Payload, packed_payload
from classify.calibration.file_answers import AnswerColumns
from classify.calibration.label_file import RowLabels
from classify.display.views import AnswerView, answer_views
from classify.json_values import JSON
from classify.questions import Question
from classify.results import Result, parse_result
from classify.row_labels import Label

CAUSE = -2
"""Codes from here down stand for a cause of having no verdict, the first one of the list."""
_UNKNOWN = -1
_DIFFERENT = -2


class ResultLines:
    """The results of a file, found by their place in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("rb") as file:
            ends = [0]
            for line in file:
                ends.append(ends[-1] + len(line))
        self._starts = ends[:-1]

    def at(self, places: Sequence[int]) -> Iterator[Result]:
        """Yield the results at these places, in their order."""
        with self._path.open("rb") as file:
            for place in places:
                file.seek(self._starts[place])
                yield parse_result(file.readline())


@dataclass(frozen=True, slots=True)
class PairedRows:
    """What a page shows of the pairs."""

    columns: dict[str, JSON]
    texts: list[str]
    """Of every text what follows its beginning, which is in the columns."""
    details: list[Payload]


def paired_rows(runs: TwoRuns, labels: Sequence[Sequence[RowLabels]]) -> PairedRows:
    """Read both files once more, pair by pair; `labels` holds what people said of each pair."""
    pairs = runs.comparison.pairing.pairs
    first = ResultLines(runs.first.path).at([place for place, _ in pairs])
    second = ResultLines(runs.second.path).at([place for _, place in pairs])
    starts: list[str] = []
    rests: list[str] = []
    details: list[Payload] = []
    chunk: list[JSON] = []
    for a, b, said in zip(first, second, labels, strict=True):
        text = row_text(a if a.has_state else b)
        starts.append(text[:TEXT_START])
        rests.append(text[TEXT_START:])
        chunk.append(_detail(runs, a, b, said))
        if len(chunk) == ROWS_PER_CHUNK:
            details.append(packed_payload(f"rows-{len(details)}", chunk))
            chunk = []
    if chunk:
        details.append(packed_payload(f"rows-{len(details)}", chunk))
    ids: list[JSON] = [runs.first.answers.ids[place] for place, _ in pairs]
    columns: dict[str, JSON] = {"ids": ids, "texts": starts, "questions": _questions(runs, labels)}
    return PairedRows(columns, rests, details)


def _questions(runs: TwoRuns, labels: Sequence[Sequence[RowLabels]]) -> list[JSON]:
    pairing = runs.comparison.pairing
    found: list[JSON] = []
    for name, compared in runs.comparison.questions.items():
        a = runs.first.answers.answers[name].rows(pairing.first)
        b = runs.second.answers.answers[name].rows(pairing.second)
        moved = compared.movement
        distances = [] if moved is None else [float(each) for each in moved.distances]
        found.append(
            {
                "a": _codes(a),
                "b": _codes(b),
                "distances": [
                    round(10_000 * each) if math.isfinite(each) else _UNKNOWN for each in distances
                ]
                or [_UNKNOWN] * pairing.n,
                "labels": [_label(compared.question, name, said) for said in labels],
                "causes": {"a": list(a.causes), "b": list(b.causes)},
            }
        )
    return found


def _codes(answers: AnswerColumns) -> list[int]:
    return [
        int(verdict) if cause < 0 else CAUSE - int(cause)
        for verdict, cause in zip(answers.verdicts, answers.missing, strict=True)
    ]


def _label(question: Question, name: str, said: Sequence[RowLabels]) -> int:
    """Return the option that people named; -1 where none did, -2 where they differ."""
    options = {_option(each.labels[name]) for each in said if name in each.labels}
    if len(options) != 1:
        return _DIFFERENT if options else _UNKNOWN
    option = options.pop()
    # A mean of levels is between two options.
    return question.options.index(option) if option in question.options else _DIFFERENT


def _option(label: Label) -> str:
    if isinstance(label, bool):
        return str(label).lower()
    return str(int(label)) if isinstance(label, float) and label.is_integer() else str(label)


def _detail(runs: TwoRuns, a: Result, b: Result, said: Sequence[RowLabels]) -> JSON:
    """Return what is shown of a pair that is opened."""
    names = runs.comparison.questions
    kept = a if a.has_state else b
    people = {name: [each.labels[name] for each in said if name in each.labels] for name in names}
    detail: dict[str, JSON] = {
        "a": _side(runs.first, a, names),
        "b": _side(runs.second, b, names),
        "labels": {name: given for name, given in people.items() if given},
    }
    if not kept.has_state:
        detail["left_out"] = True
    elif not isinstance(kept.state, str):
        detail["state"] = kept.state  # a text is in the columns already
    if a.has_state and b.has_state and a.state != b.state:
        detail["other_state"] = b.state
    return detail


def _side(run: Run, result: Result, names: Mapping[str, object]) -> JSON:
    answers = {name: result.answers[name] for name in names if name in result.answers}
    views = answer_views(answers, run.questions)
    side: dict[str, JSON] = {
        "answers": {view.question: _answer(view) for view in views},
        "seconds": result.seconds,
        "tokens": None if result.usage is None else result.usage.input_tokens,
    }
    if result.error is not None:
        side["error"] = f"{result.error.type}: {result.error.message}"
    if result.warnings:
        side["warnings"] = list(result.warnings)
    return side


def _answer(view: AnswerView) -> JSON:
    answer: dict[str, JSON] = {
        "verdict": view.verdict,
        "message": view.message,
        "flags": [[flag.name, flag.told] for flag in view.flags],
        "facts": list(view.facts),
        "reason": view.reason,
        "bars": {
            bar.option: [_short(bar.probability), _short(bar.low), _short(bar.high)]
            for bar in view.bars
        },
    }
    return {name: value for name, value in answer.items() if value}


def _short(value: float) -> float:
    return float(f"{value:.5g}")
