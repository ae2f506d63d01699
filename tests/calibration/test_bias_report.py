"""Habits put into simulated judges are found, and habits that are not there are not."""

from __future__ import annotations

import numpy as np
import pytest

from classify.calibration.arrays import Floats, Ints
from classify.calibration.bias_reports import bias_report, length_bias
from classify.calibration.level_shares import level_use
from classify.calibration.order_effects import first_option_preference, order_sensitivity
from classify.calibration.repeat_noise import repeat_noise
from classify.errors import CalibrationError

ITEMS, K = 80, 3


def readings(
    *, pull: float, noise: float, repeats: int = 2, seed: int = 0
) -> tuple[Floats, Ints, Ints, Ints]:
    """Return log-probabilities, items, orders and positions of a judge drawn to the first slot.

    Each item is read `repeats` times in each rotation of the options.
    """
    random = np.random.default_rng(seed)
    item, order, _ = (a.ravel() for a in np.indices((ITEMS, K, repeats)))
    position = (np.arange(K) + order[:, None]) % K
    scores = random.normal(size=(ITEMS, K))[item] + noise * random.normal(size=(item.size, K))
    return scores + pull * (position == 0), item, order, position


def test_a_judge_that_ignores_the_order_has_no_excess() -> None:
    """Its flips are noise, and the noise floor takes them away."""
    log_p, item, order, _ = readings(pull=0.0, noise=0.7)

    found = order_sensitivity(log_p, item=item, order=order, seed=0)

    assert found.flips.value > 0.1
    assert found.excess is not None and found.excess.low is not None
    assert found.excess.low < 0.0 < (found.excess.high or 0.0)


def test_a_judge_drawn_to_the_first_slot_shows_it() -> None:
    """Excess flips and a gain of the first place, both clear of zero."""
    log_p, item, order, position = readings(pull=1.5, noise=0.3)

    order_found = order_sensitivity(log_p, item=item, order=order, seed=0)
    place = first_option_preference(log_p, item=item, position=position, seed=0)

    assert order_found.excess is not None and (order_found.excess.low or 0.0) > 0.1
    assert (place.preference.low or 0.0) > 0.1
    assert place.slots[0] > 1 / K + 0.1 > place.slots[1] + 0.1
    assert sum(place.slots) == pytest.approx(1.0)


def test_the_excess_is_unbiased() -> None:
    """Averaged over judges without a habit, flips less noise is 0."""
    found = [
        order_sensitivity(log_p, item=item, order=order, seed=0).excess
        for log_p, item, order, _ in (readings(pull=0.0, noise=1.0, seed=s) for s in range(30))
    ]

    assert np.mean([f.value for f in found if f is not None]) == pytest.approx(0.0, abs=0.01)


def test_flips_are_counted_pair_by_pair() -> None:
    """One item: order 0 says A, A, B; order 1 says B. Two of three pairs flip; in order 0 too."""
    log_p = np.log([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.2, 0.8]])

    found = order_sensitivity(log_p, item=[7, 7, 7, 7], order=list("aaab"), seed=0)

    assert found.noise is not None and found.excess is not None
    assert found.flips.value == pytest.approx(2 / 3)
    assert found.noise.value == pytest.approx(2 / 3)
    assert found.excess.low is None


def test_without_repeats_the_noise_is_unknown() -> None:
    """Zero would be a guess, and would blame the order for the judge's noise."""
    log_p, item, order, _ = readings(pull=0.0, noise=0.7, repeats=1)

    found = order_sensitivity(log_p, item=item, order=order, seed=0)

    assert found.noise is None and found.excess is None
    assert "noise floor is unknown" in found.lines()[1]


def test_one_order_cannot_show_an_order_effect() -> None:
    """There is nothing to compare."""
    with pytest.raises(CalibrationError, match="no item was read in two orders"):
        order_sensitivity([[0.0, 0.0]] * 2, item=[0, 1], order=[0, 0], seed=0)


def test_an_option_that_always_stands_first_is_not_blamed_on_the_place() -> None:
    """Its probability and its place cannot be told apart."""
    with pytest.raises(CalibrationError, match="rotate the options"):
        first_option_preference([[-0.1, -3.0]] * 2, item=[0, 0], position=[[0, 1], [0, 1]], seed=0)


def test_a_position_that_is_no_order_is_refused() -> None:
    """Two options cannot stand in one place."""
    with pytest.raises(CalibrationError, match=r"position\[1\] must hold 0 … 1 once each"):
        first_option_preference([[-0.1, -3.0]] * 2, item=[0, 0], position=[[0, 1], [0, 0]], seed=0)


def test_levels_that_are_never_chosen_are_named() -> None:
    """With the largest share that 20 rows cannot rule out, and what people chose."""
    log_p = np.log([[0.6, 0.1, 0.3]] * 20)

    found = level_use(log_p, [1] * 5 + [0] * 15)
    twice = level_use(log_p, items=10)

    assert found.never == (1, 2)
    assert found.at_most == pytest.approx(1 - 0.05 ** (1 / 20))
    assert twice.at_most == pytest.approx(1 - 0.05 ** (1 / 10))
    assert "never the likeliest: 1, 2" in twice.lines()[-1]
    assert twice.lines()[0] == (
        "likeliest option of a reading: 1.000 0.000 0.000  (20 readings of 10 items)"
    )
    assert found.actual == (0.75, 0.25, 0.0)
    assert found.probability == pytest.approx((0.6, 0.1, 0.3))


def test_length_is_held_against_equal_labels() -> None:
    """Scores follow quality, quality follows length: no bias once labels are given."""
    random = np.random.default_rng(1)
    length = random.normal(size=2_000)
    quality = length + random.normal(size=2_000)
    fair = quality + 0.3 * random.normal(size=2_000)
    drawn_to_length = fair + length

    plain = length_bias(fair, length)
    given = length_bias(fair, length, actual=quality)
    biased = length_bias(drawn_to_length, length, actual=quality)

    assert (plain.low or 0.0) > 0.5
    # Ranks are not quite linear in each other, which leaves a trace of a few hundredths.
    assert given.value == pytest.approx(0.0, abs=0.08)
    assert (biased.low or 0.0) > 0.5


def test_a_bias_interval_covers_the_truth_of_independent_lengths() -> None:
    """95 % of 300 unrelated pairs of 30."""
    random = np.random.default_rng(2)
    found = [length_bias(random.normal(size=30), random.normal(size=30)) for _ in range(300)]

    held = [f.low is not None and f.high is not None and f.low <= 0 <= f.high for f in found]
    assert 0.91 < np.mean(held) < 0.99


def test_repeats_are_compared_pair_by_pair() -> None:
    """0.2, 0.7, 0.7 of one item lie 1/2 apart in two of three pairs; the other item never moves."""
    p = np.array([0.2, 0.4, 0.7, 0.4, 0.7, 0.9])
    log_p = np.log(np.stack([p, 1 - p], axis=1))

    found = repeat_noise(log_p, item=["a", "b", "a", "b", "a", "alone"], seed=0).of(3)

    assert found.distance.value == pytest.approx((1 / 3 + 0.0) / 2)
    assert found.flips.value == pytest.approx((2 / 3 + 0.0) / 2)
    assert (found.distance.n, found.flips.n, found.distance.total) == (2, 2, 3)


def test_the_distance_of_repeats_is_that_of_all_pairs() -> None:
    """Half the summed differences of the options, over every pair of rows of an item."""
    random = np.random.default_rng(4)
    p, item = random.dirichlet([1, 1, 1, 1], 40), random.integers(0, 9, 40)
    pairs = [
        [abs(p[i] - p[j]).sum() / 2 for i in rows for j in rows if i < j]
        for each in range(9)
        if (rows := [int(row) for row in np.flatnonzero(item == each)])
    ]

    found = repeat_noise(np.log(p), item=item, seed=0)

    assert found.distance.value == pytest.approx(np.mean([np.mean(each) for each in pairs if each]))
    assert found.distance.low is not None and found.distance.low < found.distance.value


def test_items_that_were_answered_once_show_no_noise() -> None:
    """Not even none."""
    with pytest.raises(CalibrationError, match="no item was answered twice"):
        repeat_noise([[-0.1, -3.0]] * 2, item=[0, 1], seed=0)


def test_the_report_says_what_was_not_looked_at() -> None:
    """Silence would read as a clean bill."""
    report = bias_report([[0.0, -1.0], [-1.0, 0.0]], seed=0, item=["a", "b"])

    text = "\n".join(report.lines())
    assert "repeats: not looked at" in text
    assert "order: not looked at" in text
    assert "length: not looked at" in text


def test_the_report_counts_items_for_length_not_readings() -> None:
    """Reading an item six times must not narrow the interval."""
    log_p, item, order, position = readings(pull=1.0, noise=0.2)
    length = np.random.default_rng(3).normal(size=ITEMS)[item]

    report = bias_report(
        log_p,
        seed=0,
        item=item,
        order=order,
        position=position,
        length=length,
        levels=[1.0, 2.0, 3.0],
        y=item % K,
    )

    assert report.length is not None and report.length.n == ITEMS
    assert len(report.lines()) >= 8


def test_length_needs_to_know_what_the_options_are_worth() -> None:
    """The order in which options are listed is no scale."""
    for k in (2, 3):
        with pytest.raises(CalibrationError, match=f"the value of each of the {k} opt"):
            bias_report(np.zeros((4, k)), seed=0, item=[0, 1, 2, 3], length=[1, 2, 3, 4])


def test_items_that_all_flip_are_no_proof_that_every_item_does() -> None:
    """Of 24 in 24 Wilson's interval begins at .862; resampled it would begin at 1."""
    readings = np.log(np.tile([[0.9, 0.1], [0.1, 0.9]], (24, 1)))

    found = order_sensitivity(readings, item=np.repeat(range(24), 2), order=[0, 1] * 24, seed=0)

    assert (found.flips.value, found.flips.high) == (1.0, 1.0)
    assert found.flips.low == pytest.approx(24 / (24 + 1.959964**2))


def test_a_judge_that_never_varies_is_not_certain_to_do_so() -> None:
    """Of 20 alike items one in 20 may differ: 1 - 0.025^(1/20), as for any share not seen once."""
    log_p = np.log(np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 20)).repeat(4, axis=0)
    items, orders = np.arange(20).repeat(4), ["a", "a", "b", "b"] * 20
    places = [[0, 1, 2], [0, 1, 2], [2, 1, 0], [2, 1, 0]] * 20

    noise = repeat_noise(log_p, item=items, seed=0).distance
    order = order_sensitivity(log_p, item=items, order=orders, seed=0).probability_excess
    first = first_option_preference(log_p, item=items, position=places, seed=0).preference

    unseen = 1.0 - 0.025 ** (1.0 / 20.0)
    assert order is not None
    assert [found.value for found in (noise, order, first)] == pytest.approx([0.0] * 3)
    assert [found.high for found in (noise, order, first)] == pytest.approx([unseen] * 3)
    assert [noise.low, first.low] == pytest.approx([0.0, -unseen])


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["same", "reversed"])
def test_equal_ranks_have_no_interval(sign: float) -> None:
    """Luck, in 2 of 720 draws of six rows: rounding made that 1e-154, and the ends one point."""
    ranks = np.arange(6.0)

    found = length_bias(sign * ranks, ranks)

    assert (found.value, found.low, found.high, found.p_value) == (sign, None, None, None)
