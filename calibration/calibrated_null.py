"""What a calibration error would be if the model were calibrated: outcomes drawn from p itself.

Every calibration error of this package is a function of sums of w (y - p) over some cells, so one
sampler serves them all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import binned_sums
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import BinaryOutcomes
from classify.calibration.row_order import by_content
from classify.calibration.settings import draw_count

EXACT_UP_TO = 50_000_000
"""Rows times draws up to which every outcome is drawn; beyond, cell sums are drawn as normal."""
_CHUNK = 200_000
_ROUNDING = 1e-12


def residual_draws(
    outcomes: BinaryOutcomes, cell: Ints, *, cells: int, draws: int, random: np.random.Generator
) -> Floats:
    """Draw outcomes from p and return the sums of w (y - p) per cell, (draws, cells).

    Draws are for the rows in the order of cell, p and w, whatever order they come in.
    """
    p, _, w = outcomes
    draw_count(draws, name="draws")
    if p.size * draws > EXACT_UP_TO:
        spread = np.sqrt(binned_sums(cell, w * w * p * (1 - p), cells))
        return random.standard_normal((draws, cells)) * spread
    order = by_content(p, w)
    order = order[np.argsort(cell[order], kind="stable")]
    ordered_p, ordered_w = p[order], w[order]
    used, starts = np.unique(cell[order], return_index=True)
    sums = np.zeros((draws, cells))
    step = max(1, _CHUNK // p.size)
    for start in range(0, draws, step):
        rows = min(step, draws - start)
        hits = (random.random((rows, p.size)) < ordered_p) * ordered_w
        sums[start : start + rows, used] = np.add.reduceat(hits, starts, axis=1)
    return sums - binned_sums(cell, w * p, cells)


def against_null(measured: Measurement, null: Floats) -> Measurement:
    """Add the mean of the null values and the share of them that are at least as large."""
    reached = int(np.count_nonzero(null >= measured.value - _ROUNDING))
    return replace(
        measured,
        null_mean=float(null.mean()),
        p_value=(1 + reached) / (1 + null.size),
    )
