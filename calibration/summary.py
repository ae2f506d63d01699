"""The headline numbers of one set of labelled answers, each with its rule."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from classify.calibration.arrays import (
    Floats,
    Ints,
    finite_numbers,
    identifier_numbers,
    option_rows,
    same_probabilities,
    sample_weights,
)
from classify.calibration.binning import EqualMass, default_bins
from classify.calibration.calibration_error import debiased_calibration_error
from classify.calibration.class_draws import as_normal
from classify.calibration.classwise_error import classwise_error
from classify.calibration.corp import Decomposition, corp_brier, corp_of_options
from classify.calibration.discrimination import area_under_roc, augrc, aurc
from classify.calibration.intervals import mean_intervals, share_interval
from classify.calibration.measurement import Measurement, of_total
from classify.calibration.ordinal_metrics import OrdinalMetrics
from classify.calibration.ordinal_scores import rps_losses
from classify.calibration.outcomes import (
    BinaryOutcomes,
    ClassOutcomes,
    class_outcomes,
    one_option,
    option_probabilities,
    top_label,
)
from classify.calibration.proper_scores import LogLoss, brier_losses, log_loss, log_losses
from classify.calibration.rank_correlation import kendall_tau_b, spearman
from classify.calibration.settings import one_of
from classify.calibration.smooth_error import smooth_calibration_error
from classify.display.notebook import PrintedCard
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

Kind = Literal["choice", "boolean", "score"]

_CLASSWISE_WORK = 20_000_000
"""Rows times options times draws for the null of the classwise error: a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Metrics(PrintedCard):
    """What a set of labelled answers shows; None where a number is not defined on these rows."""

    kind: Kind
    """Of the question: it says what some numbers are of."""
    n: int
    """Rows with a weight above zero."""
    options: int
    """How many options there are."""
    log_loss: Measurement
    """In nats; infinite where a true option had probability 0."""
    zeros: int
    """Rows whose true option had probability 0."""
    floored_log_loss: LogLoss | None
    """With probabilities of at least 1e-6, where there are zeros."""
    brier: Measurement
    """Summed over the options (0..2); for booleans the usual (p - y)^2 (0..1)."""
    brier_corp: Decomposition
    """The Brier score's miscalibration, discrimination and uncertainty."""
    brier_skill: Measurement | None
    """Over the base rates of these rows; None where all labels are the same."""
    accuracy: Measurement
    """How often the likeliest option is the true one."""
    auroc: Measurement | None
    """Booleans: of P(true). Else: of the confidence, for being right."""
    aurc: Measurement
    """Mean risk of the surest rows, over all shares of them."""
    augrc: Measurement
    """Mean joint risk, over all shares kept."""
    smooth_ece: Measurement
    """Booleans: of P(true). Else: of the confidence in the answer."""
    debiased_error: Measurement
    """Of the same probabilities, over bins of equal mass."""
    classwise_ece: Measurement | None
    """Of the probability of every option, which shows a lean between options that an error of the
    confidence can hide; None for booleans."""
    ordinal: OrdinalMetrics | None
    """For scores only."""

    def of(self, total: int) -> Metrics:
        """Return the same numbers, each saying how many rows there were."""
        floored = self.floored_log_loss
        return replace(
            self,
            log_loss=replace(self.log_loss, total=total),
            floored_log_loss=None if floored is None else replace(floored, total=total),
            brier=replace(self.brier, total=total),
            brier_corp=replace(self.brier_corp, total=total),
            brier_skill=of_total(self.brier_skill, total),
            accuracy=replace(self.accuracy, total=total),
            auroc=of_total(self.auroc, total),
            aurc=replace(self.aurc, total=total),
            augrc=replace(self.augrc, total=total),
            smooth_ece=replace(self.smooth_ece, total=total),
            debiased_error=replace(self.debiased_error, total=total),
            classwise_ece=of_total(self.classwise_ece, total),
            ordinal=None if self.ordinal is None else self.ordinal.of(total),
        )

    def with_chance_of(self, other: Metrics) -> Metrics:
        """Return the same numbers, but those with a null value or a p-value of other rows."""
        ordinal = self.ordinal
        if ordinal is not None and other.ordinal is not None:
            ordinal = replace(ordinal, spearman=other.ordinal.spearman, tau_b=other.ordinal.tau_b)
        return replace(
            self,
            smooth_ece=other.smooth_ece,
            debiased_error=other.debiased_error,
            classwise_ece=other.classwise_ece,
            ordinal=ordinal,
        )

    def lines(self) -> list[str]:
        """Return one line per number, to print."""
        return [f"{name:<20}{value}" for name, value in self.named() if value is not None]

    def named(self) -> list[tuple[str, object]]:
        """Return names and values, to print; the names are those of `every_metric`."""
        undefined = "not defined: only one outcome in these rows"
        zeros = f", {self.zeros} zeros on the truth" if self.zeros else ""
        named: list[tuple[str, object]] = [
            ("log loss", f"{self.log_loss}{zeros}"),
            ("log loss, floored", self.floored_log_loss),
            ("Brier", self.brier),
            ("Brier, CORP", self.brier_corp),
            ("Brier skill", self.brier_skill or undefined),
            ("accuracy", self.accuracy),
            ("AUROC", self.auroc or undefined),
            ("AURC", self.aurc),
            ("AUGRC", self.augrc),
            ("smooth ECE", self.smooth_ece),
            ("debiased error", self.debiased_error),
            ("ECE, classwise", self.classwise_ece),
        ]
        return named + (self.ordinal.named() if self.ordinal else [])

    def _card(self) -> Card:
        from classify.calibration.metric_cards import metrics_card

        return metrics_card(self)


def metrics(
    log_p: ArrayLike,
    y: ArrayLike,
    *,
    seed: int,
    weights: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    kind: Kind = "choice",
    levels: ArrayLike | None = None,
) -> Metrics:
    """Return all headline metrics of log-probabilities (n, K) and true options.

    A boolean's columns are true and false, in this order, as everywhere: P(true) is the first, a
    label is 0 where it is true, and a probability of 0.5 says true.
    Rows with the same value in `groups` (readings of one item) are resampled together for the
    intervals of means; the null values of calibration errors take rows as independent. `levels`
    are the values of a score's options, 0 … K-1 by default.
    """
    one_of(kind, get_args(Kind), name="kind")
    rows = class_outcomes(log_p, y, weights)
    if kind == "boolean" and rows.k != 2:
        raise CalibrationError(f"kind 'boolean' needs two options, log_p has {rows.k}")
    means = _Means(rows, _kept(groups, weights, n=len(option_rows(log_p))), seed)
    answers = top_label(rows)
    judged = one_option(rows, 0) if kind == "boolean" else answers
    with_weights = None if weights is None else rows.w
    surprise, squares, brier_rule = log_losses(rows), brier_losses(rows), "sum, 0..2"
    if kind == "boolean":
        squares, brier_rule = squares / 2, "(p - y)^2, 0..1"
    loss, brier = means.of((surprise, "log loss, nats"), (squares, f"Brier {brier_rule}"))
    zeros = int(np.count_nonzero(np.isposinf(surprise)))
    floored = None
    if zeros:
        floored = log_loss(rows.log_p, rows.y, weights=with_weights, floor=1e-6)
    if kind == "boolean":
        corp, classwise = corp_brier(judged.p, judged.y, weights=with_weights), None
    else:
        p = option_probabilities(rows)
        corp, classwise = corp_of_options(p, rows), _classwise(p, rows, seed)
    return Metrics(
        kind=kind,
        n=rows.n,
        options=rows.k,
        log_loss=loss,
        zeros=zeros,
        floored_log_loss=floored,
        brier=brier,
        brier_corp=corp,
        brier_skill=_skill(corp),
        accuracy=means.accuracy(answers),
        auroc=_auroc(judged, "AUROC" if kind == "boolean" else "AUROC of confidence"),
        aurc=aurc(answers.p, 1 - answers.y, weights=with_weights),
        augrc=augrc(answers.p, 1 - answers.y, weights=with_weights),
        smooth_ece=_of_judged(
            smooth_calibration_error(judged.p, judged.y, weights=with_weights, seed=seed), kind
        ),
        debiased_error=_of_judged(
            debiased_calibration_error(judged.p, judged.y, weights=with_weights, seed=seed), kind
        ),
        classwise_ece=classwise,
        ordinal=_ordinal(rows, levels, with_weights, means) if kind == "score" else None,
    )


class _Means:
    """Means over rows with intervals that all resample in the same way."""

    def __init__(self, rows: ClassOutcomes, groups: Ints | None, seed: int) -> None:
        self._rows, self._groups, self._seed = rows, groups, seed

    def of(self, *named: tuple[Floats, str]) -> list[Measurement]:
        """Return the mean of losses (n,) of each name; infinite where one of them is."""
        w = self._rows.w
        clusters = w.size if self._groups is None else np.unique(self._groups).size
        finite = [losses for losses, _ in named if np.isfinite(losses).all()]
        if clusters < 2:
            known = [Measurement(float(x @ w / w.sum()), "no interval", w.size) for x in finite]
        else:
            known = mean_intervals(finite, seed=self._seed, weights=w, groups=self._groups)
        endless = Measurement(float("inf"), "no interval", w.size)
        left = iter(known)
        return [
            _named(next(left) if np.isfinite(losses).all() else endless, name)
            for losses, name in named
        ]

    def accuracy(self, answers: BinaryOutcomes) -> Measurement:
        """Return Wilson's interval, or that of the clusters where rows are grouped."""
        found = share_interval(answers.y, seed=self._seed, weights=answers.w, groups=self._groups)
        return _named(found, "accuracy")


def _kept(groups: ArrayLike | None, weights: ArrayLike | None, *, n: int) -> Ints | None:
    """Return the groups of the rows that count, numbered."""
    if groups is None:
        return None
    numbered = identifier_numbers(groups, n=n, name="groups")
    return numbered if weights is None else numbered[sample_weights(weights, n=n) > 0.0]


def _skill(corp: Decomposition) -> Measurement | None:
    if corp.uncertainty <= 0.0:
        return None
    rule = "Brier skill over these rows' base rates"
    return Measurement(1 - corp.score / corp.uncertainty, rule, corp.n)


def _auroc(outcomes: BinaryOutcomes, name: str) -> Measurement | None:
    if outcomes.y.min() == outcomes.y.max():
        return None
    return Measurement(area_under_roc(outcomes), f"{name}, mid-ranks", outcomes.n)


def _of_judged(found: Measurement, kind: Kind) -> Measurement:
    """Say in the rule of what the error is, where that is not the probability of an option."""
    return found if kind == "boolean" else replace(found, rule=f"{found.rule} of the confidence")


def _classwise(p: Floats, rows: ClassOutcomes, seed: int) -> Measurement:
    draws = 1000
    if not as_normal(rows.n, cells=rows.k * default_bins(rows.n), draws=draws):
        # Null values vary the less, the more rows there are, and need fewer draws.
        draws = min(max(_CLASSWISE_WORK // rows.log_p.size, 100), draws)
    found = classwise_error(p, rows, bins=EqualMass(), seed=seed, draws=draws)
    return replace(found, rule=f"{found.rule} of the probability of every option")


def _ordinal(
    rows: ClassOutcomes, levels: ArrayLike | None, weights: Floats | None, means: _Means
) -> OrdinalMetrics:
    values = np.arange(float(rows.k)) if levels is None else finite_numbers(levels, name="levels")
    if values.shape != (rows.k,):
        raise CalibrationError(f"levels must be {rows.k} values, got {values.tolist()!r}")
    # From the lowest level up: sums around 0 would have no last digits to round.
    lowest, actual = float(values.min()), values[rows.y]
    expected = lowest + same_probabilities(np.exp(rows.log_p) @ (values - lowest))
    varies = np.ptp(expected) > 0.0 and np.ptp(actual) > 0.0
    rps, mae = means.of(
        (rps_losses(rows) / max(rows.k - 1, 1), "RPS / (K - 1)"),
        (np.abs(expected - actual), "MAE of the expected level"),
    )
    return OrdinalMetrics(
        rps=rps,
        mae=mae,
        spearman=spearman(expected, actual, weights=weights) if varies else None,
        tau_b=kendall_tau_b(expected, actual, weights=weights) if varies else None,
    )


def _named(found: Measurement, name: str) -> Measurement:
    return replace(found, rule=f"{name}, {found.rule}")
