"""Table 2C of the reference's behaviour, the rows without a judge; ids are the table's numbers."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from classify.adapters.scorers import (
    NotScorable,
    Scorer,
    ScorerBuilder,
    ScorerDefinitionError,
    ScorerLike,
    ScorerResult,
    ScorerRun,
    ScorerRunError,
    StepContext,
    StepInfo,
    create_scorer,
    not_scorable,
)

Context = StepContext[Any, Any, Any, Any]
Step = Callable[[Context], Any]
AnyResult = ScorerResult[Any, Any, Any, Any]


def later(step: Step) -> Step:
    """Return the same step as an asynchronous function."""

    async def waiting(context: Context) -> Any:
        await asyncio.sleep(0)
        return step(context)

    return waiting


def at_once(step: Step) -> Step:
    """Return the step as it is."""
    return step


WAYS = [pytest.param(at_once, id="sync"), pytest.param(later, id="async")]


def fails(context: Context) -> Any:
    """Fail."""
    raise RuntimeError("the step broke")


def noted(seen: list[Any], value: Any) -> float:
    """Keep what a step saw, and score 1."""
    seen.append(value)
    return 1.0


def half(context: Context) -> float:
    """Give half."""
    return 0.5


@pytest.mark.parametrize("id", ["", "  ", None, 7], ids=repr)
def test_2c_60_an_id_is_required(id: Any) -> None:
    """Stored scores are found by it."""
    with pytest.raises(ScorerDefinitionError, match="id must be a non-empty string"):
        create_scorer(id)


def test_2c_61_nothing_runs_without_generate_score() -> None:
    """Both ways to run say what is missing and how to add it."""
    builder = create_scorer("s").analyze(half)

    with pytest.raises(ScorerDefinitionError, match=r"no generate_score step; add \.generate"):
        builder.run_sync(output="a")
    with pytest.raises(ScorerDefinitionError, match="no generate_score step"):
        asyncio.run(builder.run(output="a"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("with_reason", [True, False], ids=["reason", "no reason"])
@pytest.mark.parametrize("with_analyze", [True, False], ids=["analyze", "no analyze"])
@pytest.mark.parametrize("with_preprocess", [True, False], ids=["preprocess", "no preprocess"])
def test_2c_62_every_combination_of_function_steps(
    way: Callable[[Step], Step], with_preprocess: bool, with_analyze: bool, with_reason: bool
) -> None:
    """Each step sees the results before it, and no step means None; nothing asks a judge."""
    builder: ScorerBuilder[Any, Any, Any, Any] = create_scorer("s", name="S", description="d")
    if with_preprocess:
        builder = builder.preprocess(way(lambda c: c.run.output.split()))
    if with_analyze:
        builder = builder.analyze(way(lambda c: len(c.results.preprocess_step_result or "x")))
    scorer = builder.generate_score(way(lambda c: (c.results.analyze_step_result or 5) / 10))
    if with_reason:
        scorer = scorer.generate_reason(way(lambda c: f"score {c.score}"))

    result = scorer.run_sync(input="q", output="a b c", run_id="r")

    counted = 3 if with_preprocess else 1
    score = counted / 10 if with_analyze else 0.5
    assert result.run_id == "r" and (result.run.input, result.run.output) == ("q", "a b c")
    assert result.preprocess_step_result == (["a", "b", "c"] if with_preprocess else None)
    assert result.analyze_step_result == (counted if with_analyze else None)
    assert result.score == score
    assert result.reason == (f"score {score}" if with_reason else None)
    assert result.judge == {} and result.prompts == {}


def test_2c_67_a_failed_score_keeps_what_was_analysed() -> None:
    """What was paid for is not lost with the step that failed."""
    scorer = create_scorer("s").analyze(lambda c: {"words": 2}).generate_score(fails)

    with pytest.raises(ScorerRunError, match="'s' failed at generate_score: the step") as caught:
        scorer.run_sync(output="a", run_id="r")

    error = caught.value
    assert (error.failed_step, error.completed_steps) == ("generate_score", ("analyze",))
    assert isinstance(error.cause, RuntimeError) and error.__cause__ is error.cause
    assert error.result is not None
    assert error.result.analyze_step_result == {"words": 2} and error.result.run_id == "r"
    assert error.result.score is None and error.result.judge == {}


def test_2c_67_a_score_of_zero_is_kept_where_the_reason_fails() -> None:
    """Zero is a score: what counts is that it is there."""
    scorer = create_scorer("s").generate_score(lambda c: 0).generate_reason(fails)

    with pytest.raises(ScorerRunError, match="failed at generate_reason") as caught:
        scorer.run_sync(output="a")

    assert caught.value.result is not None and caught.value.result.score == 0.0


def test_2c_69_nothing_is_kept_where_the_first_step_fails() -> None:
    """A partial result without any part would look like one."""
    scorer = create_scorer("s").preprocess(fails).generate_score(half)

    with pytest.raises(ScorerRunError, match="failed at preprocess") as caught:
        scorer.run_sync(output="a")

    assert caught.value.result is None and caught.value.completed_steps == ()


def test_2c_70_the_errors_json_holds_no_result() -> None:
    """A log may be read by people who may not read the outputs."""
    scorer = create_scorer("s").analyze(lambda c: "private finding").generate_score(fails)

    with pytest.raises(ScorerRunError, match="failed at generate_score") as caught:
        scorer.run_sync(output="private output")

    written = json.dumps(caught.value.to_json())
    assert "private" not in written and '"failed_step": "generate_score"' in written


def test_2c_90_a_failing_on_result_only_warns() -> None:
    """The score is there, whatever becomes of it; the reference emits to a store instead."""

    def store(result: AnyResult, given: ScorerRun[Any, Any]) -> None:
        raise OSError("the disk is full")

    scorer = create_scorer("s", on_result=store).generate_score(half)

    with pytest.warns(RuntimeWarning, match=r"on_result of scorer 's' failed for run 'r'.*disk"):
        result = asyncio.run(scorer.run(output="a", run_id="r"))
    assert result.score == 0.5


def test_2c_91_what_is_not_asked_for_is_not_emitted() -> None:
    """Emission is the callback: without one there is none, and the result has no flag for it."""
    result = create_scorer("s").generate_score(half).run_sync(output="a")

    assert not [field.name for field in fields(result) if "emit" in field.name]


@pytest.mark.parametrize(("truth", "has"), [("yes", True), (None, False)], ids=["given", "not"])
@pytest.mark.parametrize("drops", [True, False], ids=["94-dropped", "92-kept"])
def test_2c_92_94_whether_there_is_a_ground_truth_is_told_from_the_run_as_given(
    truth: Any, has: bool, drops: bool
) -> None:
    """prepare_run may hide it from the steps; that the data had one stays true."""
    seen: list[Any] = []
    told: list[tuple[Any, bool]] = []
    scorer = create_scorer(
        "s",
        prepare_run=(lambda run: replace(run, ground_truth=None)) if drops else None,
        on_result=lambda result, given: told.append((result.score, given.ground_truth is not None)),
    ).generate_score(lambda c: noted(seen, c.run.ground_truth))

    result = scorer.run_sync(output="a", ground_truth=truth)

    assert told == [(1.0, has)]
    assert seen == [None if drops else truth] == [result.run.ground_truth]


def test_on_result_may_be_asynchronous() -> None:
    """Stores usually are."""
    told: list[float | None] = []

    async def store(result: AnyResult, given: ScorerRun[Any, Any]) -> None:
        await asyncio.sleep(0)
        told.append(result.score)

    create_scorer("s", on_result=store).generate_score(half).run_sync(output="a")

    assert told == [0.5]


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, -math.inf, "high", "0.5", None, [1], 1.5, -0.1],
    ids=repr,
)
def test_2c_95_what_is_no_score_fails(value: Any) -> None:
    """The reference returns it as it is; here it would end in a mean without a word."""
    scorer = create_scorer("s").analyze(half).generate_score(lambda c: value)

    with pytest.raises(ScorerRunError, match="generate_score must return a") as caught:
        scorer.run_sync(output="a")

    assert caught.value.failed_step == "generate_score"
    assert caught.value.completed_steps == ("analyze",)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("step", ["preprocess", "analyze", "generate_score", "generate_reason"])
def test_2c_96_not_scorable_ends_the_run(step: str, way: Callable[[Step], Step]) -> None:
    """Later steps do not run, nothing is stored, and there is no score to average."""
    ran: list[str] = []
    stored: list[AnyResult] = []

    def doing(name: str, value: Any) -> Step:
        def act(context: Context) -> Any:
            ran.append(name)
            return not_scorable("x") if name == step else value

        return way(act)

    scorer: Scorer[Any, Any, Any, Any] = (
        create_scorer("s", on_result=lambda result, given: stored.append(result))
        .preprocess(doing("preprocess", "p"))
        .analyze(doing("analyze", "a"))
        .generate_score(doing("generate_score", 0.5))
        .generate_reason(doing("generate_reason", "r"))
    )

    result = scorer.run_sync(output="a")

    assert ran == ["preprocess", "analyze", "generate_score", "generate_reason"][: len(ran)]
    assert ran[-1] == step
    assert result.score is None and result.not_scorable == NotScorable("x")
    assert result.preprocess_step_result == ("p" if step != "preprocess" else None)
    assert stored == []


@pytest.mark.parametrize("way", WAYS)
def test_prepare_run_changes_what_the_steps_see(way: Callable[[Any], Any]) -> None:
    """It cuts a run down to what is to be judged; the result echoes that run."""

    def cut(run: ScorerRun[Any, str]) -> ScorerRun[Any, str]:
        return replace(run, output=run.output[:3])

    scorer = create_scorer("s", prepare_run=way(cut)).generate_score(
        lambda c: len(c.run.output) / 10
    )

    result = scorer.run_sync(output="abcdef", run_id="r")

    assert result.score == 0.3 and result.run.output == "abc" and result.run_id == "r"


def test_what_prepare_run_raises_comes_through_as_it_is() -> None:
    """No step has failed: the run never began."""

    def refuse(run: ScorerRun[Any, Any]) -> ScorerRun[Any, Any]:
        raise KeyError("no such field")

    scorer = create_scorer("s", prepare_run=refuse).generate_score(half)

    with pytest.raises(KeyError, match="no such field"):
        scorer.run_sync(output="a")


def test_prepare_run_that_returns_nothing_is_named() -> None:
    """Forgetting the return is the usual slip."""

    def forgetful(run: ScorerRun[Any, Any]) -> Any:
        return None

    scorer = create_scorer("s", prepare_run=forgetful).generate_score(half)

    with pytest.raises(ValueError, match="prepare_run of scorer 's' must return a ScorerRun"):
        scorer.run_sync(output="a")


def test_every_field_of_a_run_is_echoed() -> None:
    """Whoever stores results finds the target by them; contexts reach the steps untouched."""
    context = {"tenant": object()}
    given: dict[str, Any] = {
        "input": 1,
        "output": 2,
        "run_id": "r",
        "ground_truth": 3,
        "expected_trajectory": [4],
        "request_context": context,
        "additional_context": {"old": 1},
        "runtime_context": {"older": 1},
        "score_source": "live",
        "target_scope": "span",
        "target_entity_type": "agent",
        "target_trace_id": "t",
        "target_span_id": "s",
        "target_metadata": {"m": 1},
    }
    seen: list[Any] = []
    scorer = create_scorer("s").generate_score(lambda c: noted(seen, c.run.request_context))

    result = scorer.run_sync(**given)

    assert {field.name: getattr(result.run, field.name) for field in fields(result.run)} == given
    assert seen[0] is context


def test_a_run_without_an_id_gets_one_of_its_own() -> None:
    """Two runs are never taken for one."""
    scorer = create_scorer("s").generate_score(half)

    first, second = scorer.run_sync(output="a").run_id, scorer.run_sync(output="a").run_id

    assert first != second and len(first) == 36


ORDERS: list[tuple[str, Callable[[], object]]] = [
    ("preprocess after analyze", lambda: _any().analyze(half).preprocess(half)),
    ("preprocess twice", lambda: _any().preprocess(half).preprocess(half)),
    ("analyze twice", lambda: _any().analyze(half).analyze(half)),
    ("reason before score", lambda: _any().generate_reason(half)),
    ("preprocess after score", lambda: _any().generate_score(half).preprocess(half)),
    ("analyze after score", lambda: _any().generate_score(half).analyze(half)),
    ("score twice", lambda: _any().generate_score(half).generate_score(half)),
    (
        "reason twice",
        lambda: _any().generate_score(half).generate_reason(half).generate_reason(half),
    ),
]


def _any() -> Any:
    """Return a builder whose wrong uses type checkers do not see."""
    return create_scorer("s")


@pytest.mark.parametrize("build", [b for _, b in ORDERS], ids=[name for name, _ in ORDERS])
def test_a_wrong_order_is_refused_as_it_is_built(build: Callable[[], object]) -> None:
    """The reference runs the steps as they were chained; then a step misses its input."""
    with pytest.raises(ScorerDefinitionError, match=r"must come before|already|no generate_score"):
        build()


def test_every_method_returns_a_new_object() -> None:
    """A common beginning may be shared by several scorers."""
    begun = create_scorer("s").preprocess(lambda c: 1)
    low = begun.generate_score(lambda c: 0.0)
    high = begun.generate_score(lambda c: 1.0)
    explained = high.generate_reason(lambda c: "why")

    assert (low.run_sync().score, high.run_sync().score) == (0.0, 1.0)
    assert high.run_sync().reason is None and explained.run_sync().reason == "why"
    assert [step.name for step in begun.steps()] == ["preprocess"]


def test_a_scorer_lists_its_steps_and_is_scorer_like() -> None:
    """What shows scorers needs no run."""

    def count(context: Context) -> float:
        """Count the words.

        More about it.
        """
        return 1.0

    scorer = create_scorer("s", description="d", type="agent", direction="lower").generate_score(
        count
    )

    assert scorer.steps() == (StepInfo("generate_score", "function", "Count the words."),)
    assert isinstance(scorer, ScorerLike)
    assert (scorer.id, scorer.name, scorer.description) == ("s", "s", "d")
    assert (scorer.type, scorer.direction) == ("agent", "lower")
    assert repr(scorer) == "Scorer('s').generate_score"


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"type": "robot"}, "type must be 'agent', 'trajectory' or None, got 'robot'"),
        ({"direction": "up"}, "direction must be 'higher' or 'lower', got 'up'"),
        ({"bounds": (1, 1)}, r"bounds must be two finite numbers, .* got \(1, 1\)"),
        ({"bounds": (0, math.inf)}, "bounds must be two finite numbers"),
        ({"bounds": [0, 1]}, "bounds must be two finite numbers"),
        ({"judge": "openai/gpt"}, "judge must be a Judge, got 'openai/gpt'"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_unusable_settings_are_refused(settings: dict[str, Any], match: str) -> None:
    """They are found where they are written, not at the first run."""
    with pytest.raises(ScorerDefinitionError, match=match):
        create_scorer("s", **settings)


def test_a_step_that_is_no_function_is_refused() -> None:
    """A forgotten lambda is the usual slip."""
    step: Any = 0.5

    with pytest.raises(ScorerDefinitionError, match=r"generate_score takes a function .* got 0\.5"):
        create_scorer("s").generate_score(step)


def test_a_reason_must_be_text() -> None:
    """Reports print it."""

    def number(context: Context) -> Any:
        return 3

    scorer = create_scorer("s").generate_score(half).generate_reason(number)

    with pytest.raises(ScorerRunError, match="generate_reason must return a string, got 3"):
        scorer.run_sync(output="a")


def test_cancelling_a_run_is_no_failure_of_a_step() -> None:
    """A cancelled task must end as cancelled, or its group waits for ever."""

    async def cancelled() -> object:
        async def hang(context: Context) -> float:
            await asyncio.Event().wait()
            return 1.0

        task = asyncio.create_task(create_scorer("s").generate_score(hang).run(output="a"))
        await asyncio.sleep(0)
        task.cancel()
        return (await asyncio.gather(task, return_exceptions=True))[0]

    assert isinstance(asyncio.run(cancelled()), asyncio.CancelledError)
