"""Artefacts on disk: one JSON file with a checksum, for one question or several."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from pydantic import TypeAdapter, ValidationError

from classify.calibration.artefact import CalibrationArtefact, digest
from classify.calibration.settings import of_type
from classify.errors import CalibrationError
from classify.validation import invalid_input

FORMAT = "classify-calibration"
VERSION = 1
_ARTEFACT = "what make_artefact() returns, in a list"

_ARTEFACTS: TypeAdapter[tuple[CalibrationArtefact, ...]] = TypeAdapter(
    tuple[CalibrationArtefact, ...]
)


def save_artefacts(path: str | Path, artefacts: Sequence[CalibrationArtefact]) -> None:
    """Write artefacts, whole or not at all.

    Raises CalibrationError where there is none, and for a file that cannot be written.
    """
    of_type(path, (str, Path), name="path", what="the path of a file")
    of_type(artefacts, Sequence, name="artefacts", what=_ARTEFACT)
    for number, each in enumerate(artefacts):
        of_type(each, CalibrationArtefact, name=f"artefacts[{number}]", what=_ARTEFACT)
    if not artefacts:
        raise CalibrationError("there is no artefact to save")
    values = _ARTEFACTS.dump_python(tuple(artefacts), mode="json")
    body = {"format": FORMAT, "version": VERSION, "sha256": digest(values), "artefacts": values}
    target = Path(path)
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    text = json.dumps(body, ensure_ascii=False, indent=1) + "\n"
    try:
        partial.write_text(text, encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise CalibrationError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def load_artefacts(path: str | Path) -> tuple[CalibrationArtefact, ...]:
    """Read the artefacts of a file.

    Raises CalibrationError for a file that is missing, of another kind, of a later version, or
    not as it was written.
    """
    of_type(path, (str, Path), name="path", what="the path of a file")
    body = _body(path)
    if body.get("format") != FORMAT:
        raise CalibrationError(
            f"{str(path)!r} is not a calibration artefact: its format is "
            f"{body.get('format')!r} and not {FORMAT!r}"
        )
    if body.get("version") != VERSION:
        raise CalibrationError(
            f"{str(path)!r} has the version {body.get('version')!r} and this library reads "
            f"{VERSION!r}; use the library that wrote it, or calibrate again"
        )
    values = body.get("artefacts")
    if body.get("sha256") != digest(values):
        raise CalibrationError(
            f"{str(path)!r} was changed or damaged after it was written: the checksum does not "
            "match; calibrate again"
        )
    try:
        return _ARTEFACTS.validate_json(json.dumps(values))
    except ValidationError as error:
        raise CalibrationError(
            f"{str(path)!r} does not hold artefacts: {invalid_input(error, 'artefacts')}"
        ) from error


def _body(path: str | Path) -> dict[str, object]:
    try:
        body: object = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CalibrationError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise CalibrationError(
            f"{str(path)!r} is not JSON ({error}) and so no file of calibrators: name one that "
            "`classify calibrate` wrote"
        ) from error
    if not isinstance(body, dict):
        raise CalibrationError(f"{str(path)!r} holds a JSON {type(body).__name__}, not an artefact")
    return cast("dict[str, object]", body)  # JSON has no other keys
