"""Blends: maps in proportion to how likely they make labels they did not see."""

from __future__ import annotations

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.auto import calibrate
from classify.calibration.blending import blend_shares, blended, blended_answers
from classify.calibration.calibrators import identity
from classify.calibration.cross_fit import ItemRows, item_numbers
from classify.calibration.fitted import CalibrationWarning
from classify.calibration.methods import FITS


def rows_of(log_p: Floats, y: Ints, groups: list[str] | None = None) -> ItemRows:
    """Return rows of weight one, with the usual floor."""
    w = np.ones(len(y))
    items = item_numbers(groups, content=(log_p, y), weights=w)
    return ItemRows(log_p=log_p, y=y, weights=w, items=items, floor=1e-6)


def answers(n: int, k: int, *, seed: int) -> tuple[Floats, Ints]:
    """Return answers with a lean, and labels of every option."""
    random = np.random.default_rng(seed)
    return log_probabilities(2.0 * random.normal(size=(n, k)) + np.eye(k)[0]), np.arange(n) % k


def test_shares_are_the_likelihoods_of_the_labels_a_step_apart() -> None:
    """Five labels given 0.5 by one map and 0.8 by the next: 0.5^5 against 0.8^5 / e."""
    y = np.zeros(5, dtype=np.int64)
    even, sure = np.log(np.full((5, 2), 0.5)), np.log(np.tile([0.8, 0.2], (5, 1)))

    found = blend_shares(rows_of(even, y), {"identity": even, "temperature": sure})

    ratio = 0.8**5 / 0.5**5 * np.exp(-1.0)
    assert found["temperature"] == pytest.approx(ratio / (1.0 + ratio))
    assert sum(found.values()) == pytest.approx(1.0)


def test_a_map_twenty_times_less_likely_has_no_share() -> None:
    """Two nats behind, and one more for coming later, is a factor of 20.09; 1.99 leaves 19.9."""
    y = np.zeros(10, dtype=np.int64)
    sure = np.log(np.tile([0.9, 0.1], (10, 1)))

    for behind, left in ((0.2, False), (0.199, True)):
        worse = sure - [behind, 0.0]
        found = blend_shares(rows_of(sure, y), {"identity": sure, "temperature": worse})

        assert (found["temperature"] > 0.0) == left


def test_copies_of_an_item_count_once() -> None:
    """Four rows of each item say no more than one."""
    log_p, y = answers(30, 2, seed=0)
    flat = np.log(np.full((30, 2), 0.5))
    named = [f"item {i}" for i in range(30) for _ in range(4)]
    twins = rows_of(np.repeat(log_p, 4, axis=0), np.repeat(y, 4), named)

    once = blend_shares(rows_of(log_p, y), {"identity": log_p, "flat": flat})
    often = blend_shares(twins, {"identity": twins.log_p, "flat": np.repeat(flat, 4, axis=0)})

    assert often == pytest.approx(once)


@pytest.mark.parametrize(
    ("k", "shares"),
    [
        (2, {"identity": 0.2, "temperature": 0.3, "platt": 0.5}),
        (2, {"identity": 0.4, "temperature-bias": 0.6}),
        (4, {"identity": 0.1, "temperature": 0.2, "temperature-bias": 0.7}),
    ],
    ids=["Platt", "two biases", "four biases"],
)
def test_a_blend_of_maps_answers_as_the_blend_of_their_answers(
    k: int, shares: dict[str, float]
) -> None:
    """One map with the mean of the parameters, an impossible option raised to the floor."""
    log_p, y = answers(60, k, seed=1)
    log_p[3, 0] = -np.inf
    parts = {name: FITS[name](log_p, y, weights=None, floor=1e-6) for name in shares}

    found = blended(list(parts.values()), list(shares.values()))

    each = {name: part.apply(log_p) for name, part in parts.items()}
    expected = blended_answers(rows_of(log_p, y), each, shares)
    np.testing.assert_allclose(found.apply(log_p), expected, atol=1e-12)


@pytest.mark.parametrize(("share", "name"), [((1.0, 0.0), "identity"), ((0.0, 1.0), "platt")])
def test_a_share_of_one_is_the_map_itself(share: tuple[float, float], name: str) -> None:
    """Many labels leave no doubt."""
    log_p, y = answers(60, 2, seed=2)
    parts = {m: FITS[m](log_p, y, weights=None, floor=1e-6) for m in ("identity", "platt")}

    found = blended(list(parts.values()), share)

    np.testing.assert_allclose(found.apply(log_p), parts[name].apply(log_p), atol=1e-12)


def test_only_maps_that_scale_and_shift_are_blended() -> None:
    """An isotonic curve has no slope to take the mean of."""
    log_p, y = answers(60, 2, seed=3)
    curve = FITS["isotonic"](log_p, y, weights=None, floor=1e-6)

    with pytest.raises(TypeError, match="'isotonic' does not scale and shift log-probabilities"):
        blended([identity(2), curve], [0.5, 0.5])


def drawn(
    n: int, k: int, *, seed: int, sharpness: float, knowledge: float
) -> tuple[Floats, Floats, Ints]:
    """Return the true log-probabilities of n rows, a model's, and labels."""
    random = np.random.default_rng([seed, n, k])
    scores = random.normal(0.0, 1.5, (n, k))
    truth = log_probabilities(knowledge * scores)
    above = np.exp(truth).cumsum(axis=1) < random.random((n, 1))
    y = np.minimum(above.sum(axis=1), k - 1).astype(np.int64)
    return truth, log_probabilities(sharpness * scores), y


def gains(labels: int, k: int, *, sharpness: float, knowledge: float, draws: int) -> Floats:
    """Return per draw the nats that calibrating saves on 1000 new rows, by the true odds."""
    saved: list[float] = []
    for seed in range(draws):
        truth, raw, y = drawn(labels + 1000, k, seed=seed, sharpness=sharpness, knowledge=knowledge)
        found = calibrate(raw[:labels], y[:labels])
        gain = found.calibrator.apply(raw[labels:]) - raw[labels:]
        saved.append(float((np.exp(truth[labels:]) * gain).sum(axis=1).mean()))
    return np.array(saved)


@pytest.mark.filterwarnings(
    f"ignore::{CalibrationWarning.__module__}.{CalibrationWarning.__name__}"
)
@pytest.mark.parametrize("labels", [20, 50])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize(
    ("sharpness", "knowledge", "least"),
    [(0.33, 0.0, 0.0), (0.5, 1.0, 0.0), (2.0, 1.0, 0.0), (1.0, 1.0, -0.012)],
    ids=["knows nothing", "half as sure", "twice too sure", "calibrated"],
)
def test_labels_help_on_average_and_cost_next_to_nothing_where_nothing_is_wrong(
    labels: int, k: int, sharpness: float, knowledge: float, least: float
) -> None:
    """The small version of the simulation in docs/calibration-study.md, over 30 draws."""
    found = gains(labels, k, sharpness=sharpness, knowledge=knowledge, draws=30)

    assert found.mean() > least
