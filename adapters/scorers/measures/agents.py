"""Did the agent act well: its tool calls, its trajectory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Unpack

from classify.adapters.scorers.agent_text import tool_calls
from classify.adapters.scorers.measures import arithmetic
from classify.adapters.scorers.measures.inputs import as_text, input_text
from classify.adapters.scorers.measures.items import Item, Plan, Verdicts
from classify.adapters.scorers.measures.measure import AnyRun, Measure, MeasureScorer
from classify.adapters.scorers.measures.settings import Judging, Settings
from classify.adapters.scorers.result import NotScorable
from classify.adapters.scorers.trajectory_extraction import read_trajectory
from classify.adapters.scorers.trajectory_types import read_expectation
from classify.questions import Boolean, Score

APPROPRIATE = Boolean(
    instructions="Was this tool call appropriate for the request?",
    criteria={
        "true": "the tool fits what is asked and the arguments are right",
        "false": "the tool or its arguments do not fit, or nothing called for it",
    },
    cue="For the request, this tool call is",
    words={"true": ["appropriate", "right"], "false": ["inappropriate", "wrong"]},
)
NO_TOOL_NEEDED = Boolean(
    instructions="Can the request be answered well without any of the available tools?",
    criteria={"true": "no tool is needed", "false": "one of the tools should have been called"},
    cue="For the request, the tools are",
    words={"true": ["unnecessary", "optional"], "false": ["necessary", "required"]},
)
NECESSARY = Boolean(
    instructions="Was this step necessary for the task?",
    criteria={"true": "the task needs it", "false": "it is redundant or beside the task"},
    cue="For the task, this step is",
    words={"true": ["necessary", "required"], "false": ["unnecessary", "redundant"]},
)
ORDERED = Score(
    instructions="Were the steps taken in a sensible order?",
    criteria=["the order is wrong", "the order is partly sensible", "the order is sensible"],
    cue="The order of the steps is",
    words=[["wrong", "bad"], ["partial", "fair"], ["sensible", "good"]],
)
ABSENT = Boolean(
    instructions="Is this expected step missing from the steps taken?",
    criteria={"true": "no step taken does it", "false": "a step taken does it"},
    cue="Among the steps taken, the expected step is",
    words={"true": ["missing", "absent"], "false": ["present", "included"]},
)


def tool_call_accuracy(
    judge: Judging = None, *, tools: Sequence[object] = (), **settings: Unpack[Settings]
) -> MeasureScorer:
    """Return the share of the tool calls that were appropriate; higher is better.

    `tools` are the available ones: names, descriptions or JSON definitions. Without any call it
    is asked whether one was needed: none needed is 1, missed is 0, and between them lies the
    probability that none was.
    """
    available = "\n".join(map(as_text, tools))

    def plan(run: AnyRun) -> Plan:
        request, calls = input_text(run), tool_calls(run.output)
        state = {"tools": available, "request": request} if tools else {"request": request}
        called = [_called(call.name, call.arguments) for call in calls]
        appropriate = (
            Item(
                question="appropriate",
                text=call,
                state={**state, "tool_call": call},
                long="request",
            )
            for call in called
        )
        needless = Item(question="no_tool_needed", text=request, state=state, long="request")
        return Plan(items=tuple(appropriate) if calls else (needless,))

    return Measure(
        name="tool-call-accuracy-judged",
        description="How many of the agent's tool calls were appropriate.",
        formula="appropriate / calls; without calls 1 if none was needed, else 0",
        questions={"appropriate": APPROPRIATE, "no_tool_needed": NO_TOOL_NEEDED},
        plan=plan,
        compute=_tool_calls,
        type="agent",
    ).scorer(judge, settings)


def trajectory_accuracy(judge: Judging = None, **settings: Unpack[Settings]) -> MeasureScorer:
    """Return how necessary and well ordered an agent's steps were; higher is better, .9 the best.

    Steps are the output's: a trajectory, a trace, an object with `steps`, or the tool calls of
    its messages. Where the run has an expected trajectory, each of its steps is looked for.
    Without steps a run is 0 where some were expected, and not scorable otherwise.
    """

    def plan(run: AnyRun) -> Plan:
        steps, expected = _taken(run.output), _expected(run.expected_trajectory)
        if not steps:
            nothing = 0.0 if expected else NotScorable("there are no steps to judge")
            return Plan(nothing=nothing)
        task, taken = input_text(run), "\n".join(steps)
        whole = {"task": task, "steps": taken}
        return Plan(
            items=(
                *(_step("necessary", step, {"task": task, "step": step}, "task") for step in steps),
                _step("ordered", taken, whole, "steps"),
                *(
                    _step("absent", step, {"steps": taken, "expected_step": step}, "steps")
                    for step in expected
                ),
            )
        )

    return Measure(
        name="trajectory-accuracy-judged",
        description="Whether an agent's steps were necessary, in order and complete.",
        formula=".6 x necessary / steps + .3 x order - .1 x missing / expected",
        questions={"necessary": NECESSARY, "ordered": ORDERED, "absent": ABSENT},
        plan=plan,
        compute=_trajectory,
        type="trajectory",
    ).scorer(judge, settings)


def _tool_calls(verdicts: Verdicts) -> float:
    asked = "appropriate" if verdicts.asked("appropriate") else "no_tool_needed"
    return arithmetic.share(verdicts.shares(asked, "true"))


def _trajectory(verdicts: Verdicts) -> float:
    absent = verdicts.shares("absent", "true")
    return arithmetic.trajectory_accuracy(
        verdicts.shares("necessary", "true"),
        order=arithmetic.share(verdicts.levels("ordered")),
        missing=arithmetic.share(absent) if absent else 0.0,
    )


def _called(name: str, arguments: object) -> str:
    if not arguments:
        return name
    return f"{name}({json.dumps(arguments, ensure_ascii=False, default=str)})"


def _taken(output: object) -> list[str]:
    return [_called(step.name, step.arguments) for step in read_trajectory(output).steps]


def _expected(given: object) -> list[str]:
    steps = () if given is None else read_expectation(given).steps or ()
    return [_called(step.name, step.data) for step in steps]


def _step(question: str, text: str, state: dict[str, str], long: str) -> Item:
    return Item(question=question, text=text, state=state, long=long)
