"""What the commands that read results are given: the file, labels, and what was asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias, TypeVar

import typer

from classify.adapters.cli.console import say
from classify.errors import CalibrationError, InvalidInput

if TYPE_CHECKING:
    from classify.calibration.result_labels import LabelledAnswers
    from classify.questions import Question
    from classify.results import Result

Found = TypeVar("Found")

Results: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="Results file of `classify run`.")
]
Labels: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels by id, in place of the results' own: JSONL, CSV … with id, a field for each "
        "question (or label), and if wanted weight (2 counts as two labels) and group.",
    ),
]
SpecOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--spec", metavar="SPEC", help="Spec of the run, where its .run.json is not at hand."
    ),
]
OneQuestion: TypeAlias = Annotated[
    str | None, typer.Option("--question", metavar="ID", help="Only this question.")
]
OverwritePage: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace a file that is no page of `classify`.")
]
Seed: TypeAlias = Annotated[int, typer.Option(help="Seed of folds and resamples.")]


def asked_questions(results: Path, spec: str | None) -> tuple[dict[str, Question], str, int] | None:
    """Return the questions as they were asked, the model and the orders; None if unknown."""
    from classify.run_record import read_record
    from classify.spec import load_spec

    if spec is not None:
        read = load_spec(spec)
        model = (read.model or "").partition("/")[2]
        return dict(read.questions), model, read.options.orders
    record = read_record(results)
    return None if record is None else (record.questions, record.model_id, record.options.orders)


def read_answers(
    results: Path, *, labels: str | None, spec: str | None, question: str | None
) -> dict[str, LabelledAnswers]:
    """Return the answers to each question, or to the one that is named, with their labels."""
    from classify.calibration.label_file import read_label_file
    from classify.calibration.result_labels import labelled_results, seen_questions
    from classify.results import read_results

    check_some(results)
    asked = asked_questions(results, spec)
    if asked is None:
        say("the questions are taken from the answers: no .run.json, and no --spec")
        asked = seen_questions(read_results(results)), "", 1
    questions, model, orders = asked
    questions = only(questions, question)
    given = None if labels is None else read_label_file(labels, questions)
    shared = _SharedIds(given or ())
    found = labelled_results(
        shared.looked_at(read_results(results)), questions, labels=given, model=model, orders=orders
    )
    shared.tell()
    _tell_unfinished(results, rows=next(iter(found.values())).total)
    return found


class _SharedIds:
    """Labelled ids that several states have: a label by id then counts for each of them."""

    def __init__(self, labelled: Iterable[str]) -> None:
        self._labelled = frozenset(labelled)
        self._first = dict[str, tuple[str, str]]()
        self._shared = dict[str, None]()

    def looked_at(self, results: Iterable[Result]) -> Iterator[Result]:
        from classify.calibration.read_items import read_item

        for result in results:
            if result.id in self._labelled:
                item = read_item(result)
                if self._first.setdefault(result.id, item) != item:
                    self._shared[result.id] = None
            yield result

    def tell(self) -> None:
        """Say so; nothing where each labelled id is of one state."""
        if self._shared:
            say(
                f"{len(self._shared)} of the labelled ids name several states, such as "
                f"{next(iter(self._shared))!r}: what people said of one counts for each"
            )


def _tell_unfinished(results: Path, *, rows: int) -> None:
    from classify.run_record import read_record

    record = read_record(results)
    if record is not None and rows < (record.rows or 0):
        say(
            f"{results} holds {rows} of the {record.rows} rows of its run, which was stopped or "
            "still goes on"
        )


def with_labels(answers: Mapping[str, LabelledAnswers]) -> dict[str, LabelledAnswers]:
    """Return those that have a label; CalibrationError, with the way out, where none has."""
    from classify.calibration.result_labels import no_distribution

    if not any(len(each.y) for each in answers.values()):
        rows = "; ".join(f"{name}: {no_distribution(e.left_out)}" for name, e in answers.items())
        raise CalibrationError(f"no answer has a distribution ({rows})")
    labelled = {name: each for name, each in answers.items() if (each.labelled | each.rated).any()}
    if not labelled:
        rows = "; ".join(f"{name}: {each.nothing_labelled}" for name, each in answers.items())
        raise CalibrationError(
            f"no answer has a label ({rows}): give --labels FILE, or run with labelled rows"
        )
    return labelled


def of_each(questions: Iterable[str], measure: Callable[[str], Found]) -> dict[str, Found]:
    """Return what is found of each question; say of the others why there is nothing.

    Raises CalibrationError where nothing is found of any.
    """
    found: dict[str, Found] = {}
    failed: dict[str, CalibrationError] = {}
    for name in questions:
        try:
            found[name] = measure(name)
        except CalibrationError as error:
            failed[name] = error
    if failed and not found:
        raise CalibrationError("; ".join(f"{name}: {why}" for name, why in failed.items()))
    for name, why in failed.items():
        say(f"{name}: {why}")
    return found


def check_results(results: Path) -> None:
    """Raise InvalidInput where the file cannot be read or begins like something else."""
    from classify.results import check_results_line

    if results.is_fifo():
        raise InvalidInput(
            f"results {str(results)!r} are a pipe, and are read more than once: write them to a "
            "file first"
        )
    try:
        with results.open("rb") as file:
            first = file.readline()
    except OSError as error:
        raise InvalidInput(f"results {str(results)!r} cannot be read: {error.strerror}") from None
    check_results_line(first, results)


def check_some(results: Path) -> None:
    """Raise InvalidInput where the file cannot be read or holds no results."""
    from classify.results import read_results

    check_results(results)
    if next(read_results(results), None) is None:
        raise InvalidInput(f"{str(results)!r} holds no results: run some rows first")


def only(questions: Mapping[str, Question], name: str | None) -> dict[str, Question]:
    """Return all questions, or the one named; InvalidInput where there is none."""
    from classify.validation import unknown_name

    if not questions:
        raise InvalidInput("the results hold no answer with a distribution")
    if name is None:
        return dict(questions)
    if name not in questions:
        raise InvalidInput(f"--question: {unknown_name('question', name, questions)}")
    return {name: questions[name]}


def print_lines(name: str, lines: list[str]) -> None:
    """Print a question's lines on standard output under its name."""
    from classify.display.safe_text import visible

    print(visible(name))
    for line in lines:
        print(f"  {visible(line)}")
    print()
