"""Calibrate the answers of a results file, and say what that is worth on rows left out."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from classify.calibrating import Origin
from classify.calibration.arrays import Floats, Ints
from classify.calibration.artefact import CalibrationArtefact, Fingerprint, make_artefact
from classify.calibration.auto import calibrate
from classify.calibration.fitted import CalibrationWarning
from classify.calibration.held_out_answers import HeldOutAnswers, HeldOutMetric
from classify.calibration.labelled_pictures import labelled_reliability
from classify.calibration.methods import Method
from classify.calibration.reliability import ReliabilityDiagram
from classify.calibration.result_labels import LabelledAnswers, check_answers
from classify.calibration.summary import Kind, Metrics, metrics
from classify.display.notebook import PrintedCard
from classify.errors import CalibrationError

if TYPE_CHECKING:
    from classify.display.cards import Card


@dataclass(frozen=True, slots=True)
class CalibratedResults(PrintedCard):
    """An artefact, with the metrics of the same labelled rows before and after it."""

    artefact: CalibrationArtefact
    answers: LabelledAnswers
    """The rows that were used."""
    before: Metrics
    after: Metrics
    """Of cross-fitted answers: each row calibrated by a fit that did not see its item."""
    diagrams: tuple[ReliabilityDiagram, ReliabilityDiagram]
    """Before and after."""

    @property
    def used(self) -> str:
        """Say "n used of N" and why the others were not."""
        return self.answers.used

    def _card(self) -> Card:
        from classify.calibration.cards import calibrated_results_card

        return calibrated_results_card(self)


def calibrate_results(
    name: str, answers: LabelledAnswers, *, method: Method = "auto", seed: int = 0
) -> CalibratedResults:
    """Fit a calibrator to the labelled answers of the question of that name.

    Only answers that were made in the commonest way are used; the others are counted in
    `answers.left_out`. Raises CalibrationError where no answer has a label, and where answers are
    calibrated already.
    """
    check_answers(answers)
    rows = comparable(answers, answers.labelled)
    kind = kind_of(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)  # what it says is in the report
        fitted = calibrate(
            rows.log_p,
            rows.y,
            method=method,
            kind="score" if kind == "score" else "choice",
            weights=item_weights(rows),
            groups=rows.groups,
            options=rows.options,
            seed=seed,
        )
    before = labelled_metrics(rows, seed=seed)
    calibrated = replace(rows, log_p=fitted.held_out)
    after = labelled_metrics(calibrated, seed=seed)
    artefact = make_artefact(
        fitted,
        Fingerprint.of(rows.origins[0]),
        name=name,
        metrics=_held_out(before, after),
        held_out=_held_out_answers(calibrated),
    )
    diagrams = (labelled_reliability(rows, seed=seed), labelled_reliability(calibrated, seed=seed))
    return CalibratedResults(artefact, rows, before, after, diagrams)


def labelled_metrics(answers: LabelledAnswers, *, seed: int = 0) -> Metrics:
    """Return the metrics of the answers that have a label; CalibrationError where none has."""
    check_answers(answers)
    rows = only(answers, answers.labelled)
    if not len(rows.y):
        raise CalibrationError(answers.nothing_labelled)
    found, first = _metrics(rows, seed), only(rows, rows.read_first)
    if 0 < len(first.y) < np.count_nonzero(rows.weights):
        found = found.with_chance_of(_metrics(first, seed))
    return found.of(rows.given)


def _metrics(rows: LabelledAnswers, seed: int) -> Metrics:
    log_p, y, weights = metric_rows(rows)
    return metrics(
        log_p,
        y,
        seed=seed,
        weights=weights,
        groups=rows.groups if rows.repeated else None,
        kind=kind_of(rows),
    )


def metric_rows(answers: LabelledAnswers) -> tuple[Floats, Ints, Floats | None]:
    """Return log-probabilities, labels, and weights, which are None where all rows count alike."""
    weights = None if (answers.weights == 1.0).all() else answers.weights
    return answers.log_p, answers.y, weights


def item_weights(answers: LabelledAnswers) -> Floats:
    """Return the weights of rows with a label, by which an item counts as if it was read once.

    A fit that took each reading for a new item would hold its labels for surer than they are.
    """
    counted = answers.weights > 0.0
    read = {*zip(answers.items[counted].tolist(), answers.places[counted].tolist(), strict=True)}
    readings = np.bincount([item for item, _ in read], minlength=int(answers.items.max()) + 1)
    weights: Floats = answers.weights / np.maximum(readings, 1)[answers.items]
    return weights


def kind_of(answers: LabelledAnswers) -> Kind:
    """Return the kind of the question."""
    return answers.question.type


def comparable(answers: LabelledAnswers, wanted: NDArray[np.bool_]) -> LabelledAnswers:
    """Return, of these rows, the ones whose answers were made in the commonest way.

    Raises CalibrationError where there is none, and where answers are calibrated already.
    """
    if answers.calibrated:
        raise CalibrationError(
            f"{answers.calibrated} answers are calibrated already: calibrate the results of a run "
            "without --calibrator"
        )
    rows = only(answers, wanted)
    if not len(rows.y):
        raise CalibrationError(answers.nothing_labelled)
    commonest = int(np.bincount(rows.made).argmax())
    way = rows.origins[commonest]
    same: Ints = np.flatnonzero(rows.made == commonest)
    if len(same) < len(rows.y):
        reason = f"made with another {_differing(rows, way)}"
        rows = replace(rows, left_out={**rows.left_out, reason: len(rows.y) - len(same)})
    used = np.zeros(len(rows.y), dtype=np.bool_)
    used[same] = True
    return replace(only(rows, used), origins=(way,), made=np.zeros(len(same), dtype=np.int64))


def _differing(rows: LabelledAnswers, way: Origin) -> str:
    """Return the parts of the fingerprint in which rows were made otherwise than in that way."""
    mark, others = Fingerprint.of(way), [o for k, o in enumerate(rows.origins) if k in rows.made]
    parts = {part for other in others for part in mark.differences(Fingerprint.of(other))}
    return " or ".join(name for name in Fingerprint.model_fields if name in parts)


def only(answers: LabelledAnswers, rows: NDArray[np.bool_]) -> LabelledAnswers:
    """Return these rows alone; what was left out stays counted."""
    return replace(
        answers,
        log_p=answers.log_p[rows],
        y=answers.y[rows],
        ratings=answers.ratings[rows],
        weights=answers.weights[rows],
        groups=tuple(np.array(answers.groups, dtype=object)[rows].tolist()),
        items=answers.items[rows],
        places=answers.places[rows],
        made=answers.made[rows],
    )


def _held_out_answers(calibrated: LabelledAnswers) -> HeldOutAnswers:
    """Return the first answer to one item of each group, with all labels of that item."""
    rows = only(calibrated, calibrated.weights > 0.0)
    lead = np.unique(np.array(rows.groups), return_index=True)[1]
    rows = only(rows, np.isin(rows.items, rows.items[lead]))
    return HeldOutAnswers.of(rows.log_p, rows.y, weights=rows.weights, items=rows.items)


def _held_out(before: Metrics, after: Metrics) -> tuple[HeldOutMetric, ...]:
    """Return the metrics that belong into the artefact; of an infinite one, the floored."""
    floored = before.floored_log_loss or after.floored_log_loss
    classwise: tuple[HeldOutMetric, ...] = ()
    if before.classwise_ece is not None and after.classwise_ece is not None:
        classwise = (HeldOutMetric.of("ECE, classwise", before.classwise_ece, after.classwise_ece),)
    return (
        HeldOutMetric.of(
            "log loss, floored" if floored else "log loss",
            before.floored_log_loss or before.log_loss,
            after.floored_log_loss or after.log_loss,
        ),
        HeldOutMetric.of("Brier", before.brier, after.brier),
        HeldOutMetric.of("smooth ECE", before.smooth_ece, after.smooth_ece),
        HeldOutMetric.of("debiased error", before.debiased_error, after.debiased_error),
        *classwise,
    )
