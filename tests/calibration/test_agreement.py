"""Kappa and confusion of two raters, on declared levels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from classify.calibration.agreement import cohen_kappa, confusion
from classify.calibration.judge_reports import judge_report
from classify.calibration.level_confusion import ordinal_confusion
from classify.calibration.ratings import Scheme
from classify.errors import CalibrationError

LEVELS = (1, 2, 3, 4, 5)
SCHEMES: tuple[Scheme, ...] = ("none", "linear", "quadratic")
pairs = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=4, max_size=40)


def columns(rated: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """Return the ratings of each rater, with four pairs more so that kappa is defined."""
    rated = [*rated, (1, 1), (2, 2), (1, 2), (5, 4)]
    return [a for a, _ in rated], [b for _, b in rated]


@given(pairs, st.sampled_from(SCHEMES))
@settings(deadline=None)
def test_kappa_is_symmetric(rated: list[tuple[int, int]], scheme: Scheme) -> None:
    """Nobody is the reference."""
    a, b = columns(rated)

    one = cohen_kappa(a, b, levels=LEVELS, scheme=scheme)
    other = cohen_kappa(b, a, levels=LEVELS, scheme=scheme)

    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))


@given(pairs, st.sampled_from(SCHEMES))
@settings(deadline=None)
def test_weights_repeat_items(rated: list[tuple[int, int]], scheme: Scheme) -> None:
    """Value and interval of weight 2 are those of every item twice."""
    a, b = columns(rated)

    weighted = cohen_kappa(a, b, levels=LEVELS, scheme=scheme, weights=[2.0] * len(a))
    repeated = cohen_kappa(a * 2, b * 2, levels=LEVELS, scheme=scheme)

    assert (weighted.value, weighted.low) == pytest.approx((repeated.value, repeated.low))


def test_a_level_that_nobody_used_still_counts_in_the_distance() -> None:
    """On 1 to 5, 1 against 2 is a quarter of the scale; on 1 and 2 it is all of it."""
    a, b = [1, 1, 2, 2, 5], [1, 2, 2, 2, 5]

    declared = cohen_kappa(a, b, levels=LEVELS, scheme="linear")
    observed = cohen_kappa(a, b, levels=(1, 2, 5), scheme="linear")

    assert declared.value > observed.value


def test_nan_is_missing_among_words_too() -> None:
    """As pandas gives a column of text as a list; numpy alone would read it as the word "nan"."""
    a: list[str | float] = ["bad", float("nan"), "good", "bad"]

    found = confusion(a, ["bad", "bad", "good", "good"], levels=("bad", "good"))

    assert found.counts == ((1.0, 1.0), (0.0, 1.0))
    assert (found.n, found.total) == (3, 4)


def test_numbers_beside_words_stay_numbers() -> None:
    """A scale with a level outside of it."""
    a: list[int | str] = [1, "n/a", 2]
    b: list[int | str] = [1, "n/a", 1]

    found = confusion(a, b, levels=(1, 2, "n/a"))

    assert found.counts == ((1.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))


@pytest.mark.parametrize("rated", [["1", "2"], ["1", None, "2"], [1, "2"]])
def test_a_digit_is_no_number(rated: list[str | int | None]) -> None:
    """Whether a rating is missing beside it or not."""
    with pytest.raises(CalibrationError, match=r"first holds '[12]', which is none of the levels"):
        confusion(rated, [1] * len(rated), levels=(1, 2))


def test_missing_ratings_are_left_out_and_counted() -> None:
    """None and nan, in either rater."""
    a, b = [1, None, 3, 4, 2, 1], [1, 2, float("nan"), 4, 2, 2]

    found = cohen_kappa(a, b, levels=LEVELS)

    assert (found.n, found.total) == (4, 6)
    assert found.value == cohen_kappa([1, 4, 2, 1], [1, 4, 2, 2], levels=LEVELS).value
    assert "4 used of 6" in str(found)


@pytest.mark.parametrize(
    ("a", "b", "levels"),
    [
        (["good", "bad", "good"], ["good", "bad", "bad"], ("bad", "good")),
        ([True, False, True], [True, False, False], (False, True)),
        ([0.5, 0.0, 0.5], [0.5, 0.0, 0.0], (0.0, 0.5)),
        (np.array([2, 1, 2], dtype=np.uint8), [2, 1, 1], (1, 2)),
    ],
    ids=["words", "booleans", "fractions", "small integers"],
)
def test_levels_may_be_of_any_kind(
    a: list[str | bool | float], b: list[str | bool | float], levels: tuple[str | bool | float, ...]
) -> None:
    """Two of three agree."""
    found = confusion(a, b, levels=levels)

    assert found.counts == ((1.0, 0.0), (1.0, 1.0))
    assert found.agreement == pytest.approx(2 / 3)


def test_perfect_agreement_of_few_items_is_not_certain() -> None:
    """The variance is zero, the doubt is not: Wilson's 4 of 4 lies above 0.51."""
    found = cohen_kappa([1, 2, 1, 2], [1, 2, 1, 2], levels=(1, 2))

    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx((0.5101 - 0.5) / 0.5, abs=1e-3)


def test_a_rater_who_never_varies_makes_no_kappa_certain() -> None:
    """Kappa is 0 by definition; Wilson's 35 of 60 agreements, 0.457 to 0.699, is what is known.

    Rounding once left a variance of 1e-17 here, and an interval of 0.000 to 0.000.
    """
    found = cohen_kappa([1] * 25 + [0] * 35, [0] * 60, levels=[0, 1])

    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.low == pytest.approx((0.4573 - 35 / 60) / (25 / 60), abs=1e-3)
    assert found.high == pytest.approx((0.6994 - 35 / 60) / (25 / 60), abs=1e-3)


def test_no_table_of_two_levels_makes_kappa_certain() -> None:
    """All tables of 5 to 12 items, and those of up to 60 in which a cell or two are empty."""
    for n in range(5, 61):
        for table in _tables(n):
            _check_kappa(np.reshape(table, (2, 2)), (0, 1))


def _tables(n: int) -> Iterator[tuple[int, int, int, int]]:
    steps = range(n + 1) if n <= 12 else (0, 1, n // 3, n - 1)
    for a, b, c in itertools.product(steps, repeat=3):
        if a + b + c <= n:
            yield (a, b, c, n - a - b - c)


@given(
    st.integers(5, 60),
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 1.0, 1.0, 7.0]), min_size=25, max_size=25),
    st.integers(0, 10_000),
)
@settings(deadline=None)
def test_no_table_of_five_levels_makes_kappa_certain(
    n: int, shares: list[float], seed: int
) -> None:
    """Tables with many empty cells, so that constant raters and full agreements come up."""
    odds = np.array(shares) + np.eye(25)[seed % 25]
    table = np.random.default_rng(seed).multinomial(n, odds / odds.sum())

    _check_kappa(table.reshape(5, 5), LEVELS)


@pytest.mark.parametrize("shift", range(5))
def test_agreement_or_disagreement_without_exception_is_not_certain(shift: int) -> None:
    """The second rater always says the level that lies so far on, round the scale."""
    for each in range(1, 13):
        _check_kappa(np.roll(np.eye(5, dtype=np.int64) * each, shift, axis=1), LEVELS)


def _check_kappa(table: NDArray[np.int64], levels: tuple[int, ...]) -> None:
    a, b = (np.repeat(side.ravel(), table.ravel()) for side in np.indices(table.shape))
    for scheme in SCHEMES:
        try:
            found = cohen_kappa(
                np.array(levels)[a], np.array(levels)[b], levels=levels, scheme=scheme
            )
        except CalibrationError as error:
            assert "kappa is undefined" in str(error)
            continue
        assert found.low <= found.value + 1e-12 and found.value <= found.high + 1e-12
        assert found.low >= -1.0 and found.high <= 1.0
        assert found.high - found.low > 0.01, table.tolist()
        assert "-0.000" not in str(found)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("other", [1, 2, 5], ids=["the same", "its neighbour", "the other end"])
def test_kappa_of_one_level_of_each_rater_is_undefined(scheme: Scheme, other: int) -> None:
    """What they gave is what chance gives, and the agreement of 0 of 30 bounds nothing.

    Of two different levels the value was 0 and its interval 0.000 to 0.114, though the tables that
    30 such items allow have kappas below 0.
    """
    with pytest.raises(CalibrationError, match="each rater gave one level to all 30 items"):
        cohen_kappa([1] * 30, [other] * 30, levels=LEVELS, scheme=scheme)


def test_one_item_of_another_level_defines_kappa() -> None:
    """It is 0 where one rater is constant: (29/30 - 29/30) of what is left."""
    found = cohen_kappa([1] * 30, [2] + [1] * 29, levels=LEVELS)

    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.low < 0.0 < found.high


def test_a_rating_off_the_scale_is_named() -> None:
    """Silently dropping it would raise the agreement."""
    with pytest.raises(CalibrationError, match=r"second holds 7.*, which is none of the levels"):
        cohen_kappa([1, 2], [1, 7], levels=LEVELS)


@pytest.mark.parametrize("levels", [(1,), (1, 1)], ids=["one", "twice"])
def test_levels_are_at_least_two_different_ones(levels: tuple[int, ...]) -> None:
    """One level leaves nothing to agree on."""
    with pytest.raises(CalibrationError, match="levels must be at least two different values"):
        cohen_kappa([1], [1], levels=levels)


def test_two_raters_of_nothing_in_common_have_no_agreement() -> None:
    """Zero items used of two."""
    with pytest.raises(CalibrationError, match="no item was rated by both raters"):
        cohen_kappa([1, None], [None, 1], levels=LEVELS)


def test_a_confusion_is_readable() -> None:
    """Rows are the first rater; the foot says so, and how many items counted."""
    ann: list[str | None] = ["no", "yes", None]
    bob = ["yes", "yes", "no"]

    text = str(confusion(ann, bob, levels=("no", "yes"), names=("Ann", "Bob")))

    assert text.splitlines() == [
        "     no yes",
        " no   0   1",
        "yes   0   1",
        "(rows Ann, columns Bob; 2 used of 3)",
    ]
    with pytest.raises(CalibrationError, match="names must name the two raters, got"):
        confusion(ann, bob, levels=("no", "yes"), names=("Ann",))  # type: ignore[arg-type]  # one


def test_people_are_in_rows_and_the_judge_in_columns_everywhere() -> None:
    """As the field has it: what is true in rows. The judge says yes once too often."""
    judge, people = ["no", "yes", "yes"], ["no", "no", "yes"]

    report = judge_report({"judge": judge, "people": people}, levels=["no", "yes"], ordered=True)
    ordinal = ordinal_confusion(judge, people, levels=["no", "yes"], seed=0)

    assert report.confusion is not None
    for table in (report.confusion, ordinal.table):
        assert table.names == ("people", "judge")
        assert table.counts == ((1.0, 1.0), (0.0, 1.0))
    assert "(rows people, columns judge; 3 used of 3)" in "\n".join(report.lines())


def test_a_scheme_given_as_weights_is_sent_to_its_place() -> None:
    """Other libraries call it weights; here these repeat items."""
    with pytest.raises(CalibrationError, match=r"got 'quadratic': .* is said by scheme"):
        cohen_kappa([0, 1], [0, 1], levels=(0, 1), weights="quadratic")
