"""Draw labels from a set, calibrate on them, and measure on the other rows.

Part of benchmarks/calibration_study.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from calibration_sets import Answers

from classify.calibration.arrays import Floats, Ints
from classify.calibration.auto import calibrate
from classify.calibration.bias import fit_temperature_bias
from classify.calibration.calibration_error import debiased_calibration_error
from classify.calibration.calibrators import Calibrator
from classify.calibration.classwise_error import classwise_calibration_error
from classify.calibration.fitted import FLOOR, CalibrationWarning
from classify.calibration.labelled import Targets
from classify.calibration.proper_scores import log_loss

SIZES = (20, 50, 100, 200)
SEEDS = 20
FEWEST_LEFT = 100
"""Rows that must be left to measure on."""


VARIANTS: Sequence[tuple[str, Targets | None, float | None]] = (
    ("raw", None, None),
    ("Platt's targets, ridge 2", "platt", 2.0),
    ("Laplace's targets, ridge 2", "laplace", 2.0),
    ("Platt's targets, likeliest ridge", "platt", None),
    ("Laplace's targets, likeliest ridge", "laplace", None),
)
"""Ways to fit a temperature and a bias per option; the last is the one in use."""


@dataclass(frozen=True)
class Measured:
    """What some answers are worth."""

    loss: float
    classwise: float
    """The classwise calibration error, of the probability of every option."""
    error: float
    """The debiased calibration error of the confidence in the answer."""
    null: float
    """What a perfectly calibrated model would show for it."""
    right: float
    rater_loss: float | None
    """The cross-entropy of the raters' own distribution."""
    rater_distance: float | None
    """The mean distance of P(positive) to the share of raters."""


@dataclass(frozen=True)
class Trial:
    """One draw of labels: raw and calibrated on the rows that were not labelled."""

    method: str
    raw: Measured
    calibrated: Measured


@dataclass(frozen=True)
class Cell:
    """All draws of so many labels from one set."""

    of: Answers
    labels: int
    trials: tuple[Trial, ...]

    @property
    def test_rows(self) -> int:
        """The rows that measure."""
        return len(self.of.y) - self.labels

    def pairs(self, name: str) -> Floats:
        """Return one measure (draws, 2), raw and calibrated."""
        return np.array([[getattr(t.raw, name), getattr(t.calibrated, name)] for t in self.trials])

    def change(self, name: str) -> tuple[float, float]:
        """Return the mean of calibrated less raw, and its standard error over the draws."""
        pairs = self.pairs(name)
        change = pairs[:, 1] - pairs[:, 0]
        return float(change.mean()), float(change.std(ddof=1) / np.sqrt(len(change)))


def cells(found: Sequence[Answers]) -> list[Cell]:
    """Return a cell per set and number of labels, where half of the rows are left to measure."""
    made: list[Cell] = []
    for each in found:
        for size in SIZES:
            if len(each.y) - size >= FEWEST_LEFT:
                trials = tuple(trial(each, size, seed) for seed in range(SEEDS))
                made.append(Cell(each, size, trials))
    return made


def trial(each: Answers, size: int, seed: int) -> Trial:
    """Label `size` rows drawn at random, calibrate on them, and measure the others."""
    used, rest = split(each, size, seed)
    found, method = fitted(each, used)
    after = found.apply(each.log_p[rest])
    return Trial(method, measured(each, rest, each.log_p[rest]), measured(each, rest, after))


def split(each: Answers, size: int, seed: int) -> tuple[Ints, Ints]:
    """Return the rows to label, and the rest."""
    order = np.random.default_rng(seed).permutation(len(each.y))
    return order[:size], order[size:]


def fitted(each: Answers, used: Ints) -> tuple[Calibrator, str]:
    """Return the calibrator that the labels of `used` give, and its method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate(each.log_p[used], each.y[used], kind=each.of.kind)
    return found.calibrator, found.report.chosen


def measured(each: Answers, rows: Ints, log_p: Floats) -> Measured:
    """Return what answers to some rows of a set are worth."""
    y, right = each.y[rows], log_p.argmax(axis=1) == each.y[rows]
    error = debiased_calibration_error(confidence(log_p), right, seed=0, draws=200)
    people = None if each.raters is None else each.raters[rows]
    return Measured(
        loss=log_loss(log_p, y, floor=FLOOR).value,
        classwise=classwise_calibration_error(log_p, y).value,
        error=error.value,
        null=error.null_mean or 0.0,
        right=float(right.mean()),
        rater_loss=None if people is None else -float((people * log_p).sum(axis=1).mean()),
        rater_distance=None
        if people is None
        else float(np.abs(np.exp(log_p) - people)[:, 1].mean()),
    )


def confidence(log_p: Floats) -> Floats:
    """Return the probability of each row's answer."""
    p: Floats = np.minimum(np.exp(log_p.max(axis=1)), 1.0)
    return p


def variants(each: Answers) -> Mapping[str, list[tuple[float, float, float]]]:
    """Return log loss, error, and confidence less share right, per map and number of labels."""
    return {
        name: [
            variant(each, size, targets=targets, ridge=ridge)
            for size in SIZES
            if len(each.y) - size >= FEWEST_LEFT
        ]
        for name, targets, ridge in VARIANTS
    }


def variant(
    each: Answers, size: int, *, targets: Targets | None, ridge: float | None
) -> tuple[float, float, float]:
    """Return the means over the draws for one map; raw where there are no targets."""
    found: list[tuple[float, float, float]] = []
    for seed in range(SEEDS):
        used, rest = split(each, size, seed)
        log_q = each.log_p[rest]
        if targets is not None:
            x, truth = each.log_p[used], each.y[used]
            log_q = fit_temperature_bias(x, truth, targets=targets, ridge=ridge).apply(log_q)
        values = measured(each, rest, log_q)
        sure = float(confidence(log_q).mean())
        found.append((values.loss, values.error, sure - values.right))
    loss, error, gap = np.mean(found, axis=0).tolist()
    return loss, error, gap
