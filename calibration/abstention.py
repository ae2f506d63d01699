"""Policies that say, for one answer, whether to decide alone or to hand over.

A policy is fitted once, stored as JSON beside its calibrator, and asked for every answer. It
carries the guarantee it was made with, and knows nothing of models, questions or prompts. Its
promise holds only for log-probabilities that went through the calibrator it was fitted behind.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from classify.calibration.arrays import (
    Floats,
    Ints,
    class_labels,
    log_probabilities,
    numbers,
    same_probabilities,
)
from classify.calibration.prediction_sets import PredictionSets
from classify.calibration.risk_control import RiskControl, control_selective_risk
from classify.calibration.thresholds import HAND_OVER, best_actions, check_price, cost_matrix
from classify.display.notebook import Shown
from classify.errors import CalibrationError
from classify.validation import invalid_input


@dataclass(frozen=True, slots=True)
class Decision(Shown):
    """What a policy says about one answer."""

    option: int | None
    """The index of the option (or action) to take; None to hand over."""
    guarantee: str
    """What the policy promises about the answers it decides alone."""

    @property
    def decides_alone(self) -> bool:
        """Whether the answer stands without a person."""
        return self.option is not None


class _Policy(Shown, BaseModel, ABC):
    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    guarantee: str = Field(min_length=1)
    """What is promised about the answers decided alone, in a sentence."""
    fingerprint: str | None = None
    """The digest of the artefact that the policy was fitted behind: a Classifier refuses it behind
    another one, or none. None where it is not said, which refuses nothing."""

    @abstractmethod
    def options(self, log_p: ArrayLike) -> Ints:
        """Return the option to take for every row (n,) of log_p (n, K); -1 to hand over."""

    def check_options(self, k: int) -> None:
        """Raise CalibrationError where this is no policy for a question with k options."""

    def decides_alone(self, log_p: ArrayLike) -> NDArray[np.bool_]:
        """Return which rows (n,) of log_p (n, K) stand without a person."""
        stands: NDArray[np.bool_] = self.options(log_p) != HAND_OVER
        return stands

    def decide(self, log_p: ArrayLike) -> Decision:
        """Decide about one answer, given its log-probabilities (K,)."""
        x = numbers(log_p, name="log_p")
        if x.ndim != 1:
            raise CalibrationError(f"log_p must be one answer's options, got the shape {x.shape}")
        option = int(self.options(x[None, :])[0])
        return Decision(None if option == HAND_OVER else option, self.guarantee)


class ConfidencePolicy(_Policy):
    """Decide alone where the likeliest option is likely enough."""

    kind: Literal["confidence"] = "confidence"
    threshold: float
    """The lowest probability of the likeliest option that stands; inf hands everything over."""

    @field_validator("threshold")
    @classmethod
    def _threshold_is_a_number(cls, threshold: float) -> float:
        if math.isnan(threshold):
            raise ValueError("threshold must be a number or inf, got nan")
        return threshold

    @classmethod
    def from_risk(cls, risk: RiskControl, *, fingerprint: str | None = None) -> ConfidencePolicy:
        """Make the policy of a risk that was controlled on `confidences(log_p)`."""
        return cls(threshold=risk.threshold, guarantee=str(risk), fingerprint=fingerprint)

    @classmethod
    def fit(
        cls, log_p: ArrayLike, y: ArrayLike, *, alpha: float, delta: float = 0.1
    ) -> ConfidencePolicy:
        """Fit "wrong in at most alpha of the answers decided alone" on labelled rows.

        The promise fails for a share `delta` of calibration sets; see control_selective_risk.
        """
        x = log_probabilities(log_p)
        wrong = x.argmax(axis=1) != class_labels(y, n=len(x), k=x.shape[1])
        return cls.from_risk(
            control_selective_risk(confidences(log_p), wrong, alpha=alpha, delta=delta)
        )

    def options(self, log_p: ArrayLike) -> Ints:
        """Return the likeliest option of every sure row, and -1 for the others."""
        x = log_probabilities(log_p)
        likeliest: Ints = x.argmax(axis=1).astype(np.int64)
        lowest = same_probabilities(np.array([self.threshold]))
        return np.where(confidences(log_p) >= lowest, likeliest, HAND_OVER)


def confidences(log_p: ArrayLike) -> Floats:
    """Return the probability of each row's likeliest option (n,): what ConfidencePolicy compares.

    Take them from here when fitting, so that a row at the threshold is on the same side later.
    """
    return same_probabilities(np.exp(log_probabilities(log_p).max(axis=1)))


class SetPolicy(_Policy):
    """Decide alone where the prediction set holds exactly one option.

    With sets by class that need not be the likeliest one. A Classifier, whose answer names the
    likeliest, then hands over: the promise is about the other.
    """

    kind: Literal["set"] = "set"
    prediction_sets: PredictionSets

    @classmethod
    def from_sets(cls, sets: PredictionSets, *, fingerprint: str | None = None) -> SetPolicy:
        """Make the policy of fitted prediction sets."""
        return cls(prediction_sets=sets, guarantee=str(sets), fingerprint=fingerprint)

    def check_options(self, k: int) -> None:
        """Raise CalibrationError unless the sets were fitted on k options."""
        if len(self.prediction_sets.thresholds) != k:
            raise CalibrationError(
                f"its sets were fitted on {len(self.prediction_sets.thresholds)} options, and the "
                f"question has {k}: fit them on answers to that question"
            )

    def options(self, log_p: ArrayLike) -> Ints:
        """Return the only option of every set of one, and -1 for the others."""
        chosen = self.prediction_sets.sets(log_p)
        only: Ints = chosen.argmax(axis=1).astype(np.int64)
        return np.where(chosen.sum(axis=1) == 1, only, HAND_OVER)


class CostPolicy(_Policy):
    """Take the cheapest action, and ask a person where that is cheaper still.

    In a Classifier the actions are the options, "say this one". Where the cheapest is not the
    likeliest, which the answer names, it hands over; `options` and best_actions name the action.
    """

    kind: Literal["cost"] = "cost"
    guarantee: str = "the lowest expected cost, as far as the probabilities are calibrated"
    costs: tuple[tuple[float, ...], ...]
    """One row per true option, one column per action."""
    escalation_cost: float = Field(ge=0.0)
    """The price of asking a person; inf never asks one."""

    @field_validator("costs")
    @classmethod
    def _costs_are_a_matrix(cls, costs: tuple[tuple[float, ...], ...]) -> object:
        if len({len(row) for row in costs}) != 1:
            raise ValueError(f"costs must have rows of one length, got {costs!r}")
        cost_matrix(costs)
        return costs

    @field_validator("escalation_cost")
    @classmethod
    def _escalation_cost_is_a_price(cls, escalation_cost: float) -> float:
        check_price(escalation_cost)
        return escalation_cost

    def check_options(self, k: int) -> None:
        """Raise CalibrationError unless there are k true options and as many actions."""
        if (len(self.costs), len(self.costs[0])) != (k, k):
            raise CalibrationError(
                f"its costs have {len(self.costs)} rows (true options) and {len(self.costs[0])} "
                f"columns (actions), and the question has {k} options: give a cost for saying each "
                f"option where each is true, or use best_actions(log_p, costs) for other actions"
            )

    def options(self, log_p: ArrayLike) -> Ints:
        """Return every row's cheapest action, and -1 where a person is cheaper."""
        return best_actions(log_p, self.costs, escalation_cost=self.escalation_cost)


AbstentionPolicy: TypeAlias = Annotated[
    ConfidencePolicy | SetPolicy | CostPolicy, Field(discriminator="kind")
]
_ADAPTER: TypeAdapter[ConfidencePolicy | SetPolicy | CostPolicy] = TypeAdapter(AbstentionPolicy)


def read_policy(text: str | bytes) -> ConfidencePolicy | SetPolicy | CostPolicy:
    """Return the policy written by `policy.model_dump_json()`; CalibrationError for other texts."""
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        raise CalibrationError(
            f"this is no policy as policy.model_dump_json() writes it: "
            f"{invalid_input(error, 'policy')}"
        ) from error
