"""Cards of metrics, agreement, prediction sets and risk, and of the pictures' data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from classify.display.cards import (
    Card,
    Line,
    Part,
    Picture,
    Row,
    Share,
    Table,
    facts,
    notes,
    percent,
)
from classify.display.field_cards import field_card, spaced_name

if TYPE_CHECKING:
    from classify.calibration.agreement import Confusion
    from classify.calibration.all_metrics import EveryMetric
    from classify.calibration.annotator_test import AltTest
    from classify.calibration.bias_reports import BiasReport
    from classify.calibration.judge_reports import JudgeReport
    from classify.calibration.prediction_sets import PredictionSets
    from classify.calibration.reliability import ReliabilityDiagram, RiskCoverage
    from classify.calibration.risk_control import RiskControl
    from classify.calibration.summary import Metrics

_WIDEST = 12
"""Levels up to which a confusion is a table."""


def metrics_card(metrics: Metrics) -> Card:
    """Return the card of the headline numbers, each with its interval, null value and rule."""
    named = facts(*((name, str(value)) for name, value in metrics.named() if value is not None))
    return Card("Metrics", f"{metrics.kind}, {metrics.options} options, n={metrics.n}", named)


def every_metric_card(found: EveryMetric) -> Card:
    """Return the card of all metrics, a section for each group."""
    groups = (
        Card(group.title, "", facts(*((each.name, str(each)) for each in group.metrics)))
        for group in found.groups
    )
    return Card(
        "Every metric", found.kind, (*notes("note", [found.note] * bool(found.note)), *groups)
    )


def confusion_card(confusion: Confusion) -> Card:
    """Return the card of a confusion; of very many levels, only the commonest pairs."""
    names = [str(level) for level in confusion.levels]
    lead = f"{percent(confusion.agreement)} alike, {confusion.n} used of {confusion.total}"
    if len(names) <= _WIDEST:
        rows = tuple(
            Row((name, *(f"{count:g}" for count in row)))
            for name, row in zip(names, confusion.counts, strict=True)
        )
        table = Table((" \\ ".join(confusion.names), *names), rows, unit="levels")
    else:
        pairs = tuple(
            Row((first, second, f"{count:g}"), strong=first == second, weight=count)
            for first, row in zip(names, confusion.counts, strict=True)
            for second, count in zip(names, row, strict=True)
            if count
        )
        table = Table((*confusion.names, "items"), pairs, unit="pairs of levels")
    return Card("Confusion", lead, (table,))


def alt_test_card(test: AltTest) -> Card:
    """Return the card of whether a judge may replace a person."""
    rows = (
        Row(
            (
                str(trial.annotator),
                percent(trial.judge_wins),
                percent(trial.annotator_wins),
                f"{trial.p_value:.3g}",
                "yes" if trial.beaten else "no",
                f"{trial.n} of {trial.total}",
            )
        )
        for trial in test.trials
    )
    headings = ("annotator", "judge as good", "annotator as good", "p", "beaten", "items")
    return Card("Alternative annotator test", str(test), (Table(headings, tuple(rows), "trials"),))


def judge_report_card(report: JudgeReport) -> Card:
    """Return the card of how far raters agree."""
    table = () if report.confusion is None else (confusion_card(report.confusion),)
    replacing = () if report.replacing is None else (alt_test_card(report.replacing),)
    numbers = (report.kappa, report.alpha, report.ac, report.rate)
    lines = (Line(str(each)) for each in numbers if each is not None)
    verdicts = (Line(report.verdicts),) if report.verdicts else ()
    parts = (*verdicts, *lines, *notes("note", report.notes), *table, *replacing)
    return Card("Judge report", ", ".join(report.raters), parts)


def bias_report_card(report: BiasReport) -> Card:
    """Return the card of a judge's habits."""
    return Card("Bias report", "", tuple(Line(line.strip()) for line in report.lines()))


def prediction_sets_card(sets: PredictionSets) -> Card:
    """Return the card of a rule for sets: the promise, and each option's threshold."""
    ranges = sets.coverage_ranges
    rows = (
        Row(
            (
                str(option),
                "always in" if math.isinf(threshold) else f"{threshold:.4g}",
                str(count),
                f"{low:.1%} to {high:.1%}",
            )
        )
        for option, (threshold, count, (low, high)) in enumerate(
            zip(sets.thresholds, sets.counts, ranges, strict=True)
        )
    )
    headings = ("option", "largest score let in", "rows", "coverage to expect")
    return Card("Prediction sets", str(sets), (Table(headings, tuple(rows), "options"),))


def risk_control_card(control: RiskControl) -> Card:
    """Return the card of a threshold: the promise, and the thresholds that were tested."""
    rows = tuple(
        Row(
            (
                f"{step.threshold:.4g}",
                str(step.accepted),
                f"{step.loss:g}",
                f"{step.p_value:.3g}",
                f"{step.level:.3g}",
            ),
            strong=step.threshold == control.threshold,
            weight=float(step.threshold == control.threshold),
        )
        for step in control.steps
    )
    share = Share(control.decides_alone, percent(control.decides_alone))
    headings = ("threshold", "decided alone", "wrong", "p", "p to pass")
    alone = Table(("", "of the rows"), (Row(("decided alone", share)),), unit="rows")
    tested = (Table(headings, rows, unit="thresholds", caption="tested in turn"),) if rows else ()
    return Card("Risk control", str(control), (alone, *tested))


def reliability_card(diagram: ReliabilityDiagram) -> Card:
    """Return the card of a reliability diagram: the picture, and its bins in numbers."""
    from classify.calibration.svg import reliability_svg

    rows = tuple(
        Row(
            (
                f"{point.probability:.3f}",
                f"{point.rate:.3f}",
                f"{point.low:.3f} to {point.high:.3f}",
                str(point.rows),
            ),
            strong=not point.inside,
        )
        for point in diagram.points
    )
    headings = ("probability", "came true", "as if calibrated", "rows")
    bins = Table(headings, rows, unit="bins")
    return _pictured(diagram, reliability_svg(diagram), (bins, Line(diagram.rule)))


def risk_coverage_card(curve: RiskCoverage) -> Card:
    """Return the card of a risk-coverage curve: the picture, and its area."""
    from classify.calibration.svg import risk_coverage_svg

    fields = field_card(curve, without=("coverage", "risk", "threshold", "interval"))
    return _pictured(curve, risk_coverage_svg(curve), fields.parts)


def _pictured(shown: ReliabilityDiagram | RiskCoverage, svg: str, parts: Sequence[Part]) -> Card:
    name = spaced_name(type(shown))
    return Card(name, f"n={shown.n}", (Picture(svg, f"a picture: {name}"), *parts))
