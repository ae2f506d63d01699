"""`classify compare`: two runs over the same rows, side by side."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from classify.adapters.cli.console import reported, say, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    Labels,
    OneQuestion,
    OverwritePage,
    Seed,
    check_results,
)

if TYPE_CHECKING:
    from classify.adapters.compare.two_runs import TwoRuns


@reported
def compare(
    first: Annotated[Path, typer.Argument(metavar="A.jsonl", help="Results file of one run.")],
    second: Annotated[
        Path, typer.Argument(metavar="B.jsonl", help="Results file of another, over the same rows.")
    ],
    labels: Labels = None,
    question: OneQuestion = None,
    by_id_alone: Annotated[
        bool,
        typer.Option("--by-id-alone", help="Pair rows of one id although what was judged differs."),
    ] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PAGE", help="Write a page of it too (HTML)."),
    ] = None,
    overwrite: OverwritePage = False,
) -> None:
    """Compare two runs row by row: which answers changed, how far, and which run is right."""
    from classify.adapters.cli.compare_json import comparison_json
    from classify.adapters.cli.compare_lines import comparison_lines
    from classify.adapters.compare.two_runs import compare_runs
    from classify.display.screen import Screen

    for path in (first, second):
        check_results(path)
    if output is not None:
        _check_page(output, first, second, labels, overwrite=overwrite)
    runs = compare_runs(
        first, second, labels=labels, question=question, by_id_alone=by_id_alone, seed=seed
    )
    for side, run in (("A", runs.first), ("B", runs.second)):
        if run.record is None:
            say(f"the questions of {side} are taken from its answers: no .run.json")
    if as_json:
        show_json(comparison_json(runs))
    else:
        print("\n".join(comparison_lines(runs, Screen.standard_output(), seed=seed)))
    if output is not None:
        _write_page(output, runs, seed)


def _check_page(page: Path, *read: str | Path | None, overwrite: bool) -> None:
    from classify.adapters.report.page_file import check_target
    from classify.run_record import record_path

    paths = [path for path in read if path is not None]
    records = [record_path(os.path.realpath(path)) for path in paths]
    check_target(page, read=[*paths, *records], overwrite=overwrite)


def _write_page(page: Path, runs: TwoRuns, seed: int) -> None:
    from classify.adapters.report.compare_page import compare_page
    from classify.adapters.report.page_file import write_page

    size = write_page(page, compare_page(runs, seed=seed))
    say(f"{runs.comparison.pairing.n} pairs, {size / 1e6:.1f} MB: {page}")
