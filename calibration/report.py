"""What a calibration found: the methods tried, the one chosen, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from classify.calibration.arrays import Floats
from classify.calibration.calibrators import Calibrator
from classify.calibration.fitted import Frozen
from classify.display.notebook import Shown

if TYPE_CHECKING:
    from classify.display.cards import Card


class Candidate(Frozen):
    """A method that was tried, with its cross-fitted log loss."""

    method: str
    log_loss: float
    gain: float
    """Log loss of the raw answers less that of this method."""
    gain_error: float
    """The standard error of the gain, over items."""


class CalibrationReport(Frozen):
    """What was tried, what was chosen and why; losses are means over rows, in nats."""

    requested: str
    """The method that was asked for."""
    chosen: str
    """The method that was fitted; "identity" where the raw answers are kept, "blend" for a mixture.

    The notes give the shares of a mixture.
    """
    n: int
    """Rows with a weight above zero."""
    items: int
    """Items that these rows read or label."""
    k: int
    """Options."""
    label_counts: tuple[int, ...]
    """Rows of each option."""
    folds: int
    """Zero where nothing was fitted."""
    floor: float
    """Losses count a probability below it as this much."""
    log_loss_before: float | None
    """Of the raw answers; None where there are no rows."""
    log_loss_after: float | None
    """Cross-fitted: each row by a fit that did not see it or its item."""
    candidates: tuple[Candidate, ...]
    """What was tried, and what each gained."""
    notes: tuple[str, ...]
    """Why it was chosen, in sentences."""

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
