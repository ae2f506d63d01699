"""The answers of one results file as arrays, row by row: what comparing two files needs.

Options are columns in the order of the question. Rows are read once and not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from classify.answers import AnyAnswer, ChoiceAnswer, NoVerdict, most_probable
from classify.calibration.arrays import Floats, Ints
from classify.calibration.read_items import ReadItem, read_item
from classify.questions import Question
from classify.results import Result, state_key
from classify.row_labels import Label
from classify.run_summary import RunSummary, summarize

NO_VERDICT = -1
ANSWERED = -1
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class AnswerColumns:
    """The answers to one question."""

    verdicts: Ints
    """(n,), the column of the most probable option; -1 where there is no verdict."""
    p: Floats
    """(n, K), the probabilities; nan where an answer has none."""
    values: Floats
    """(n,), the score, or P(true); nan where there is none."""
    missing: Ints
    """(n,), the index of the cause for which there is no verdict; -1 where there is one."""
    causes: tuple[str, ...]

    def rows(self, places: Ints) -> AnswerColumns:
        """Return the rows at these places."""
        return AnswerColumns(
            self.verdicts[places],
            self.p[places],
            self.values[places],
            self.missing[places],
            self.causes,
        )

    def missing_counts(self) -> dict[str, int]:
        """Return cause -> rows without a verdict, the commonest first."""
        counts = [(int((self.missing == i).sum()), cause) for i, cause in enumerate(self.causes)]
        return {cause: count for count, cause in sorted(counts, reverse=True) if count}


@dataclass(frozen=True, slots=True)
class StateMark:
    """What tells whether two rows are about the same state, without keeping either."""

    marks: frozenset[int]
    """Of the state's keys under every fingerprint that is known."""
    kept: bool
    """Whether the result holds its state."""
    read: bool
    """Whether the row could be read at all."""


@dataclass(frozen=True, slots=True)
class FileAnswers:
    """One results file: its rows, their answers to each question, and what they took."""

    ids: tuple[str, ...]
    items: tuple[ReadItem, ...]
    """What the model read in each row: rows of one state are one item, whatever their ids."""
    fingerprint: str | None
    """Of the run, where it is known."""
    states: tuple[StateMark, ...]
    answers: Mapping[str, AnswerColumns]
    """Question id -> answers."""
    labels: tuple[Mapping[str, Label], ...]
    """The results' own."""
    seconds: Floats
    """(n,), what each row took; nan where that is not known."""
    askings: tuple[int | None, ...]
    """What tells the one time that the model was asked for a row; None where nothing does."""
    summary: RunSummary


def file_answers(
    results: Iterable[Result],
    questions: Mapping[str, Question],
    *,
    fingerprint: str | None = None,
    other: str | None = None,
) -> FileAnswers:
    """Read the answers to these questions.

    With the fingerprints of this run and of the other one, a state is recognised also where one
    of the two files was told to leave states out.
    """
    known = ("", *(each for each in (fingerprint, other) if each is not None))
    gathering = _Gathering(questions, known)
    summary = summarize(gathering.watched(results), questions)
    return gathering.gathered(summary, fingerprint)


@dataclass(slots=True)
class _Gathering:
    questions: Mapping[str, Question]
    fingerprints: tuple[str, ...]
    ids: list[str] = field(default_factory=list[str])
    items: list[ReadItem] = field(default_factory=list[ReadItem])
    states: list[StateMark] = field(default_factory=list[StateMark])
    labels: list[Mapping[str, Label]] = field(default_factory=list[Mapping[str, Label]])
    seconds: list[float] = field(default_factory=list[float])
    askings: list[int | None] = field(default_factory=list[int | None])
    columns: dict[str, _Columns] = field(default_factory=dict[str, "_Columns"])

    def watched(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the results, and keep what is needed of each."""
        self.columns = {name: _Columns(question) for name, question in self.questions.items()}
        for result in results:
            self.ids.append(result.id)
            self.items.append(read_item(result))
            self.states.append(_state_mark(result, self.fingerprints))
            self.labels.append(result.labels)
            self.seconds.append(np.nan if result.seconds is None else result.seconds)
            self.askings.append(None if result.asking is None else hash(result.asking))
            for name, columns in self.columns.items():
                columns.add(result.answers.get(name))
            yield result

    def gathered(self, summary: RunSummary, fingerprint: str | None) -> FileAnswers:
        return FileAnswers(
            ids=tuple(self.ids),
            items=tuple(self.items),
            fingerprint=fingerprint,
            states=tuple(self.states),
            answers={name: columns.gathered() for name, columns in self.columns.items()},
            labels=tuple(self.labels),
            seconds=np.array(self.seconds, dtype=np.float64),
            askings=tuple(self.askings),
            summary=summary,
        )


@dataclass(slots=True)
class _Columns:
    question: Question
    verdicts: list[int] = field(default_factory=list[int])
    p: list[list[float]] = field(default_factory=list[list[float]])
    values: list[float] = field(default_factory=list[float])
    missing: list[int] = field(default_factory=list[int])
    causes: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, answer: AnyAnswer | None) -> None:
        options = self.question.options
        if answer is None or isinstance(answer, NoVerdict):
            cause = FAILED if answer is None else f"no verdict, {answer.cause}"
            self.missing.append(self.causes.setdefault(cause, len(self.causes)))
            self.verdicts.append(NO_VERDICT)
            self.p.append([np.nan] * len(options))
            self.values.append(np.nan)
            return
        self.missing.append(ANSWERED)
        self.verdicts.append(options.index(most_probable(answer)))
        p = answer.probabilities
        self.p.append([np.nan] * len(options) if p is None else [p[name] for name in options])
        if isinstance(answer, ChoiceAnswer):
            self.values.append(np.nan)
        else:
            self.values.append(answer.score if answer.type == "score" else answer.probability)

    def gathered(self) -> AnswerColumns:
        return AnswerColumns(
            np.array(self.verdicts, dtype=np.int64),
            np.array(self.p, dtype=np.float64).reshape(-1, len(self.question.options)),
            np.array(self.values, dtype=np.float64),
            np.array(self.missing, dtype=np.int64),
            tuple(self.causes),
        )


def _state_mark(result: Result, fingerprints: tuple[str, ...]) -> StateMark:
    keys = [] if result.key is None else [result.key]
    if result.has_state:
        keys += [state_key(fingerprint, result.state) for fingerprint in fingerprints]
    # A number for each key of 64 characters: two files of 50,000 rows are held at once.
    return StateMark(frozenset(map(hash, keys)), result.has_state, result.key is not None)
