"""A seed draws the same whatever order the rows come in, and whatever groups are called."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import cast

import numpy as np
import pytest

import classify.calibration as c
from classify.calibration.arrays import Floats, Ints
from classify.calibration.intervals import share_interval
from classify.calibration.label_scores import scores_by_label
from classify.calibration.level_confusion import ordinal_confusion
from classify.calibration.row_order import by_content, content_ranks

N = 90


class Rows:
    """Rows with ties and with weights, in an order of their own and under names of their own."""

    def __init__(self, order: Ints, names: Ints) -> None:
        random = np.random.default_rng(3)
        logs = np.round(random.normal(size=(N, 3)), 1)
        y = (logs + random.gumbel(size=(N, 3))).argmax(axis=1)
        p = random.integers(1, 20, N) / 20
        tenths: Floats = random.integers(0, 10, N) / 10
        other: Floats = random.integers(0, 10, N) / 10
        weights: Floats = random.integers(1, 4, N) / 10
        item = random.integers(0, 40, N)
        self.log_p, self.y, self.p, self.w = logs[order], y[order], p[order], weights[order]
        self.true: Ints = (random.random(N) < p)[order].astype(np.int64)
        self.x, self.other = tenths[order], other[order]
        self.exact: Floats = random.normal(size=N)[order]
        self.item: Ints = names[item[order]]
        self.place: Ints = random.integers(0, 3, N)[order]


DRAWN: dict[str, Callable[[Rows], object]] = {
    "mean": lambda r: c.mean_interval(r.x, seed=1, resamples=200),
    "weighted mean": lambda r: c.mean_interval(r.x, seed=1, weights=r.w, resamples=200),
    "clusters": lambda r: c.mean_interval(r.x, seed=1, groups=r.item, resamples=200),
    "weighted clusters": lambda r: c.mean_interval(
        r.exact, seed=1, weights=r.w, groups=r.item, resamples=200
    ),
    "share": lambda r: share_interval(r.true, seed=1, groups=r.item),
    "histogram": lambda r: c.confidence_histogram(r.p, r.true, seed=1, groups=r.item),
    "ECE": lambda r: c.expected_calibration_error(r.p, r.true, seed=1, draws=50),
    "weighted ECE": lambda r: c.expected_calibration_error(
        r.p, r.true, weights=r.w, seed=1, draws=50
    ),
    "debiased error": lambda r: c.debiased_calibration_error(r.p, r.true, seed=1, draws=50),
    "sweep": lambda r: c.sweep_calibration_error(r.p, r.true, seed=1, draws=50),
    "smooth error": lambda r: c.smooth_calibration_error(
        r.p, r.true, weights=r.w, seed=1, draws=50
    ),
    "classwise error": lambda r: c.classwise_calibration_error(
        r.log_p, r.y, weights=r.w, seed=1, draws=50
    ),
    "reliability": lambda r: c.reliability_diagram(r.p, r.true, weights=r.w, seed=1, draws=50),
    "sign flips": lambda r: c.sign_flip_test(r.x, r.other, seed=1, resamples=200),
    "sign flips of no ties": lambda r: c.sign_flip_test(r.exact, r.other, seed=1, resamples=200),
    "paired difference": lambda r: c.paired_difference(
        r.x, r.other, seed=1, groups=r.item, resamples=200
    ),
    "metrics": lambda r: c.metrics(r.log_p, r.y, seed=1, groups=r.item, kind="score"),
    "weighted metrics": lambda r: c.metrics(r.log_p, r.y, seed=1, weights=r.w),
    "level confusion": lambda r: ordinal_confusion(
        r.y, r.place, levels=range(3), seed=1, groups=r.item
    ),
    "scores by label": lambda r: scores_by_label(r.x, r.place, seed=1, groups=r.item),
    "order effects": lambda r: c.order_sensitivity(r.log_p, item=r.item, order=r.place, seed=1),
}


@pytest.mark.parametrize("name", DRAWN)
def test_neither_the_order_of_rows_nor_names_matter(name: str) -> None:
    """Values, ends, null values and p-values."""
    random = np.random.default_rng(0)
    first = list(_numbers(DRAWN[name](Rows(np.arange(N), np.arange(40)))))
    assert first

    for _ in range(5):
        again = DRAWN[name](Rows(random.permutation(N), random.permutation(40)))

        assert list(_numbers(again)) == pytest.approx(first, abs=1e-9)


def test_rows_are_ranked_by_all_they_hold_the_first_counting_most() -> None:
    """As the tuples of what they hold are ordered; equal rows have one rank."""
    random = np.random.default_rng(1)
    a, b = random.integers(0, 3, (200, 2)) - 1.0, random.integers(0, 3, 200)
    rows = [(*pair, second) for pair, second in zip(a.tolist(), b.tolist(), strict=True)]

    found = content_ranks(a, b)

    assert [sorted(set(rows))[rank] for rank in found.tolist()] == rows
    assert [rows[place] for place in by_content(a, b).tolist()] == sorted(rows)
    assert content_ranks(np.zeros(0)).tolist() == [] and content_ranks(np.ones(1)).tolist() == [0]


def _numbers(found: object) -> Iterator[float]:
    if isinstance(found, int | float):
        yield float(found)
    elif isinstance(found, tuple | list):
        for each in cast("Sequence[object]", found):
            yield from _numbers(each)
    elif is_dataclass(found):
        for field in fields(found):
            yield from _numbers(getattr(found, field.name))
