"""`classify report`: results as one HTML file that works offline."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from classify.adapters.cli.console import reported, say
from classify.adapters.cli.results_input import (
    Labels,
    OverwritePage,
    Results,
    SpecOption,
    check_results,
)
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.adapters.report.overview import Prices

_LARGE = 20.0
"""Megabytes of results from which on reading them is noticed."""


@reported
def report(
    results: Results,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="PAGE", help="The page. Default: RESULTS ending in .html."
        ),
    ] = None,
    labels: Labels = None,
    spec: SpecOption = None,
    input_price: Annotated[
        float | None,
        typer.Option(
            "--input-price", min=0.0, metavar="MONEY", help="Price of a million tokens read."
        ),
    ] = None,
    output_price: Annotated[
        float | None,
        typer.Option(
            "--output-price", min=0.0, metavar="MONEY", help="Price of a million tokens written."
        ),
    ] = None,
    overwrite: OverwritePage = False,
) -> None:
    """Write a page about results: figures, and a table to search, filter and open rows of."""
    from classify.adapters.report.page_file import check_target
    from classify.adapters.report.report_page import make_report
    from classify.run_record import record_path
    from classify.spec import load_spec

    check_results(results)
    prices = _prices(input_price, output_price)
    page = results.with_suffix(".html") if output is None else output
    record = record_path(os.path.realpath(results))
    read = [path for path in (results, record, labels, spec) if path is not None]
    check_target(page, read=read, overwrite=overwrite)
    questions = None if spec is None else load_spec(spec).questions
    if (megabytes := results.stat().st_size / 1e6) > _LARGE:
        say(f"reading {megabytes:.0f} MB of results, which takes a while")
    made = make_report(results, questions=questions, labels=labels, prices=prices)
    size = made.write(page)
    say(f"{made.summary.rows} rows, {size / 1e6:.1f} MB: {page}")


def _prices(read: float | None, written: float | None) -> Prices | None:
    from classify.adapters.report.overview import Prices

    if read is None and written is None:
        return None
    if read is None or written is None:
        missing = "--input-price" if read is None else "--output-price"
        raise InvalidInput(f"{missing} is missing: a cost needs the prices of both kinds of token")
    return Prices(read, written)
