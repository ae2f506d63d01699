"""The `classify` command: its sub-commands, each in a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from classify.adapters.cli import (
    agree_command,
    audit_command,
    calibrate_command,
    compare_command,
    explain_command,
    metrics_command,
    models_command,
    report_command,
    run_command,
    score_command,
    show_command,
    spec_commands,
    view_command,
)
from classify.adapters.cli.console import tolerate_any_encoding, whole_output
from classify.version import __version__

app = typer.Typer(
    name="classify",
    help="Ask language models typed questions about texts, and get probabilities with evidence.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local variables would show the texts that are judged.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run_command.run)
app.command("score")(score_command.score)
app.command("show")(show_command.show_state)
app.command("explain")(explain_command.explain)
app.command("calibrate")(calibrate_command.calibrate)
app.command("metrics")(metrics_command.metrics)
app.command("agree")(agree_command.agree)
app.command("compare")(compare_command.compare)
app.command("audit")(audit_command.audit)
app.command("report")(report_command.report)
app.command("view")(view_command.view)
app.command("validate")(spec_commands.validate)
app.command("schema")(spec_commands.schema)
app.command("init")(spec_commands.init)
app.add_typer(models_command.app, name="models")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"classify {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Read the options that stand before any command."""


def main() -> None:
    """Run the command line."""
    tolerate_any_encoding()
    with whole_output():
        app()
