"""Every metric that a question's kind has, on the labelled answers of a run.

The headline numbers are those of `summary`. A metric that is not defined on these rows is there
with the reason in place of a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from classify.calibration.agreement import cohen_kappa
from classify.calibration.arrays import Floats
from classify.calibration.binning import EqualWidth
from classify.calibration.calibration_error import expected_calibration_error
from classify.calibration.classwise_error import sweep_calibration_error
from classify.calibration.corp import Decomposition, corp_log_loss
from classify.calibration.cumulative import kolmogorov_smirnov, kuiper, spiegelhalter
from classify.calibration.discrimination import (
    auroc,
    auroc_one_vs_one,
    auroc_one_vs_rest,
    excess_aurc,
)
from classify.calibration.estimate import Estimate
from classify.calibration.from_results import labelled_metrics, metric_rows, only
from classify.calibration.mean_map import expected_levels, nearest_levels
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import (
    BinaryOutcomes,
    ClassOutcomes,
    class_outcomes,
    effective_n,
    one_option,
    top_label,
)
from classify.calibration.proper_scores import LogLoss, brier_skill, log_loss_skill
from classify.calibration.rank_correlation import kendall_tau_b, spearman
from classify.calibration.rating_errors import rating_metrics
from classify.calibration.reliability_regression import CalibrationLine, calibration_line
from classify.calibration.result_labels import LabelledAnswers, check_answers
from classify.calibration.summary import Kind, Metrics
from classify.display.notebook import Shown
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card

Number: TypeAlias = Measurement | Decomposition | LogLoss | CalibrationLine | Estimate


@dataclass(frozen=True, slots=True)
class NamedMetric(Shown):
    """A metric's name, and its number or why it has none."""

    name: str
    value: Number | None
    """With its rule, its interval or null value, and how many rows it stands on."""
    undefined: str = ""
    """Why there is no number on these rows; "" where there is one."""

    def __str__(self) -> str:
        """Show the number with its rule, or why there is none."""
        return f"not defined: {self.undefined}" if self.value is None else str(self.value)


@dataclass(frozen=True, slots=True)
class MetricGroup(Shown):
    """Metrics that answer one question about the answers."""

    title: str
    metrics: tuple[NamedMetric, ...]


@dataclass(frozen=True, slots=True)
class EveryMetric(Shown):
    """All metrics of one question's labelled answers, by what they are about."""

    kind: Kind
    """Of the question."""
    groups: tuple[MetricGroup, ...]
    note: str = ""
    """What the null values and p-values take for granted and these rows do not have."""

    def lines(self) -> list[str]:
        """Return one line per number under a line for its group, to print."""
        found = [self.note] if self.note else []
        for group in self.groups:
            found.append(group.title)
            found += [f"  {each.name:<20}{each}" for each in group.metrics]
        return found

    def _card(self) -> Card:
        from classify.calibration.metric_cards import every_metric_card

        return every_metric_card(self)


def every_metric(answers: LabelledAnswers, *, seed: int = 0) -> EveryMetric:
    """Return all metrics of the answers that have a label; CalibrationError where none has.

    Labels of a score between two levels count only against the expected level.
    """
    check_answers(answers)
    if not (answers.labelled | answers.rated).any():
        raise CalibrationError(answers.nothing_labelled)
    rows = _Rows.of(answers, seed) if answers.labelled.any() else None
    groups: list[MetricGroup] = []
    if rows is not None:
        # Chance values take answers for independent, which readings of one state are not.
        first = rows
        if (answers.read_first < answers.labelled).any():
            first = _Rows.of(only(answers, answers.read_first), seed)
        groups = [_losses(rows), _calibration(first), _ranking(rows)]
        if rows.kind == "score":
            groups.append(_levels(rows, first))
    if answers.between:
        groups.append(_ratings(answers, seed))
    return EveryMetric(answers.question.type, tuple(groups), answers.dependence)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The labelled rows in every form that the metrics take."""

    kind: Kind
    head: Metrics
    outcomes: ClassOutcomes
    weights: Floats | None
    """None where all rows count alike: some p-values exist only there."""
    judged: BinaryOutcomes
    """Of a boolean P(true), else the confidence in the answer, and whether it came true."""
    answer: BinaryOutcomes
    """The confidence in the answer, and whether it was right."""
    seed: int
    total: int

    @classmethod
    def of(cls, answers: LabelledAnswers, seed: int) -> _Rows:
        rows = only(answers, answers.labelled & (answers.weights > 0.0))
        head = labelled_metrics(answers, seed=seed)
        log_p, y, weights = metric_rows(rows)
        outcomes = class_outcomes(log_p, y, weights)
        answer = top_label(outcomes)
        return cls(
            kind=head.kind,
            head=head,
            outcomes=outcomes,
            weights=weights,
            judged=one_option(outcomes, 0) if head.kind == "boolean" else answer,
            answer=answer,
            seed=seed,
            total=answers.given,
        )

    @property
    def many(self) -> bool:
        """Whether there are several options without a yes among them."""
        return self.kind != "boolean" and self.outcomes.k > 2

    def group(self, title: str, metrics: Iterable[NamedMetric]) -> MetricGroup:
        return MetricGroup(title, tuple(_of_total(each, self.total) for each in metrics))


def _losses(rows: _Rows) -> MetricGroup:
    head, (log_p, y, _), w = rows.head, rows.outcomes, rows.weights
    found = [_number("log loss", head.log_loss)]
    if head.floored_log_loss is not None:
        found.append(_number("log loss, floored", head.floored_log_loss))
    found += [
        _tried("log loss skill", lambda: _finite(log_loss_skill(log_p, y, weights=w))),
        _number("Brier", head.brier),
        _number("Brier, CORP", head.brier_corp),
        _tried("Brier skill", lambda: head.brier_skill or brier_skill(log_p, y, weights=w)),
    ]
    if rows.kind == "boolean":
        p, came_true, _ = rows.judged
        found.append(
            _tried("log loss, CORP", lambda: _finite(corp_log_loss(p, came_true, weights=w)))
        )
    return rows.group("losses: lower is better; of skill, 1 is perfect and 0 the base rates", found)


def _calibration(rows: _Rows) -> MetricGroup:
    head, (p, y, _), w, seed = rows.head, rows.judged, rows.weights, rows.seed
    found = [
        _number("smooth ECE", head.smooth_ece),
        _number("debiased error", head.debiased_error),
        _tried("ECE, equal mass", lambda: expected_calibration_error(p, y, weights=w, seed=seed)),
        _tried(
            "ECE, equal width",
            lambda: expected_calibration_error(p, y, weights=w, seed=seed, bins=EqualWidth()),
        ),
        _tried("ECE, sweep", lambda: sweep_calibration_error(p, y, weights=w, seed=seed)),
    ]
    if head.classwise_ece is not None:
        found.append(_number("ECE, classwise", head.classwise_ece))
    found += [
        _tried("Kolmogorov-Smirnov", lambda: kolmogorov_smirnov(p, y, weights=w)),
        _tried("Kuiper", lambda: kuiper(p, y, weights=w)),
        _tried("Spiegelhalter", lambda: spiegelhalter(p, y, weights=w)),
        _tried("calibration line", lambda: calibration_line(p, y, weights=w)),
    ]
    what = "P(true)" if rows.kind == "boolean" else "the confidence in the answer"
    return rows.group(f"calibration of {what}: 0 is perfect, of a slope 1", found)


def _ranking(rows: _Rows) -> MetricGroup:
    head, w = rows.head, rows.weights
    p, y, _ = rows.judged
    found = [
        _number("accuracy", head.accuracy),
        _tried("AUROC", lambda: head.auroc or auroc(p, y, weights=w)),
    ]
    if rows.many:
        log_p, truth, _ = rows.outcomes
        found += [
            _tried("AUROC, one-vs-rest", lambda: auroc_one_vs_rest(log_p, truth, weights=w)),
            _tried("AUROC, one-vs-one", lambda: auroc_one_vs_one(log_p, truth, weights=w)),
        ]
    confidence, right, _ = rows.answer
    found += [
        _number("AURC", head.aurc),
        _tried("AURC, excess", lambda: excess_aurc(confidence, 1 - right, weights=w)),
        _number("AUGRC", head.augrc),
    ]
    return rows.group("which answers to trust: of AURC and AUGRC lower is better", found)


def _levels(rows: _Rows, first: _Rows) -> MetricGroup:
    (log_p, y, w), ordinal = first.outcomes, rows.head.ordinal
    expected, actual = expected_levels(log_p), y.astype(np.float64)
    if ordinal is None:
        raise AssertionError("the metrics of a score have an ordinal part")
    # Kappa's weights are numbers of items, and here only their ratios say anything.
    items = w * (effective_n(w) / float(w.sum()))
    found = [
        _number("RPS", ordinal.rps),
        _number("MAE", ordinal.mae),
        _tried(
            "Spearman",
            lambda: ordinal.spearman or spearman(expected, actual, weights=first.weights),
        ),
        _tried(
            "tau-b",
            lambda: ordinal.tau_b or kendall_tau_b(expected, actual, weights=first.weights),
        ),
        _tried(
            "quadratic kappa",
            lambda: cohen_kappa(
                nearest_levels(log_p),
                y,
                levels=range(rows.outcomes.k),
                scheme="quadratic",
                weights=items,
            ),
        ),
    ]
    return rows.group("on the scale: the expected level against the label", found)


def _ratings(answers: LabelledAnswers, seed: int) -> MetricGroup:
    title = "against all numbers of people, also between two levels"
    try:
        found = rating_metrics(answers, seed=seed)
    except CalibrationError as error:
        return MetricGroup(title, (NamedMetric("MAE", None, str(error)),))
    rows = only(answers, answers.rated)
    expected, people = expected_levels(rows.log_p), rows.ratings
    return MetricGroup(
        title,
        (
            _number("MAE", found.mae),
            _number("mean bias", found.bias),
            _tried("Spearman", lambda: found.spearman or spearman(expected, people)),
            _tried("tau-b", lambda: found.tau_b or kendall_tau_b(expected, people)),
        ),
    )


def _number(name: str, value: Number) -> NamedMetric:
    return NamedMetric(name, value)


def _tried(name: str, measure: Callable[[], Number]) -> NamedMetric:
    try:
        return NamedMetric(name, measure())
    except CalibrationError as error:
        return NamedMetric(name, None, str(error))


def _finite(found: Measurement | Decomposition) -> Measurement | Decomposition:
    if not np.isfinite(found.value):
        raise CalibrationError(
            "a true option had probability 0, so the log loss is infinite; see the floored one"
        )
    return found


def _of_total(metric: NamedMetric, total: int) -> NamedMetric:
    return (
        metric
        if metric.value is None
        else replace(metric, value=replace(metric.value, total=total))
    )
