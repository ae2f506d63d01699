"""The options that say which fields of a row mean what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.rows import FieldMap, StateFields

Specification: TypeAlias = Annotated[str, typer.Argument(metavar="SPEC", help="Spec file.")]
StateField: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--state-field",
        metavar="FIELD|NAME=FIELD",
        help="Field that is judged; repeat it, or rename fields, for an object of several. "
        "Default: the first of state, text, message, content, input, prompt, review, comment, "
        "body, document, sentence, question, query; else the whole row but id and labels.",
    ),
]
LabelField: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="QUESTION=FIELD",
        help="Field with a person's answers to a question; repeat it for others. Fields named "
        "like questions are labels where no field is named, here or in the spec.",
    ),
]
IdField: TypeAlias = Annotated[
    str | None, typer.Option("--id-field", metavar="FIELD", help="Field that names a row.")
]
Limit: TypeAlias = Annotated[
    int | None, typer.Option("--limit", min=1, help="Read this many rows at most.")
]
Model: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", metavar="PROVIDER/MODEL", help="Model, in place of the spec's."),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


def chosen_fields(
    spec: FieldMap, state: list[str] | None, labels: list[str] | None, id: str | None
) -> FieldMap:
    """Return the spec's field map with what the command line says in its place.

    A label takes the place of that question's alone: a field that is a label no longer would be
    part of a state that is the whole row.
    """
    from classify.rows import FieldMap

    return FieldMap(
        state=_state_fields(state) if state else spec.state,
        labels={**(spec.labels or {}), **_label_fields(labels)} if labels else spec.labels,
        id=id or spec.id,
    )


def _state_fields(given: list[str]) -> StateFields:
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    fields: dict[str, str] = {}
    for text in given:
        name, sign, field = text.partition("=")
        name, field = name.strip(), (field if sign else name).strip()
        if not name or not field:
            raise InvalidInput(f"--state-field must be FIELD or NAME=FIELD, got {text!r}")
        if name in fields:
            raise InvalidInput(f"--state-field names {name!r} twice: rename one with NAME=FIELD")
        fields[name] = field
    return fields


def _label_fields(given: list[str]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for text in given:
        question, sign, field = (part.strip() for part in text.partition("="))
        if not (question and sign and field):
            raise InvalidInput(f"--label must be QUESTION=FIELD, got {text!r}")
        if question in fields:
            raise InvalidInput(f"--label names question {question!r} twice")
        fields[question] = field
    return fields
