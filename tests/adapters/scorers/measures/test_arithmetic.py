"""Table 2G of the reference's behaviour, row by row, and what must hold of every formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers.measures import arithmetic
from classify.adapters.scorers.measures.arithmetic import (
    IMPACT_CREDIT,
    MATCH_CREDIT,
    RELEVANCE_CREDIT,
    SYSTEM_WEIGHTS,
    USER_WEIGHTS,
)

shares = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("matches", "contradictions", "extras", "expected"),
    [
        pytest.param(["exact", "exact"], 0, 0, 1.0, id="129-exact"),
        pytest.param(["semantic", "semantic"], 0, 0, 0.67, id="129-semantic"),
        pytest.param(["exact", "missing"], 0, 0, 0.44, id="129-missing"),
        pytest.param(["exact", "exact"], 1, 0, 0.0, id="129-contradiction"),
        pytest.param(["exact", "exact"], 0, 10, 0.8, id="129-extras"),
        pytest.param(["partial", "semantic"], 0, 0, 0.5, id="129-partial"),
    ],
)
def test_answer_similarity(
    matches: list[str], contradictions: int, extras: int, expected: float
) -> None:
    """Row 129, to the two decimals that the reference shows."""
    credits = [MATCH_CREDIT[match] for match in matches]

    score = arithmetic.answer_similarity(credits, contradictions=contradictions, extras=extras)

    assert score == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize(
    ("robustness", "impacts", "issues", "expected"),
    [
        pytest.param(0.9, ["none", "none"], 0, 0.9, id="130-none"),
        pytest.param(0.9, ["severe", "severe"], 0, 0.1, id="130-severe"),
        pytest.param(0.9, ["minimal", "minimal"], 1, 0.8, id="130-issue"),
        pytest.param(1.0, ["none"], 5, 0.7, id="130-issues"),
        pytest.param(0.2, ["none"], 0, 0.2, id="130-lower"),
    ],
)
def test_noise_sensitivity(
    robustness: float, impacts: list[str], issues: int, expected: float
) -> None:
    """Row 130."""
    credits = [IMPACT_CREDIT[impact] for impact in impacts]

    score = arithmetic.noise_sensitivity(robustness, credits, issues=issues)

    assert score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("levels", "unused_high", "missing", "expected"),
    [
        pytest.param(["high", "medium"], 0, 0, 0.85, id="131-used"),
        pytest.param(["high", "none"], 1, 0, 0.4, id="131-unused"),
        pytest.param(["high"], 0, 4, 0.5, id="131-missing-four"),
        pytest.param(["high"], 0, 1, 0.85, id="131-missing-one"),
    ],
)
def test_context_relevance(
    levels: list[str], unused_high: int, missing: int, expected: float
) -> None:
    """Row 131."""
    credits = [RELEVANCE_CREDIT[level] for level in levels]

    score = arithmetic.context_relevance(credits, unused_high=unused_high, missing=missing)

    assert score == pytest.approx(expected)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        pytest.param("user", 0.65, id="132-user"),
        pytest.param("system", 0.60, id="132-system"),
        pytest.param("both", 0.65, id="132-both"),
    ],
)
def test_prompt_alignment(mode: str, expected: float) -> None:
    """Row 132; in "both" the reference takes the user's score for the system's too."""
    parts = [1.0, 0.5, 0.5, 0.0]
    user = arithmetic.prompt_alignment(parts, USER_WEIGHTS)
    system = arithmetic.prompt_alignment(parts, SYSTEM_WEIGHTS)

    score = {"user": user, "system": system, "both": arithmetic.both_prompts(user, user)}[mode]

    assert score == pytest.approx(expected)


def test_both_prompts_are_judged_apart_here() -> None:
    """Where we differ: a system's prompt has a score of its own, which counts .3."""
    assert arithmetic.both_prompts(0.65, 0.60) == pytest.approx(0.635)


@pytest.mark.parametrize(
    ("relevant", "expected"),
    [
        pytest.param([1.0, 0.0, 1.0], (1 + 2 / 3) / 2, id="first and third"),
        pytest.param([0.0, 0.0, 1.0], 1 / 3, id="last"),
        pytest.param([0.0, 0.0], 0.0, id="none"),
        pytest.param([1.0, 1.0], 1.0, id="all"),
    ],
)
def test_context_precision(relevant: list[float], expected: float) -> None:
    """The average precision of information retrieval."""
    assert arithmetic.context_precision(relevant) == pytest.approx(expected)


def test_context_precision_is_average_precision() -> None:
    """An independent implementation, over every pattern of five pieces."""
    for pattern in range(1, 32):
        relevant = [float(pattern >> place & 1) for place in range(5)]
        ranks = [place + 1 for place in range(5) if relevant[place]]
        expected = sum((hit + 1) / rank for hit, rank in enumerate(ranks)) / len(ranks)

        assert arithmetic.context_precision(relevant) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("yes", "unsure", "expected"),
    [
        pytest.param([1.0, 0.0], [0.0, 1.0], 0.65, id="one unsure"),
        pytest.param([0.0, 0.0], [0.0, 0.0], 0.0, id="none"),
        pytest.param([1.0, 1.0], [0.0, 0.0], 1.0, id="all"),
    ],
)
def test_answer_relevancy(yes: list[float], unsure: list[float], expected: float) -> None:
    """An unsure statement counts .3."""
    assert arithmetic.answer_relevancy(yes, unsure) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("met", "expected"),
    [
        pytest.param([1.0, 1.0], 1.0, id="all met"),
        pytest.param([1.0, 0.0], 0.0, id="one failed"),
        pytest.param([0.5, 0.5], 0.25, id="independent halves"),
    ],
)
def test_rubric(met: list[float], expected: float) -> None:
    """1 or 0 for verdicts, the probability of all for probabilities."""
    assert arithmetic.rubric(met) == expected


def test_trajectory_accuracy_is_at_most_nine_tenths() -> None:
    """The reference documents weights that do not sum to 1."""
    best = arithmetic.trajectory_accuracy([1.0, 1.0], order=1.0, missing=0.0)

    assert best == pytest.approx(0.9)
    assert arithmetic.trajectory_accuracy([1.0, 0.0], order=0.5, missing=1.0) == pytest.approx(0.35)


def test_summarization_is_the_lower_of_both() -> None:
    """A faithful summary of nothing much is no good one."""
    assert arithmetic.summarization(0.9, 0.4) == 0.4


FORMULAS: list[tuple[str, Callable[[Sequence[float]], float]]] = [
    ("share", arithmetic.share),
    ("context_precision", arithmetic.context_precision),
    ("context_relevance", arithmetic.context_relevance),
    ("answer_similarity", arithmetic.answer_similarity),
    ("rubric", arithmetic.rubric),
    ("noise", lambda x: arithmetic.noise_sensitivity(x[0], x)),
    ("relevancy", lambda x: arithmetic.answer_relevancy(x, [1.0 - p for p in x])),
    ("trajectory", lambda x: arithmetic.trajectory_accuracy(x, order=x[0], missing=x[-1])),
]


@pytest.mark.parametrize("formula", [pytest.param(formula, id=name) for name, formula in FORMULAS])
@given(shares)
def test_every_formula_stays_within_its_scale(
    formula: Callable[[Sequence[float]], float], values: list[float]
) -> None:
    """Whatever the probabilities are, the score is a number from 0 to 1."""
    score = formula(values)

    assert math.isfinite(score)
    assert 0.0 <= score <= 1.0


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_certain_items_count_as_whole_ones(verdicts: list[bool]) -> None:
    """On certainties the share is the reference's count over the total, to the last bit."""
    assert arithmetic.share([float(v) for v in verdicts]) == sum(verdicts) / len(verdicts)


@given(shares, st.floats(0.0, 5.0), st.floats(0.0, 5.0))
def test_penalties_never_raise_a_score(values: list[float], first: float, second: float) -> None:
    """More contradictions, extras or missing pieces cannot help."""
    plain = arithmetic.answer_similarity(values)

    assert arithmetic.answer_similarity(values, contradictions=first, extras=second) <= plain
    assert arithmetic.context_relevance(
        values, unused_high=first, missing=second
    ) <= arithmetic.context_relevance(values)
