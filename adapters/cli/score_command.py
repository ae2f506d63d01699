"""`classify score`: classify rows, score the answers, and say whether that is good enough."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from classify.adapters.cli.console import UNUSABLE, reported, say
from classify.adapters.cli.field_options import (
    AsJson,
    IdField,
    LabelField,
    Limit,
    Model,
    StateField,
)
from classify.errors import ClassifyError, InvalidInput


@reported
def score(
    spec: Annotated[str, typer.Argument(metavar="SPEC", help="Score spec: a spec with scorers.")],
    rows: Annotated[
        str,
        typer.Argument(metavar="DATA", help="JSONL, JSON, CSV, TSV or Parquet file; - is stdin."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT.jsonl", help="Results with scores.")
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
    max_failures: Annotated[
        int,
        typer.Option(
            min=0, help="Rows without an answer, or a verdict, that are no error; gates allow none."
        ),
    ] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the results file; ask nothing twice.")
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
    as_json: AsJson = False,
) -> None:
    """Score the rows of a file, and hold the scores against thresholds and gates.

    Exit code 0: all hold, or there are none. 1: a gate or a threshold failed. 2: what was given
    cannot be used, or rows have no answer.
    """
    from classify.adapters.cli.score_job import ScoreJob

    if resume and overwrite:
        raise InvalidInput("--resume and --overwrite exclude each other")
    job = ScoreJob(
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
        max_failures=max_failures,
    )
    try:
        code = job.perform()
    except ClassifyError as error:
        # 1 would say that a gate failed.
        say(f"error: {error}", style="red")
        code = UNUSABLE
    raise typer.Exit(code)
