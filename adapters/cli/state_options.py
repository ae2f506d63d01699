"""The options that give one state to judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.json_values import JSON

StateText: TypeAlias = Annotated[
    str | None, typer.Option("--state", metavar="TEXT", help="The text to judge.")
]
StateJson: TypeAlias = Annotated[
    str | None, typer.Option("--state-json", metavar="JSON", help="The state as JSON.")
]
StateFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--state-file", metavar="FILE", help="Text, or JSON if it ends in .json."),
]


def given_state(text: str | None, source: str | None, file: Path | None) -> tuple[JSON] | None:
    """Return the state, None where no option gives one; InvalidInput for two or no JSON."""
    from classify.json_rows import parse_json

    given = sum(value is not None for value in (text, source, file))
    if given > 1:
        raise InvalidInput("give the state by one of --state, --state-json and --state-file")
    if text is not None:
        return (text,)
    if file is not None:
        source = _read(file)
        if file.suffix.lower() != ".json":
            return (source,)
    if source is None:
        return None
    try:
        return (parse_json(source),)
    except ValueError as error:
        raise InvalidInput(f"the state is no JSON: {error}") from None


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"--state-file {str(file)!r}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidInput(f"--state-file {str(file)!r} is not UTF-8") from None
