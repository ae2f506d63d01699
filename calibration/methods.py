"""The methods by name, and which of them a number of labels can pay for.

The limits were measured by simulation at 20 to 500 labels, at two and at five options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import log_probabilities
from classify.calibration.bias import fit_temperature_bias, fit_vector
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.calibrators import Calibrator, identity
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.labelled import MIN_ITEMS
from classify.calibration.matrix import fit_matrix
from classify.calibration.ordinal import fit_proportional_odds
from classify.calibration.temperature import fit_temperature, fit_temperature_mixture
from classify.calibration.venn_abers import fit_venn_abers
from classify.errors import CalibrationError

FEW = 50
"""Labelled items below which only what is sure is done."""

Method = Literal[
    "auto",
    "beta",
    "identity",
    "isotonic",
    "matrix",
    "platt",
    "proportional-odds",
    "temperature",
    "temperature-bias",
    "temperature-mixture",
    "vector",
    "venn-abers",
]


class Fit(Protocol):
    """Anything that makes a calibrator of labelled rows, with its usual settings."""

    def __call__(
        self, log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None, floor: float
    ) -> Calibrator:
        """Fit log-probabilities (n, K) to labels (n,)."""
        ...


def _leave(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None, floor: float
) -> Calibrator:
    x = log_probabilities(log_p)
    return identity(x.shape[1], n=len(x))


FITS: Mapping[str, Fit] = {
    "beta": fit_beta,
    "identity": _leave,
    "isotonic": fit_isotonic,
    "matrix": fit_matrix,
    "platt": fit_platt,
    "proportional-odds": fit_proportional_odds,
    "temperature": fit_temperature,
    "temperature-bias": fit_temperature_bias,
    "temperature-mixture": fit_temperature_mixture,
    "vector": fit_vector,
    "venn-abers": fit_venn_abers,
}


_OF_TWO_OPTIONS = ("beta", "platt")
_OF_LEVELS = ("proportional-odds",)


def check_method(method: str, *, k: int, kind: Literal["choice", "score"]) -> None:
    """Raise CalibrationError for a method that is of another number of options, or of levels.

    Of one option no method has anything to fit, and none is refused.
    """
    if method in _OF_TWO_OPTIONS and k > 2:
        raise CalibrationError(
            f"method {method!r} takes two options (true, false) and log_p has {k}: "
            "'temperature-bias' is the like of it for more, and 'auto' suits any number"
        )
    if method in _OF_LEVELS and kind != "score":
        raise CalibrationError(
            f"method {method!r} takes levels in rising order and kind is {kind!r}, whose options "
            "have none: give kind='score' (a score question) where the columns are levels, worst "
            "first"
        )


@dataclass(frozen=True, slots=True)
class Policy:
    """The methods worth trying."""

    blended: tuple[str, ...]
    """Mixed with each other and with the raw answers; simplest first."""
    strict: tuple[str, ...] = ()
    """In order, each replaces what was best before by a gain above twice its standard error."""
    margin: float = 0.0
    """The standard errors by which the raw answers must be beaten."""


def policy(*, items: int, k: int, kind: Literal["choice", "score"]) -> Policy:
    """Return the methods that so many labelled items can pay for.

    Of 20 items one draw in twenty misleads any fit, and folds that share rows make the error of a
    gain too small, by a third (Nadeau and Bengio, "Inference for the generalization error", 2003).
    So the margin is 1.5 standard errors at 20 items and falls evenly to 1 at 50. What the margins
    cost a model that needs nothing is in docs/calibration-study.md.
    """
    blended = ("temperature", "platt" if k == 2 else "temperature-bias")
    # Evenly, for one label more may not decide how much is learnt of all of them.
    margin = float(np.interp(items, [MIN_ITEMS, FEW], [1.5, 1.0]))
    if items < FEW:
        return Policy(blended, margin=margin)
    if k == 2:
        limits = {"venn-abers": 200, "beta": 500, "isotonic": 1000}
    else:
        limits = {"proportional-odds": max(FEW, 10 * k)} if kind == "score" else {}
        limits["vector"] = max(500, 50 * k)
    strict = tuple(name for name, least in limits.items() if items >= least)
    return Policy(blended, strict, margin=margin)
