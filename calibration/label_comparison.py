"""Two runs against the same labels: is one right more often, and surer of what is true.

Paired: a labelled row counts where both runs have a verdict. Differences are the second run less
the first. Rows of one item (several people's labels, or a group) are resampled and tested together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from classify.calibration.arrays import Floats, Ints
from classify.calibration.comparison import PairedTest, mcnemar_exact
from classify.calibration.file_answers import NO_VERDICT, AnswerColumns
from classify.calibration.intervals import mean_interval, share_interval
from classify.calibration.label_file import RowLabels
from classify.calibration.measurement import Measurement
from classify.calibration.outcomes import class_outcomes
from classify.calibration.paired_intervals import tango_ends, tango_rule, told_of_unvaried
from classify.calibration.proper_scores import log_losses
from classify.calibration.question_comparison import RESAMPLES, flips_of_items
from classify.calibration.read_items import ReadItem
from classify.logspace import safe_log
from classify.questions import Question
from classify.row_labels import Label

FLOOR = 1e-6
"""A true option counts as at least so probable, lest one row make a loss infinite."""
_BETWEEN = -1


@dataclass(frozen=True, slots=True)
class PairedMeans:
    """A mean over the same rows of both runs, and their difference."""

    first: Measurement
    second: Measurement
    difference: Measurement

    def of(self, total: int) -> PairedMeans:
        """Return the same means, each saying how many rows there were."""
        first, second, difference = (
            replace(each, total=total) for each in (self.first, self.second, self.difference)
        )
        return PairedMeans(first, second, difference)


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """Two runs against labels; None where no labelled row allows the number."""

    labelled: int
    """Labelled rows among the pairs, whether both runs answered or not."""
    n: int
    """Labelled rows with a verdict in both; a row counts once for each person who labelled it."""
    items: int
    """Items (or groups) that these rows belong to."""
    accuracy: PairedMeans | None
    only_first: int
    """Rows in which only the first run is right."""
    only_second: int
    test: PairedTest | None
    """Are both right equally often: McNemar; sign flips over items where rows share one, or
    have weights."""
    log_loss: PairedMeans | None
    """In nats, with probabilities of at least 1e-6."""
    zeros: tuple[int, int]
    """Rows of each run whose true option had less than that."""
    error: PairedMeans | None
    """Of a score: the distance of the expected level from the label."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """A row for each label of a pair that both runs answered."""

    places: Ints
    columns: Ints
    """The label's column; -1 for a mean of levels."""
    levels: Floats
    """The label of a score as a number; nan for the other kinds."""
    weights: Floats
    groups: Ints

    def only(self, kept: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> _Rows:
        return _Rows(
            self.places[kept],
            self.columns[kept],
            self.levels[kept],
            self.weights[kept],
            self.groups[kept],
        )

    @property
    def plain(self) -> bool:
        """Whether every row is an item of its own that counts as one."""
        return np.unique(self.groups).size == self.groups.size and bool((self.weights == 1.0).all())

    def shares(self, first: Floats, second: Floats, *, seed: int) -> PairedMeans:
        """Return how often each of two outcomes is 1, and the mean of the second less the first."""
        a, b = (
            share_interval(side, seed=seed, weights=self._weights, groups=self._groups)
            for side in (first, second)
        )
        if not self.plain:
            return PairedMeans(a, b, self._mean(second - first, -1.0, 1.0, seed))
        n, better, worse = first.size, int((second > first).sum()), int((second < first).sum())
        low, high = tango_ends(better, worse, n, confidence=0.95)
        rule = tango_rule(better, worse, confidence=" 95%")
        return PairedMeans(a, b, Measurement((better - worse) / n, rule, n, low, high))

    def means(self, first: Floats, second: Floats, *, most: float, seed: int) -> PairedMeans:
        """Return the weighted means of two values per row, and of the second less the first.

        Values are from 0 to `most`.
        """
        a, b = (self._mean(side, 0.0, most, seed) for side in (first, second))
        return PairedMeans(a, b, self._mean(second - first, -most, most, seed))

    def _mean(self, values: Floats, least: float, most: float, seed: int) -> Measurement:
        items = np.unique(self.groups).size
        if items == 1:
            value = float(values @ self.weights / self.weights.sum())
            return Measurement(value, "one item, no interval", values.size)
        found = mean_interval(
            values, seed=seed, weights=self._weights, groups=self._groups, resamples=RESAMPLES
        )
        return told_of_unvaried(found, items, least=least, most=most)

    @property
    def _weights(self) -> Floats | None:
        return None if (self.weights == 1.0).all() else self.weights

    @property
    def _groups(self) -> Ints | None:
        return self.groups if np.unique(self.groups).size < self.groups.size else None


def compare_with_labels(
    question: Question,
    name: str,
    first: AnswerColumns,
    second: AnswerColumns,
    *,
    items: Sequence[ReadItem],
    labels: Sequence[Sequence[RowLabels]],
    seed: int = 0,
) -> LabelComparison | None:
    """Compare the answers of paired rows with what people said of them; None without labels.

    `labels` holds a list for each pair, of one entry for each person.
    """
    given = _rows(question, name, items, labels)
    if not given.places.size:
        return None
    answered = (first.verdicts != NO_VERDICT) & (second.verdicts != NO_VERDICT)
    rows = given.only(answered[given.places] & (given.weights > 0.0))
    exact = rows.only(rows.columns != _BETWEEN)
    right = [
        (side.verdicts[exact.places] == exact.columns).astype(np.float64)
        for side in (first, second)
    ]
    log_loss, zeros = _log_loss(first, second, exact, seed)
    labelled, test = given.places.size, None
    if exact.places.size:
        total = np.unique(given.groups).size
        test = replace(_test(right[0], right[1], exact, seed), total=total)
    accuracy = exact.shares(*right, seed=seed) if exact.places.size else None
    error = _error(question, first, second, rows, seed) if question.type == "score" else None
    return LabelComparison(
        labelled=labelled,
        n=rows.places.size,
        items=np.unique(rows.groups).size,
        accuracy=None if accuracy is None else accuracy.of(labelled),
        only_first=int((right[0] > right[1]).sum()),
        only_second=int((right[0] < right[1]).sum()),
        test=test,
        log_loss=None if log_loss is None else log_loss.of(labelled),
        zeros=zeros,
        error=None if error is None else error.of(labelled),
    )


def _rows(
    question: Question, name: str, items: Sequence[ReadItem], labels: Sequence[Sequence[RowLabels]]
) -> _Rows:
    found = [
        (place, said.labels[name], said.weight, item if said.group is None else said.group)
        for place, (item, people) in enumerate(zip(items, labels, strict=True))
        for said in people
        if name in said.labels
    ]
    numbers = {group: number for number, group in enumerate(dict.fromkeys(g for *_, g in found))}
    is_score = question.type == "score"
    return _Rows(
        places=np.array([place for place, *_ in found], dtype=np.int64),
        columns=np.array([_column(question, label) for _, label, *_ in found], dtype=np.int64),
        levels=np.array([float(label) if is_score else np.nan for _, label, *_ in found]),
        weights=np.array([weight for _, _, weight, _ in found], dtype=np.float64),
        groups=np.array([numbers[group] for *_, group in found], dtype=np.int64),
    )


def _column(question: Question, label: Label) -> int:
    if question.type == "boolean":
        return question.options.index("true" if label else "false")
    if question.type == "choice":
        return question.options.index(str(label))
    level = float(label)
    return int(level) if level.is_integer() else _BETWEEN


def _test(first: Floats, second: Floats, rows: _Rows, seed: int) -> PairedTest:
    if rows.plain:
        return mcnemar_exact(second, first)
    a, b = (rows.weights * side for side in (first, second))
    return flips_of_items(a, b, groups=rows.groups, seed=seed)


def _log_loss(
    first: AnswerColumns, second: AnswerColumns, rows: _Rows, seed: int
) -> tuple[PairedMeans | None, tuple[int, int]]:
    with_p = np.isfinite(first.p[:, 0]) & np.isfinite(second.p[:, 0])
    rows = rows.only(with_p[rows.places])
    if not rows.places.size:
        return None, (0, 0)
    losses = [
        log_losses(class_outcomes(safe_log(side.p[rows.places]), rows.columns))
        for side in (first, second)
    ]
    most = -math.log(FLOOR)
    zeros = int((losses[0] > most).sum()), int((losses[1] > most).sum())
    a, b = (np.minimum(loss, most) for loss in losses)
    return rows.means(a, b, most=most, seed=seed), zeros


def _error(
    question: Question, first: AnswerColumns, second: AnswerColumns, rows: _Rows, seed: int
) -> PairedMeans | None:
    if not rows.places.size:
        return None
    a, b = (np.abs(side.values[rows.places] - rows.levels) for side in (first, second))
    return rows.means(a, b, most=len(question.options) - 1.0, seed=seed)
