"""The reference of the `classify` command, from the program's own parser."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Protocol, cast

import typer

from classify.adapters.cli.main import app


class _Parameter(Protocol):
    def get_help_record(self, context: object) -> tuple[str, str] | None: ...


class _Command(Protocol):
    """What is used of typer's commands, whose classes differ between its versions."""

    help: str | None

    def make_context(
        self, name: str, arguments: list[str], *, resilient_parsing: bool
    ) -> object: ...
    def get_usage(self, context: object) -> str: ...
    def get_params(self, context: object) -> list[_Parameter]: ...


def commands_page() -> str:
    """Return a section of Markdown for each command, with its usage and its options."""
    root = cast("_Command", typer.main.get_command(app))
    return "\n\n".join(_section(name, command) for name, command in _commands("classify", root))


def _commands(name: str, command: _Command) -> Iterator[tuple[str, _Command]]:
    yield name, command
    inner = cast("dict[str, _Command]", getattr(command, "commands", {}))
    for part, each in inner.items():
        yield from _commands(f"{name} {part}", each)


def _section(name: str, command: _Command) -> str:
    context = command.make_context(name, [], resilient_parsing=True)
    usage = command.get_usage(context).removeprefix("Usage: ")
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    rows = [f"| `{_cell(names)}` | {_cell(text)} |" for names, text in filter(None, records)]
    return "\n".join(
        [
            f"## {name}",
            "",
            inspect.cleandoc(command.help or ""),
            "",
            "```text",
            " ".join(usage.split()),
            "```",
            "",
            "| argument or option | meaning |",
            "|---|---|",
            *rows,
        ]
    )


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
