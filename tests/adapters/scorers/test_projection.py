"""From answers to numbers: what must hold for every distribution and all bounds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from classify.adapters.scorers.projection import projected, projected_bounds, projection_of
from classify.answers import BooleanAnswer, ChoiceAnswer, ScoreAnswer
from classify.errors import InvalidInput
from classify.questions import Boolean, Choice, Score

OPTIONS = ("a", "b", "c", "d")
QUESTION = Choice(criteria=dict.fromkeys(OPTIONS))
unit = st.floats(0, 1)


@st.composite
def answers(draw: st.DrawFn) -> ChoiceAnswer:
    """Draw a distribution, and bounds around it."""
    weights = np.array(draw(st.lists(st.floats(0.001, 1), min_size=4, max_size=4)))
    p = weights / weights.sum()
    below = np.array(draw(st.lists(unit, min_size=4, max_size=4)))
    above = np.array(draw(st.lists(unit, min_size=4, max_size=4)))
    low, high = p * below, p + (1 - p) * above
    return ChoiceAnswer(
        choice=OPTIONS[int(np.argmax(p))],
        probabilities=dict(zip(OPTIONS, p.tolist(), strict=True)),
        bounds={
            o: (lo, hi) for o, lo, hi in zip(OPTIONS, low.tolist(), high.tolist(), strict=True)
        },
    )


scores = st.fixed_dictionaries({option: unit for option in OPTIONS})


@settings(max_examples=50)
@given(answers(), scores)
def test_expected_bounds_are_the_optimum_of_the_linear_program(
    answer: ChoiceAnswer, given_scores: Mapping[str, float]
) -> None:
    """The greedy filling must be as good as a solver that somebody else wrote."""
    assert answer.bounds is not None
    projection = projection_of("q", QUESTION, scores=given_scores, projection="expected")
    bounds = projected_bounds(projection, answer, QUESTION)
    assert bounds is not None
    weights = np.array([given_scores[option] for option in OPTIONS])
    limits = [answer.bounds[option] for option in OPTIONS]
    for found, sign in zip(bounds, (1, -1), strict=True):
        best = linprog(sign * weights, A_eq=np.ones((1, 4)), b_eq=[1.0], bounds=limits)
        assert best.fun is not None
        assert found == pytest.approx(sign * float(best.fun), abs=1e-7)


@given(answers(), scores)
def test_a_score_lies_within_its_bounds(
    answer: ChoiceAnswer, given_scores: Mapping[str, float]
) -> None:
    """Bounds that leave out the value itself would be worthless."""
    for projection in (
        projection_of("q", QUESTION, scores=given_scores),
        projection_of("q", QUESTION, scores=given_scores, projection="expected"),
        projection_of("q", QUESTION, correct=["a", "c"]),
    ):
        bounds = projected_bounds(projection, answer, QUESTION)
        assert bounds is not None
        score = projected(projection, answer, QUESTION)
        assert bounds[0] - 1e-9 <= score <= bounds[1] + 1e-9


@given(answers())
def test_correct_is_the_expectation_of_ones_and_zeros(answer: ChoiceAnswer) -> None:
    """The two rules must agree where they mean the same."""
    ones = {"a": 1, "b": 0, "c": 1, "d": 0}
    expected = projection_of("q", QUESTION, scores=ones, projection="expected")
    correct = projection_of("q", QUESTION, correct=("c", "a"))
    assert correct.correct == ("a", "c")
    assert projected(correct, answer, QUESTION) == projected(expected, answer, QUESTION)


def test_the_selected_options_bounds_span_the_options_that_may_be_on_top() -> None:
    """With d at most .1, b's .3 is never beaten by it."""
    answer = ChoiceAnswer(
        choice="a",
        probabilities={"a": 0.4, "b": 0.3, "c": 0.25, "d": 0.05},
        bounds={"a": (0.2, 0.5), "b": (0.3, 0.35), "c": (0.2, 0.3), "d": (0.0, 0.1)},
    )
    projection = projection_of("q", QUESTION, scores={"a": 1, "b": 0.6, "c": 0.5, "d": 0})
    assert projected_bounds(projection, answer, QUESTION) == (0.5, 1.0)


def test_levels_have_the_bounds_of_their_range() -> None:
    """The range is in levels, the score in shares of the highest."""
    question = Score(criteria=["bad", "so", "fine", "good", "best"])
    answer = ScoreAnswer(score=2.0, score_range=(1.0, 3.0))
    projection = projection_of("q", question)
    assert projected_bounds(projection, answer, question) == (0.25, 0.75)


def test_levels_can_be_named_as_correct_by_their_index() -> None:
    """The probability of "good or better" is a common question."""
    question = Score(criteria=["bad", "so", "good", "best"])
    answer = ScoreAnswer(score=1.8, probabilities={"0": 0.1, "1": 0.3, "2": 0.3, "3": 0.3})
    projection = projection_of("q", question, correct=[2, "3"])
    assert projected(projection, answer, question) == pytest.approx(0.6)


@pytest.mark.parametrize("p", [0.03, 0.02], ids=["sum 1.2", "sum .8"])
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_rounded_probabilities_that_miss_a_sum_of_1_move_no_score(p: float, score: float) -> None:
    """40 options of 2 decimals, each worth the same: the expectation is that, not .6 or .8."""
    question = Choice(criteria={f"o{n}": None for n in range(40)})
    answer = ChoiceAnswer(choice="o0", probabilities=dict.fromkeys(question.options, p))
    scores = dict.fromkeys(question.options, score)
    expected = projection_of("q", question, scores=scores, projection="expected")
    assert projected(expected, answer, question) == pytest.approx(score)
    correct = projection_of("q", question, correct=["o0", "o1", "o2", "o3"])
    assert projected(correct, answer, question) == pytest.approx(0.1)


def test_probabilities_that_are_all_0_have_no_expectation() -> None:
    """Rounded away, as a model with many options may do."""
    answer = ChoiceAnswer(choice="a", probabilities=dict.fromkeys(OPTIONS, 0.0))
    with pytest.raises(InvalidInput, match="all are 0"):
        projected(projection_of("q", QUESTION, correct="a"), answer, QUESTION)


def test_without_bounds_nothing_is_claimed() -> None:
    """Exact probabilities and unknown bounds look alike: None."""
    answer = BooleanAnswer(probability=0.4)
    assert projected_bounds(projection_of("q", Boolean()), answer, Boolean()) is None


def test_the_bounds_of_true_are_the_bounds_of_the_score() -> None:
    """P(true) is the score, unchanged."""
    answer = BooleanAnswer(probability=0.4, bounds={"true": (0.3, 0.5), "false": (0.5, 0.7)})
    bounds = projected_bounds(projection_of("q", Boolean()), answer, Boolean())
    assert bounds == pytest.approx((0.3, 0.5))
