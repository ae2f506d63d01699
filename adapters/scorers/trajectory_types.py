"""Trajectories: the steps that were taken, and what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

from pydantic.alias_generators import to_snake

from classify.errors import InvalidInput
from classify.json_values import is_list, is_object
from classify.validation import Strict

StepType: TypeAlias = Literal[
    "tool_call",
    "mcp_tool_call",
    "model_generation",
    "agent_run",
    "workflow_step",
    "workflow_run",
    "workflow_conditional",
    "workflow_parallel",
    "workflow_loop",
    "workflow_sleep",
    "workflow_wait_event",
    "processor_run",
]
STEP_TYPES: tuple[StepType, ...] = get_args(StepType)
Ordering: TypeAlias = Literal["strict", "relaxed", "unordered"]
"""The same steps in the same order; in this order, others between; whatever the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryStep:
    """One step that was taken."""

    name: str
    """The tool, the model, the agent or the workflow's step."""
    step_type: StepType
    # Any: arguments and results are of whatever types the tools take and give.
    arguments: Mapping[str, Any] | None = None
    """What a tool was called with; {"value": …} where that was no object."""
    result: Mapping[str, Any] | None = None
    """What a tool or a workflow's step gave; {"value": …} where that was no object."""
    success: bool | None = None
    """Whether a tool's call succeeded; None where it is not known."""
    duration_ms: float | None = None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What only steps of this kind have: tokens, a status, the server of an MCP tool."""
    metadata: Mapping[str, Any] | None = None
    children: tuple[TrajectoryStep, ...] = ()

    @property
    def data(self) -> Mapping[str, Any]:
        """What an expected step's data is compared with: a tool's arguments, a step's result."""
        if self.step_type in ("tool_call", "mcp_tool_call"):
            return self.arguments or {}
        return self.details if self.result is None else self.result


@dataclass(frozen=True, slots=True, kw_only=True)
class Trajectory:
    """The steps from an input to an output: a run's output where the scorer scores those."""

    steps: tuple[TrajectoryStep, ...] = ()
    total_duration_ms: float | None = None
    raw_output: Any = None
    """The agent's messages, where the steps were taken from those."""
    raw_workflow_result: Any = None
    """The workflow's results, where the steps were taken from those."""


class ExpectedStep(Strict):
    """A step that should be taken."""

    name: str
    """The tool, the model, the agent or the workflow's step."""
    step_type: StepType | None = None
    """None for any kind of step of this name."""
    data: Mapping[str, Any] | None = None
    """Compared where the expectation says compare_step_data."""
    children: TrajectoryExpectation | None = None
    """What is expected inside the step."""


class TrajectoryExpectation(Strict):
    """What a trajectory should be like; each part may be left out."""

    steps: tuple[ExpectedStep, ...] | None = None
    """The steps that should be taken."""
    ordering: Ordering = "relaxed"
    """"relaxed": in this order, others may stand between; "strict": the same steps at the same
    places; "unordered": in any order."""
    compare_step_data: bool = False
    """Whether the steps' data must agree too, not only their names and types."""
    allow_repeated_steps: bool = True
    """Whether a step may be taken twice at no cost."""
    max_steps: int | None = None
    """The most steps it may take."""
    max_total_tokens: int | None = None
    """The most tokens all steps may use."""
    max_total_duration_ms: float | None = None
    """The longest it may take, in milliseconds."""
    no_redundant_calls: bool = True
    """Whether the same call twice in a row counts against it."""
    blacklisted_tools: tuple[str, ...] = ()
    """Tools that must not be called at all."""
    blacklisted_sequences: tuple[tuple[str, ...], ...] = ()
    """Names of tools that must not be called one right after the other."""
    max_retries_per_tool: int = 2
    """How often a tool may be called again after it failed."""

    def overridden_by(self, other: TrajectoryExpectation) -> TrajectoryExpectation:
        """Return this expectation with the fields that the other one was given."""
        given = {name: getattr(other, name) for name in other.model_fields_set}
        return self.model_copy(update=given)


def read_expectation(value: object) -> TrajectoryExpectation:
    """Return an expectation: one itself, an object of its fields, or a list of steps or names.

    The reference's camel-case names are read as well. Raises InvalidInput.
    """
    if isinstance(value, TrajectoryExpectation):
        return value
    if isinstance(value, Trajectory):
        value = [
            {"name": step.name, "step_type": step.step_type, "data": step.data}
            for step in value.steps
        ]
    if is_list(value):
        value = {"steps": value}
    if is_object(value):
        return TrajectoryExpectation(**_fields(value))
    raise InvalidInput(
        "an expected trajectory must be a list of steps or an object with steps, "
        f"got {type(value).__name__}"
    )


def _fields(value: Mapping[object, object]) -> dict[str, Any]:
    """Return an expectation's or a step's fields by Python's names, steps inside included."""
    fields: dict[str, Any] = {to_snake(str(name)): field for name, field in value.items()}
    steps, children = fields.get("steps"), fields.get("children")
    if is_list(steps):
        fields["steps"] = [_expected_step(step) for step in steps]
    if children is not None:
        fields["children"] = read_expectation(children)
    return fields


def _expected_step(step: object) -> object:
    if isinstance(step, str):
        return ExpectedStep(name=step)
    return ExpectedStep(**_fields(step)) if is_object(step) else step


def expectation_of(default: TrajectoryExpectation | None, own: object) -> TrajectoryExpectation:
    """Return what is expected of a run: a scorer's defaults, overridden by the run's own fields."""
    if own is None:
        return default or TrajectoryExpectation()
    read = read_expectation(own)
    return read if default is None else default.overridden_by(read)
