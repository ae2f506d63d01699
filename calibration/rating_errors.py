"""What a score's expected level is worth against people's numbers, also those between levels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from classify.calibration.arrays import Floats
from classify.calibration.from_results import only
from classify.calibration.intervals import mean_interval
from classify.calibration.mean_map import expected_levels
from classify.calibration.measurement import Measurement, of_total
from classify.calibration.rank_correlation import kendall_tau_b, spearman
from classify.calibration.result_labels import LabelledAnswers, check_answers
from classify.display.notebook import Shown
from classify.errors import CalibrationError


@dataclass(frozen=True, slots=True)
class RatingMetrics(Shown):
    """The expected level against people's numbers; correlations None where one side is constant."""

    mae: Measurement
    """Mean distance, in levels."""
    bias: Measurement
    """Mean of the expected level less the number people gave."""
    spearman: Measurement | None
    tau_b: Measurement | None

    def lines(self) -> list[str]:
        """Return one line per number, to print."""
        return [f"{name:<20}{value}" for name, value in self.named()]

    def named(self) -> list[tuple[str, object]]:
        """Return names and values, to print."""
        undefined = "not defined: one side never varies"
        return [
            ("MAE", self.mae),
            ("mean bias", self.bias),
            ("Spearman", self.spearman or undefined),
            ("tau-b", self.tau_b or undefined),
        ]


def rating_metrics(answers: LabelledAnswers, *, seed: int = 0) -> RatingMetrics:
    """Measure the rows with a number from people; CalibrationError where there are fewer than two.

    Rows of one item are resampled together for the intervals.
    """
    check_answers(answers)
    rows = only(answers, answers.rated & (answers.weights > 0.0))
    if len(set(rows.groups)) < 2:
        raise CalibrationError(
            f"people's numbers are needed of at least two items, got {len(set(rows.groups))}: rate "
            "more"
        )
    # Without weights a rank correlation also has its p-value.
    w = None if (rows.weights == 1.0).all() else rows.weights
    away, of = expected_levels(rows.log_p) - rows.ratings, answers.given
    # Of the first answer to each item, for p-values take answers for independent.
    first = only(rows, rows.read_first)
    expected, people = expected_levels(first.log_p), first.ratings
    w_first = None if w is None else first.weights
    varies = np.ptp(expected) > 0.0 and np.ptp(people) > 0.0

    def mean(values: Floats, name: str) -> Measurement:
        groups = rows.groups if rows.repeated else None
        found = mean_interval(values, seed=seed, weights=w, groups=groups)
        return replace(found, rule=f"{name}, {found.rule}", total=of)

    rank = spearman(expected, people, weights=w_first) if varies else None
    tau_b = kendall_tau_b(expected, people, weights=w_first) if varies else None
    return RatingMetrics(
        mae=mean(np.abs(away), "|expected level - people's|"),
        bias=mean(away, "expected level - people's"),
        spearman=of_total(rank, of),
        tau_b=of_total(tau_b, of),
    )
