"""What a contest of `calibration_speed.py` is, and the rows that all of them run on.

Each side is given the input that it works on (we log-probabilities, they probabilities or logits),
made beforehand. A library that cannot be imported is left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classify.calibration.arrays import Floats, Ints, log_probabilities

Call = Callable[[], object]


@dataclass(frozen=True)
class Data:
    """The same rows in every form that somebody wants."""

    log_p: Floats
    p: Floats
    y: Ints
    top: Floats
    """Confidence in the likeliest option."""
    right: Ints
    guess: Ints

    @property
    def k(self) -> int:
        """How many options there are."""
        return int(self.p.shape[1])

    @property
    def names(self) -> list[int]:
        """The options as labels."""
        return list(range(self.k))

    @property
    def logit(self) -> Floats:
        """Log-odds of the second of two options."""
        odds: Floats = self.log_p[:, 1] - self.log_p[:, 0]
        return odds


@dataclass(frozen=True)
class Contest:
    """One quantity, and how each side computes it; built anew for each size."""

    name: str
    ours: Call
    peers: dict[str, Call] = field(default_factory=dict[str, Call])


def rows(n: int, k: int) -> Data:
    """Return n answers to a question with k options by a model that is too sure."""
    random = np.random.default_rng(k)
    truth = random.normal(0.0, 1.5, (n, k))
    p = np.exp(truth)
    p /= p.sum(axis=1, keepdims=True)
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    log_p = log_probabilities(2.0 * truth)
    sharp = np.exp(log_p)
    guess = log_p.argmax(axis=1)
    return Data(log_p, sharp, y, sharp.max(axis=1), (guess == y).astype(np.int64), guess)


def peer(module: str, name: str) -> Any:
    """Return something of a library that may be missing; None where it is."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None


def known(found: dict[str, Any], use: Callable[[Any], object]) -> dict[str, Call]:
    """Return calls of those that could be imported."""
    return {name: (lambda thing=thing: use(thing)) for name, thing in found.items() if thing}
