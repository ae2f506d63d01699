"""Mix the raw answers and simple maps of them, by how likely each makes labels it did not see.

Twenty labels seldom tell which of a few maps is the right one. One that is chosen alone is too
much where chance chose it, and nothing where it narrowly lost; a mixture lies between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from classify.calibration.arrays import Floats, log_probabilities
from classify.calibration.bias import TemperatureBiasCalibrator
from classify.calibration.binary import PlattCalibrator
from classify.calibration.calibrators import Calibrator, IdentityCalibrator
from classify.calibration.cross_fit import ItemRows
from classify.calibration.fitted import floored
from classify.calibration.temperature import TemperatureCalibrator

BLEND = "blend"
"""What a mixture is called in a report."""

STEP = 1.0
"""The nats by which each map starts behind the simpler one before it."""

WINDOW = 20.0
"""How many times less likely than the likeliest a map may be before it is left out.

D. Madigan, A. Raftery, "Model selection and accounting for model uncertainty in graphical models
using Occam's window", 1994.
"""


def blend_shares(rows: ItemRows, answers: Mapping[str, Floats]) -> dict[str, float]:
    """Return the share of each map, given its cross-fitted answers (n, K), simplest map first.

    Shares are as exp(-total loss), which is how likely a map makes labels that its fit did not
    see, times exp(-STEP) for each simpler map (pseudo-BMA weights: Yao, Vehtari, Simpson, Gelman,
    "Using stacking to average Bayesian predictive distributions", 2018); those outside the window
    are 0. An item counts once, however many rows it has.
    """
    means = np.array([rows.mean(rows.losses(log_p)) for log_p in answers.values()])
    log_shares = -rows.counted * means - STEP * np.arange(len(means))
    shares = np.exp(log_shares - log_shares.max())
    shares[shares * WINDOW < 1.0] = 0.0
    return dict(zip(answers, (shares / shares.sum()).tolist(), strict=True))


def blended_answers(
    rows: ItemRows, answers: Mapping[str, Floats], shares: Mapping[str, float]
) -> Floats:
    """Return the weighted geometric mean of answers (n, K), each raised to the floor, normalised.

    It is what the blend of the maps that gave them answers.
    """
    mean = np.zeros_like(rows.log_p)
    for name, share in shares.items():
        mean += share * floored(answers[name], rows.floor)
    return log_probabilities(mean)


def blended(
    parts: Sequence[Calibrator], shares: Sequence[float]
) -> PlattCalibrator | TemperatureBiasCalibrator:
    """Return the map whose log-odds are the weighted mean of those of the parts.

    Raw answers, a temperature, Platt's map and temperature with bias all scale log-probabilities
    and shift them, so their blend is one such map too, with the means of their parameters: Platt's
    for two options. It was fitted on what the last part was fitted on.
    """
    slopes, biases = zip(*map(_line, parts), strict=True)
    weights = np.array(shares)
    slope, bias = float(weights @ np.array(slopes)), weights @ np.array(biases)
    bounded, facts = any(part.at_bound for part in parts), parts[-1].fitted_on
    if facts.k == 2:
        lean = float(bias[0] - bias[1])
        return PlattCalibrator(fitted_on=facts, at_bound=bounded, slope=slope, intercept=lean)
    return TemperatureBiasCalibrator(
        fitted_on=facts, at_bound=bounded, temperature=1.0 / slope, bias=tuple(bias.tolist())
    )


def _line(part: Calibrator) -> tuple[float, Sequence[float]]:
    """Return what log-probabilities are multiplied by, and what each option gains (K,)."""
    match part:
        case IdentityCalibrator():
            return 1.0, (0.0,) * part.fitted_on.k
        case TemperatureCalibrator(uniform=0.0):
            return 1.0 / part.temperature, (0.0,) * part.fitted_on.k
        case PlattCalibrator():
            return part.slope, (0.5 * part.intercept, -0.5 * part.intercept)
        case TemperatureBiasCalibrator():
            return 1.0 / part.temperature, part.bias
        case _:
            raise TypeError(f"{part.method!r} does not scale and shift log-probabilities")
