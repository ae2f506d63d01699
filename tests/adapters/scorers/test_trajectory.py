"""Table 2E of the reference, its trajectories: steps taken, steps expected, and the arithmetic."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers.traces import read_trace
from classify.adapters.scorers.trajectory_accuracy import (
    compare_trajectories,
    create_trajectory_accuracy_scorer,
)
from classify.adapters.scorers.trajectory_extraction import (
    extract_trajectory,
    extract_trajectory_from_trace,
    extract_workflow_trajectory,
    read_trajectory,
)
from classify.adapters.scorers.trajectory_types import (
    Trajectory,
    TrajectoryExpectation,
    TrajectoryStep,
    read_expectation,
)
from classify.errors import InvalidInput


def steps(names: str) -> tuple[TrajectoryStep, ...]:
    """Return a call of a tool for each letter."""
    return tuple(TrajectoryStep(name=name, step_type="tool_call") for name in names)


def expected(names: str, **options: Any) -> TrajectoryExpectation:
    """Return the expectation of a step for each letter."""
    return read_expectation({"steps": list(names), **options})


@pytest.mark.parametrize(
    ("ordering", "actual", "wanted", "options", "score"),
    [
        pytest.param("strict", "sxm", "sm", {}, 0.25, id="110 strict, one between"),
        pytest.param("strict", "sm", "sm", {}, 1.0, id="110 strict, the same"),
        pytest.param("strict", "ms", "sm", {}, 0.0, id="110 strict, turned round"),
        pytest.param("strict", "smx", "sm", {}, 0.75, id="110 strict, one after"),
        pytest.param("strict", "xyzv", "s", {}, 0.0, id="strict, never below 0"),
        # 0.9: the reference's documentation says .75 here, its source 1.0.
        pytest.param("relaxed", "sxm", "sm", {}, 1.0, id="111 relaxed, one between"),
        pytest.param("relaxed", "ms", "sm", {}, 0.5, id="111 relaxed, turned round"),
        pytest.param(
            "relaxed", "ssm", "sm", {"allow_repeated_steps": False}, 0.9, id="111 no repeats"
        ),
        pytest.param(
            "relaxed", "sssmm", "sm", {"allow_repeated_steps": False}, 0.8, id="each name once"
        ),
        pytest.param("relaxed", "bc", "abc", {}, 2 / 3, id="relaxed, the first is missing"),
        # The reference takes the first step that fits, and gives 1/3 here.
        pytest.param("relaxed", "bca", "abc", {}, 2 / 3, id="relaxed, the first comes last"),
        pytest.param("unordered", "msx", "sm", {}, 1.0, id="unordered"),
        pytest.param("unordered", "m", "mm", {}, 0.5, id="unordered, each step once"),
        *(
            pytest.param(ordering, actual, "", {}, score, id=f"112 {ordering} {actual!r}")
            for ordering in ("strict", "relaxed", "unordered")
            for actual, score in (("", 1.0), ("s", 0.0))
        ),
    ],
)
def test_the_arithmetic_is_the_references(
    ordering: str, actual: str, wanted: str, options: dict[str, Any], score: float
) -> None:
    """Checked rows, and their edges."""
    expectation = expected(wanted, ordering=ordering, **options)
    assert compare_trajectories(steps(actual), expectation).score == pytest.approx(score, abs=1e-12)


COMPARED = {"compareStepData": True}
letters = st.text("abc", max_size=6)


@given(letters, letters)
def test_looser_orderings_match_no_less(actual: str, wanted: str) -> None:
    """Strict <= relaxed <= unordered, each in [0, 1]."""
    strict, relaxed, unordered = (
        compare_trajectories(steps(actual), expected(wanted, ordering=ordering))
        for ordering in ("strict", "relaxed", "unordered")
    )
    assert 0.0 <= strict.score <= relaxed.score <= unordered.score <= 1.0
    for found in (strict, relaxed, unordered):
        assert len(found.matched) + len(found.missing) == len(wanted)
        assert len(found.matched) + len(found.extra) == len(actual)


def is_subsequence(part: str, whole: str) -> bool:
    """Whether the letters stand in this order; by an iterator, unlike the code under test."""
    rest = iter(whole)
    return all(letter in rest for letter in part)


@given(letters, letters)
def test_relaxed_is_one_exactly_for_subsequences(actual: str, wanted: str) -> None:
    """A definition that needs no table."""
    score = compare_trajectories(steps(actual), expected(wanted)).score
    if wanted:
        assert (score == 1.0) == is_subsequence(wanted, actual)


@given(st.lists(st.sampled_from(["x", "y", "any"]), max_size=4), st.text("xy", max_size=4))
def test_unordered_pairs_as_many_as_can_be(kinds: list[str], given_queries: str) -> None:
    """Against every assignment: a greedy one would give a picky step's call to another."""
    data = {"x": {"q": "x"}, "y": {"q": "y"}, "any": None}
    actual = [
        TrajectoryStep(name="s", step_type="tool_call", arguments={"q": q}) for q in given_queries
    ]
    expectation = read_expectation(
        {
            "steps": [{"name": "s", "data": data[kind]} for kind in kinds],
            "ordering": "unordered",
            "compare_step_data": True,
        }
    )
    padded = [*given_queries, *"-" * len(kinds)]
    best = max(
        (
            sum(k == q or (k == "any" and q != "-") for k, q in zip(kinds, order, strict=False))
            for order in permutations(padded, len(kinds))
        ),
        default=0,
    )
    assert len(compare_trajectories(actual, expectation).matched) == best


@pytest.mark.parametrize(
    ("step", "options", "fits"),
    [
        pytest.param({"name": "s", "stepType": "tool_call"}, {}, True, id="kind"),
        pytest.param({"name": "s", "stepType": "agent_run"}, {}, False, id="other kind"),
        pytest.param({"name": "s", "data": {"q": "y"}}, {}, True, id="data not compared"),
        pytest.param(
            {"name": "s", "data": {"q": "y"}}, {"compareStepData": True}, False, id="other"
        ),
        pytest.param({"name": "s", "data": {"q": "x"}}, COMPARED, True, id="same"),
        pytest.param({"name": "s"}, {"compareStepData": True}, True, id="no data named"),
        pytest.param(
            {"name": "s", "data": {"z": None}},
            {"compareStepData": True},
            False,
            id="absent is not None",
        ),
    ],
)
def test_a_step_fits_by_name_kind_and_data(
    step: dict[str, Any], options: dict[str, Any], fits: bool
) -> None:
    """Data that the expectation does not name may be anything."""
    taken = TrajectoryStep(name="s", step_type="tool_call", arguments={"q": "x", "n": 1})
    expectation = read_expectation({"steps": [step], **options})
    assert compare_trajectories([taken], expectation).score == float(fits)


def test_a_nested_expectation_counts_three_tenths() -> None:
    """0.7 of the step itself and 0.3 of what happened inside."""
    inside = TrajectoryStep(name="helper", step_type="agent_run", children=steps("ab"))
    nested = {"name": "helper", "children": {"steps": ["b", "a"], "ordering": "strict"}}
    found = compare_trajectories([inside], read_expectation([nested]))
    assert found.score == pytest.approx(0.7)
    assert found.children[0].score == 0.0
    missing = compare_trajectories([], read_expectation([nested]))
    assert (missing.score, missing.missing) == (0.0, ("helper",))


def test_the_scorer_takes_a_runs_own_expectation_first() -> None:
    """Constructor defaults are for runs without one."""
    scorer = create_trajectory_accuracy_scorer(expected=["s"])
    trajectory = Trajectory(steps=steps("sm"))
    assert (scorer.type, scorer.id) == ("trajectory", "trajectory-accuracy")
    assert scorer.run_sync(output=trajectory).score == 1.0
    result = scorer.run_sync(output=trajectory, expected_trajectory=["m", "x", "s"])
    assert result.score == pytest.approx(1 / 3)
    assert (
        result.reason == ("1 of 3 expected steps were taken; missing: x, s; extra: s.")
        or result.reason == "1 of 3 expected steps were taken; missing: m, x; extra: m."
    )


def test_without_an_expectation_a_trajectory_is_not_scorable() -> None:
    """The reference gives 0, which is the score of an agent that did all wrong."""
    result = create_trajectory_accuracy_scorer().run_sync(output=Trajectory(steps=steps("s")))
    assert result.score is None
    assert result.not_scorable is not None
    assert result.not_scorable.reason == ("no expected trajectory: give the run one, or the scorer")


def test_a_trajectory_can_be_the_expectation() -> None:
    """A good run is the shortest way to write one down."""
    trajectory = Trajectory(steps=steps("sm"))
    assert compare_trajectories(trajectory.steps, read_expectation(trajectory)).score == 1.0


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param({"step": []}, "unknown field 'step': did you mean 'steps'", id="field"),
        pytest.param([{"nam": "s"}], "unknown field 'nam': did you mean 'name'", id="step's field"),
        pytest.param({"ordering": "loose"}, "ordering: input should be 'strict'", id="ordering"),
        pytest.param(3, "must be a list of steps or an object with steps, got int", id="type"),
    ],
)
def test_an_unusable_expectation_is_refused(value: object, message: str) -> None:
    """A typing error would expect nothing, and everything would pass."""
    with pytest.raises(InvalidInput, match=message):
        read_expectation(value)


def test_messages_give_a_step_for_each_call_thrown_ones_included() -> None:
    """Row 23462: the reference lost calls that were thrown, and those in parts only."""

    def call(name: str, **fields: Any) -> dict[str, Any]:
        return {"toolName": name, "toolCallId": name, **fields}

    output = [
        {
            "role": "assistant",
            "content": {
                "format": 2,
                "parts": [
                    {
                        "type": "tool-invocation",
                        "toolInvocation": call("parts", state="result", args={"a": 1}, result=[2]),
                    },
                    {
                        "type": "tool-save",
                        "toolCallId": "s",
                        "state": "output-error",
                        "input": "x",
                        "errorText": "boom",
                    },
                ],
                "toolInvocations": [call("open", state="call", args=None)],
            },
        }
    ]
    trajectory = extract_trajectory(output)
    assert [(s.name, s.step_type, s.arguments, s.result, s.success) for s in trajectory.steps] == [
        ("parts", "tool_call", {"a": 1}, {"value": [2]}, True),
        ("save", "tool_call", {"value": "x"}, None, False),
        ("open", "tool_call", None, None, False),
    ]
    assert trajectory.steps[1].details == {"error": "boom"}
    assert trajectory.raw_output is output


@pytest.mark.parametrize(
    ("path", "names"),
    [
        pytest.param(["b", "a", "gone"], ["b", "a"], id="the path's order"),
        pytest.param(None, ["a", "b"], id="the results' order"),
    ],
)
def test_a_workflow_gives_its_steps(path: list[str] | None, names: list[str]) -> None:
    """A path names steps in the order in which they ran; those without a result did not."""
    results: dict[str, Any] = {
        "a": {"status": "success", "output": 3, "startedAt": 20, "endedAt": 50},
        "b": {"status": "failed", "started_at": 10, "ended_at": 15, "metadata": {"k": 1}},
        "c": None,
    }
    trajectory = extract_workflow_trajectory(results, path)
    by_name = {step.name: step for step in trajectory.steps}
    assert [step.name for step in trajectory.steps] == names
    assert (by_name["a"].result, by_name["a"].duration_ms) == ({"value": 3}, 30.0)
    assert (by_name["b"].details, by_name["b"].metadata) == ({"status": "failed"}, {"k": 1})
    assert trajectory.total_duration_ms == 40.0


def test_a_trace_gives_a_tree_of_steps() -> None:
    """One run at the top is the container; what is no step is passed through, not lost."""

    def span(id: str, kind: str, parent: str | None, start: int, **more: Any) -> dict[str, Any]:
        times = {"startedAt": start, "endedAt": start + 5}
        return {"spanId": id, "parentSpanId": parent, "spanType": kind, "name": id, **times, **more}

    trace = read_trace(
        {
            "traceId": "t",
            "spans": [
                span("flow", "workflow_run", None, 0),
                span("late", "workflow_step", "flow", 9, output={"ok": True}),
                span("wrap", "generic", "flow", 1),
                span("search", "tool_call", "wrap", 2, input={"q": 1}, output=7),
                span("failed", "tool_call", "late", 10, error="boom"),
                span("judged", "mcp_tool_call", "late", 11, attributes={"success": False}),
                span(
                    "llm",
                    "model_generation",
                    "late",
                    12,
                    attributes={"model": "m", "usage": {"inputTokens": 3, "outputTokens": 4}},
                ),
            ],
        }
    )
    trajectory = extract_trajectory_from_trace(trace)
    search, late = trajectory.steps
    # The reference loses what is inside a span that is no step.
    assert (search.name, search.arguments, search.result, search.success) == (
        "search",
        {"q": 1},
        {"value": 7},
        True,
    )
    assert (late.name, late.result, late.duration_ms) == ("late", {"ok": True}, 5.0)
    assert [(step.name, step.success) for step in late.children] == [
        ("failed", False),
        ("judged", False),
        ("llm", None),
    ]
    assert late.children[2].details == {
        "model_id": "m",
        "prompt_tokens": 3,
        "completion_tokens": 4,
    }
    assert trajectory.total_duration_ms == 5.0
    assert [s.name for s in extract_trajectory_from_trace(trace, "late").steps] == ["late"]
    assert read_trajectory(trace) == trajectory


def test_a_trajectory_is_read_from_json() -> None:
    """Rows of a data set hold them in the reference's shape."""
    read = read_trajectory(
        {
            "steps": [
                "plain",
                {
                    "name": "s",
                    "stepType": "tool_call",
                    "toolArgs": {"q": 1},
                    "success": True,
                    "durationMs": 3,
                    "children": [{"name": "c", "step_type": "agent_run"}],
                },
            ],
            "totalDurationMs": 9,
        }
    )
    assert read.steps[1] == TrajectoryStep(
        name="s",
        step_type="tool_call",
        arguments={"q": 1},
        success=True,
        duration_ms=3.0,
        children=(TrajectoryStep(name="c", step_type="agent_run"),),
    )
    assert (read.steps[0].name, read.total_duration_ms) == ("plain", 9.0)
    assert read_trajectory(read) is read
    assert read_trajectory({"steps": read.steps}).steps == read.steps
    with pytest.raises(InvalidInput, match=r"a step's type must be one of tool_call.*got 'tool'"):
        read_trajectory({"steps": [{"name": "s", "stepType": "tool"}]})
    with pytest.raises(InvalidInput, match="a step must be a name or an object with a name"):
        read_trajectory({"steps": [3]})
