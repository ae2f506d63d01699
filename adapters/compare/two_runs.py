"""Two results files with the records of their runs, read and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from classify.calibration.file_answers import FileAnswers, file_answers
from classify.calibration.label_file import read_label_file
from classify.calibration.result_labels import seen_questions
from classify.calibration.results_comparison import ResultsComparison, compare_results
from classify.calibration.run_differences import Difference, comparable, run_differences
from classify.errors import InvalidInput
from classify.questions import Question
from classify.results import Result, read_results
from classify.run_record import RunRecord, read_record
from classify.validation import unknown_name


@dataclass(frozen=True, slots=True)
class Run:
    """One of the two: its file, its record, and its answers."""

    path: Path
    record: RunRecord | None
    """None where no .run.json is beside the results."""
    questions: Mapping[str, Question]
    """As they were asked, or as far as the answers show them."""
    answers: FileAnswers

    @property
    def model(self) -> str:
        """The model as asked for, or as the answers report it."""
        if self.record is not None:
            return f"{self.record.provider}/{self.record.model_id}"
        return ", ".join(self.answers.summary.models) or "unknown model"

    def results(self) -> Iterator[Result]:
        """Read the file again."""
        return read_results(self.path)


@dataclass(frozen=True, slots=True)
class TwoRuns:
    """Both runs and what comparing them gave."""

    first: Run
    second: Run
    differences: tuple[Difference, ...] | None
    """None where a run has no record: what differs is not known."""
    not_compared: Mapping[str, str]
    """Question id -> why it is not compared."""
    comparison: ResultsComparison


def compare_runs(
    first: Path,
    second: Path,
    *,
    labels: str | None = None,
    question: str | None = None,
    by_id_alone: bool = False,
    seed: int = 0,
) -> TwoRuns:
    """Read two results files and compare them.

    Raises InvalidInput where a file cannot be read or is empty, where no question and where no
    row can be compared.
    """
    for results in (first, second):
        if next(read_results(results), None) is None:
            raise InvalidInput(f"{str(results)!r} holds no results: there is nothing to compare")
    record_a, record_b = read_record(first), read_record(second)
    asked_a, asked_b = _asked(first, record_a), _asked(second, record_b)
    both = comparable(asked_a, asked_b)
    questions = _chosen(both.questions, both.others, question)
    mark_a, mark_b = (None if each is None else each.fingerprint for each in (record_a, record_b))
    a = file_answers(read_results(first), questions, fingerprint=mark_a, other=mark_b)
    b = file_answers(read_results(second), questions, fingerprint=mark_b, other=mark_a)
    comparison = compare_results(
        a,
        b,
        questions,
        labels=None if labels is None else read_label_file(labels, questions),
        by_id_alone=by_id_alone,
        seed=seed,
    )
    return TwoRuns(
        first=Run(first, record_a, asked_a, a),
        second=Run(second, record_b, asked_b, b),
        differences=_differences(record_a, record_b),
        not_compared=both.others if question is None else {},
        comparison=comparison,
    )


def _asked(results: Path, record: RunRecord | None) -> Mapping[str, Question]:
    return seen_questions(read_results(results)) if record is None else record.questions


def _differences(
    first: RunRecord | None, second: RunRecord | None
) -> tuple[Difference, ...] | None:
    return None if first is None or second is None else run_differences(first, second)


def _chosen(
    questions: Mapping[str, Question], others: Mapping[str, str], name: str | None
) -> dict[str, Question]:
    if name is not None and name in others:
        raise InvalidInput(f"--question {name!r} cannot be compared: {others[name]}")
    if not questions:
        why = "; ".join(f"{name}: {why}" for name, why in others.items())
        raise InvalidInput(
            "A and B have no question with the same options in common"
            + (f" ({why})" if why else ": no answer has a distribution")
        )
    if name is None:
        return dict(questions)
    if name not in questions:
        raise InvalidInput(f"--question: {unknown_name('question', name, questions)}")
    return {name: questions[name]}
