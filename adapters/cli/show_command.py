"""`classify show`: one state, its answers and what they rest on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic_core import to_json

from classify.adapters.cli.console import reported, say, show
from classify.adapters.cli.field_options import AsJson, Model, Specification
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.classifier import Classifier
    from classify.evaluation import Evaluation
    from classify.json_values import JSON


@reported
def show_state(
    spec: Specification,
    state: Annotated[
        str | None, typer.Option("--state", metavar="TEXT", help="The text to judge.")
    ] = None,
    state_json: Annotated[
        str | None, typer.Option("--state-json", metavar="JSON", help="The state as JSON.")
    ] = None,
    state_file: Annotated[
        Path | None,
        typer.Option("--state-file", metavar="FILE", help="Text, or JSON if it ends in .json."),
    ] = None,
    model: Model = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Time for the answers.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge one state, and show every option's probability and the evidence."""
    from classify.spec import load_spec

    judged = _state(state, state_json, state_file)
    classifier = load_spec(spec).classifier(model)
    say(f"model: {classifier.model.provider}/{classifier.model.model_id}")
    evaluation = asyncio.run(_evaluate(classifier, judged, timeout))
    if as_json:
        print(to_json(evaluation, exclude_none=True).decode())
        return
    show(evaluation)


def _state(text: str | None, source: str | None, file: Path | None) -> JSON:
    from classify.json_rows import parse_json

    given = [value for value in (text, source, file) if value is not None]
    if len(given) != 1:
        raise InvalidInput("give the state by one of --state, --state-json and --state-file")
    if text is not None:
        return text
    if file is not None:
        try:
            source = file.read_text(encoding="utf-8-sig")
        except OSError as error:
            raise InvalidInput(f"--state-file {str(file)!r}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InvalidInput(f"--state-file {str(file)!r} is not UTF-8") from None
        if file.suffix.lower() != ".json":
            return source
    try:
        return parse_json(source or "")
    except ValueError as error:
        raise InvalidInput(f"the state is no JSON: {error}") from None


async def _evaluate(classifier: Classifier, state: JSON, timeout: float | None) -> Evaluation:
    try:
        return await classifier.evaluate(state, timeout=timeout)
    finally:
        await classifier.aclose()
