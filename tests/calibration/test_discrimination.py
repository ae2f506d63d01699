"""Ranking measures against their definitions, counted pair by pair and order by order."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.discrimination import (
    accuracy,
    augrc,
    aurc,
    auroc,
    auroc_one_vs_one,
    auroc_one_vs_rest,
    excess_aurc,
)
from classify.calibration.measurement import Measurement
from classify.calibration.reliability import coverage_at_risk, risk_coverage
from classify.errors import CalibrationError

scored = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1)), min_size=1, max_size=20)
few = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6)


@given(scored)
def test_auroc_is_the_share_of_pairs_in_order(drawn: list[tuple[int, int]]) -> None:
    """The definition, pair by pair; ties count half."""
    drawn = [*drawn, (2, 0), (1, 1)]
    ones = [s for s, y in drawn if y]
    zeros = [s for s, y in drawn if not y]
    pairs = [0.5 * (a >= b) + 0.5 * (a > b) for a in ones for b in zeros]

    found = auroc([s / 4 for s, _ in drawn], [y for _, y in drawn])

    assert found.value == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("weighted", [False, True])
def test_auroc_of_options_is_the_share_of_pairs_in_order(weighted: bool) -> None:
    """The definitions, pair by pair with ties half, by rows of weight 1 and by weighted ones."""
    random = np.random.default_rng(3)
    p = random.integers(1, 4, (40, 3)).astype(np.float64)  # many ties
    p /= p.sum(axis=1, keepdims=True)
    y = random.integers(0, 3, 40)
    w = random.integers(1, 4, 40).astype(np.float64) if weighted else np.ones(40)

    def share(option: int, others: list[int]) -> float:
        pairs = [
            (w[i] * w[j], (p[i, option] > p[j, option]) + 0.5 * (p[i, option] == p[j, option]))
            for i in np.flatnonzero(y == option)
            for j in np.flatnonzero(np.isin(y, others))
        ]
        return float(sum(m * won for m, won in pairs) / sum(m for m, _ in pairs))

    one = [share(i, [j]) for i, j in itertools.permutations(range(3), 2)]
    rest = [share(i, [j for j in range(3) if j != i]) for i in range(3)]
    weights = w if weighted else None
    assert auroc_one_vs_one(np.log(p), y, weights=weights).value == pytest.approx(np.mean(one))
    assert auroc_one_vs_rest(np.log(p), y, weights=weights).value == pytest.approx(np.mean(rest))


@given(few)
@settings(max_examples=30, deadline=None)
def test_aurc_averages_over_all_orders_of_ties(drawn: list[tuple[int, int]]) -> None:
    """The closed form with digamma equals the mean over every order that the ties allow."""
    confidence, loss = (np.array(column, dtype=np.float64) for column in zip(*drawn, strict=True))
    n = len(drawn)
    orders = [
        order
        for order in itertools.permutations(range(n))
        if all(confidence[a] >= confidence[b] for a, b in itertools.pairwise(order))
    ]
    risks = [(loss[list(order)].cumsum() / np.arange(1, n + 1)).mean() for order in orders]

    assert aurc(confidence, loss).value == pytest.approx(np.mean(risks))


@given(scored)
def test_augrc_follows_from_accuracy_and_auroc(drawn: list[tuple[int, int]]) -> None:
    """The identity of Traub et al. 2024 for a 0/1 loss."""
    drawn = [*drawn, (2, 0), (1, 1)]
    confidence, right = [s / 4 for s, _ in drawn], [y for _, y in drawn]
    a = float(np.mean(right))
    area = auroc(confidence, right).value

    found = augrc(confidence, [1 - y for y in right])

    assert found.value == pytest.approx(a * (1 - a) * (1 - area) + (1 - a) ** 2 / 2)


def test_augrc_is_the_area_under_the_joint_risk_by_the_rule_that_it_names() -> None:
    """From coverage 0, where nothing is kept and nothing lost, in n trapezoids."""
    random = np.random.default_rng(8)
    confidence, loss = random.permutation(40) / 40, random.integers(0, 2, 40)
    joint = np.cumsum(loss[np.argsort(-confidence)]) / 40

    found = augrc(confidence, loss)

    area = float(np.mean((joint + np.append(0.0, joint[:-1])) / 2))
    assert found.value == pytest.approx(area, abs=1e-15)
    assert found.rule == "AUGRC, trapezoids over coverage from 0, ties averaged"


@given(scored)
def test_the_oracle_cannot_be_beaten(drawn: list[tuple[int, int]]) -> None:
    """Excess AURC is never below 0, and 0 for the oracle's own order."""
    confidence, loss = zip(*drawn, strict=True)

    assert excess_aurc(confidence, loss).value >= -1e-12
    assert excess_aurc([1 - x for x in loss], loss).value == pytest.approx(0.0, abs=1e-12)


def test_the_first_of_equal_options_is_the_answer() -> None:
    """Documented, so that a tie is the same for accuracy and for the classifier."""
    found = accuracy(np.zeros((2, 2)), [0, 1])

    assert found.value == 0.5
    assert found.rule == "accuracy, Wilson 95%"


@pytest.mark.parametrize("area", [auroc_one_vs_rest, auroc_one_vs_one], ids=["ovr", "ovo"])
def test_an_option_that_is_never_true_has_no_area(area: Callable[..., Measurement]) -> None:
    """Leaving it out in silence would change what the mean is over."""
    with pytest.raises(CalibrationError, match=r"of 3 options \[1\] are never true"):
        area(np.zeros((2, 3)), [0, 2])


def test_one_label_has_no_area() -> None:
    """There is no pair to rank."""
    with pytest.raises(CalibrationError, match="all 2 rows have the label 1"):
        auroc([0.3, 0.4], [1, 1])


def test_the_curve_ends_at_the_base_risk() -> None:
    """With every row kept nothing is selected."""
    curve = risk_coverage([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1])

    assert curve.coverage == (0.25, 0.75, 1.0)
    assert curve.risk == pytest.approx((0.0, 1 / 3, 0.5))
    assert curve.threshold == (0.9, 0.8, 0.1)
    assert curve.base_risk == 0.5
    assert curve.rule == "mean loss, ties kept together, AURC over k, Wilson 95%"
    assert curve.area == aurc([0.9, 0.8, 0.8, 0.1], [0, 1, 0, 1]).value


def test_a_long_curve_is_thinned() -> None:
    """A million points draw no better than 200, and the area is still that of all rows."""
    random = np.random.default_rng(0)
    confidence, loss = random.random(5_000), random.integers(0, 2, 5_000)

    curve = risk_coverage(confidence, loss, points=50)

    assert len(curve.risk) == 50
    assert curve.coverage[-1] == pytest.approx(1.0)
    assert curve.area == aurc(confidence, loss).value


def test_coverage_at_a_risk_keeps_ties_together() -> None:
    """No threshold can part two rows of one confidence."""
    assert coverage_at_risk([0.9, 0.8, 0.8], [0, 1, 0], risk=0.4) == pytest.approx(1.0)
    assert coverage_at_risk([0.9, 0.8, 0.8], [0, 1, 0], risk=0.3) == pytest.approx(1 / 3)
    assert coverage_at_risk([0.9, 0.8], [1, 0], risk=0.3) == 0.0


@pytest.mark.parametrize(
    ("confidence", "loss", "message"),
    [
        pytest.param([0.5], [-1.0], r"loss\[0\] must not be negative", id="negative"),
        pytest.param([0.5], [np.inf], r"loss\[0\] must be finite", id="infinite"),
        pytest.param([np.nan], [0.0], r"confidence\[0\] is nan", id="nan"),
        pytest.param([0.5], [0.0, 1.0], "equally long", id="lengths"),
    ],
)
def test_losses_that_mean_nothing_are_refused(
    confidence: list[float], loss: list[float], message: str
) -> None:
    """An infinite loss would hide every other."""
    with pytest.raises(CalibrationError, match=message):
        aurc(confidence, loss)


def test_scores_of_auroc_are_named_as_they_are_given() -> None:
    """Its argument is not called p."""
    with pytest.raises(CalibrationError, match=r"score\[1\] must be between 0 and 1, got 2.0"):
        auroc([0.5, 2.0], [0, 1])
