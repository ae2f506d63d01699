"""Labelled rows, checked once and laid out for the fits.

The fits want options as rows: an array (K, n) turns every sum over options into whole-vector
additions. A label enters a loss only through sums over rows, taken here, so no fit reads the
labels again.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    Floats,
    Ints,
    class_labels,
    log_probabilities,
    sample_weights,
)
from classify.calibration.fitted import CalibrationWarning, FittedOn, check_floor, floored
from classify.calibration.settings import one_of
from classify.errors import CalibrationError

MIN_ITEMS = 20
"""Labelled items below which no fit is safe."""

Targets = Literal["hard", "laplace", "platt"]
"""What a label asks for its option: all mass, (n + 1) / (n + 2) of it, or (n_c + 1) / (n_c + 2).

n is the sum of all weights, n_c that of the label's option; the rest is spread evenly over the
others. Both rules of succession keep every fit finite, also where the options separate the labels
perfectly. Platt's (J. Platt, "Probabilistic outputs for support vector machines", 1999) was made
for two options. Of ten options with ten labels each it takes a twelfth of every label, and answers
come out too unsure; Laplace's takes one label in all.
"""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Rows that count, with their labels."""

    log_p: Floats
    """(n, K), raised to the floor."""
    y: Ints
    weights: Floats
    facts: FittedOn


@dataclass(frozen=True, slots=True)
class Design:
    """The inputs of a softmax fit with the sums over labels that its loss needs."""

    x: Floats
    """(K, n), one row per option."""
    weights: Floats
    target_x: Floats
    """(K,), the sum over rows of weight * target * x."""
    target_mass: Floats
    """(K,), the sum over rows of weight * target."""

    @property
    def total(self) -> float:
        """The sum of weights."""
        return float(self.target_mass.sum())


def labelled(
    log_p: ArrayLike, y: ArrayLike, *, weights: ArrayLike | None, floor: float, classes: int = 2
) -> Labelled:
    """Check labelled rows and leave out those of weight zero.

    Raises CalibrationError for one option only, and for fewer than `classes` different labels:
    with one class seen, a slope or a temperature would only say "more".
    """
    x = log_probabilities(log_p)
    n, k = x.shape
    truth, w = class_labels(y, n=n, k=k), sample_weights(weights, n=n)
    check_floor(floor)
    if k < 2:
        raise CalibrationError("a question with one option has nothing to calibrate")
    if not w.all():
        x, truth, w = x[w > 0.0], truth[w > 0.0], w[w > 0.0]
    sums = np.bincount(truth, weights=w, minlength=k)
    if np.count_nonzero(sums) < classes:
        raise CalibrationError(
            f"y names {np.count_nonzero(sums)} of {k} options in {len(w)} rows and this method "
            f"needs at least {classes}; label more rows, or use calibrate(), which keeps identity"
        )
    low = int(np.count_nonzero(x[np.arange(len(w)), truth] < np.log(floor)))
    facts = FittedOn(
        n=len(w), k=k, label_weights=tuple(sums.tolist()), floor=floor, truth_below_floor=low
    )
    return Labelled(floored(x, floor), truth, w, facts)


def little_weight(weights: Floats) -> str:
    """Return what to say where enough rows weigh no more than too few, and "" elsewhere."""
    n, total = int(np.count_nonzero(weights)), float(weights.sum())
    # Three thirds of a row come to a little less than one row.
    if n < MIN_ITEMS or total >= MIN_ITEMS * (1.0 - 1e-9):
        return ""
    return (
        f"the weights add up to {total:.3g} and count as much as {total:.3g} rows of weight 1: "
        f"scale them so that they add up to the number of labelled rows, {n}"
    )


def warn_of_little_weight(data: Labelled) -> None:
    """Give whoever called the fit a warning of that, for smoothed targets and ridges count rows."""
    said = little_weight(data.weights)
    if said:
        warnings.warn(said, CalibrationWarning, stacklevel=3)


def target_masses(facts: FittedOn, targets: Targets) -> tuple[Floats, Floats]:
    """Return per label (K,) the mass asked for on its option, and on each other option."""
    one_of(targets, get_args(Targets), name="targets")
    if targets == "hard":
        return np.ones(facts.k), np.zeros(facts.k)
    counts = np.array(facts.label_weights)
    if targets == "laplace":
        counts = np.full(facts.k, counts.sum())
    on = (counts + 1.0) / (counts + 2.0)
    return on, (1.0 - on) / (facts.k - 1)


def design(x: Floats, data: Labelled, targets: Targets) -> Design:
    """Lay out inputs (K, n) with the sums that the labels contribute."""
    on, off = target_masses(data.facts, targets)
    k, n = x.shape
    spread = data.weights * off[data.y]
    extra = data.weights * (on - off)[data.y]
    own = np.bincount(data.y, weights=extra * x[data.y, np.arange(n)], minlength=k)
    mass = np.bincount(data.y, weights=extra, minlength=k) + spread.sum()
    return Design(x, data.weights, x @ spread + own, mass)


def by_option(log_p: Floats, *, centred: bool) -> Floats:
    """Return (n, K) turned to contiguous (K, n), the best option at zero where centred."""
    n, k = log_p.shape
    turned = np.empty((k, n))
    for block in blocks(n, k):
        part = turned[:, block]
        part[...] = log_p[block].T
        if centred:
            part -= part.max(axis=0)
    return turned


def blocks(n: int, k: int) -> Iterator[slice]:
    """Cut n rows into slices whose (K, rows) arrays fit the processor's cache."""
    size = max(512, 32768 // k)
    return (slice(at, min(at + size, n)) for at in range(0, n, size))


def thinned(data: Labelled) -> Labelled | None:
    """Return every 16th row, to start a large fit near its end; None for a small fit."""
    if len(data.y) < 2**15:
        return None
    few = slice(None, None, 16)
    return Labelled(data.log_p[few], data.y[few], data.weights[few], data.facts)
