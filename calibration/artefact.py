"""A calibrator with all that must be known before it is used, as a JSON file.

A calibrator holds for one question asked in one way of one model. The artefact carries those
facts and refuses answers that were made otherwise, unless told which differences to accept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated

from numpy.typing import ArrayLike
from pydantic import AwareDatetime, Field, FiniteFloat, model_validator

from classify.calibration.arrays import Floats
from classify.calibration.calibrators import Calibrator
from classify.calibration.fitted import Frozen
from classify.calibration.report import Calibrated, CalibrationReport
from classify.errors import CalibrationError


class Fingerprint(Frozen):
    """The way answers were made, part by part."""

    question: Annotated[str, Field(min_length=1)]
    """The question with its instructions and criteria, as canonical JSON or as text."""
    options: tuple[str, ...] = Field(min_length=1)
    """In the order of the columns; the canonical order, so that listing them otherwise is safe."""
    model: str
    readout: str
    orders: int = Field(ge=1)
    """How many listing orders were asked and combined."""
    prompt_template: str
    """The version of the prompt template."""
    library: str
    """The version of this library."""

    @property
    def digest(self) -> str:
        """The SHA-256 of all parts, in hex."""
        return digest(self.model_dump(mode="json"))

    def differences(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the names of the parts in which two fingerprints differ."""
        names = type(self).model_fields
        return tuple(name for name in names if getattr(self, name) != getattr(other, name))


class HeldOutMetric(Frozen):
    """A metric of rows that the calibrator did not see, before and after it."""

    name: str
    """With its rule, such as "ECE(mass, m=5)"."""
    before: FiniteFloat
    after: FiniteFloat


@dataclass(frozen=True, slots=True)
class Applied:
    """Calibrated answers, and what was overlooked to get them."""

    log_p: Floats
    fingerprint: str
    """The digest of the artefact's fingerprint."""
    accepted: tuple[str, ...]
    """The parts in which the answers were made otherwise, and the caller accepted it."""


class CalibrationArtefact(Frozen):
    """A calibrator, where it came from, where it holds and what it was worth."""

    fingerprint: Fingerprint
    calibrator: Calibrator
    report: CalibrationReport
    metrics: tuple[HeldOutMetric, ...] = ()
    created: AwareDatetime

    @model_validator(mode="after")
    def _one_number_of_options(self) -> CalibrationArtefact:
        if len(self.fingerprint.options) != self.calibrator.fitted_on.k:
            raise ValueError(
                f"the fingerprint names {len(self.fingerprint.options)} options and the "
                f"calibrator was fitted on {self.calibrator.fitted_on.k}"
            )
        return self

    def apply(
        self, log_p: ArrayLike, fingerprint: Fingerprint, *, accept: Collection[str] = ()
    ) -> Applied:
        """Calibrate answers (n, K) that were made the way `fingerprint` says.

        `accept` names parts that may differ; those that do are recorded in the result. Raises
        CalibrationError naming every other part that differs.
        """
        unknown = set(accept) - set(Fingerprint.model_fields)
        if unknown:
            raise CalibrationError(
                f"accept names {sorted(unknown)!r}; the parts of a fingerprint are "
                f"{list(Fingerprint.model_fields)!r}"
            )
        found = self.fingerprint.differences(fingerprint)
        refused = [name for name in found if name not in accept]
        if refused:
            said = "; ".join(
                f"{name}: fitted on {getattr(self.fingerprint, name)!r}, "
                f"applied to {getattr(fingerprint, name)!r}"
                for name in refused
            )
            raise CalibrationError(
                f"this calibrator was fitted on other answers ({said}); fit one for these, or "
                f"accept={tuple(refused)!r} to use it all the same"
            )
        return Applied(self.calibrator.apply(log_p), self.fingerprint.digest, found)


def make_artefact(
    calibrated: Calibrated,
    fingerprint: Fingerprint,
    *,
    metrics: tuple[HeldOutMetric, ...] = (),
    created: datetime | None = None,
) -> CalibrationArtefact:
    """Bind what calibrate() returned to the way its answers were made; `created` is now if None.

    Raises CalibrationError where the fingerprint's options are not those of the calibrator.
    """
    try:
        return CalibrationArtefact(
            fingerprint=fingerprint,
            calibrator=calibrated.calibrator,
            report=calibrated.report,
            metrics=metrics,
            created=datetime.now(UTC) if created is None else created,
        )
    except ValueError as error:
        raise CalibrationError(f"no artefact can be made: {error}") from error


def digest(value: object) -> str:
    """Return the SHA-256 of a JSON value, in hex, whatever its layout."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
