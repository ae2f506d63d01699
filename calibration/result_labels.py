"""The results of a run as arrays, question by question: what calibration and metrics work on.

Options are columns in canonical order. A boolean's columns are (true, false), so label 0 is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import NoneType
from typing import cast

import numpy as np
from numpy.typing import NDArray

from classify.answers import Answer, AnyAnswer, NoVerdict
from classify.calibrating import Origin, log_distribution, origin
from classify.calibration.arrays import Floats, Ints
from classify.calibration.given_labels import GivenLabels, told_of_no_row
from classify.calibration.label_file import RowLabels
from classify.calibration.read_items import read_item
from classify.calibration.settings import of_type, whole_number
from classify.errors import InvalidInput
from classify.evidence import Evidence
from classify.labels import canonical
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result
from classify.row_labels import Label

NO_LABEL = -1
_RESULTS = "Result rows, as read_results() gives them"
_NONE_GIVEN, BETWEEN = "no label", "label between two levels"
_WEIGHTLESS = "label of weight 0"
_ANOTHER_READOUT = "ask a model or readout that gives probabilities"
_WAYS_OUT = {
    "failed": "see what went wrong with `classify show`, and run the rows again",
    "no verdict, low_label_mass": (
        "the labels got too little probability; name another readout in the spec's options, or "
        "min_coverage: 0 to count what little there is"
    ),
    "no verdict, uncertain": (
        "a policy handed all of them over; use the results of a run without --abstain"
    ),
}


@dataclass(frozen=True, slots=True)
class LabelledAnswers:
    """The answers to one question that have a distribution, with and without labels."""

    question: Question
    log_p: Floats
    """(n, K), a row per answer and label; an answer without a label has one row."""
    y: Ints
    """(n,), the true option's column, -1 where no label names one: `y[labelled]` are labels."""
    ratings: Floats
    """(n,), a score's label as a number, also between two levels; nan where there is none."""
    weights: Floats
    groups: tuple[str, ...]
    """Of every row, the item by `read_item` (or the group it was given): rows of one are not
    independent."""
    items: Ints
    """(n,), the number of the item that was read, whatever the group."""
    places: Ints
    """(n,), the row of the results; a row with several labels is there several times."""
    origins: tuple[Origin, ...]
    """The ways in which answers were made, the commonest first."""
    made: Ints
    """(n,), the index of each row's origin."""
    calibrated: int
    """Answers that a calibrator changed already."""
    left_out: Mapping[str, int]
    """Why -> how many rows have no distribution, or no label that names an option."""
    total: int
    """Rows of the results."""
    given: int
    """The same, an item with several labels counted for each, and labels of no row: what n of every
    number is of."""
    of_no_row: tuple[str, ...] = ()
    """The ids of labels that name no row of the results, such as one that a stopped run did not
    reach; an id is there for each of its labels."""

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the columns."""
        return canonical(self.question)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows have a label."""
        has_label: NDArray[np.bool_] = self.y != NO_LABEL
        return has_label

    @property
    def rated(self) -> NDArray[np.bool_]:
        """Which rows have a number from people: those of a score with any label."""
        has_number: NDArray[np.bool_] = ~np.isnan(self.ratings)
        return has_number

    @property
    def between(self) -> int:
        """How many labels lie between two levels, as means of several raters do."""
        return int(np.count_nonzero(self.rated & ~self.labelled))

    @property
    def unanswered(self) -> int:
        """How many rows have no distribution: failed, or without a verdict."""
        has_one = (_NONE_GIVEN, BETWEEN)
        return sum(count for why, count in self.left_out.items() if why not in has_one)

    @property
    def used(self) -> str:
        """Say "n used of N" and why the others were not."""
        return self.used_of(self.labelled, self.left_out)

    def used_of(self, rows: NDArray[np.bool_], left_out: Mapping[str, int]) -> str:
        """Say "n used of N" of these rows, and why the others were not."""
        counted = rows & (self.weights > 0.0)
        n = len({*np.array(self.groups)[counted].tolist()}) if self.repeated else None
        items = f" ({n} items)" if n is not None else ""
        reasons = dict(left_out)
        if (weightless := int(rows.sum() - counted.sum())) > 0:
            reasons[_WEIGHTLESS] = weightless
        told = [f"{reason}: {count}" for reason, count in reasons.items()]
        told += [told_of_no_row(self.of_no_row)] if self.of_no_row else []
        why = "; ".join(told)
        said = f"{int(counted.sum())} labelled rows{items} used of {self.given}"
        return said + (f" ({why})" if why else "")

    @property
    def nothing_labelled(self) -> str:
        """Say whether it is distributions or labels that are missing, where no row has both."""
        if not len(self.y):
            return f"no answer has a distribution ({no_distribution(self.left_out)})"
        return f"no answer with a distribution has a label ({self.used})"

    @property
    def repeated(self) -> bool:
        """Whether some item has several rows."""
        return len(set(self.groups)) < len(self.groups)

    @property
    def read_first(self) -> NDArray[np.bool_]:
        """Which rows are of the first answer with a label to their item, all its labels with it.

        Chance values take answers for independent, which readings of one state are not.
        """
        counted = (self.labelled | self.rated) & (self.weights > 0.0)
        first = np.full(int(self.items.max(initial=-1)) + 1, len(self.y) + self.total)
        np.minimum.at(first, self.items[counted], self.places[counted])
        is_first: NDArray[np.bool_] = counted & (self.places == first[self.items])
        return is_first

    @property
    def dependence(self) -> str:
        """What rows with a label that are of one item change; "" where none are."""
        groups = np.array(self.groups, dtype=object)
        counted, first = (self.labelled | self.rated) & (self.weights > 0.0), self.read_first
        rows, items = int(first.sum()), len(set(groups[first].tolist()))
        told = list[str]()
        if rows < counted.sum():
            told.append("null values and p-values are of the first answer to each item")
        if items < rows:
            told.append(
                "null values, p-values and intervals that do not say clusters take "
                f"{rows} rows of {items} items for independent"
            )
        return "; ".join(told)


@dataclass(slots=True)
class _Rows:
    """What is gathered of one question."""

    name: str
    question: Question
    log_p: list[Floats] = field(default_factory=list[Floats])
    y: list[int] = field(default_factory=list[int])
    ratings: list[float] = field(default_factory=list[float])
    weights: list[float] = field(default_factory=list[float])
    groups: list[str] = field(default_factory=list[str])
    items: list[int] = field(default_factory=list[int])
    places: list[int] = field(default_factory=list[int])
    numbers: dict[str, int] = field(default_factory=dict[str, int])
    made: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    examples: dict[tuple[object, ...], Answer] = field(
        default_factory=dict[tuple[object, ...], Answer]
    )
    left_out: Counter[str] = field(default_factory=Counter[str])
    calibrated: int = 0
    failed: int = 0

    def add(
        self, place: int, result: Result, answer: AnyAnswer | None, labels: Sequence[_Given]
    ) -> None:
        reason = unusable(answer)
        if reason or answer is None or isinstance(answer, NoVerdict):
            self.left_out[reason] += 1
            self.failed += 1
            return
        options = answer.probabilities or {}
        if options.keys() != set(self.question.options):
            raise InvalidInput(
                f"row {result.id!r} answers with the options {', '.join(options)} and the question "
                f"has {', '.join(self.question.options)}: give the spec of the run that wrote it"
            )
        log_p, key = log_distribution(answer), _way(answer)
        _, item = read_item(result)
        evidence = answer.evidence or Evidence()
        self.calibrated += evidence.calibrator is not None
        self.examples.setdefault(key, answer)
        if not labels:
            self.left_out[_NONE_GIVEN] += 1
        rows: list[tuple[Label | None, float, str | None]] = [*labels]
        for label, weight, group in rows or [(None, 1.0, None)]:
            column = NO_LABEL if label is None else _column(self.question, label)
            if label is not None and column == NO_LABEL:
                self.left_out[BETWEEN] += 1
            scored = label is not None and isinstance(self.question, Score)
            self.log_p.append(log_p)
            self.y.append(column)
            self.ratings.append(float(label) if scored and label is not None else np.nan)
            self.weights.append(weight)
            self.groups.append(item if group is None else group)
            self.items.append(self.numbers.setdefault(item, len(self.numbers)))
            self.places.append(place)
            self.made.append(key)

    def gathered(
        self, *, total: int, model: str, orders: int, of_no_row: tuple[str, ...]
    ) -> LabelledAnswers:
        k = len(self.question.options)
        ways = [key for key, _ in Counter(self.made).most_common()]
        place = {key: index for index, key in enumerate(ways)}
        return LabelledAnswers(
            question=self.question,
            log_p=np.array(self.log_p).reshape(-1, k),
            y=np.array(self.y, dtype=np.int64),
            ratings=np.array(self.ratings, dtype=np.float64),
            weights=np.array(self.weights),
            groups=tuple(self.groups),
            items=np.array(self.items, dtype=np.int64),
            places=np.array(self.places, dtype=np.int64),
            origins=tuple(
                origin(self.question, self.examples[key], self.name, model=model, orders=orders)
                for key in ways
            ),
            made=np.array([place[key] for key in self.made], dtype=np.int64),
            calibrated=self.calibrated,
            left_out=dict(self.left_out),
            total=total,
            given=len(self.y) + self.failed + len(of_no_row),
            of_no_row=of_no_row,
        )


_Given = tuple[Label, float, str | None]


def checked_results(results: Iterable[Result]) -> Iterator[Result]:
    """Return the results one by one; CalibrationError for anything else."""
    of_type(results, Iterable, name="results", what=_RESULTS)
    for number, result in enumerate(results):
        of_type(result, Result, name=f"results[{number}]", what=_RESULTS)
        yield result


def check_questions(questions: object, labels: object) -> None:
    """Raise CalibrationError unless questions and labels are found by their ids."""
    of_type(questions, Mapping, name="questions", what="a mapping of ids to questions")
    for name, question in cast("Mapping[object, object]", questions).items():
        check_question(question, name=f"questions[{name!r}]")
    check_labels(labels)


def check_question(question: object, *, name: str = "question") -> None:
    """Raise CalibrationError for what is no question."""
    of_type(question, (Boolean, Choice, Score), name=name, what="a Boolean, a Choice or a Score")


def check_labels(labels: object) -> None:
    """Raise CalibrationError unless labels are found by the ids of rows, or left to the results."""
    what = "a mapping of row ids to lists of RowLabels, as read_label_file() returns, or None"
    of_type(labels, (Mapping, NoneType), name="labels", what=what)
    for identity, rows in cast("Mapping[object, object]", labels or {}).items():
        of_type(rows, Sequence, name=f"labels[{identity!r}]", what="a list of RowLabels")
        for number, row in enumerate(cast("Sequence[object]", rows)):
            of_type(row, RowLabels, name=f"labels[{identity!r}][{number}]", what="RowLabels")


def check_answers(answers: object) -> None:
    """Raise CalibrationError for what are no labelled answers, such as those of all questions."""
    what = "the LabelledAnswers of one question, as labelled_results()[question id]"
    of_type(answers, LabelledAnswers, name="answers", what=what)


def labelled_results(
    results: Iterable[Result],
    questions: Mapping[str, Question],
    *,
    labels: Mapping[str, Sequence[RowLabels]] | None = None,
    model: str = "",
    orders: int = 1,
) -> dict[str, LabelledAnswers]:
    """Gather the answers to each question, with the results' own labels or those of a file.

    `labels` (id -> labels) take the place of the results' own; those of rows that are not there are
    counted as not used. `model` and `orders` are what the run asked, for the origin of answers.
    Raises InvalidInput where no id of `labels` names a row.
    """
    check_questions(questions, labels)
    of_type(model, str, name="model", what="a text")
    whole_number(orders, name="orders", least=1)
    rows = {name: _Rows(name, question) for name, question in questions.items()}
    total, said = 0, GivenLabels(labels)
    for result in checked_results(results):
        total += 1
        own = said.of(result)
        for name, gathering in rows.items():
            given = [(row.labels[name], row.weight, row.group) for row in own if name in row.labels]
            gathering.add(total - 1, result, result.answers.get(name), given)
    return {
        name: gathering.gathered(
            total=total, model=model, orders=orders, of_no_row=said.of_no_row(name)
        )
        for name, gathering in rows.items()
    }


def seen_questions(results: Iterable[Result]) -> dict[str, Question]:
    """Return the questions as far as their answers show them: the kind and the options."""
    found: dict[str, Question] = {}
    for result in results:
        for name, answer in result.answers.items():
            if name not in found and answer.type != "no_verdict" and answer.probabilities:
                options = tuple(answer.probabilities)
                if answer.type == "choice":
                    found[name] = Choice(criteria=dict.fromkeys(options))
                elif answer.type == "score":
                    found[name] = Score(criteria=options)
                else:
                    found[name] = Boolean()
    return found


def unusable(answer: AnyAnswer | None) -> str:
    """Return why an answer has no distribution, "" where it has one."""
    if answer is None:
        return "failed"
    if isinstance(answer, NoVerdict):
        return f"no verdict, {answer.cause}"
    return "" if answer.probabilities else "no distribution"


def no_distribution(left_out: Mapping[str, int]) -> str:
    """Say why no answer has a distribution, by the counts of reasons, and what can be done."""
    if not left_out:
        return "the results have no rows: run some"
    counts = "; ".join(f"{why}: {count}" for why, count in left_out.items())
    commonest = max(left_out, key=left_out.__getitem__)
    return f"{counts}: {_WAYS_OUT.get(commonest, _ANOTHER_READOUT)}"


def _way(answer: Answer) -> tuple[object, ...]:
    e = answer.evidence or Evidence()
    read = (e.readout or answer.method, e.reason is not None, e.prior_method)
    return (e.reported_model, *read, e.template, e.prompt_form, e.state_name, e.length_rule)


def _column(question: Question, label: Label) -> int:
    """Return the label's column; -1 for a mean of levels, which names none."""
    if isinstance(question, Boolean):
        return 0 if label else 1
    if isinstance(question, Choice):
        return canonical(question).index(str(label))
    level = float(label)
    return int(level) if level.is_integer() else NO_LABEL
