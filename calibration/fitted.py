"""What every calibrator carries: what it was fitted on, and how it is applied.

A calibrator is a frozen pydantic model, so it goes through JSON and back bit for bit and is
never pickled. It takes log-probabilities (n, K) and gives log-probabilities (n, K). A question
of yes or no has K = 2 and the columns (true, false), so label 0 means true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from classify.calibration.arrays import Floats, log_probabilities
from classify.calibration.settings import finite_number
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

FLOOR = 1e-6
"""The probability below which a fit reads nothing: see FittedOn.floor."""

Vector = tuple[FiniteFloat, ...]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]


class CalibrationWarning(UserWarning):
    """The result is safe, but less than was asked for; the message says why."""


class Frozen(Shown, BaseModel):
    """A model that is fixed once made and refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FittedOn(Frozen):
    """The rows a calibrator learned from."""

    n: int = Field(ge=0)
    """Rows with a weight above zero."""
    k: int = Field(ge=1)
    """Options of the question, also those no label names."""
    label_weights: Vector = ()
    """The sum of weights per option (the count of labels where no weights are given)."""
    floor: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0
    """Probabilities below it are raised to it, when fitting and when applying; 0 means never.

    A service says "impossible" with -inf, -9999 or silence; without a floor one such row on the
    true option would set every parameter alone.
    """
    truth_below_floor: int = Field(default=0, ge=0)
    """Rows that gave the true option less than the floor."""


class Fitted(Frozen):
    """The base of every calibrator."""

    fitted_on: FittedOn
    """The rows it learned from."""
    at_bound: bool = False
    """A parameter stopped at the edge of its range: the labels ask for more than is allowed."""

    def apply(self, log_p: ArrayLike) -> Floats:
        """Return calibrated log-probabilities (n, K), rows normalised.

        Raises CalibrationError where K is not the K of the fit.
        """
        x = self.checked(log_p)
        return self._mapped(x) if x.shape[1] > 1 and len(x) else x

    def checked(self, log_p: ArrayLike) -> Floats:
        """Return log-probabilities as the fit saw them: of its K, raised to its floor."""
        x = log_probabilities(log_p)
        if x.shape[1] != self.fitted_on.k:
            raise CalibrationError(
                f"log_p has {x.shape[1]} options and this calibrator was fitted on "
                f"{self.fitted_on.k}; fit one for this question"
            )
        return floored(x, self.fitted_on.floor)

    def _mapped(self, log_p: Floats) -> Floats:
        raise NotImplementedError

    def _card(self) -> Card:
        from classify.calibration.cards import calibrator_card

        return calibrator_card(self)


def check_floor(floor: object) -> None:
    """Raise CalibrationError unless the floor of a fit lies between 0 and 0.5."""
    if not 0.0 < finite_number(floor, name="floor") < 0.5:
        raise CalibrationError(f"floor must lie between 0 and 0.5, got {floor!r}")


def floored(log_p: Floats, floor: float) -> Floats:
    """Raise log-probabilities to log(floor); rows are not normalised again."""
    if floor == 0.0:
        return log_p
    raised: Floats = np.maximum(log_p, np.log(floor))
    return raised


def logit(log_p: Floats) -> Floats:
    """Return the log-odds of the first of two columns."""
    odds: Floats = log_p[:, 0] - log_p[:, 1]
    return odds


def from_logit(odds: Floats) -> Floats:
    """Return the two log-probabilities (n, 2) whose log-odds these are."""
    return np.stack([-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)], axis=1)


def one_against_rest(log_p: Floats, option: int) -> Floats:
    """Return the log-odds of one option against all others together (n,)."""
    if log_p.shape[1] == 2:
        return logit(log_p) if option == 0 else -logit(log_p)
    rest = np.delete(log_p, option, axis=1)
    top = rest.max(axis=1)
    odds: Floats = log_p[:, option] - (top + np.log(np.exp(rest - top[:, None]).sum(axis=1)))
    return odds
