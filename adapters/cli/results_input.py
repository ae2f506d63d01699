"""What the commands that read results are given: the file, labels, and what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from classify.adapters.cli.console import say
from classify.errors import CalibrationError, InvalidInput

if TYPE_CHECKING:
    from classify.calibration.result_labels import LabelledAnswers
    from classify.questions import Question

Results: TypeAlias = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="Results file of `classify run`.")
]
Labels: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Labels by id, in place of the results' own: JSONL, CSV … with id, a field for each "
        "question (or label), and if wanted weight and group.",
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

    check_results(results)
    asked = asked_questions(results, spec)
    if asked is None:
        say("the questions are taken from the answers: no .run.json, and no --spec")
        asked = seen_questions(read_results(results)), "", 1
    questions, model, orders = asked
    questions = only(questions, question)
    given = None if labels is None else read_label_file(labels, questions)
    return labelled_results(
        read_results(results), questions, labels=given, model=model, orders=orders
    )


def with_labels(answers: Mapping[str, LabelledAnswers]) -> dict[str, LabelledAnswers]:
    """Return those that have a label; CalibrationError, with the way out, where none has."""
    labelled = {name: each for name, each in answers.items() if (each.labelled | each.rated).any()}
    if not labelled:
        rows = "; ".join(f"{name}: {each.used}" for name, each in answers.items())
        raise CalibrationError(
            f"no answer has a label ({rows}): give --labels FILE, or run with labelled rows"
        )
    return labelled


def check_results(results: Path) -> None:
    """Raise InvalidInput where the file cannot be read."""
    try:
        with results.open("rb"):
            pass
    except OSError as error:
        raise InvalidInput(f"results {str(results)!r} cannot be read: {error.strerror}") from None


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
