"""Labels that the answers separate: then no slope is steep enough, and only a bound ends a fit.

Of soft targets and of a ridge on the slope this is no question; of hard targets without one it is,
and a search that ends where rounding hides the rest of the gain ends anywhere.
"""

from __future__ import annotations

import numpy as np

from classify.calibration.arrays import Floats, Ints, same_log_odds


def separable(log_p: Floats, y: Ints, *, biased: bool) -> bool:
    """Say whether a steeper slope makes labels (n,) ever likelier, whatever the slope.

    So it is where each row's label is its likeliest option, ties included: as the answers (n, K)
    are, or where `biased` after each option gains some amount, the same in every row.
    """
    k = log_p.shape[1]
    odds = log_p - log_p[:, :1]
    # Where the answers to all rows are the same a slope says nothing that a bias does not.
    if not (np.ptp(odds, axis=0 if biased else 1) > 0.0).any():
        return False
    # What option i must gain on option j at the least.
    needed = np.full((k, k), -np.inf)
    for option in range(k):
        own = log_p[y == option]
        if len(own):
            needed[option] = same_log_odds((own - own[:, option, None]).max(axis=0))
    if not biased:
        return bool((needed <= 0.0).all())
    # Gains that meet all of these exist unless some round trip needs more than nothing (R. Floyd,
    # "Algorithm 97: shortest path", 1962); needs are in steps, so that their sums are exact.
    for via in range(k):
        needed = np.maximum(needed, needed[:, via, None] + needed[via])
    return bool((np.diag(needed) <= 0.0).all())


def rising_labels(score: Floats, y: Ints) -> bool:
    """Say whether scores (n,) are parted by cuts into levels (n,) in rising order, ties included.

    False where all scores are the same.
    """
    order = np.lexsort((y, score))
    ranked, levels = score[order], y[order]
    if not len(ranked) or ranked[0] == ranked[-1]:
        return False
    return bool((np.diff(levels) >= 0).all())
