"""Prediction sets: the options that cannot be ruled out, with a promise of coverage.

Split conformal prediction: the promise needs that the calibration rows and the new rows are
exchangeable, and nothing else. It knows nothing of how the probabilities were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from classify.calibration.arrays import (
    Floats,
    Ints,
    class_labels,
    log_probabilities,
    option_rows,
    probabilities,
)
from classify.calibration.outcomes import row_blocks
from classify.calibration.set_scores import (
    ScoreName,
    SetScore,
    lac_scores,
    lac_sets,
    option_scores,
    truth_scores,
)
from classify.calibration.settings import in_percent, one_of, open_unit, whole_number
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

_MOST_ROWS = 10**15
_SLACK = 1e-9
"""Cumulative sums reach 1 ± 1e-16: scores that differ by less than this are the same score."""


class PredictionSets(Shown, BaseModel):
    """A fitted rule that turns log-probabilities into sets of options; made by `fit_sets`."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    score: SetScore
    alpha: float = Field(gt=0.0, lt=1.0)
    """The share of sets that may miss the truth."""
    thresholds: tuple[float, ...] = Field(min_length=1)
    """The largest score let in, one per option; inf where too few rows were seen to say no."""
    counts: tuple[int, ...]
    """Calibration rows behind each threshold."""
    scope: Literal["all rows", "each option"]
    """Whether the promise holds over all rows together, or over those of each true option."""

    @model_validator(mode="after")
    def _one_count_per_threshold(self) -> PredictionSets:
        if len(self.counts) != len(self.thresholds):
            raise ValueError(
                f"counts must have one entry per threshold, got {len(self.counts)} "
                f"for {len(self.thresholds)}"
            )
        return self

    @property
    def coverage_ranges(self) -> tuple[tuple[float, float], ...]:
        """The 5 % to 95 % range of the coverage to expect, one per option.

        Up to 1 where the likeliest option alone is right often enough: its sets cover as often as
        it is right, however low the promise. (1, 1) where every option is in every set.
        """
        lowest, highest = self.score.ends(len(self.thresholds))
        ranges: list[tuple[float, float]] = []
        for n, threshold in zip(self.counts, self.thresholds, strict=True):
            low, high = coverage_range(n, alpha=self.alpha)
            all_in, one_in = threshold + _SLACK >= highest, threshold <= lowest + _SLACK
            ranges.append((1.0 if all_in else low, 1.0 if all_in or one_in else high))
        return tuple(ranges)

    def sets(self, log_p: ArrayLike, *, u: ArrayLike | None = None) -> NDArray[np.bool_]:
        """Return which options each row's set holds (n, K).

        Only a "lac" set can be empty: no option is likely enough. Give `u` (n,) where the rule
        was fitted with it.
        """
        x = option_rows(log_p)
        if x.shape[1] != len(self.thresholds):
            raise CalibrationError(
                f"log_p must have {len(self.thresholds)} options, as the rule was fitted on, "
                f"got {x.shape[1]}"
            )
        part, limits = _uniforms(u, n=len(x)), np.asarray(self.thresholds) + _SLACK
        if self.score.name == "lac":
            return lac_sets(x, limits)
        x = log_probabilities(x)
        chosen = np.empty(x.shape, dtype=np.bool_)
        for rows in row_blocks(len(x)):
            scores = option_scores(x[rows], score=self.score, u=part[rows])
            np.less_equal(scores, limits, out=chosen[rows])
        return chosen

    def intervals(self, log_p: ArrayLike) -> Ints:
        """Return the lowest and highest level of each row's set (n, 2), as indices.

        Gaps are filled, which can only add coverage. Fit with score="interval" to have none.
        """
        chosen = self.sets(log_p)
        filled = chosen.any(axis=1)
        if not filled.all():
            raise CalibrationError(
                f"row {int(np.argmin(filled))} has an empty set, which is no interval; "
                f"fit with score='interval'"
            )
        low = chosen.argmax(axis=1)
        high = chosen.shape[1] - 1 - chosen[:, ::-1].argmax(axis=1)
        return np.stack([low, high], axis=1).astype(np.int64)

    def __str__(self) -> str:
        """Say what is promised, on how many rows, and the coverage to expect there."""
        covered = in_percent(1 - self.alpha, decimals=1)
        promise = f"{self.score.name} sets that hold the truth in {covered} of rows"
        expected = [
            _expectation(n, bounds)
            for n, bounds in zip(self.counts, self.coverage_ranges, strict=True)
        ]
        if self.scope == "all rows":
            return f"{promise}; {expected[0]}"
        parts = "; ".join(f"option {k}: {text}" for k, text in enumerate(expected))
        return f"{promise} of each option; {parts}"

    def _card(self) -> Card:
        from classify.calibration.metric_cards import prediction_sets_card

        return prediction_sets_card(self)


def fit_sets(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    alpha: float = 0.1,
    score: ScoreName | SetScore = "lac",
    u: ArrayLike | None = None,
) -> PredictionSets:
    """Fit sets that miss the truth in at most `alpha` of new rows.

    With fewer than ceil(1/alpha) - 1 rows the honest set is every option. `u` (n,) is the part
    of its own probability that an option's "aps" or "raps" score counts: none by default, see
    `SetScore`; ones count it whole, as other libraries do, and uniform draws randomise the sets.
    """
    rule = _set_score(score)
    scores, _, k = _calibration_scores(log_p, y, rule, u)
    return PredictionSets(
        score=rule,
        alpha=open_unit(alpha, name="alpha"),
        thresholds=(_threshold(scores, alpha),) * k,
        counts=(len(scores),) * k,
        scope="all rows",
    )


def fit_sets_by_class(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    alpha: float = 0.1,
    score: ScoreName | SetScore = "lac",
    u: ArrayLike | None = None,
) -> PredictionSets:
    """Fit sets that miss at most `alpha` of the rows of every true option (Mondrian).

    An option seen in fewer than ceil(1/alpha) - 1 rows is in every set.
    """
    rule = _set_score(score)
    scores, labels, k = _calibration_scores(log_p, y, rule, u)
    open_unit(alpha, name="alpha")
    return PredictionSets(
        score=rule,
        alpha=alpha,
        thresholds=tuple(_threshold(scores[labels == option], alpha) for option in range(k)),
        counts=tuple(int(count) for count in np.bincount(labels, minlength=k)),
        scope="each option",
    )


def coverage_range(n: int, *, alpha: float) -> tuple[float, float]:
    """Return the 5 % and 95 % points of the coverage that n calibration rows give.

    Over draws of the calibration rows the coverage is Beta(r, n + 1 - r), with r the rank of
    the threshold (Vovk 2012); (1, 1) where n is too small to rule out anything.

    >>> low, high = coverage_range(100, alpha=0.1)
    >>> round(low, 3), round(high, 3)
    (0.848, 0.945)
    """
    from scipy.special import betaincinv

    whole_number(n, name="n", most=_MOST_ROWS)
    rank = _rank(n, open_unit(alpha, name="alpha"))
    if rank > n:
        return (1.0, 1.0)
    return (
        float(betaincinv(rank, n + 1 - rank, 0.05)),
        float(betaincinv(rank, n + 1 - rank, 0.95)),
    )


def _rank(n: int, alpha: float) -> int:
    # ceil((n + 1)(1 - alpha)), with slack because 1 - alpha is not the decimal that was meant.
    return n + 1 - int(np.floor((n + 1) * alpha + _SLACK))


def _threshold(scores: Floats, alpha: float) -> float:
    rank = _rank(len(scores), alpha)
    if rank > len(scores):
        return float("inf")
    return float(np.partition(scores, rank - 1)[rank - 1])


def _calibration_scores(
    log_p: ArrayLike, y: ArrayLike, score: SetScore, u: ArrayLike | None
) -> tuple[Floats, Ints, int]:
    x = option_rows(log_p)
    n, k = x.shape
    labels, draws = class_labels(y, n=n, k=k), _uniforms(u, n=n)
    if score.name == "lac":
        return lac_scores(x, labels), labels, k
    x, scores = log_probabilities(x), np.empty(n)
    for rows in row_blocks(n):
        scores[rows] = truth_scores(x[rows], labels[rows], score=score, u=draws[rows])
    return scores, labels, k


def _set_score(score: ScoreName | SetScore) -> SetScore:
    if isinstance(score, SetScore):
        return score
    one_of(score, get_args(ScoreName), name="score")
    return SetScore(name=score)


def _uniforms(u: ArrayLike | None, *, n: int) -> Floats:
    if u is None:
        return np.zeros(n)
    draws = probabilities(u, name="u")
    if draws.shape != (n,):
        raise CalibrationError(f"u must have the shape ({n},), got {draws.shape}")
    return draws


def _expectation(n: int, expected: tuple[float, float]) -> str:
    if expected == (1.0, 1.0):
        return f"with {n} calibration rows nothing can be ruled out, so every option is in"
    low, high = expected
    if high == 1.0:
        return (
            f"with {n} calibration rows expect {low:.1%} or more (5 % point), as often as the "
            f"likeliest option is right"
        )
    return f"with {n} calibration rows expect {low:.1%} to {high:.1%} (5-95 % range)"
