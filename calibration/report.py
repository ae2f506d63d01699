"""What a calibration found: the methods tried, the one chosen, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, get_args

from pydantic import AfterValidator, Field, FiniteFloat, NonNegativeInt, model_validator

from classify.calibration.arrays import Floats
from classify.calibration.blending import BLEND
from classify.calibration.calibrators import Calibrator
from classify.calibration.fitted import Frozen, check_count
from classify.calibration.methods import Method
from classify.display.notebook import Shown

if TYPE_CHECKING:
    from classify.display.cards import Card


MEANS = "isotonic-mean"
"""What a map to people's means is called in a report."""


def _known(name: str) -> str:
    known = (*get_args(Method), BLEND, MEANS)
    if name not in known:
        raise ValueError(f"must be one of {', '.join(map(repr, known))}, got {name!r}")
    return name


MethodName = Annotated[str, AfterValidator(_known)]
NotNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]


class Candidate(Frozen):
    """A method that was tried, with its cross-fitted log loss."""

    method: MethodName
    log_loss: NotNegative
    gain: FiniteFloat
    """Log loss of the raw answers less that of this method."""
    gain_error: NotNegative
    """The standard error of the gain, over items."""


class CalibrationReport(Frozen):
    """What was tried, what was chosen and why; losses are means over rows, in nats."""

    requested: MethodName
    """The method that was asked for."""
    chosen: MethodName
    """The method that was fitted; "identity" where the raw answers are kept, "blend" for a mixture.

    The notes give the shares of a mixture.
    """
    n: NonNegativeInt
    """Rows with a weight above zero."""
    items: NonNegativeInt
    """Items that these rows read or label."""
    k: int = Field(ge=1)
    """Options."""
    label_counts: tuple[NonNegativeInt, ...]
    """Rows of each option."""
    folds: NonNegativeInt
    """Zero where nothing was fitted."""
    floor: float = Field(ge=0.0, lt=0.5)
    """Losses count a probability below it as this much."""
    log_loss_before: NotNegative | None
    """Of the raw answers; None where there are no rows."""
    log_loss_after: NotNegative | None
    """Cross-fitted: each row by a fit that did not see it or its item."""
    candidates: tuple[Candidate, ...]
    """What was tried, and what each gained."""
    notes: tuple[str, ...]
    """Why it was chosen, in sentences."""

    @model_validator(mode="after")
    def _counts_match(self) -> CalibrationReport:
        check_count(self.label_counts, self.k, name="label_counts")
        for name, count in (("items", self.items), ("label_counts", sum(self.label_counts))):
            if count > self.n:
                raise ValueError(f"{name} must count no more than the {self.n} rows, got {count}")
        return self

    def _card(self) -> Card:
        from classify.calibration.cards import report_card

        return report_card(self)


@dataclass(frozen=True, slots=True)
class Calibrated(Shown):
    """A calibrator, the report on it, and the answers it would give to rows it has not seen."""

    calibrator: Calibrator
    """What was chosen, fitted on all rows."""
    report: CalibrationReport
    """What was tried, and why this was chosen."""
    held_out: Floats
    """(n, K), the cross-fitted log-probabilities: for any metric after calibration; read-only."""

    def __post_init__(self) -> None:
        """Let the answers of a finished calibration not be written over."""
        fixed = self.held_out.view()
        fixed.flags.writeable = False
        object.__setattr__(self, "held_out", fixed)

    def _card(self) -> Card:
        from classify.calibration.cards import calibrated_card

        return calibrated_card(self)
