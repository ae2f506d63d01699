"""Turn rows with labels into what the metrics of this package measure.

Two shapes: a probability and whether it came true (binary metrics), and the log-probabilities of
all options with the true one (proper scores). Rows of weight zero are dropped here, so they
change no count. Weights say how much a row counts; they need not be whole and only their ratios
matter, except where a docstring says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    Floats,
    Ints,
    binary_labels,
    class_labels,
    log_probabilities,
    of_options,
    option_rows,
    probabilities,
    same_probabilities,
    sample_weights,
)
from classify.errors import CalibrationError

BLOCK = 1 << 15
"""Rows at a time that stay in the processor's cache."""
_ONE = np.float64(1.0).tobytes()


class BinaryOutcomes(NamedTuple):
    """Probabilities and whether they came true; at least one row."""

    p: Floats
    y: Ints
    """1 where it came true, else 0."""
    w: Floats
    """Read only; without memory of its own where every row counts as one."""

    @property
    def n(self) -> int:
        return self.p.size


class ClassOutcomes(NamedTuple):
    """Log-probabilities of the options and the index of the true one; at least one row."""

    log_p: Floats
    y: Ints
    w: Floats

    @property
    def n(self) -> int:
        return self.y.size

    @property
    def k(self) -> int:
        return int(self.log_p.shape[1])


def binary_outcomes(
    p: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None, *, name: str = "p"
) -> BinaryOutcomes:
    """Check probabilities, labels 0 or 1, and weights; drop rows of weight zero."""
    checked = probabilities(p, name=name)
    labels = binary_labels(y, n=checked.size)
    w = row_weights(weights, n=checked.size)
    if is_unit(w) or w.all():
        return BinaryOutcomes(checked, labels, w)
    kept = w > 0.0
    return BinaryOutcomes(checked[kept], labels[kept], w[kept])


def class_outcomes(
    log_p: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None
) -> ClassOutcomes:
    """Check log-probabilities (n, K), labels 0 … K-1 and weights; drop rows of weight zero."""
    checked = log_probabilities(log_p)
    labels = class_labels(y, n=len(checked), k=checked.shape[1])
    w = row_weights(weights, n=len(checked))
    if is_unit(w) or w.all():
        return ClassOutcomes(checked, labels, w)
    kept = w > 0.0
    return ClassOutcomes(checked[kept], labels[kept], w[kept])


def unread_outcomes(
    log_p: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None
) -> ClassOutcomes:
    """Do as class_outcomes but leave log_p as it is, neither checked nor normalised.

    For losses that do both as they read it. Where rows are dropped they are checked here, so that
    the dropped ones are too.
    """
    rows = option_rows(log_p)
    w = row_weights(weights, n=len(rows))
    if not (is_unit(w) or w.all()):
        return class_outcomes(rows, y, weights)
    return ClassOutcomes(rows, class_labels(y, n=len(rows), k=rows.shape[1]), w)


def top_label(outcomes: ClassOutcomes) -> BinaryOutcomes:
    """Return the confidence in the likeliest option and whether it was the true one.

    Of several equally likely options the first is the answer, as in numpy's argmax.
    """
    choice = outcomes.log_p.argmax(axis=1)
    confidence = same_probabilities(np.exp(of_options(outcomes.log_p, choice)))
    return BinaryOutcomes(confidence, (choice == outcomes.y).astype(np.int64), outcomes.w)


def one_option(outcomes: ClassOutcomes, option: int) -> BinaryOutcomes:
    """Return the probability of one option and whether it was the true one."""
    return BinaryOutcomes(
        same_probabilities(np.exp(outcomes.log_p[:, option])),
        (outcomes.y == option).astype(np.int64),
        outcomes.w,
    )


def option_probabilities(outcomes: ClassOutcomes) -> Floats:
    """Return the probabilities of all options (K, n), those of each option side by side."""
    # A copy also of one row, whose columns lie side by side as they are.
    p = np.array(outcomes.log_p.T, order="C")
    return same_probabilities(np.exp(p, out=p))


def row_blocks(n: int) -> Iterator[slice]:
    """Cut n rows into slices of BLOCK."""
    return (slice(at, min(at + BLOCK, n)) for at in range(0, n, BLOCK))


def total_weight(w: Floats) -> float:
    """Return the sum of the weights."""
    return float(w.size if is_unit(w) else w.sum())


def effective_n(w: Floats) -> float:
    """Return Kish's effective number of rows, (sum w)^2 / sum w^2: n where all weigh the same."""
    return float(w.size if is_unit(w) else w.sum() ** 2 / (w @ w))


def weighted(values: Floats, w: Floats) -> Floats:
    """Return w times values; the values themselves where every row counts as one."""
    return values if is_unit(w) else w * values


def is_unit(w: Floats) -> bool:
    """Say whether these are the weights of rows that all count as one, made without memory."""
    return w.strides == (0,)


def row_weights(weights: ArrayLike | None, *, n: int) -> Floats:
    """Return checked weights (n,); for None ones that take no memory, see is_unit."""
    if n == 0:
        raise CalibrationError("there are no rows: a metric needs at least one labelled row")
    if weights is None:
        return np.ndarray(n, np.float64, _ONE, strides=(0,))
    return sample_weights(weights, n=n)
