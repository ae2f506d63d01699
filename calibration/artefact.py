"""A calibrator with all that must be known before it is used, as a JSON file.

A calibrator holds for one question asked in one way of one model. The artefact carries those
facts and refuses answers that were made otherwise, unless told which differences to accept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from types import NoneType
from typing import TYPE_CHECKING, Annotated

from numpy.typing import ArrayLike
from pydantic import AwareDatetime, Field, field_validator, model_validator

from classify.calibration.abstention import ConfidencePolicy
from classify.calibration.arrays import Floats
from classify.calibration.calibrators import Calibrator
from classify.calibration.fitted import Frozen
from classify.calibration.held_out_answers import HeldOutAnswers, HeldOutMetric
from classify.calibration.question_fields import differing_fields
from classify.calibration.report import Calibrated, CalibrationReport
from classify.calibration.risk_control import control_selective_risk
from classify.calibration.settings import of_type
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.calibrating import Origin
    from classify.display.cards import Card


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

    @classmethod
    def of(cls, origin: Origin) -> Fingerprint:
        """Return the fingerprint of answers that a Classifier made."""
        return cls(**{name: getattr(origin, name) for name in cls.model_fields})

    def differences(self, other: Fingerprint) -> tuple[str, ...]:
        """Return the names of the parts in which two fingerprints differ."""
        names = type(self).model_fields
        return tuple(name for name in names if getattr(self, name) != getattr(other, name))


@dataclass(frozen=True, slots=True)
class Applied:
    """Calibrated answers, and what was overlooked to get them."""

    log_p: Floats
    fingerprint: str
    """The digest of the artefact's fingerprint."""
    accepted: tuple[str, ...]
    """The parts in which the answers were made otherwise, and the caller accepted it."""


class CalibrationArtefact(Frozen):
    """A calibrator, where it came from, where it holds and what it was worth.

    It can be given to a Classifier as the calibrator of a question.
    """

    name: str = ""
    """The id of the question, for files that hold the calibrators of several."""
    fingerprint: Fingerprint
    calibrator: Calibrator
    report: CalibrationReport
    metrics: tuple[HeldOutMetric, ...] = ()
    held_out: HeldOutAnswers | None = None
    """What abstention policies are fitted on; one row per item."""
    accepts: tuple[str, ...] = ()
    """The parts of the fingerprint in which answers may differ."""
    created: AwareDatetime

    @field_validator("accepts")
    @classmethod
    def _accepts_parts(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        _check_parts(names)
        return names

    @model_validator(mode="after")
    def _one_number_of_options(self) -> CalibrationArtefact:
        k = self.calibrator.fitted_on.k
        for what, found in (
            ("the fingerprint names", len(self.fingerprint.options)),
            ("the report is of", self.report.k),
        ):
            if found != k:
                raise ValueError(f"{what} {found} options and the calibrator was fitted on {k}")
        return self

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the calibrator and the answers it holds for, in hex."""
        return digest(self.model_dump(mode="json", include={"fingerprint", "calibrator"}))

    def model_copy(
        self, *, update: Mapping[str, object] | None = None, deep: bool = False
    ) -> CalibrationArtefact:
        """Return a copy with some fields changed; its digest is its own."""
        copy = super().model_copy(update=update, deep=deep)
        vars(copy).pop("digest", None)  # of the original, where it was asked for it
        return copy

    def accepting(self, *parts: str) -> CalibrationArtefact:
        """Return an artefact that is used although these parts of the fingerprint differ.

        The evidence of every answer that it calibrates then names the parts that did.
        """
        _check_parts(parts)
        return self.model_copy(update={"accepts": tuple(dict.fromkeys((*self.accepts, *parts)))})

    def calibrated(self, log_p: Floats, origin: Origin) -> tuple[Floats, str]:
        """Return one answer (K,) calibrated, and the digest with the differences accepted."""
        applied = self.apply(log_p[None, :], Fingerprint.of(origin), accept=self.accepts)
        over = f" accepted: {', '.join(applied.accepted)}" if applied.accepted else ""
        return applied.log_p[0], self.digest + over

    def policy(self, *, alpha: float, delta: float = 0.1) -> ConfidencePolicy:
        """Fit "wrong in at most alpha of the answers decided alone" on the held-out answers.

        The promise fails for a share `delta` of label sets. It is as good as each label being
        that of an item drawn from where the new ones come from. Raises CalibrationError where
        the artefact has no held-out answers, and where their labels had different weights.
        """
        if self.held_out is None or not self.held_out.wrong:
            raise CalibrationError(
                f"the calibrator of {self.name!r} has no held-out answers to fit a policy on: "
                "labels must name an option, and not lie between two levels"
            )
        if self.held_out.weighted:
            raise CalibrationError(
                f"the labels of {self.name!r} had different weights, and the promise of a share of "
                "wrong answers counts answers: calibrate for it on labels of one weight, of items "
                "drawn at random"
            )
        risk = control_selective_risk(
            self.held_out.confidence, self.held_out.wrong, alpha=alpha, delta=delta
        )
        return ConfidencePolicy.from_risk(risk, fingerprint=self.digest)

    def check(self, fingerprint: Fingerprint, *, accept: Collection[str] = ()) -> tuple[str, ...]:
        """Return the parts that differ and are accepted; CalibrationError names all others."""
        _check_parts(accept)
        found = self.fingerprint.differences(fingerprint)
        refused = [name for name in found if name not in accept]
        if refused:
            said = "; ".join(
                _difference(name, getattr(self.fingerprint, name), getattr(fingerprint, name))
                for name in refused
            )
            options = " ".join(f"--accept {name}" for name in refused)
            raise CalibrationError(
                f"this calibrator was fitted on other answers ({said}); fit one for these, or "
                f"use it all the same: {options} on the command line, "
                f"artefact.accepting({', '.join(map(repr, refused))}) in Python"
            )
        return found

    def apply(
        self, log_p: ArrayLike, fingerprint: Fingerprint, *, accept: Collection[str] = ()
    ) -> Applied:
        """Calibrate answers (n, K) that were made the way `fingerprint` says.

        `accept` names parts that may differ; those that do are recorded in the result. Raises
        CalibrationError naming every other part that differs.
        """
        found = self.check(fingerprint, accept=accept)
        return Applied(self.calibrator.apply(log_p), self.fingerprint.digest, found)

    def _card(self) -> Card:
        from classify.calibration.cards import artefact_card

        return artefact_card(self)


def make_artefact(
    calibrated: Calibrated,
    fingerprint: Fingerprint,
    *,
    name: str = "",
    metrics: tuple[HeldOutMetric, ...] = (),
    held_out: HeldOutAnswers | None = None,
    created: datetime | None = None,
) -> CalibrationArtefact:
    """Bind what calibrate() returned to the way its answers were made; `created` is now if None.

    Raises CalibrationError where the fingerprint's options are not those of the calibrator.
    """
    of_type(calibrated, Calibrated, name="calibrated", what="what calibrate() returns")
    of_type(created, (datetime, NoneType), name="created", what="a datetime or None")
    try:
        return CalibrationArtefact(
            name=name,
            fingerprint=fingerprint,
            calibrator=calibrated.calibrator,
            report=calibrated.report,
            metrics=metrics,
            held_out=held_out,
            created=datetime.now(UTC) if created is None else created,
        )
    except ValueError as error:
        raise CalibrationError(f"no artefact can be made: {error}") from error


def _check_parts(names: Collection[str]) -> None:
    unknown = set(names) - set(Fingerprint.model_fields)
    if unknown:
        raise CalibrationError(
            f"accept names {sorted(unknown)!r}; the parts of a fingerprint are "
            f"{list(Fingerprint.model_fields)!r}"
        )


def _difference(part: str, fitted: object, applied: object) -> str:
    """Say how a part differs; of two questions in JSON only the fields that do."""
    found = {"": (repr(fitted), repr(applied))}
    if part == "question":
        try:
            found = differing_fields(json.loads(str(fitted)), json.loads(str(applied))) or found
        except ValueError:  # a fingerprint may name its question by any text
            pass
    return "; ".join(
        f"{part}: {field}{' ' if field else ''}fitted on {before}, applied to {after}"
        for field, (before, after) in found.items()
    )


def digest(value: object) -> str:
    """Return the SHA-256 of a JSON value, in hex, whatever its layout."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
