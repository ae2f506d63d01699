"""Take the steps out of an agent's messages, a workflow's results or a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from classify.adapters.scorers.agent_messages import joined_calls
from classify.adapters.scorers.agent_run import TOOL_KINDS
from classify.adapters.scorers.message_reading import plain, read_messages
from classify.adapters.scorers.part_reading import first
from classify.adapters.scorers.traces import Span, Trace, by_start
from classify.adapters.scorers.trajectory_types import (
    STEP_TYPES,
    StepType,
    Trajectory,
    TrajectoryStep,
)
from classify.errors import InvalidInput
from classify.json_values import is_list, is_object

_CONTAINERS = ("workflow_run", "agent_run")
_DETAILS = {
    "model_id": ("model", "modelId"),
    "finish_reason": ("finishReason", "finish_reason"),
    "mcp_server": ("mcpServer", "mcp_server"),
    "status": ("status",),
}


def extract_trajectory(output: object) -> Trajectory:
    """Return the calls of tools that messages of any shape record, thrown ones included.

    A call succeeded where it has a result that is no error.
    """
    messages = read_messages(output, role="assistant")
    steps = tuple(
        TrajectoryStep(
            name=call.name,
            step_type="tool_call",
            arguments=_wrapped(call.arguments),
            result=_wrapped(call.result),
            success=call.state == "result",
            details={} if call.error is None else {"error": call.error},
        )
        for call in joined_calls(messages)
        if call.name
    )
    return Trajectory(steps=steps, raw_output=output)


def extract_workflow_trajectory(
    step_results: Mapping[str, Any], execution_path: Sequence[str] | None = None
) -> Trajectory:
    """Return the steps of a workflow in the order of its path, else in that of its results.

    A result is an object with status, output, startedAt and endedAt (milliseconds, snake case too).
    """
    steps = list[TrajectoryStep]()
    times = list[tuple[float | None, float | None]]()
    for name in step_results if execution_path is None else execution_path:
        result = plain(step_results.get(name))
        if not is_object(result):
            continue
        started = _number(first(result, "startedAt", "started_at"))
        ended = _number(first(result, "endedAt", "ended_at"))
        times.append((started, ended))
        status, metadata = result.get("status"), result.get("metadata")
        steps.append(
            TrajectoryStep(
                name=name,
                step_type="workflow_step",
                result=_wrapped(result.get("output")),
                duration_ms=_difference(started, ended),
                details={} if status is None else {"status": status},
                metadata=_wrapped(metadata),
            )
        )
    return Trajectory(
        steps=tuple(steps),
        total_duration_ms=_difference(
            min((start for start, _ in times if start is not None), default=None),
            max((end for _, end in times if end is not None), default=None),
        ),
        raw_workflow_result={"step_results": step_results, "execution_path": execution_path},
    )


def extract_trajectory_from_trace(trace: Trace, span_id: str | None = None) -> Trajectory:
    """Return the tree of steps that a trace shows, or one of its spans.

    A single run of a workflow or an agent at the top holds the steps and is none itself. Spans
    of other kinds are no steps; what happened inside them moves up to the step around them.
    """
    tops = trace.roots if span_id is None else (trace.span(span_id),)
    tops = tuple(_meaningful(trace, tops))
    if len(tops) == 1 and tops[0].kind in _CONTAINERS:
        steps = tuple(_meaningful(trace, trace.children(tops[0].span_id)))
    else:
        steps = tops
    return Trajectory(
        steps=tuple(_step(trace, span) for span in steps),
        total_duration_ms=tops[0].duration_ms if len(tops) == 1 else None,
    )


def read_trajectory(value: object) -> Trajectory:
    """Return a trajectory: one itself, a trace, an object with steps, or messages.

    Steps are objects with a name and a stepType (step_type), or names of tools.
    """
    value = plain(value)
    if isinstance(value, Trajectory):
        return value
    if isinstance(value, Trace):
        return extract_trajectory_from_trace(value)
    if is_object(value) and is_list(value.get("steps")):
        listed = value["steps"]
        return Trajectory(
            steps=tuple(_read_step(step) for step in (listed if is_list(listed) else ())),
            total_duration_ms=_number(first(value, "totalDurationMs", "total_duration_ms")),
        )
    return extract_trajectory(value)


def _read_step(value: object) -> TrajectoryStep:
    if isinstance(value, TrajectoryStep):
        return value
    if isinstance(value, str):
        return TrajectoryStep(name=value, step_type="tool_call")
    if not is_object(value) or not isinstance(value.get("name"), str):
        raise InvalidInput(f"a step must be a name or an object with a name, got {value!r}")
    success, children = value.get("success"), value.get("children")
    details = {name: found for name, keys in _DETAILS.items() if (found := first(value, *keys))}
    return TrajectoryStep(
        name=str(value["name"]),
        step_type=_step_type(first(value, "stepType", "step_type") or "tool_call"),
        arguments=_wrapped(first(value, "toolArgs", "tool_args", "arguments")),
        result=_wrapped(first(value, "toolResult", "tool_result", "result", "output")),
        success=success if isinstance(success, bool) else None,
        duration_ms=_number(first(value, "durationMs", "duration_ms")),
        details=details,
        children=tuple(map(_read_step, children)) if is_list(children) else (),
    )


def _meaningful(trace: Trace, spans: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans that are steps, those inside others that are none included."""
    for span in by_start(spans):
        if span.kind in STEP_TYPES:
            yield span
        else:
            yield from _meaningful(trace, trace.children(span.span_id))


def _step(trace: Trace, span: Span) -> TrajectoryStep:
    tool = span.kind in TOOL_KINDS
    children = _meaningful(trace, trace.children(span.span_id))
    return TrajectoryStep(
        name=span.label,
        step_type=_step_type(span.kind),
        arguments=_wrapped(span.input) if tool else None,
        result=_wrapped(span.output) if tool or span.kind == "workflow_step" else None,
        success=_success(span) if tool else None,
        duration_ms=span.duration_ms,
        details=_details(span),
        metadata=span.metadata,
        children=tuple(_step(trace, child) for child in children),
    )


def _success(span: Span) -> bool | None:
    said = span.attributes.get("success")
    if isinstance(said, bool):
        return said
    if span.error is not None:
        return False
    return True if span.output is not None else None


def _details(span: Span) -> dict[str, Any]:
    facts: dict[str, Any] = {
        name: found
        for name, keys in _DETAILS.items()
        if (found := first(span.attributes, *keys)) is not None
    }
    usage = span.attributes.get("usage")
    if is_object(usage):
        facts["prompt_tokens"] = first(usage, "inputTokens", "input_tokens")
        facts["completion_tokens"] = first(usage, "outputTokens", "output_tokens")
    if span.error is not None:
        facts["error"] = span.error
    return {name: fact for name, fact in facts.items() if fact is not None}


def _step_type(kind: object) -> StepType:
    for known in STEP_TYPES:
        if kind == known:
            return known
    raise InvalidInput(f"a step's type must be one of {', '.join(STEP_TYPES)}, got {kind!r}")


def _wrapped(value: object) -> dict[str, Any] | None:
    """Return an object as it is and anything else as {"value": …}."""
    if value is None:
        return None
    if is_object(value):
        return {str(name): item for name, item in value.items()}
    return {"value": value}


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _difference(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else end - start
