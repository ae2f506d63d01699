"""Models whose true probabilities are known: what calibrating costs where there is nothing to gain.

Part of benchmarks/calibration_study.py. The truth is a softmax of normal scores; a model answers
with the truth, sharpened and with a lean of its own towards each option. One knows nothing: its
scores are as normal, and labels come up evenly whatever it says.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass

import numpy as np

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.auto import calibrate
from classify.calibration.fitted import CalibrationWarning

OPTIONS = (2, 4, 10)
SIZES = (20, 50, 100, 200)
NEW_ROWS = 5000
BINS = 15
DRAWS = 200


@dataclass(frozen=True)
class Model:
    """How a model's log-probabilities differ from the true ones."""

    name: str
    sharpness: float
    lean: float
    """The standard deviation, in nats, of what each option gets too much."""
    knowledge: float = 1.0
    """What the scores are multiplied by in the truth; 0 makes all options alike."""


MODELS = (
    Model("calibrated", 1.0, 0.0),
    Model("knowing nothing, a little sure", 0.33, 0.0, knowledge=0.0),
    Model("half as sure", 0.5, 0.0),
    Model("twice too sure", 2.0, 0.0),
    Model("leaning by 1 nat", 1.0, 1.0),
    Model("leaning by 3 nats, twice too sure", 2.0, 3.0),
)


@dataclass(frozen=True)
class Outcome:
    """One draw of labels."""

    method: str
    loss: tuple[float, float]
    """Raw and calibrated: nats above those of the true probabilities."""
    error: tuple[float, float]
    """Raw and calibrated: the distance of confidence to the true probability of being right."""


def outcome(model: Model, k: int, size: int, seed: int) -> Outcome:
    """Draw a lean and labelled rows, calibrate, and compare with the truth on new rows."""
    random = np.random.default_rng([seed, size, k])
    lean = model.lean * random.normal(size=k)
    truth, raw, y = drawn(model, lean, size + NEW_ROWS, random)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate(raw[:size], y[:size])
    p, before = np.exp(truth[size:]), raw[size:]
    after = found.calibrator.apply(before)
    return Outcome(
        method=found.report.chosen,
        loss=(above(truth[size:], before), above(truth[size:], after)),
        error=(distance(p, before), distance(p, after)),
    )


def drawn(
    model: Model, lean: Floats, n: int, random: np.random.Generator
) -> tuple[Floats, Floats, Ints]:
    """Return true log-probabilities, the model's, and labels."""
    k = len(lean)
    scores = random.normal(0.0, 1.5, (n, k))
    truth = log_probabilities(model.knowledge * scores)
    above_draw = np.exp(truth).cumsum(axis=1) < random.random((n, 1))
    y = np.minimum(above_draw.sum(axis=1), k - 1).astype(np.int64)
    return truth, log_probabilities(model.sharpness * scores + lean), y


def above(truth: Floats, log_q: Floats) -> float:
    """Return the expected log loss above that of the truth."""
    return float((np.exp(truth) * (truth - log_q)).sum(axis=1).mean())


def distance(p: Floats, log_q: Floats) -> float:
    """Return the root mean square over bins of confidence less true probability of being right."""
    order = np.argsort(log_q.max(axis=1))
    right = p[np.arange(len(p)), log_q.argmax(axis=1)]
    gaps = [
        np.exp(log_q[rows].max(axis=1)).mean() - right[rows].mean()
        for rows in np.array_split(order, BINS)
    ]
    return float(np.sqrt(np.mean(np.square(gaps))))


def simulated_rows() -> list[str]:
    """Return the rows of the table."""
    lines: list[str] = []
    for model in MODELS:
        for k in OPTIONS:
            for size in SIZES:
                draws = [outcome(model, k, size, seed) for seed in range(DRAWS)]
                loss, error = (
                    np.array([getattr(d, of) for d in draws]) for of in ("loss", "error")
                )
                harm = float((loss[:, 1] - loss[:, 0]).max().round(3)) + 0.0
                cells = [model.name, str(k), str(size), *means(loss), f"{harm:+.3f}", *means(error)]
                chosen = Counter(draw.method for draw in draws).most_common()
                cells.append(", ".join(f"{method} {count}" for method, count in chosen))
                lines.append("| " + " | ".join(cells) + " |")
    return lines


def means(pairs: Floats) -> tuple[str, str]:
    """Return the means, raw and calibrated, as text."""
    raw, calibrated = np.abs(pairs.mean(axis=0).round(3))  # rounding may leave -0.000
    return f"{raw:.3f}", f"{calibrated:.3f}"


SIMULATED_HEAD = f"""
## Simulated models, whose truth is known

How much calibrating costs a model that needs none, and what it gains one that does, over {DRAWS}
draws. Log loss is that above the true probabilities' own; the worst draw is the one that added the
most. The error is the distance of confidence to the true probability of being right, on 5000 new
rows in 15 bins.

| model | options | labels | log loss raw | calibrated | worst draw | error raw | calibrated | methods chosen |
|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  a row of a table is one line
