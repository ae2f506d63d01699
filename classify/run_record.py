"""What a run asked and of which model, kept beside its results for those who read them later."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import ValidationError

from classify.classifier import Classifier
from classify.errors import InvalidInput
from classify.options import Options
from classify.questions import Question
from classify.validation import Strict, invalid_input


class RunRecord(Strict):
    """The questions of a run as they were asked, the model, and how it was read."""

    classifier_id: str
    provider: str
    model_id: str
    questions: dict[str, Question]
    options: Options
    fingerprint: str
    rows: int | None = None
    """How many rows the run set out to answer; None where they could not be counted beforehand."""

    @classmethod
    def of(cls, classifier: Classifier, *, rows: int | None = None) -> RunRecord:
        """Return the record of a classifier's runs."""
        return cls(
            classifier_id=classifier.id,
            provider=classifier.model.provider,
            model_id=classifier.model.model_id,
            questions=classifier.questions,
            options=classifier.options,
            fingerprint=classifier.fingerprint,
            rows=rows,
        )


def record_path(results: str | Path) -> Path:
    """Return where the record of a results file is: beside it, ending in ".run.json"."""
    path = Path(results)
    return path.with_name(f"{path.name}.run.json")


def write_record(results: str | Path, record: RunRecord) -> None:
    """Write the record of a results file, whole or not at all."""
    target = record_path(os.path.realpath(results))
    partial = target.with_name(f"{target.name}.{os.getpid()}.partial")
    try:
        partial.write_text(record.model_dump_json(indent=1) + "\n", encoding="utf-8")
        partial.replace(target)
    except OSError as error:
        raise InvalidInput(f"{str(target)!r} cannot be written: {error.strerror}") from None


def read_record(results: str | Path) -> RunRecord | None:
    """Return the record of a results file, None where there is none; InvalidInput if damaged."""
    path = record_path(os.path.realpath(results))
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(path)!r} cannot be read: {error}") from None
    try:
        return RunRecord.model_validate_json(text)
    except ValidationError as error:
        problem = invalid_input(error, "the record", with_values=False)
        raise InvalidInput(
            f"{str(path)!r} is no record of a run: {problem}; without that file, name the spec "
            "of the run"
        ) from None
