"""A judge that is kinder to some groups is found out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from classify.calibration.comparison import holm
from classify.calibration.group_bias import subgroup_bias
from classify.errors import CalibrationError


def scored() -> tuple[list[float], list[float], list[str]]:
    """Return a judge who gives long texts half a point more, people, and the groups."""
    random = np.random.default_rng(7)
    groups = ["short"] * 40 + ["long"] * 30 + ["list"] * 20
    human = random.normal(3.0, 1.0, 90)
    judge = human + random.normal(0.0, 0.4, 90) + np.where(np.arange(90) // 40 == 1, 0.5, 0.0)
    return judge.tolist(), human.tolist(), groups


def test_bias_and_its_test_are_those_of_scipy() -> None:
    """Student's t within a group, Welch's against the rest, Holm over the groups."""
    judge, human, groups = scored()
    difference = np.asarray(judge) - np.asarray(human)
    names = np.asarray(groups)

    found = subgroup_bias(judge, human, groups)

    assert [group.group for group in found] == ["short", "long", "list"]
    raw: list[float] = []
    for group in found:
        own, rest = difference[names == group.group], difference[names != group.group]
        interval = ttest_1samp(own, 0.0).confidence_interval(0.95)
        assert (group.bias.low, group.bias.high) == pytest.approx((interval.low, interval.high))
        assert group.against_rest == pytest.approx(own.mean() - rest.mean())
        raw.append(float(ttest_ind(own, rest, equal_var=False).pvalue))
    assert [group.p_value for group in found] == pytest.approx(holm(raw))


def test_the_favoured_group_stands_out() -> None:
    """Half a point, and the sentence says so."""
    long = subgroup_bias(*scored())[1]

    assert long.p_value is not None
    assert long.p_value < 0.01
    assert "against the rest, adjusted p" in str(long)


def test_a_group_without_any_difference_is_still_not_certain() -> None:
    """Ten items that agree leave a differing share of up to 1 - 0.025^(1/10) possible."""
    found = subgroup_bias([1.0] * 10 + [0.0], [1.0] * 10 + [1.0], ["a"] * 10 + ["b"])[0]

    assert found.bias.value == 0.0
    assert found.bias.high == pytest.approx(1.0 - 0.025**0.1)
    assert found.p_value is None
    assert "cannot be compared with the rest" in str(found)


def test_missing_scores_are_left_out_and_counted() -> None:
    """Two of three in group a."""
    found = subgroup_bias([1.0, math.nan, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0], ["a", "a", "a", "b"])

    assert (found[0].bias.n, found[0].bias.total) == (2, 3)


def test_a_group_without_scores_is_named() -> None:
    """It would otherwise be missing from the report."""
    with pytest.raises(CalibrationError, match="group 'b' has no item that both"):
        subgroup_bias([1.0, math.nan], [1.0, 1.0], ["a", "b"])


def test_lists_have_one_length() -> None:
    """Pairs cannot be guessed."""
    with pytest.raises(CalibrationError, match="three lists of one length"):
        subgroup_bias([1.0], [1.0], ["a", "b"])


def test_scores_of_any_unit_have_a_p_value() -> None:
    """The fourth power of a difference of 1e90 is no number, and shares of it are."""
    judge, human, groups = [1.0, 2.0, 4.0, 3.0, 1.0, 1.0], [0.0] * 6, ["a"] * 3 + ["b"] * 3

    plain = subgroup_bias(judge, human, groups)
    large = subgroup_bias([1e90 * score for score in judge], human, groups, span=1e95)

    assert [each.p_value for each in large] == pytest.approx([each.p_value for each in plain])


def test_one_group_for_all_is_a_list_too() -> None:
    """A single name has no rows."""
    with pytest.raises(CalibrationError, match=r"three lists of one length, .* and \(\)"):
        subgroup_bias([1.0], [1.0], "a")


def test_scores_without_a_span_are_not_cut_off_at_that_of_verdicts() -> None:
    """Levels 1 to 5: the interval of scipy, and not one that ends at 1, below the bias itself."""
    judge, human = [5.0, 5.0, 4.0, 5.0], [1.0, 2.0, 2.0, 1.0]

    (found,) = subgroup_bias(judge, human, ["a"] * 4)

    interval = ttest_1samp(np.asarray(judge) - np.asarray(human), 0.0).confidence_interval(0.95)
    assert found.bias.value == 3.25
    assert (found.bias.low, found.bias.high) == pytest.approx((interval.low, interval.high))


def test_scores_beyond_the_span_are_refused() -> None:
    """Then the span is not what it says, and no end that rests on it is right."""
    with pytest.raises(CalibrationError, match="got 1 for values from 1 to 5"):
        subgroup_bias([5.0, 4.0], [1.0, 2.0], ["a", "a"], span=1)
