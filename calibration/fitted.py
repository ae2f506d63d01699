"""What every calibrator carries: what it was fitted on, and how it is applied.

A calibrator is a frozen pydantic model, so it goes through JSON and back bit for bit and is
never pickled. It takes log-probabilities (n, K) and gives log-probabilities (n, K). A question
of yes or no has K = 2 and the columns (true, false), so label 0 means true.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

from classify.calibration.arrays import LARGEST, Floats, log_probabilities
from classify.calibration.settings import finite_number, shown
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

FLOOR = 1e-6
"""The probability below which a fit reads nothing: see FittedOn.floor."""

# Within these, no product of a parameter with a log-probability leaves the range of numbers.
Parameter = Annotated[float, Field(ge=-LARGEST, le=LARGEST, allow_inf_nan=False)]
Vector = tuple[Parameter, ...]
Slope = Annotated[float, Field(ge=0.0, le=LARGEST, allow_inf_nan=False)]
Positive = Annotated[float, Field(ge=1.0 / LARGEST, le=LARGEST, allow_inf_nan=False)]


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
    label_weights: tuple[FiniteFloat, ...] = ()
    """The sum of weights per option (the count of labels where no weights are given)."""
    floor: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0
    """Probabilities below it are raised to it, when fitting and when applying; 0 means never.

    A service says "impossible" with -inf, -9999 or silence; without a floor one such row on the
    true option would set every parameter alone.
    """
    truth_below_floor: int = Field(default=0, ge=0)
    """Rows that gave the true option less than the floor."""

    @model_validator(mode="after")
    def _one_weight_per_option(self) -> FittedOn:
        if self.label_weights:
            check_count(self.label_weights, self.k, name="label_weights")
        return self


class Fitted(Frozen, ABC):
    """The base of every calibrator."""

    fitted_on: FittedOn
    """The rows it learned from."""
    at_bound: bool = False
    """A parameter stopped at the edge of its range: the labels ask for more than is allowed."""
    multiplies_logs: ClassVar[bool] = False
    """Whether the map takes differences or multiples of logs, and those of 0 are no numbers."""

    @model_validator(mode="after")
    def _logs_are_finite(self) -> Self:
        if self.multiplies_logs and self.fitted_on.floor == 0.0:
            raise ValueError("the floor of fitted_on must be above 0: this map multiplies logs")
        return self

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

    @abstractmethod
    def _mapped(self, log_p: Floats) -> Floats: ...

    def _card(self) -> Card:
        from classify.calibration.cards import calibrator_card

        return calibrator_card(self)


def check_count(values: Sequence[object], count: int, *, name: str) -> None:
    """Raise ValueError unless there are so many values: a map of other options is none of these."""
    if len(values) != count:
        raise ValueError(f"{name} must have {count} entries, got {len(values)}")


def check_rising(values: Sequence[float], *, name: str, level: bool = False) -> None:
    """Raise ValueError where a value is not above the one before it, or below it if `level`."""
    steps = np.diff(np.array(values))
    falls = steps < 0.0 if level else steps <= 0.0
    if falls.any():
        at = int(np.argmax(falls))
        raise ValueError(f"{name} must rise, got {values[at]!r} and then {values[at + 1]!r}")


def check_positive(values: Sequence[float], *, name: str) -> None:
    """Raise ValueError unless all values are above zero."""
    if values and min(values) < 1.0 / LARGEST:
        raise ValueError(f"{name} must be above 0, got {min(values)!r}")


def check_shares(values: Sequence[float], *, name: str) -> None:
    """Raise ValueError unless all values lie in [0, 1]."""
    beyond = [value for value in values if not 0.0 <= value <= 1.0]
    if beyond:
        raise ValueError(f"{name} must lie in [0, 1], got {beyond[0]!r}")


def check_same_options(part: Fitted, fitted_on: FittedOn, *, name: str) -> None:
    """Raise ValueError unless a part was fitted on as many options as the whole."""
    if part.fitted_on.k != fitted_on.k:
        raise ValueError(
            f"{name} was fitted on {part.fitted_on.k} options and the whole on {fitted_on.k}"
        )


def check_floor(floor: object) -> None:
    """Raise CalibrationError unless the floor of a fit lies between 0 and 0.5."""
    if not 0.0 < finite_number(floor, name="floor") < 0.5:
        raise CalibrationError(f"floor must lie between 0 and 0.5, got {shown(floor)}")


def floored(log_p: Floats, floor: float) -> Floats:
    """Raise log-probabilities to log(floor); rows are not normalised again."""
    if floor == 0.0:
        return log_p
    raised: Floats = np.maximum(log_p, np.log(floor))
    return raised


def divided(log_p: Floats, temperature: float) -> Floats:
    """Return log-probabilities over T; those that leave the range of numbers are impossible."""
    with np.errstate(over="ignore"):
        scaled: Floats = log_p / temperature
    return scaled


def logit(log_p: Floats) -> Floats:
    """Return the log-odds of the first of two columns."""
    odds: Floats = log_p[:, 0] - log_p[:, 1]
    return odds


def from_logit(odds: Floats) -> Floats:
    """Return the two log-probabilities (n, 2) whose log-odds these are."""
    return np.stack([-np.logaddexp(0.0, -odds), -np.logaddexp(0.0, odds)], axis=1)
