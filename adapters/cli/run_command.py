"""`classify run`: classify the rows of a file into a results file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from classify.adapters.cli.calibrated import Abstain, Accept, Calibrators
from classify.adapters.cli.console import reported
from classify.adapters.cli.field_options import (
    AsJson,
    IdField,
    LabelField,
    Limit,
    Model,
    Specification,
    StateField,
)
from classify.errors import InvalidInput


@reported
def run(
    spec: Specification,
    rows: Annotated[
        str,
        typer.Argument(
            metavar="ROWS", help="JSONL, JSON, CSV, TSV or Parquet file; - is JSONL on stdin."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="RESULTS.jsonl", help="Results file.")
    ],
    model: Model = None,
    state_field: StateField = None,
    label: LabelField = None,
    id_field: IdField = None,
    limit: Limit = None,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Requests in flight at a time, at most.")
    ] = 8,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time for each row.")
    ] = None,
    max_retries: Annotated[int, typer.Option(min=0, help="Retries of each request.")] = 2,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the results file; repeat nothing.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the results file.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Stop at a row that cannot be read.")
    ] = False,
    no_state: Annotated[
        bool, typer.Option("--no-state", help="Leave what is judged out of the results.")
    ] = False,
    calibrator: Calibrators = None,
    accept: Accept = None,
    abstain: Abstain = None,
    as_json: AsJson = False,
) -> None:
    """Classify the rows of a file, and write a line of JSON for each."""
    from classify.adapters.cli.run_job import RunJob

    if resume and overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other")
    if not calibrator and (accept or abstain is not None):
        raise InvalidInput("--accept and --abstain need --calibrator FILE")
    job = RunJob(
        spec=spec,
        rows=rows,
        output=output,
        model=model,
        state_fields=state_field,
        label_fields=label,
        id_field=id_field,
        limit=limit,
        concurrency=concurrency,
        timeout=timeout,
        max_retries=max_retries,
        existing="resume" if resume else "overwrite" if overwrite else "error",
        strict=strict,
        with_state=not no_state,
        as_json=as_json,
        calibrators=calibrator or (),
        accept=accept or (),
        abstain=abstain,
    )
    raise typer.Exit(job.perform())
