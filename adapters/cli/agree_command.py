"""`classify agree`: a judge against people, or raters against one another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from classify.adapters.cli.console import reported, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    Labels,
    OneQuestion,
    SpecOption,
    asked_questions,
    check_some,
    of_each,
    only,
    print_lines,
)
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.calibration.judge_reports import JudgeReport
    from classify.calibration.true_rates import Drawn


@reported
def agree(
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS", help="Results file; with --raters a file of ratings, item by item."
        ),
    ],
    labels: Labels = None,
    question: OneQuestion = None,
    spec: SpecOption = None,
    drawn: Annotated[
        str,
        typer.Option(
            help="How labelled items were chosen: at random, by verdict, elsewhere, unknown."
        ),
    ] = "unknown",
    raters: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Fields of a ratings file, one per rater.")
    ] = None,
    levels: Annotated[
        str | None, typer.Option(metavar="X,Y,…", help="All levels of a ratings file.")
    ] = None,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="The levels of the ratings file are in order.")
    ] = False,
    epsilon: Annotated[
        float | None,
        typer.Option(
            "--may-replace",
            metavar="EPSILON",
            help="Test whether the judge may replace a person whose time is worth this much "
            "agreement (0.1 to 0.2).",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say how far judge and people agree beyond chance, and what the true rate of yes is."""
    from classify.adapters.cli.answer_methods import answer_methods, mixed_methods, with_methods
    from classify.adapters.cli.plain_json import plain

    if raters is not None:
        given = {"--labels": labels, "--question": question, "--spec": spec}
        _refuse("with", given | {"--drawn": None if drawn == "unknown" else drawn})
        report = _of_ratings(results, raters, levels, ordered, epsilon)
        if as_json:
            show_json({results.name: plain(report)})
        else:
            print_lines(results.name, report.lines())
        return
    _refuse("without", {"--levels": levels, "--ordered": ordered or None})
    check_some(results)
    reports = _of_results(results, labels, question, spec, _drawn(drawn), epsilon)
    methods = answer_methods(results)
    if as_json:
        show_json({name: with_methods(each, methods[name]) for name, each in reports.items()})
        return
    for name, each in reports.items():
        print_lines(name, [*mixed_methods(methods[name]), *each.lines()])


def _refuse(how: str, options: Mapping[str, object]) -> None:
    """Raise InvalidInput for options that say nothing with, or without, --raters."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise InvalidInput(f"{' and '.join(given)} cannot be used {how} --raters")


def _of_results(
    results: Path,
    labels: str | None,
    question: str | None,
    spec: str | None,
    drawn: Drawn,
    epsilon: float | None,
) -> dict[str, JudgeReport]:
    from classify.calibration.judge_items import judged_items
    from classify.calibration.label_file import read_label_file
    from classify.calibration.result_labels import no_distribution, seen_questions
    from classify.errors import CalibrationError
    from classify.results import read_results

    asked = asked_questions(results, spec)
    questions = only(seen_questions(read_results(results)) if asked is None else asked[0], question)
    given = None if labels is None else read_label_file(labels, questions)
    items = judged_items(read_results(results), questions, labels=given)
    labelled = {name: each for name, each in items.items() if any(each.people)}
    if all(verdict is None for each in items.values() for verdict in each.judge):
        rows = "; ".join(f"{name}: {no_distribution(e.left_out)}" for name, e in items.items())
        raise CalibrationError(f"no answer has a verdict ({rows})")
    if not labelled:
        between = sum(each.between for each in items.values())
        why = f" that names a level ({between} lie between two)" if between else ""
        raise CalibrationError(
            f"no item has a label{why}: give --labels FILE, or run labelled rows"
        )
    return of_each(labelled, lambda name: labelled[name].report(drawn=drawn, epsilon=epsilon))


def _of_ratings(
    path: Path, raters: str, levels: str | None, ordered: bool, epsilon: float | None
) -> JudgeReport:
    from classify.calibration.judge_reports import judge_report
    from classify.records import BadRecord
    from classify.row_sources import read_records

    names = [name.strip() for name in raters.split(",")]
    ratings: dict[str, list[str | None]] = {name: [] for name in names}
    fields: dict[str, None] = {}
    for record in read_records(str(path)):
        if isinstance(record, BadRecord):
            raise InvalidInput(f"{path}, {record.place}: {record.message}")
        fields.update(dict.fromkeys(record.fields))
        for name in names:
            value = record.fields.get(name)
            # As the file has it: a JSON file says true.
            text = json.dumps(value) if isinstance(value, bool) else str(value).strip()
            ratings[name].append(None if value is None or value == "" else text)
    missing = [name for name in names if name not in fields]
    if missing:
        raise InvalidInput(
            f"--raters: {path} has no field {', '.join(map(repr, missing))}; its fields are "
            f"{', '.join(fields) or 'none'}"
        )
    if levels is None:
        seen = sorted({str(value) for said in ratings.values() for value in said if value})
        raise InvalidInput(
            f"--levels is missing: name all levels, also those nobody used (seen: {','.join(seen)})"
        )
    declared = [level.strip() for level in levels.split(",")]
    return judge_report(ratings, levels=declared, ordered=ordered, epsilon=epsilon)


def _drawn(text: str) -> Drawn:
    from classify.calibration.true_rates import Drawn

    known: tuple[Drawn, ...] = get_args(Drawn)
    plain = text.replace("-", " ")
    if plain not in known:
        raise InvalidInput(f"--drawn must be one of {', '.join(known)}, got {text!r}")
    return known[known.index(plain)]
