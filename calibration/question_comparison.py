"""One question answered by two runs over the same rows: what changed, how far, how often.

Changes are the second run less the first. Only rows with a verdict in both are compared; the
others are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from classify.calibration.agreement import Confusion, cohen_kappa, confusion
from classify.calibration.arrays import Floats, Ints
from classify.calibration.comparison import (
    PairedTest,
    mcnemar_exact,
    paired_difference,
    sign_flip_test,
)
from classify.calibration.estimate import Estimate
from classify.calibration.file_answers import ANSWERED, NO_VERDICT, AnswerColumns
from classify.calibration.intervals import mean_interval, share_interval
from classify.calibration.measurement import Measurement, of_total
from classify.calibration.paired_intervals import told_of_unvaried
from classify.calibration.rater_agreement import gwet_ac
from classify.calibration.ratings import Level, Scheme
from classify.errors import CalibrationError
from classify.questions import Question

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Missing:
    """Paired rows that cannot be compared: a side has no verdict."""

    first: Mapping[str, int]
    """Why -> rows, in the first run."""
    second: Mapping[str, int]
    both: int
    """Rows without a verdict in either."""


@dataclass(frozen=True, slots=True)
class Movement:
    """How far the distributions of a row lie apart: total variation, from 0 to 1."""

    mean: Measurement
    median: float
    high: float
    """Nine in ten rows moved by at most this much."""
    furthest: Ints
    """Places of the rows among the pairs, those that moved most first; none that did not move."""
    distances: Floats
    """(pairs,), nan where a side has no distribution."""


@dataclass(frozen=True, slots=True)
class ValueShift:
    """The score or P(true) of both, and how they differ on average."""

    first: float
    second: float
    difference: Estimate | None
    """None for a single row."""


@dataclass(frozen=True, slots=True)
class QuestionComparison:
    """One question, compared; None where a number is not defined on these rows."""

    question: Question
    pairs: int
    n: int
    """Pairs with a verdict in both runs."""
    missing: Missing
    notes: tuple[str, ...]
    """Why a number is not defined."""
    changed: Measurement | None = None
    """The share of pairs whose most probable option differs."""
    table: Confusion | None = None
    """From the first run's verdict (rows) to the second's (columns)."""
    kappa: Estimate | None = None
    """Weighted by the squared distance of levels for a score."""
    ac: Estimate | None = None
    """Gwet's coefficient, which one-sided answers do not upset as they do kappa."""
    movement: Movement | None = None
    shift: ValueShift | None = None
    """Of scores and booleans."""
    test: PairedTest | None = None
    """Booleans: does one run say yes more often (McNemar). Scores: is one higher (sign flips)."""


def compare_question(
    question: Question,
    first: AnswerColumns,
    second: AnswerColumns,
    *,
    items: Ints | None = None,
    seed: int = 0,
) -> QuestionComparison:
    """Compare the answers of paired rows.

    `items` says which item each pair is of, where some have several: they are resampled and
    tested together, since they say the same thing more than once.
    """
    both: Ints = np.flatnonzero((first.verdicts != NO_VERDICT) & (second.verdicts != NO_VERDICT))
    pairs, missing = len(first.verdicts), _missing(first, second)
    if not both.size:
        why = "no row has a verdict in both"
        return QuestionComparison(question, pairs, 0, missing, (why,))
    a, b = first.rows(both), second.rows(both)
    groups = None if items is None else items[both]
    kappa, ac, notes = _agreement(question, a, b, groups)
    found = QuestionComparison(
        question=question,
        pairs=pairs,
        n=both.size,
        missing=missing,
        changed=share_interval(
            (a.verdicts != b.verdicts).astype(np.float64), seed=seed, groups=groups
        ),
        table=_table(question, a, b),
        kappa=kappa,
        ac=ac,
        movement=_movement(first, second, both, items, seed),
        shift=None if question.type == "choice" else _shift(question, a, b, groups, seed),
        test=_test(question, a, b, groups, seed),
        notes=notes,
    )
    return _of(found, pairs if items is None else np.unique(items).size)


def _of(found: QuestionComparison, items: int) -> QuestionComparison:
    """Return the same numbers, each with how many pairs there were; the test with how many items.

    They were computed from the pairs that can be compared, and so cannot know of the others.
    """
    moved, shift, test = found.movement, found.shift, found.test
    if moved is not None:
        moved = replace(moved, mean=replace(moved.mean, total=found.pairs))
    if shift is not None and shift.difference is not None:
        shift = replace(shift, difference=replace(shift.difference, total=found.pairs))
    return replace(
        found,
        changed=of_total(found.changed, found.pairs),
        table=None if found.table is None else replace(found.table, total=found.pairs),
        kappa=None if found.kappa is None else replace(found.kappa, total=found.pairs),
        ac=None if found.ac is None else replace(found.ac, total=found.pairs),
        movement=moved,
        shift=shift,
        test=None if test is None else replace(test, total=items),
    )


def distances(first: AnswerColumns, second: AnswerColumns) -> Floats:
    """Return the total variation of each pair of distributions; nan where one is missing."""
    apart: Floats = 0.5 * np.abs(first.p - second.p).sum(axis=1)
    return apart


def _missing(first: AnswerColumns, second: AnswerColumns) -> Missing:
    both = int(((first.missing != ANSWERED) & (second.missing != ANSWERED)).sum())
    return Missing(first.missing_counts(), second.missing_counts(), both)


def _levels(question: Question) -> tuple[Level, ...]:
    options = question.options
    return tuple(range(len(options))) if question.type == "score" else options


def _ratings(question: Question, answers: AnswerColumns) -> list[Level]:
    levels = _levels(question)
    return [levels[column] for column in answers.verdicts.tolist()]


def _table(question: Question, a: AnswerColumns, b: AnswerColumns) -> Confusion | None:
    if len(question.options) < 2:
        return None
    first, second = _ratings(question, a), _ratings(question, b)
    return confusion(first, second, levels=_levels(question))


def _agreement(
    question: Question, a: AnswerColumns, b: AnswerColumns, groups: Ints | None
) -> tuple[Estimate | None, Estimate | None, tuple[str, ...]]:
    scheme: Scheme = "quadratic" if question.type == "score" else "none"
    levels, first, second = _levels(question), _ratings(question, a), _ratings(question, b)
    kappa, ac, notes = None, None, list[str]()
    # An item counts once, the rows of it in equal parts.
    weights = None if groups is None else 1.0 / np.bincount(groups)[groups]
    try:
        kappa = cohen_kappa(first, second, levels=levels, scheme=scheme, weights=weights)
    except CalibrationError as error:
        notes.append(str(error))
    try:
        ac = gwet_ac([first, second], levels=levels, scheme=scheme, weights=weights)
    except CalibrationError as error:
        notes.append(str(error))
    return kappa, ac, tuple(dict.fromkeys(notes))


def _movement(
    first: AnswerColumns, second: AnswerColumns, both: Ints, items: Ints | None, seed: int
) -> Movement | None:
    apart = distances(first, second)
    # What a policy handed over has a distribution too, but is no answer.
    apart[np.setdiff1d(np.arange(apart.size), both)] = np.nan
    known = apart[np.isfinite(apart)]
    if not known.size:
        return None
    groups = None if items is None else items[np.isfinite(apart)]
    order = np.argsort(-apart, kind="stable")[: known.size]
    return Movement(
        mean=_mean(known, groups, seed),
        median=float(np.median(known)),
        high=float(np.quantile(known, 0.9)),
        furthest=order[apart[order] > 0.0],
        distances=apart,
    )


def _mean(values: Floats, groups: Ints | None, seed: int) -> Measurement:
    if _one_item(values, groups):
        return Measurement(float(values.mean()), "one item, no interval", values.size)
    found = mean_interval(values, seed=seed, groups=groups, resamples=RESAMPLES)
    items = values.size if groups is None else np.unique(groups).size
    return told_of_unvaried(found, items, least=0.0, most=1.0)


def _shift(
    question: Question, a: AnswerColumns, b: AnswerColumns, groups: Ints | None, seed: int
) -> ValueShift:
    difference = None
    if not _one_item(a.values, groups):
        span = len(question.options) - 1.0
        difference = paired_difference(
            b.values, a.values, seed=seed, groups=groups, span=span, resamples=RESAMPLES
        )
    return ValueShift(float(a.values.mean()), float(b.values.mean()), difference)


def _one_item(values: Floats, groups: Ints | None) -> bool:
    return (values.size if groups is None else np.unique(groups).size) == 1


def _test(
    question: Question, a: AnswerColumns, b: AnswerColumns, groups: Ints | None, seed: int
) -> PairedTest | None:
    if question.type == "choice":
        return None
    first, second = a.values, b.values
    if question.type == "boolean":
        yes = question.options.index("true")
        first, second = ((side.verdicts == yes).astype(np.float64) for side in (a, b))
        if groups is None:
            return mcnemar_exact(second, first)
    return flips_of_items(first, second, groups=groups, seed=seed)


def flips_of_items(first: Floats, second: Floats, *, groups: Ints | None, seed: int) -> PairedTest:
    """Test the mean difference by flipping the signs of whole items."""
    if groups is not None:
        first, second = _sums(first, groups), _sums(second, groups)
    return sign_flip_test(second, first, seed=seed, resamples=RESAMPLES)


def _sums(values: Floats, groups: Ints) -> Floats:
    sums = np.bincount(groups, weights=values).astype(np.float64, copy=False)
    return sums[np.unique(groups)]
