"""Calibrate the scores of a results file to people's mean ratings, and say what that is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from classify.calibration.arrays import Floats
from classify.calibration.artefact import CalibrationArtefact, Fingerprint, make_artefact
from classify.calibration.calibrators import Calibrator, identity
from classify.calibration.cross_fit import ItemRows, fold_numbers, item_numbers
from classify.calibration.fitted import FLOOR
from classify.calibration.from_results import comparable, item_weights
from classify.calibration.held_out_answers import HeldOutMetric
from classify.calibration.labelled import MIN_ITEMS
from classify.calibration.mean_map import expected_levels, fit_mean_map
from classify.calibration.rating_errors import RatingMetrics, rating_metrics
from classify.calibration.report import MEANS, Calibrated, CalibrationReport
from classify.calibration.result_labels import BETWEEN, LabelledAnswers, check_answers
from classify.calibration.settings import one_of
from classify.display.notebook import Shown
from classify.errors import CalibrationError
from classify.questions import Score

if TYPE_CHECKING:
    from classify.display.cards import Card

METHOD = MEANS
_FOLDS = 5


@dataclass(frozen=True, slots=True)
class CalibratedMeans(Shown):
    """An artefact that maps scores to people's means, with the errors before and after it."""

    artefact: CalibrationArtefact
    answers: LabelledAnswers
    """The rows that were used."""
    before: RatingMetrics
    after: RatingMetrics
    """Of cross-fitted scores: each row mapped by a fit that did not see its item."""

    @property
    def used(self) -> str:
        """Say "n used of N" and why the others were not."""
        reasons = {why: n for why, n in self.answers.left_out.items() if why != BETWEEN}
        return self.answers.used_of(self.answers.rated, reasons)

    def _card(self) -> Card:
        from classify.calibration.cards import calibrated_means_card

        return calibrated_means_card(self)


def calibrate_means(
    name: str, answers: LabelledAnswers, *, seed: int = 0, requested: str = METHOD
) -> CalibratedMeans:
    """Fit the isotonic mean to every number people gave, whole or between two levels.

    It is kept where it lowers the squared error of rows it did not see; below 50 items by more
    than a standard error, and below 20 nothing is fitted. `requested` is for the report. Raises
    CalibrationError for a question that is no score, where fewer than two items have a number, and
    where answers are calibrated already.
    """
    check_answers(answers)
    one_of(requested, ("auto", METHOD), name="requested")
    if not isinstance(answers.question, Score):
        raise CalibrationError(f"{METHOD} maps scores, and {name!r} is a {answers.question.type}")
    rows = comparable(answers, answers.rated & (answers.weights > 0.0))
    weights = item_weights(rows)
    items = ItemRows(
        log_p=rows.log_p,
        y=np.rint(rows.ratings).astype(np.int64),
        weights=weights,
        items=item_numbers(rows.groups, content=(rows.log_p, rows.ratings), weights=weights),
        floor=FLOOR,
    )
    before = rating_metrics(rows, seed=seed)
    mapped = _held_out(rows, items, seed) if items.counted >= MIN_ITEMS else rows.log_p
    calibrator: Calibrator = identity(rows.log_p.shape[1], n=len(rows.y))
    note = _kept(rows, items, mapped)
    if note:
        mapped = rows.log_p
    else:
        calibrator = fit_mean_map(rows.log_p, rows.ratings, weights=weights)
    after = rating_metrics(replace(rows, log_p=mapped), seed=seed)
    report = _report(rows, items, asked=requested, chosen=calibrator.method, note=note)
    artefact = make_artefact(
        Calibrated(calibrator, report, mapped),
        Fingerprint.of(rows.origins[0]),
        name=name,
        metrics=_metrics(before, after),
    )
    return CalibratedMeans(artefact, rows, before, after)


def _metrics(before: RatingMetrics, after: RatingMetrics) -> tuple[HeldOutMetric, ...]:
    return (
        HeldOutMetric.of("MAE", before.mae, after.mae),
        HeldOutMetric.of("mean bias", before.bias, after.bias),
    )


def _held_out(rows: LabelledAnswers, items: ItemRows, seed: int) -> Floats:
    fold = fold_numbers(items, folds=_FOLDS, seed=seed)
    mapped = np.empty_like(rows.log_p)
    for number in range(_FOLDS):
        here, there = fold == number, fold != number
        fitted = fit_mean_map(rows.log_p[there], rows.ratings[there], weights=items.weights[there])
        mapped[here] = fitted.apply(rows.log_p[here])
    return mapped


def _kept(rows: LabelledAnswers, items: ItemRows, mapped: Floats) -> str:
    """Return why the raw answers are kept, or nothing."""
    if items.counted < MIN_ITEMS:
        return f"{items.counted} rated items are too few; rate at least {MIN_ITEMS}"
    raw, new = (expected_levels(p) - rows.ratings for p in (rows.log_p, mapped))
    gain = raw**2 - new**2
    margin = 1.0 if items.counted < 50 else 0.0
    if items.mean(gain) > margin * items.error(gain):
        return ""
    return f"{METHOD} is not surely better than the raw scores on rows it did not see: raw kept"


def _report(
    rows: LabelledAnswers, items: ItemRows, *, asked: str, chosen: str, note: str
) -> CalibrationReport:
    whole = rows.y[rows.labelled]
    k = rows.log_p.shape[1]
    return CalibrationReport(
        requested=asked,
        chosen=chosen,
        n=len(rows.y),
        items=items.counted,
        k=k,
        label_counts=tuple(np.bincount(whole, minlength=k).tolist()),
        folds=_FOLDS if items.counted >= MIN_ITEMS else 0,
        floor=FLOOR,
        log_loss_before=None,
        log_loss_after=None,
        candidates=(),
        notes=(note,) if note else (),
    )
