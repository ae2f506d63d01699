"""The data behind every picture, out of the labelled answers of a run.

A boolean is read in both ways: its reliability is that of P(true), its confidence that of the
likelier side. A score's level is the nearest to its expected level, as where judges are compared
with people.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from classify.calibration.abstention import confidences
from classify.calibration.arrays import Floats, Ints
from classify.calibration.confidence_bins import ConfidenceHistogram, confidence_histogram
from classify.calibration.label_scores import ScoresByLabel, scores_by_label
from classify.calibration.level_confusion import OrdinalConfusion, ordinal_confusion
from classify.calibration.mean_map import expected_levels, nearest_levels
from classify.calibration.outcomes import class_outcomes, one_option, top_label
from classify.calibration.reliability import (
    ReliabilityDiagram,
    RiskCoverage,
    reliability_diagram,
    risk_coverage,
)
from classify.calibration.result_labels import LabelledAnswers, check_answers
from classify.calibration.settings import whole_number
from classify.errors import CalibrationError
from classify.questions import Boolean, Choice, Score


def labelled_reliability(answers: LabelledAnswers, *, seed: int = 0) -> ReliabilityDiagram:
    """Return how often the answer was right, or yes was true, by the probability of that.

    Of the first answer to each item: the band takes answers for independent.
    """
    check_answers(answers)
    log_p, y, weights = _labelled(answers, of=answers.read_first)
    rows = class_outcomes(log_p, y, weights)
    p, came_true, w = (
        one_option(rows, 0) if isinstance(answers.question, Boolean) else top_label(rows)
    )
    return reliability_diagram(p, came_true, seed=seed, weights=None if weights is None else w)


def labelled_confidence(
    answers: LabelledAnswers, *, seed: int = 0, bins: int = 20
) -> ConfidenceHistogram:
    """Return how sure the answers are, those without a label too."""
    check_answers(answers)
    whole_number(seed, name="seed")
    right = (answers.log_p.argmax(axis=1) == answers.y).astype(np.float64)
    right[~answers.labelled] = np.nan
    return confidence_histogram(
        confidences(answers.log_p),
        right,
        seed=seed,
        bins=bins,
        weights=_weights(answers.weights),
        groups=answers.groups if answers.repeated else None,
        missing=answers.unanswered,
    )


def labelled_risk_coverage(answers: LabelledAnswers) -> RiskCoverage:
    """Return the share of wrong answers among the surest."""
    check_answers(answers)
    log_p, y, weights = _labelled(answers)
    return risk_coverage(confidences(log_p), log_p.argmax(axis=1) != y, weights=weights)


def labelled_confusion(answers: LabelledAnswers, *, seed: int = 0) -> OrdinalConfusion:
    """Return the levels of a score question's answers against the labels."""
    check_answers(answers)
    if not isinstance(answers.question, Score):
        raise CalibrationError(
            f"a {answers.question.type} has no ordered levels; for its options see confusion()"
        )
    log_p, absent = _answered(answers), np.full(answers.unanswered, np.nan)
    levels = range(log_p.shape[1])
    return ordinal_confusion(
        np.append(nearest_levels(log_p), absent),
        np.append(_labels(answers), absent),
        levels=levels,
        seed=seed,
        groups=(*answers.groups, *[""] * absent.size) if answers.repeated else None,
    )


def labelled_scores(answers: LabelledAnswers, *, seed: int = 0) -> ScoresByLabel:
    """Return the expected level of a score, or P(true), for each label."""
    check_answers(answers)
    if isinstance(answers.question, Choice):
        raise CalibrationError("a choice has no score to compare: ask a score or a boolean")
    log_p, labels = _answered(answers), _labels(answers)
    if isinstance(answers.question, Boolean):  # whose columns are (true, false)
        log_p, labels = log_p[:, ::-1], 1.0 - labels
    return scores_by_label(
        expected_levels(log_p),
        labels,
        seed=seed,
        scale=(0.0, log_p.shape[1] - 1.0),
        groups=answers.groups if answers.repeated else None,
        missing=answers.unanswered,
    )


def _answered(answers: LabelledAnswers) -> Floats:
    if not answers.labelled.any():
        raise CalibrationError(f"no answer with a distribution has a label: {answers.used}")
    return answers.log_p


def _labels(answers: LabelledAnswers) -> Floats:
    return np.where(answers.labelled, answers.y, np.nan)


def _labelled(
    answers: LabelledAnswers, *, of: NDArray[np.bool_] | None = None
) -> tuple[Floats, Ints, Floats | None]:
    """Return the rows with a label, of those given; no weights where all count alike."""
    rows, log_p = answers.labelled, _answered(answers)
    if of is not None and (rows & of).any():
        rows = rows & of
    return log_p[rows], answers.y[rows], _weights(answers.weights[rows])


def _weights(weights: Floats) -> Floats | None:
    return None if (weights == 1.0).all() else weights
