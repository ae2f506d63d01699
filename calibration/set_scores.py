"""How strange an option looks for a row: the scores that prediction sets are cut from.

Low means likely. `truth_scores` gives (n,) for the true options without sorting a row;
`option_scores` gives (n, K) for all options. Both take normalised log-probabilities (n, K).
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from classify.calibration.arrays import LARGEST, Floats, Ints, exponentials, of_options

_MOST_RANKS = 1_000_000

ScoreName: TypeAlias = Literal["lac", "aps", "raps", "interval"]


class SetScore(BaseModel):
    """A score by name: what makes an option strange.

    lac: 1 - p, the smallest sets (Sadinle 2019). aps: the mass of the likelier options plus
    u·p, sets that adapt to hard rows (Romano 2020). raps: aps plus `penalty` per rank beyond
    `free_ranks`, without long tails (Angelopoulos 2021). interval: the mass of the interval of
    levels that grows until the next to join is the option (after Lu 2022).

    The likeliest option has the lowest score of aps and raps whatever u is, so it is in every set,
    at calibration and later. Others let u count there too: their sets are then empty where the
    model is surest, or hold the likeliest option all the same and cover up to 0.98 for 0.9.

    Without u an option's own probability is left out (u = 0), not counted whole (u = 1), which
    piles the scores of least likely options up at 1. Measured on six models of 3 to 10 options,
    its sets are 3 to 12 % smaller than with u = 1 and 1 to 4 % smaller than with random u.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ScoreName
    penalty: float = Field(default=0.01, ge=0.0, le=LARGEST)
    """Only "raps": what each rank beyond `free_ranks` adds."""
    free_ranks: int = Field(default=1, ge=0, le=_MOST_RANKS)
    """Only "raps": how many of the likeliest options carry no penalty."""

    def ends(self, k: int) -> tuple[float, float]:
        """Return the lowest and the highest score that an option of k can have.

        The lowest is that of the likeliest option, but for "lac", where it can be any.
        """
        low, high = _rank_penalty(np.array([1.0, k]), self)
        return float(low), float(high) + (1.0 if k > 1 else 0.0)


def lac_scores(log_p: Floats, y: Ints) -> Floats:
    """Return the "lac" score of each row's true option (n,); log_p need not be normalised."""
    scores = np.empty(len(log_p))
    for block in exponentials(log_p):
        own = of_options(block.powers, y[block.rows])
        np.subtract(1.0, own / block.totals, out=scores[block.rows])
    return scores


def lac_sets(log_p: Floats, limits: Floats) -> NDArray[np.bool_]:
    """Return whose "lac" score is at most an option's limit (K,); log_p need not be normalised."""
    chosen = np.empty(log_p.shape, dtype=np.bool_)
    for block in exponentials(log_p):
        p = np.divide(block.powers, block.totals[:, None], out=block.powers)
        np.less_equal(np.subtract(1.0, p, out=p), limits, out=chosen[block.rows])
    return chosen


def truth_scores(log_p: Floats, y: Ints, *, score: SetScore, u: Floats) -> Floats:
    """Return the score of each row's true option (n,); `u` (n,) in [0, 1] is used by aps, raps."""
    if score.name == "lac":
        return lac_scores(log_p, y)
    p: Floats = np.exp(log_p)
    if score.name == "interval":
        return of_options(_grown_intervals(p), y)
    own = of_options(p, y)
    above = np.zeros(len(p))
    rank = np.ones(len(p))
    # One pass per option: no (n, K) mask is built, and no row is sorted.
    for k in range(p.shape[1]):
        ahead: NDArray[np.bool_] = (p[:, k] > own) | ((p[:, k] == own) & (k < y))
        above += np.where(ahead, p[:, k], 0.0)
        rank += ahead
    own *= u
    own *= rank > 1.0  # nothing is counted of the likeliest option
    above += own
    above += _rank_penalty(rank, score)
    return above


def option_scores(log_p: Floats, *, score: SetScore, u: Floats) -> Floats:
    """Return the score of every option of every row (n, K); `u` (n,) is used by aps, raps.

    For "lac" see `lac_sets`.
    """
    p: Floats = np.exp(log_p)
    if score.name == "interval":
        return _grown_intervals(p)
    order = np.argsort(-p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    ranks = np.arange(1.0, p.shape[1] + 1.0)
    ranked = np.cumsum(ordered, axis=1) - (1.0 - u[:, None]) * ordered
    ranked[:, 0] = 0.0
    scores = np.empty_like(p)
    np.put_along_axis(scores, order, ranked + _rank_penalty(ranks, score), axis=1)
    return scores


def _rank_penalty(rank: Floats, score: SetScore) -> Floats:
    if score.name != "raps":
        return np.zeros_like(rank)
    excess: Floats = np.maximum(0.0, rank - score.free_ranks)
    return score.penalty * excess


def _grown_intervals(p: Floats) -> Floats:
    """Grow an interval from the likeliest level to the likelier neighbour, level by level.

    A level's score is the mass of the interval that it joins, so cutting the scores anywhere
    leaves levels without a gap. Ties go to the lower level.
    """
    n, k = p.shape
    rows: Ints = np.arange(n, dtype=np.int64)
    # A column of -1 on either side: a border is never the likelier neighbour.
    padded = np.full((n, k + 2), -1.0)
    padded[:, 1:-1] = p
    low: Ints = p.argmax(axis=1).astype(np.int64) + 1
    high: Ints = low.copy()
    mass: Floats = padded[rows, low]
    scores = np.zeros((n, k + 2))
    for _ in range(k - 1):
        down: Floats = padded[rows, low - 1]
        up: Floats = padded[rows, high + 1]
        goes_down: NDArray[np.bool_] = down >= up
        low, high = low - goes_down, high + ~goes_down
        scores[rows, np.where(goes_down, low, high)] = mass
        mass = mass + np.maximum(down, up)
    return scores[:, 1:-1]
