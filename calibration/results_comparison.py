"""Two results files over the same rows, compared question by question.

The first file is A, the second B; every difference is B less A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from classify.calibration.arrays import Ints
from classify.calibration.comparison import PairedTest, holm
from classify.calibration.file_answers import FileAnswers
from classify.calibration.given_labels import without_row
from classify.calibration.label_comparison import LabelComparison, compare_with_labels
from classify.calibration.label_file import RowLabels
from classify.calibration.question_comparison import QuestionComparison, compare_question
from classify.calibration.read_items import ReadItem
from classify.calibration.row_pairs import Pairing, pair_rows
from classify.questions import Question

Labels = Mapping[str, Sequence[RowLabels]]
"""Id -> what each person said."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took, over all rows of its file; None where no provider said."""

    rows: int
    answered: int
    failed: int
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    rows_unknown: int
    """Answered rows for which the provider reported no tokens."""
    requests: int
    seconds: float | None
    """The median time of a row, from its first request to its answers."""
    seconds_high: float | None
    """Nine in ten rows took at most this."""


@dataclass(frozen=True, slots=True)
class ResultsComparison:
    """Two results files, compared."""

    pairing: Pairing
    questions: Mapping[str, QuestionComparison]
    labelled: Mapping[str, LabelComparison]
    """The questions that have labels."""
    adjusted: Mapping[str, float]
    """Of the tests of answers: p-values after Holm, over the questions that have one."""
    adjusted_labelled: Mapping[str, float]
    """Of the tests against labels: the same."""
    asked_once: int
    """Pairs in which both files hold what the model was asked once, as copies do."""
    without_pair: tuple[str, ...]
    """Labelled ids that name no pair."""
    label_conflicts: int
    """Pairs whose own labels differ between the files; A's are used."""
    labels: tuple[Sequence[RowLabels], ...]
    """What each person said of each pair."""
    costs: tuple[Cost, Cost]


def compare_results(
    first: FileAnswers,
    second: FileAnswers,
    questions: Mapping[str, Question],
    *,
    labels: Labels | None = None,
    by_id_alone: bool = False,
    seed: int = 0,
) -> ResultsComparison:
    """Pair the rows and compare the answers to each question.

    `labels` take the place of the results' own. Raises InvalidInput where no row has a partner,
    and where no id of `labels` names a row that has one.
    """
    pairing = pair_rows(first, second, by_id_alone=by_id_alone)
    read = [first.items[place] for place, _ in pairing.pairs]
    items = _numbers(read)
    without_pair = () if labels is None else _without_pair(first, pairing, labels)
    said, conflicts = _labels(first, second, pairing, labels)
    compared: dict[str, QuestionComparison] = {}
    labelled: dict[str, LabelComparison] = {}
    for name, question in questions.items():
        a = first.answers[name].rows(pairing.first)
        b = second.answers[name].rows(pairing.second)
        compared[name] = compare_question(question, a, b, items=items, seed=seed)
        found = compare_with_labels(question, name, a, b, items=read, labels=said, seed=seed)
        if found is not None:
            labelled[name] = found
    return ResultsComparison(
        pairing=pairing,
        questions=compared,
        labelled=labelled,
        adjusted=_adjusted({name: each.test for name, each in compared.items()}),
        adjusted_labelled=_adjusted({name: each.test for name, each in labelled.items()}),
        asked_once=sum(
            first.askings[a] is not None and first.askings[a] == second.askings[b]
            for a, b in pairing.pairs
        ),
        without_pair=without_pair,
        label_conflicts=conflicts,
        labels=tuple(said),
        costs=(cost(first), cost(second)),
    )


def cost(answers: FileAnswers) -> Cost:
    """Return what a run took."""
    summary, usage = answers.summary, answers.summary.usage
    known = answers.seconds[np.isfinite(answers.seconds)]
    return Cost(
        rows=summary.rows,
        answered=summary.answered,
        failed=summary.failed,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_tokens=usage.cached_tokens,
        rows_unknown=usage.rows_unknown,
        requests=summary.attempts,
        seconds=float(np.median(known)) if known.size else None,
        seconds_high=float(np.quantile(known, 0.9)) if known.size else None,
    )


def _without_pair(first: FileAnswers, pairing: Pairing, labels: Labels) -> tuple[str, ...]:
    paired = {first.ids[place] for place, _ in pairing.pairs}
    return tuple(without_row(labels, paired, of="both A and B"))


def _labels(
    first: FileAnswers, second: FileAnswers, pairing: Pairing, labels: Labels | None
) -> tuple[list[Sequence[RowLabels]], int]:
    """Return what people said of each pair, and in how many pairs the files' labels differ."""
    if labels is not None:
        return [labels.get(first.ids[place], ()) for place, _ in pairing.pairs], 0
    said: list[Sequence[RowLabels]] = []
    conflicts = 0
    for place, partner in pairing.pairs:
        a, b = first.labels[place], second.labels[partner]
        conflicts += any(a[name] != b[name] for name in a.keys() & b.keys())
        said.append((RowLabels({**b, **a}),))
    return said, conflicts


def _numbers(read: Sequence[ReadItem]) -> Ints | None:
    """Return the item that each pair is of; None where each is one of its own."""
    numbers = {item: number for number, item in enumerate(dict.fromkeys(read))}
    if len(numbers) == len(read):
        return None
    return np.array([numbers[item] for item in read], dtype=np.int64)


def _adjusted(tests: Mapping[str, PairedTest | None]) -> dict[str, float]:
    p_values = {name: test.p_value for name, test in tests.items() if test is not None}
    return dict(zip(p_values, holm([*p_values.values()]), strict=True)) if p_values else {}
