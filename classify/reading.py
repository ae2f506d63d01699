"""What a readout found: a distribution over the options, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from classify.answers import Cause
from classify.evidence import Method, OrderSeen
from classify.logspace import Floats


@dataclass(frozen=True, slots=True)
class Reading:
    """A distribution over the options in canonical order."""

    log_p: Floats
    """(K,) normalised; -inf for an option that was not seen."""
    method: Method
    label_mass: float
    orders: tuple[OrderSeen, ...]
    lower: Floats | None = None
    """(K,) the least that each probability can be; None where all are exact."""
    upper: Floats | None = None
    unseen: tuple[int, ...] = ()
    unexplored: float = 0.0
    flips: int = 0
    total_variation: float = 0.0
    length_rule: Literal["sum", "mean"] | None = None
    draws: tuple[int, ...] | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NoReading:
    """Why no distribution could be read."""

    cause: Cause
    message: str
    method: Method
    label_mass: float | None = None
    orders: tuple[OrderSeen, ...] = ()
    written: tuple[str, ...] = ()
    """What the model wrote instead of a label, whole."""
    reason: str | None = None
    warnings: tuple[str, ...] = ()
