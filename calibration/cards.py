"""Cards of calibrators: what one does to an answer, what it was fitted on and what it was worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from classify.display.cards import (
    Card,
    Line,
    Part,
    Picture,
    Row,
    Table,
    facts,
    notes,
    percent,
)
from classify.display.field_cards import field_card, spaced_name

if TYPE_CHECKING:
    from classify.calibration.artefact import CalibrationArtefact
    from classify.calibration.fitted import Fitted, FittedOn
    from classify.calibration.from_results import CalibratedResults
    from classify.calibration.held_out_answers import HeldOutMetric
    from classify.calibration.rated_results import CalibratedMeans
    from classify.calibration.report import Calibrated, CalibrationReport, Candidate

_GIVEN = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Probabilities whose calibrated values are shown."""
_MOST_OPTIONS = 20
"""With more, a calibrator's effect is a table that nobody reads, and slow to make."""


def calibrator_card(calibrator: Fitted) -> Card:
    """Return the card of a calibrator alone, which does not know its options' names."""
    fields = field_card(calibrator, without=("fitted_on", "method", "at_bound"))
    parts = (*fields.parts, *_about(calibrator), *_effect(calibrator, ()))
    return Card(spaced_name(type(calibrator)), "", parts)


def artefact_card(artefact: CalibrationArtefact) -> Card:
    """Return the card of a calibrator with where it holds and what it was worth."""
    made, calibrator = artefact.fingerprint, artefact.calibrator
    where = facts(
        ("model", made.model),
        ("readout", made.readout),
        ("orders", str(made.orders)),
        ("prompt template", made.prompt_template),
        ("library", made.library),
        ("accepts other", ", ".join(artefact.accepts) or None),
        ("created", artefact.created.isoformat(timespec="seconds")),
        ("digest", artefact.digest),
    )
    worth = _held_out(artefact.metrics) if artefact.metrics else ()
    parts = (
        *_about(calibrator),
        *worth,
        *_effect(calibrator, made.options),
        Card("Holds for", "", where),
        report_card(artefact.report),
    )
    name = f"{artefact.name}, " if artefact.name else ""
    return Card("Calibration artefact", f"{name}{calibrator.method}", parts)


def report_card(report: CalibrationReport) -> Card:
    """Return the card of what a calibration tried and chose."""
    about = facts(
        ("labels", f"{report.n} rows of {report.items} items"),
        ("of each option", ", ".join(map(str, report.label_counts))),
        ("log loss", _losses(report)),
        ("folds", str(report.folds) if report.folds else "nothing was fitted"),
    )
    tried = (_candidates(report.candidates, report.chosen),) if report.candidates else ()
    lead = f"{report.chosen} ({report.requested} was asked for)"
    return Card("Calibration report", lead, (*about, *tried, *notes("note", report.notes)))


def calibrated_card(calibrated: Calibrated) -> Card:
    """Return the card of a calibrator with the report on it."""
    calibrator, report = calibrated.calibrator, report_card(calibrated.report)
    parts = (*_about(calibrator), *report.parts, *_effect(calibrator, ()))
    return Card("Calibrated", report.lead, parts)


def calibrated_results_card(found: CalibratedResults) -> Card:
    """Return the card of calibrated results: the picture, then the artefact."""
    from classify.calibration.svg import before_after_svg

    artefact = artefact_card(found.artefact)
    told = "reliability before and after calibration"
    picture = Picture(before_after_svg(*found.diagrams), told)
    used = Line(found.answers.used)
    return Card("Calibrated results", artefact.lead, (used, picture, *artefact.parts))


def calibrated_means_card(found: CalibratedMeans) -> Card:
    """Return the card of scores calibrated to people's means: their errors, then the artefact."""
    artefact = artefact_card(found.artefact)
    before, after = (
        Card(title, "", facts(*((name, str(value)) for name, value in metrics.named())))
        for title, metrics in (("Before", found.before), ("After, on rows left out", found.after))
    )
    parts = (Line(found.used), before, after, *artefact.parts)
    return Card("Calibrated means", artefact.lead, parts)


def _about(calibrator: Fitted) -> tuple[Part, ...]:
    fitted_on = calibrator.fitted_on
    bound = "a parameter stopped at the edge of its range: the labels ask for more"
    return (
        *facts(("fitted on", _fitted_on(fitted_on))),
        *notes("at its bound", (bound,) if calibrator.at_bound else ()),
    )


def _fitted_on(fitted_on: FittedOn) -> str:
    return f"{fitted_on.n} labelled rows, {fitted_on.k} options"


def _effect(calibrator: Fitted, options: Sequence[str]) -> tuple[Table, ...]:
    """Return what becomes of an option's probability where the others share the rest evenly."""
    k = calibrator.fitted_on.k
    if not 2 <= k <= _MOST_OPTIONS:
        return ()
    names = options or [f"option {index}" for index in range(k)]
    shown = range(1 if k == 2 else k)  # of two options, the second has what the first leaves
    rows = (Row((names[option], *_mapped(calibrator, option))) for option in shown)
    others = "" if k == 2 else ", the others being alike"
    caption = f"what becomes of a probability{others}"
    return (Table(("before", *map(percent, _GIVEN)), tuple(rows), "options", caption),)


def _mapped(calibrator: Fitted, option: int) -> list[str]:
    k, given = calibrator.fitted_on.k, np.array(_GIVEN)
    p = np.repeat((1.0 - given)[:, None] / (k - 1), k, axis=1)
    p[:, option] = given
    mapped: list[float] = np.exp(calibrator.apply(np.log(p))[:, option]).tolist()
    return [percent(each) for each in mapped]


def _held_out(metrics: Sequence[HeldOutMetric]) -> tuple[Part, ...]:
    rows = (
        Row(
            (
                each.name,
                *map(_with_interval, (each.before, each.after), each.intervals),
                "unknown" if each.n is None else str(each.n),
            )
        )
        for each in metrics
    )
    table = Table(("on rows left out", "before", "after", "n"), tuple(rows), unit="metrics")
    rules = facts(*((each.name, _rule(each)) for each in metrics))
    return table, *((Card("Rules of these numbers", "", rules),) if rules else ())


def _rule(metric: HeldOutMetric) -> str | None:
    before, after = metric.rules
    return (before if before == after else f"{before}; after: {after}") or None


def _with_interval(value: float, interval: tuple[float, float] | None) -> str:
    ends = "" if interval is None else f" [{interval[0]:z.4f}, {interval[1]:z.4f}]"
    return f"{value:z.4f}{ends}"


def _candidates(candidates: Sequence[Candidate], chosen: str) -> Table:
    rows = (
        Row(
            (each.method, f"{each.log_loss:.4f}", f"{each.gain:+z.4f} ± {each.gain_error:.4f}"),
            strong=each.method == chosen,
        )
        for each in candidates
    )
    return Table(("tried", "log loss", "gain"), tuple(rows), unit="methods")


def _losses(report: CalibrationReport) -> str | None:
    before, after = report.log_loss_before, report.log_loss_after
    if before is None or after is None:
        return None
    return f"{before:.4f} before, {after:.4f} after, on rows left out"
