"""Trajectories under all aspects: part 4 of the reference, its unified scorer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers.trajectory_quality import (
    assess_trajectory,
    create_trajectory_scorer,
)
from classify.adapters.scorers.trajectory_types import (
    Trajectory,
    TrajectoryStep,
    read_expectation,
)


def step(name: str, **fields: Any) -> TrajectoryStep:
    """Return a call of a tool."""
    return TrajectoryStep(name=name, step_type="tool_call", **fields)


def model(prompt: int, completion: int) -> TrajectoryStep:
    """Return a model's call with its tokens."""
    tokens = {"prompt_tokens": prompt, "completion_tokens": completion}
    return TrajectoryStep(name="m", step_type="model_generation", details=tokens)


def score(steps: list[TrajectoryStep], expected: dict[str, Any], **fields: Any) -> float:
    """Assess some steps."""
    trajectory = Trajectory(steps=tuple(steps), **fields)
    return assess_trajectory(trajectory, read_expectation(expected)).score


A, B = step("a"), step("b")
FAILED = step("a", success=False)


@pytest.mark.parametrize(
    ("steps", "expected", "value"),
    [
        pytest.param([A, B], {"steps": ["a", "b"]}, 1.0, id="accuracy alone"),
        pytest.param([A], {"steps": ["a", "b"]}, 0.5, id="accuracy, one missing"),
        pytest.param([A, B, A], {"maxSteps": 2}, 0.75, id="a step too many: mean of .5 and 1"),
        pytest.param([A, B, A], {"maxSteps": 2, "noRedundantCalls": False}, 0.5, id="steps only"),
        pytest.param([A] * 6, {"maxSteps": 2, "noRedundantCalls": False}, 0.0, id="not below 0"),
        pytest.param([A], {"maxSteps": 0, "noRedundantCalls": False}, 0.0, id="nothing allowed"),
        pytest.param([A, A], {"noRedundantCalls": True}, 0.8, id="one redundant call"),
        pytest.param(
            [step("a", arguments={"q": 1}), step("a", arguments={"q": 2})],
            {"noRedundantCalls": True},
            1.0,
            id="other arguments",
        ),
        pytest.param(
            [model(60, 40), model(50, 0)],
            {"maxTotalTokens": 100, "noRedundantCalls": False},
            0.5,
            id="tokens",
        ),
        pytest.param(
            [FAILED] * 3 + [A], {"steps": ["a"]}, 0.4 / 0.6 + 0.2 / 0.6 * 0.8, id="retries"
        ),
        pytest.param(
            [FAILED, A],
            {"steps": ["a"], "maxRetriesPerTool": 2},
            1.0,
            id="retries within what is allowed",
        ),
        pytest.param(
            [A, B, A],
            {"steps": ["a", "b", "c"], "max_steps": 2, "blacklisted_tools": ["x"]},
            (0.4 * 2 / 3 + 0.3 * 0.75 + 0.1) / 0.8,
            id="parts by their weights",
        ),
        pytest.param([A, B], {"steps": ["a"], "blacklistedTools": ["b"]}, 0.0, id="forbidden"),
        pytest.param([A, B], {"blacklistedSequences": [["a", "b"]]}, 0.0, id="in a row"),
        pytest.param([A, B], {"blacklistedSequences": [["b", "a"]]}, 1.0, id="the other way"),
        pytest.param([A, step("x"), B], {"blacklistedSequences": [["a", "b"]]}, 1.0, id="apart"),
    ],
)
def test_the_parts_are_weighted_as_in_the_reference(
    steps: list[TrajectoryStep], expected: dict[str, Any], value: float
) -> None:
    """Without its rounding to two decimals, which made 0.995 a 1."""
    assert score(steps, expected) == pytest.approx(value, abs=1e-12)


def test_what_happens_inside_a_step_counts_three_tenths() -> None:
    """0.7 of the level itself; a step that was not taken has a 0 inside."""
    helper = TrajectoryStep(name="helper", step_type="agent_run", children=(A, B))
    inside = {"name": "helper", "children": {"steps": ["a", "c"]}}
    assert score([helper], {"steps": [inside]}) == pytest.approx(0.7 + 0.3 * 0.5)
    assert score([], {"steps": [inside]}) == 0.0
    forbidden = {"name": "helper", "children": {"steps": ["a"], "blacklistedTools": ["b"]}}
    assert score([helper], {"steps": [forbidden]}) == pytest.approx(0.7)


def test_a_budget_that_cannot_be_checked_is_named_and_not_counted() -> None:
    """The reference takes unknown tokens and times for none, and gives them full marks."""
    expected = read_expectation({"maxTotalTokens": 5, "maxTotalDurationMs": 5, "maxSteps": 1})
    found = assess_trajectory(Trajectory(steps=(A, B)), expected)
    assert found.unknown == ("max_total_tokens", "max_total_duration_ms")
    assert found.efficiency == 0.5
    timed = assess_trajectory(Trajectory(steps=(A,), total_duration_ms=10.0), expected)
    assert timed.unknown == ("max_total_tokens",)
    assert timed.efficiency == pytest.approx(2 / 3)


names = st.lists(st.sampled_from("abc"), max_size=6)


@given(names, names, st.integers(0, 5), st.lists(st.sampled_from("abc"), max_size=2))
def test_a_score_is_a_share_and_forbidden_is_zero(
    taken: list[str], wanted: list[str], most: int, forbidden: list[str]
) -> None:
    """Whatever is expected."""
    expected = {"steps": wanted, "max_steps": most, "blacklisted_tools": forbidden}
    value = score([step(name) for name in taken], expected)
    assert 0.0 <= value <= 1.0
    if set(taken) & set(forbidden):
        assert value == 0.0


def test_the_scorer_overrides_its_defaults_field_by_field() -> None:
    """The item's own fields win, the others stay."""
    scorer = create_trajectory_scorer(expected={"steps": ["a"], "blacklisted_tools": ["b"]})
    trajectory = Trajectory(steps=(A, B))
    forbidden = scorer.run_sync(output=trajectory)
    assert (forbidden.score, forbidden.reason) == (0.0, "accuracy 1.00; forbidden: b.")
    allowed = scorer.run_sync(output=trajectory, expected_trajectory={"blacklistedTools": []})
    assert (allowed.score, scorer.type) == (1.0, "trajectory")
    other = scorer.run_sync(output=Trajectory(steps=(A,)), expected_trajectory=["c"])
    assert other.reason == "accuracy 0.00; missing: c."


def test_without_any_expectation_a_run_is_not_scorable() -> None:
    """A scorer that nobody told anything would pass everything."""
    result = create_trajectory_scorer().run_sync(output=Trajectory(steps=(A,)))
    assert result.score is None
    assert result.not_scorable is not None
    assert result.not_scorable.reason is not None
    assert result.not_scorable.reason.startswith("nothing is expected")
