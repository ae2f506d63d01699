"""run_evals: part 2F of the reference's table, its rows by number, and what we do otherwise."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.eval_errors import EvalDefinitionError, EvalRunError
from classify.adapters.scorers.eval_items import EvalItem, Turn
from classify.adapters.scorers.eval_outcomes import ItemResult
from classify.adapters.scorers.eval_progress import EvalProgress, progress_bar
from classify.adapters.scorers.eval_report import EvalReport
from classify.adapters.scorers.eval_target import StepOutcome, TargetResult, Thread
from classify.adapters.scorers.evals import run_evals, run_evals_sync
from classify.adapters.scorers.result import NotScorable, StepContext, not_scorable
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.adapters.scorers.thresholds import Threshold, WithThreshold, threshold_of
from classify.errors import InvalidInput

ITEM = {"input": "q"}


def gives(score: float, id: str = "s", **settings: Any) -> ScorerLike:
    """Return a scorer that always gives this score."""
    return create_scorer(id, **settings).generate_score(lambda _: score)


def output_is(id: str = "s", **settings: Any) -> ScorerLike:
    """Return a scorer whose score is the output."""
    return create_scorer(id, **settings).generate_score(_output)


def failing(id: str = "s", **settings: Any) -> ScorerLike:
    """Return a scorer that fails."""
    return create_scorer(id, **settings).generate_score(_boom)


def _output(context: StepContext[Any, Any, Any, Any]) -> float:
    return float(context.run.output)


def _boom(context: StepContext[Any, Any, Any, Any]) -> float:
    raise ValueError("boom")


def watching(
    look: Callable[[StepContext[Any, Any, Any, Any]], Any],
    seen: list[Any],
    id: str = "spy",
    **settings: Any,
) -> ScorerLike:
    """Return a scorer that gives 1 and notes what `look` finds in each run."""

    def score(context: StepContext[Any, Any, Any, Any]) -> float:
        seen.append(look(context))
        return 1.0

    return create_scorer(id, **settings).generate_score(score)


def echo(input: Any) -> Any:
    """Return the input."""
    return input


def _nothing(input: object) -> None:
    return None


def _nothing_below_zero(input: float) -> float | None:
    return None if input < 0 else input


def evaluate(scorers: Any = (), **settings: Any) -> EvalReport:
    """Run one item through a target that gives it back."""
    return run_evals_sync(echo, [ITEM], scorers, **settings)


@pytest.mark.parametrize(
    ("data", "scorers", "case", "message"),
    [
        pytest.param(
            [], [gives(1)], "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED", "no items", id="row-114-data"
        ),
        pytest.param([ITEM], [], "NO_SCORERS_PROVIDED", "nothing to score with", id="row-114-none"),
        pytest.param([ITEM], {}, "NO_SCORERS_PROVIDED", "nothing to score", id="row-114-config"),
        pytest.param(
            [{"ground_truth": "a"}], [gives(1)], "INVALID_DATA_ITEM", r"\[0\] must have exactly",
            id="row-114-no-input",
        ),
        pytest.param(
            [{"input": "a", "inputs": ["b"]}], [gives(1)], "INVALID_DATA_ITEM", "input and inputs",
            id="two-forms",
        ),
        pytest.param(
            [{"inputs": ["a"]}], [gives(1)], "INVALID_DATA_ITEM", "parameter named thread",
            id="conversation-without-thread",
        ),
        pytest.param(
            [{"inptu": "a"}], [gives(1)], "INVALID_DATA_ITEM", "did you mean 'input'", id="misspelt"
        ),
        pytest.param(["a"], [gives(1)], "INVALID_DATA_ITEM", "be an object of", id="no-object"),
        pytest.param("abc", [gives(1)], "INVALID_DATA_ITEM", "must be a list", id="data-no-list"),
        pytest.param(
            [ITEM], {"agents": []}, "INVALID_AGENT_SCORERS", "did you mean 'agent'", id="config"
        ),
        pytest.param(
            [ITEM], [create_scorer("b")], "INVALID_AGENT_SCORERS", "once it has .generate_score",
            id="builder",
        ),
        pytest.param(
            [ITEM], [gives(1), gives(0)], "INVALID_AGENT_SCORERS", "two scorers with the id 's'",
            id="same-id-twice",
        ),
    ],
)  # fmt: skip
def test_an_unusable_evaluation_is_refused_before_anything_runs(
    data: Any, scorers: Any, case: str, message: str
) -> None:
    """Half an evaluation costs money; the reference's name of the case is kept."""
    calls: list[object] = []

    with pytest.raises(EvalDefinitionError, match=message) as caught:
        run_evals_sync(calls.append, data, scorers)

    assert caught.value.case == case
    assert calls == []


@pytest.mark.parametrize(
    ("item", "message"),
    [
        pytest.param({"turns": []}, r"data\[0\].turns must be a list and not empty", id="no-turns"),
        pytest.param({"inputs": []}, r"data\[0\].inputs must be", id="no-inputs"),
        pytest.param(
            {"turns": [{"input": "a"}, {"scorers": ()}]},
            r"turns\[1\] has no input",
            id="turn-no-input",
        ),
        pytest.param({"inputs": ["a", None]}, r"inputs\[1\] has no input", id="null-input"),
        pytest.param({"turns": [{"inptu": 1}]}, r"turns\[0\]: unknown field", id="misspelt-turn"),
    ],
)  # fmt: skip
def test_a_broken_conversation_is_refused_by_its_position(item: Any, message: str) -> None:
    """Row 114's sibling: the message has the index."""
    with pytest.raises(EvalDefinitionError, match=message):
        run_evals_sync(_chat, [item], [gives(1)])


def test_a_failing_target_ends_the_run_where_asked_row_115() -> None:
    """The reference always rejects; here it is `stop_on_error`."""
    with pytest.raises(EvalRunError, match=r"data\[0\], trial 0: the target failed: no") as caught:
        run_evals_sync(_refuse, [ITEM], [gives(1)], stop_on_error=True)

    assert caught.value.case == "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT"
    assert isinstance(caught.value.__cause__, OSError)


def _refuse(input: Any) -> Any:
    raise OSError("no")


@pytest.mark.parametrize(
    ("scorers", "case"),
    [
        pytest.param([failing()], "SCORER_FAILED_TO_SCORE_RESULT", id="row-115-whole"),
        pytest.param(
            {"steps": {"fetch": [failing()]}},
            "SCORER_FAILED_TO_SCORE_STEP_RESULT",
            id="row-115-step",
        ),
        pytest.param(
            {"trajectory": [failing()]},
            "SCORER_FAILED_TO_SCORE_TRAJECTORY",
            id="row-115-trajectory",
        ),
    ],
)  # fmt: skip
def test_a_failing_scorer_ends_the_run_where_asked(scorers: Any, case: str) -> None:
    """The case says which kind of scorer it was."""
    with pytest.raises(EvalRunError, match=r"scorer '.*s' failed: .*boom") as caught:
        run_evals_sync(_workflow, [ITEM], scorers, stop_on_error=True)

    assert caught.value.case == f"RUN_EXPERIMENT_{case}"


def _workflow(input: Any) -> TargetResult:
    steps = {
        "fetch": StepOutcome(input="payload", output="fetched"),
        "rank": StepOutcome("failed", input="x"),
    }
    return TargetResult(output="done", steps=steps, trajectory=["fetch", "rank"])


def test_failures_are_kept_and_the_rest_goes_on_row_115_ours() -> None:
    """We differ: a run of a thousand items is not lost to one."""

    def target(input: int) -> int:
        if input == 1:
            raise OSError("no answer")
        return input

    data = [{"input": n} for n in (0, 1, 2)]
    report = run_evals_sync(target, data, [gives(0.5, "ok"), failing("bad")])

    assert (report.scores["ok"].n, report.scores["ok"].of, report.scores["ok"].failed) == (2, 3, 1)
    assert (report.scores["bad"].mean, report.scores["bad"].failed) == (None, 3)
    assert [item.output for item in report.items] == [0, None, 2]
    assert [f.where for f in report.failures] == ["scorer", "target", "scorer"]
    assert report.failed_targets == 1
    assert report.items[1].failure is not None
    assert report.items[1].failure.type == "OSError"


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        pytest.param([1], "passed", id="row-116-one"),
        pytest.param([0], "failed", id="row-116-zero"),
        pytest.param([1, 0], "failed", id="row-116-both"),
        pytest.param([0.999], "failed", id="row-116-nearly"),
    ],
)
def test_a_gate_needs_full_marks(scores: list[float], verdict: str) -> None:
    """One bad item is what a gate is for."""
    gates = [gives(score, f"g{n}") for n, score in enumerate(scores)]
    report = evaluate(gates=gates)
    assert report.verdict == verdict
    assert [gate.passed for gate in report.gates] == [score == 1 for score in scores]


@pytest.mark.parametrize(
    ("score", "verdict"),
    [
        pytest.param(0.85, "passed", id="row-117-above"),
        pytest.param(0.3, "scored", id="row-117-below"),
        pytest.param(0.7, "passed", id="row-117-exactly"),
    ],
)
def test_a_threshold_is_an_inclusive_minimum(score: float, verdict: str) -> None:
    """A missed threshold is "scored", not "failed"."""
    report = evaluate([WithThreshold(gives(score), 0.7)])
    assert report.verdict == verdict
    assert report.thresholds[0].average_score == score


def test_a_missed_gate_outweighs_a_missed_threshold() -> None:
    """The worst decides."""
    report = evaluate([WithThreshold(gives(0), 0.7)], gates=[gives(0, "g")])
    assert report.verdict == "failed"


def test_without_gates_and_thresholds_there_is_no_verdict_row_119() -> None:
    """A number alone is neither good nor bad; the JSON has no such keys."""
    report = evaluate([gives(0.5)])
    assert report.verdict is None
    assert set(report.to_json()) == {"scores", "summary"}


def test_bare_scorers_and_thresholds_mix_row_120() -> None:
    """The reference's own form of an entry is read too."""
    report = evaluate([gives(0.2, "bare"), {"scorer": gives(0.9, "held"), "threshold": 0.5}])
    assert [threshold.id for threshold in report.thresholds] == ["held"]
    assert list(report.scores) == ["bare", "held"]
    assert report.verdict == "passed"


def test_a_gate_that_fails_to_run_is_an_error_and_fails_row_121() -> None:
    """We differ: the reference logs it and counts 0; an error is no score."""
    report = evaluate(gates=[failing("g")])
    (gate,) = report.gates
    assert not gate.passed
    assert (gate.figures.mean, gate.figures.failed) == (None, 1)
    assert gate.errors == ("ScorerRunError: scorer 'g' failed at generate_score: boom",)
    assert report.verdict == "failed"


@pytest.mark.parametrize(
    ("score", "passed"),
    [
        pytest.param(0.2, True, id="row-122-low-end"),
        pytest.param(0.8, True, id="row-122-high-end"),
        pytest.param(0.1, False, id="row-122-below"),
        pytest.param(0.9, False, id="row-122-above"),
    ],
)
def test_a_range_has_both_its_ends(score: float, passed: bool) -> None:
    """`min` and `max` are inclusive."""
    report = evaluate([WithThreshold(gives(score), {"min": 0.2, "max": 0.8})])
    assert report.thresholds[0].passed is passed


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        pytest.param(1.5, "min of the threshold of scorer 's' must be from 0", id="row-122-1.5"),
        pytest.param({"min": 0.8, "max": 0.2}, "min 0.8 is above max 0.2", id="row-122-crossed"),
        pytest.param(float("nan"), "must be a finite number", id="row-122-nan"),
        pytest.param({"max": True}, "must be a finite number, got True", id="bool"),
        pytest.param({}, "must have min, max or both", id="empty"),
        pytest.param({"minimum": 0.5}, "must be a number or", id="misspelt"),
    ],
)  # fmt: skip
def test_an_unusable_threshold_is_refused(threshold: Any, message: str) -> None:
    """It could never hold, or never fail."""
    with pytest.raises(EvalDefinitionError, match=message) as caught:
        evaluate([WithThreshold(gives(1), threshold)])
    assert caught.value.case == "INVALID_SCORER_THRESHOLD"


def test_a_bare_number_is_refused_where_less_is_better() -> None:
    """A minimum of toxicity would pass the toxic."""
    toxic = gives(0.1, direction="lower")
    with pytest.raises(EvalDefinitionError, match=r'\{"max": 0.2\}'):
        evaluate([WithThreshold(toxic, 0.2)])
    assert evaluate([WithThreshold(toxic, {"max": 0.2})]).verdict == "passed"
    assert evaluate(gates=[toxic]).verdict == "failed"
    assert evaluate(gates=[gives(0, direction="lower")]).verdict == "passed"


def test_scores_without_bounds_have_no_full_marks() -> None:
    """Their thresholds are of any size, and a gate has to say what it needs."""
    free = gives(30.0, bounds=None)
    assert evaluate([WithThreshold(free, {"min": 20, "max": 40})]).verdict == "passed"
    with pytest.raises(EvalDefinitionError, match="no full marks"):
        evaluate(gates=[free])


def test_a_gate_with_a_threshold_holds_every_score_to_it() -> None:
    """No probability is ever 1; an average would let one bad item through."""
    data = [{"input": n} for n in (0.9, 0.4)]
    held = WithThreshold(output_is(), 0.5)
    assert run_evals_sync(echo, data, [held]).verdict == "passed"
    assert run_evals_sync(echo, data, gates=[held]).verdict == "failed"
    assert run_evals_sync(echo, data[:1], gates=[held]).verdict == "passed"


@given(st.floats(0, 1), st.integers(1, 50))
def test_equal_scores_meet_a_threshold_of_their_own_size(score: float, n: int) -> None:
    """The mean of ten times 0.7 is not 0.7 in floats."""
    threshold = threshold_of(score, gives(1))
    assert threshold.met(sum([score] * n) / n)
    assert not Threshold(min=score).met(score - 1e-6)


def test_nothing_scored_misses_every_threshold_and_gate() -> None:
    """We differ: the reference takes 0, which would hold a maximum."""
    silent = create_scorer("s").generate_score(lambda _: not_scorable("no claims"))
    held = WithThreshold(silent, {"max": 0.5})
    report = evaluate([held], gates=[silent])
    assert not report.thresholds[0].passed
    assert not report.gates[0].passed
    assert report.scores["s"].not_scorable == 1
    assert report.items[0].scores["s"].not_scorable == "no claims"


def test_what_is_not_scorable_is_no_zero() -> None:
    """It counts apart, and the mean is over the others."""

    def score(context: StepContext[Any, Any, Any, Any]) -> Any:
        return not_scorable() if context.run.output is None else context.run.output

    scorer = create_scorer("s").generate_score(score)
    report = run_evals_sync(
        _nothing_below_zero,
        [{"input": n} for n in (-1, 1)],
        [WithThreshold(scorer, 1.0)],
    )
    figures = report.scores["s"]
    assert (figures.mean, figures.n, figures.of, figures.not_scorable, figures.failed) == (
        1.0,
        1,
        2,
        1,
        0,
    )
    assert report.verdict == "passed"


@pytest.mark.parametrize(
    ("silence", "gate", "threshold"),
    [
        pytest.param(not_scorable("no claims"), True, True, id="nothing-to-score"),
        pytest.param(not_scorable("refusal", no_verdict=True), False, False, id="no-verdict"),
    ],
)
def test_only_an_item_with_nothing_to_score_is_left_out(
    silence: NotScorable, gate: bool, threshold: bool
) -> None:
    """A judge that gives no verdict on 9 items of 10 has not found them good."""

    def score(context: StepContext[Any, Any, Any, Any]) -> Any:
        return 1.0 if context.run.output == 0 else silence

    scorer = create_scorer("s").generate_score(score)
    data = [{"input": n} for n in range(10)]
    report = run_evals_sync(echo, data, [WithThreshold(scorer, 0.5)], gates=[scorer])
    assert (report.gates[0].passed, report.thresholds[0].passed) == (gate, threshold)
    assert report.scores["s"].missing == ("" if gate else "9 of 10 without a verdict")
    assert report.scores["s"].not_scorable == 9
    allowed = run_evals_sync(echo, data, [WithThreshold(scorer, 0.5)], max_failures=9)
    assert allowed.verdict == "passed"


def test_a_failure_misses_a_threshold_unless_some_are_allowed() -> None:
    """The mean of the survivors says nothing of the others."""
    data = [{"input": n} for n in (1, "x")]
    scorers = [WithThreshold(output_is(), 0.5)]
    report = run_evals_sync(echo, data, scorers)
    assert (report.verdict, str(report.scores["s"])) == ("scored", "1.000 [0.207, 1.000] (1 of 2)")
    assert run_evals_sync(echo, data, scorers, max_failures=1).verdict == "passed"


def test_an_item_s_options_win_over_the_target_s_row_124() -> None:
    """The rest of the target's options stays."""
    seen: list[dict[str, Any]] = []

    def target(input: Any, **options: Any) -> str:
        seen.append(options)
        return "done"

    data = [EvalItem(input="a", start_options={"seed": 2}), EvalItem(input="b")]
    run_evals_sync(target, data, [gives(1)], target_options={"seed": 1, "tone": "dry"})

    assert seen == [{"seed": 2, "tone": "dry"}, {"seed": 1, "tone": "dry"}]


def test_step_scorers_get_the_step_s_input_and_output_row_125() -> None:
    """A step that failed has no score, and is no 0."""
    seen: list[Any] = []
    spy = watching(lambda c: (c.run.input, c.run.output), seen)
    report = run_evals_sync(
        _workflow, [ITEM], {"workflow": [spy], "steps": {"fetch": [spy], "rank": [spy]}}
    )
    assert seen == [("q", "done"), ("payload", "fetched")]
    assert set(report.scores) == {"spy", "steps.fetch.spy", "steps.rank.spy"}
    assert report.scores["steps.rank.spy"].not_scorable == 1


def test_a_failed_workflow_is_scored_without_an_output() -> None:
    """Scorers see None, as in the reference."""
    seen: list[Any] = []
    spy = watching(lambda c: c.run.output, seen)

    def target(input: object) -> TargetResult:
        return TargetResult(output="half", status="failed")

    run_evals_sync(target, [ITEM], [spy])
    assert seen == [None]


def test_trajectory_scorers_and_gates_get_trajectories() -> None:
    """By their type too: raw messages would make such a gate fail (reference issue 22632)."""
    seen: list[Any] = []

    def spy(id: str, **settings: Any) -> ScorerLike:
        return watching(lambda c: (c.run.output, c.run.expected_trajectory), seen, id, **settings)

    item = {"input": "q", "expected_trajectory": ["fetch"]}
    report = run_evals_sync(
        _workflow,
        [item],
        {"trajectory": [spy("t")], "agent": [spy("u", type="trajectory")]},
        gates=[spy("g", type="trajectory")],
    )
    assert seen == [(["fetch", "rank"], ["fetch"])] * 3
    assert report.verdict == "passed"


def test_a_trajectory_is_read_from_messages_where_the_target_gives_none() -> None:
    """The calls of tools are its steps."""
    seen: list[Any] = []
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "find"}}]}

    def target(input: object) -> Any:
        return [message]

    scorer = watching(lambda c: [step.name for step in c.run.output.steps], seen)
    run_evals_sync(target, [ITEM], {"trajectory": [scorer]})
    assert seen == [["find"]]


def test_a_scorer_is_called_with_none_for_what_is_missing_row_127() -> None:
    """The runner does not crash for a target that gives nothing."""
    seen: list[Any] = []
    spy = watching(lambda c: (c.run.output, c.run.ground_truth, c.run.request_context), seen)
    report = run_evals_sync(_nothing, [ITEM], [spy])
    assert seen == [(None, None, None)]
    assert report.scores["spy"].n == 1


def test_all_fields_of_an_item_reach_scorers_and_target() -> None:
    """One that is dropped on the way is missed by nobody until it matters (issue 21743)."""
    seen: list[Any] = []
    spy = watching(lambda c: c.run, seen)

    async def target(input: str, *, request_context: dict[str, Any]) -> str:
        return f"{input} for {request_context['who']}"

    item = EvalItem(
        input="a",
        ground_truth="t",
        expected_trajectory=["x"],
        request_context={"who": "me"},
        id="first",
    )
    run_evals_sync(target, [item], [spy])
    (run,) = seen
    assert (run.input, run.output, run.ground_truth) == ("a", "a for me", "t")
    assert (run.expected_trajectory, run.request_context) == (["x"], {"who": "me"})
    assert (run.run_id, run.score_source) == ("first/0", "experiment")


def _chat(input: str, thread: Thread) -> str:
    return f"{len(thread.exchanges)}:{input}"


def test_inputs_are_one_conversation() -> None:
    """Scorers see all outputs and the first input."""
    seen: list[Any] = []
    spy = watching(lambda c: (c.run.input, c.run.output), seen)
    run_evals_sync(_chat, [{"inputs": ["a", "b"]}, {"inputs": ["c"]}], [spy])
    assert seen == [("a", ["0:a", "1:b"]), ("c", ["0:c"])]


def test_lists_of_messages_are_put_together() -> None:
    """A conversation's messages are one list, whoever asked for them."""
    seen: list[Any] = []
    spy = watching(lambda c: c.run.output, seen)

    def target(input: str, thread: Thread) -> list[dict[str, str]]:
        return [{"role": "assistant", "content": input}]

    run_evals_sync(target, [{"inputs": ["a", "b"]}], [spy])
    assert [message["content"] for message in seen[0]] == ["a", "b"]


def test_turns_are_judged_one_by_one_and_count_for_the_verdict() -> None:
    """A conversation that ends well may have failed on the way."""
    first = create_scorer("first").generate_score(lambda c: c.run.output == "0:a")
    last = create_scorer("last").generate_score(lambda c: c.run.output == "0:b")
    turns = [
        Turn(input="a", gates=[first]),
        {"input": "b", "scorers": [WithThreshold(last, 0.5)]},
    ]
    report = run_evals_sync(_chat, [{"turns": turns}], [gives(1)])
    assert report.turns[0].gates[0].passed
    assert not report.turns[1].thresholds[0].passed
    assert report.verdict == "scored"
    assert [turn.output for turn in report.items[0].turns] == ["0:a", "1:b"]


def test_a_target_that_fails_in_the_middle_fails_the_turns_that_never_came() -> None:
    """Their gates were not reached, so they do not hold."""

    def target(input: str, thread: Thread) -> str:
        if thread.exchanges:
            raise OSError("lost")
        return input

    turns = [{"input": "a", "gates": [gives(1, "g")]}, {"input": "b", "gates": [gives(1, "h")]}]
    report = run_evals_sync(target, [{"turns": turns}])
    assert report.turns[0].gates[0].passed
    assert report.turns[1].gates[0].errors == ("the target failed",)
    assert report.verdict == "failed"


def test_results_stand_in_input_order_whatever_ends_first() -> None:
    """The first item waits for the last."""
    last = asyncio.Event()

    async def target(input: int) -> int:
        if input == 2:
            last.set()
        await last.wait()
        return input

    async def main() -> EvalReport:
        data = [{"input": n} for n in range(3)]
        return await run_evals(target, data, [gives(1)], concurrency=3)

    assert [item.output for item in asyncio.run(main()).items] == [0, 1, 2]


@pytest.mark.parametrize("asynchronous", [True, False], ids=["async", "sync"])
def test_no_more_items_run_at_a_time_than_asked_for(asynchronous: bool) -> None:
    """And as many as that do, also where the target blocks."""
    lock, barrier, now, most = threading.Lock(), threading.Barrier(2, timeout=20), 0, 0

    def enter(step: int) -> None:
        nonlocal now, most
        with lock:
            now += step
            most = max(most, now)

    def blocking_target(input: int) -> int:
        enter(1)
        barrier.wait()
        enter(-1)
        return input

    async def waiting_target(input: int) -> int:
        enter(1)
        await asyncio.sleep(0)
        enter(-1)
        return input

    target: Callable[[int], Any] = waiting_target if asynchronous else blocking_target
    run_evals_sync(target, [{"input": n} for n in range(6)], [gives(1)], concurrency=2)
    assert most == 2


def test_an_evaluation_that_stops_waits_for_no_thread() -> None:
    """The target there may wait for the very loop that the evaluation runs in."""
    both, stopped, ended = threading.Barrier(2, timeout=20), threading.Event(), threading.Event()
    in_time: list[bool] = []

    def target(input: int) -> int:
        both.wait()
        if input == 0:
            raise OSError("down")
        in_time.append(stopped.wait(20))
        ended.set()
        return input

    data = [{"input": 0}, {"input": 1}]
    with pytest.raises(EvalRunError, match="down"):
        run_evals_sync(target, data, [gives(1)], concurrency=2, stop_on_error=True)
    stopped.set()
    assert ended.wait(20)
    assert in_time == [True]


def test_trials_of_an_item_are_one_unit_of_the_interval() -> None:
    """Twenty runs of one item are not twenty items."""
    calls: dict[str, int] = {}

    def target(input: str) -> int:
        calls[input] = calls.get(input, 0) + 1
        return calls[input] % 2 if input == "a" else 1

    report = run_evals_sync(target, [{"input": "a"}, {"input": "b"}], [output_is()], trials=4)
    figures = report.scores["s"]
    assert (figures.mean, figures.n, figures.of) == (0.75, 8, 8)
    assert figures.interval is not None
    assert figures.interval.rule == "Student's t 95%"
    one = report.item_figures(0, "s")
    assert (one.mean, one.n) == (0.5, 4)
    assert one.interval is not None
    assert one.interval.rule == "Wilson 95%"
    assert [(item.index, item.trial) for item in report.items] == [
        (index, trial) for index in range(2) for trial in range(4)
    ]


def test_each_item_is_told_of_once_and_waited_for() -> None:
    """The reference awaits the callback, and so do we."""
    told: list[ItemResult] = []

    async def on_item_complete(result: ItemResult) -> None:
        await asyncio.sleep(0)
        told.append(result)

    progress: list[tuple[int, int, int]] = []

    def report_progress(so_far: EvalProgress) -> None:
        progress.append((so_far.done, so_far.failed, so_far.total))

    run_evals_sync(
        echo,
        [{"input": 1}, {"input": "x"}],
        [output_is()],
        on_item_complete=on_item_complete,
        progress=report_progress,
    )
    assert [(r.index, r.scores["s"].score, r.output) for r in told] == [(0, 1.0, 1), (1, None, "x")]
    assert progress == [(1, 0, 2), (2, 1, 2)]


def test_a_bar_stays_off_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A log full of bars is no log."""
    with progress_bar() as progress:
        evaluate([gives(1)], progress=progress)
    assert capsys.readouterr() == ("", "")
    assert str(EvalProgress(4, 2, 1, 1)) == "2/4 items, 1 failed, 1 reused"


def test_what_a_callback_raises_ends_the_run() -> None:
    """It is the caller's own code: nothing of theirs is swallowed."""

    def on_item_complete(result: ItemResult) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        evaluate([gives(1)], on_item_complete=on_item_complete)


def test_a_scorer_of_someone_else_s_that_gives_no_number_is_a_failure() -> None:
    """A missing score is not 0, nor 1 (promptfoo 5623 took it for passed)."""
    real = gives(1.0)

    class Odd:
        id = name = "odd"
        description, type, direction = "", None, "higher"

        async def run(self, **run: Any) -> Any:
            return replace(await real.run(), score=float("nan"))

    report = evaluate(gates=[Odd()])
    assert report.gates[0].errors == ("InvalidInput: scorer 's' gave no finite score: nan",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        pytest.param("concurrency", 0, id="concurrency"),
        pytest.param("trials", 0, id="trials"),
        pytest.param("trials", 1.5, id="trials-fraction"),
        pytest.param("max_failures", -1, id="max-failures"),
    ],
)
def test_unusable_numbers_are_refused(name: str, value: Any) -> None:
    """No run of nothing reports success."""
    with pytest.raises(InvalidInput, match=f"{name} must be a whole number of at least"):
        evaluate([gives(1)], **{name: value})
