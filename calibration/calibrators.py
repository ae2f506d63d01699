"""The closed set of calibrators, as one type that JSON can be read into."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, TypeAdapter, model_validator

from classify.calibration.arrays import Floats
from classify.calibration.bias import TemperatureBiasCalibrator, VectorCalibrator
from classify.calibration.binary import BetaCalibrator, PlattCalibrator
from classify.calibration.fitted import Fitted, FittedOn, check_same_options
from classify.calibration.isotonic import IsotonicCalibrator
from classify.calibration.matrix import MatrixCalibrator
from classify.calibration.mean_map import IsotonicMeanCalibrator
from classify.calibration.ordinal import ProportionalOddsCalibrator
from classify.calibration.prior import PriorCalibrator
from classify.calibration.settings import of_type, whole_number
from classify.calibration.shift import ShiftCalibrator
from classify.calibration.temperature import TemperatureCalibrator
from classify.calibration.venn_abers import VennAbersCalibrator
from classify.errors import CalibrationError


class IdentityCalibrator(Fitted):
    """Leaves every answer as it is, -inf included: the answer where nothing is better."""

    method: Literal["identity"] = "identity"

    def _mapped(self, log_p: Floats) -> Floats:
        return log_p


class ChainCalibrator(Fitted):
    """Several calibrators, one after the other, such as a prior and then a temperature."""

    method: Literal["chain"] = "chain"
    steps: tuple[Calibrator, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _all_of_the_same_options(self) -> ChainCalibrator:
        for number, step in enumerate(self.steps):
            check_same_options(step, self.fitted_on, name=f"steps[{number}]")
        return self

    def _mapped(self, log_p: Floats) -> Floats:
        for step in self.steps:
            log_p = step.apply(log_p)
        return log_p


Calibrator: TypeAlias = Annotated[
    BetaCalibrator
    | ChainCalibrator
    | IdentityCalibrator
    | IsotonicCalibrator
    | IsotonicMeanCalibrator
    | MatrixCalibrator
    | PlattCalibrator
    | PriorCalibrator
    | ProportionalOddsCalibrator
    | ShiftCalibrator
    | TemperatureBiasCalibrator
    | TemperatureCalibrator
    | VectorCalibrator
    | VennAbersCalibrator,
    Field(discriminator="method"),
]

ChainCalibrator.model_rebuild()

CALIBRATORS: TypeAdapter[Calibrator] = TypeAdapter(Calibrator)
"""Reads any calibrator from JSON: CALIBRATORS.validate_json(text)."""


def identity(k: int, *, n: int = 0) -> IdentityCalibrator:
    """Return the calibrator of K options that changes nothing; n rows were looked at."""
    whole_number(k, name="k", least=1)
    whole_number(n, name="n")
    return IdentityCalibrator(fitted_on=FittedOn(n=n, k=k))


def chain(*steps: Calibrator) -> ChainCalibrator:
    """Return the calibrators as one; CalibrationError where they differ in K or are none."""
    for number, step in enumerate(steps):
        of_type(step, Fitted, name=f"steps[{number}]", what="a calibrator")
    options = {step.fitted_on.k for step in steps}
    if len(options) != 1:
        raise CalibrationError(
            f"a chain needs calibrators of one number of options, got {sorted(options)!r}"
        )
    facts = FittedOn(n=steps[-1].fitted_on.n, k=options.pop())
    return ChainCalibrator(steps=steps, fitted_on=facts, at_bound=any(s.at_bound for s in steps))
