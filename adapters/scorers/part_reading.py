"""Read one part of a message, or one call of a tool, in other people's shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from classify.adapters.scorers.agent_messages import Part, ToolCall
from classify.json_values import is_object

State: TypeAlias = Literal["call", "result", "error"]

_TEXT = ("text", "input_text", "output_text", "refusal")
_CALLS = ("tool-call", "tool_call", "tool_use", "function_call", "server_tool_call", "mcp_call")
_RESULTS = (
    "tool-result",
    "tool_result",
    "tool_call_response",
    "function_call_output",
    "server_tool_call_response",
)
_UNNAMED = ("tool-invocation", "tool-call", "tool-result")
"""Types that begin like "tool-search", the AI SDK's part of a tool called search."""
_STATES: Mapping[object, State] = {
    "result": "result",
    "output-available": "result",
    "error": "error",
    "output-error": "error",
    "output-denied": "error",
}
"""Of the AI SDK's and the reference's states; every other is a call that is not finished."""


def read_part(value: object) -> Part:
    """Return a part; one of a kind that is not known keeps its type only."""
    if isinstance(value, Part):
        return value
    if isinstance(value, str):
        return Part(type="text", text=value)
    if not is_object(value):
        return Part(type="unknown")
    kind = str(value.get("type") or ("text" if "text" in value else "unknown"))
    if kind in _TEXT:
        text = first(value, "text", "content", "refusal")
        return Part(type="text", text=text if isinstance(text, str) else "")
    if kind in _CALLS or kind in _RESULTS or kind == "dynamic-tool" or kind.startswith("tool-"):
        return tool_part(value)
    return Part(type=kind)


def tool_part(value: Mapping[object, object]) -> Part:
    """Return a part that records a call of a tool, or its result."""
    kind = str(value.get("type"))
    inner = value.get("toolInvocation")
    call = inner if is_object(inner) else value
    finished = kind in _RESULTS
    named = first(call, "toolName", "tool_name", "name")
    if (
        named is None
        and kind.startswith("tool-")
        and kind not in ("tool-invocation", "tool-result")
    ):
        named = kind.removeprefix("tool-")
    state, error = _outcome(call, finished=finished)
    given = first(call, "args", "arguments", "input", "parameters")
    id = first(call, "toolCallId", "tool_call_id", "tool_use_id", "call_id", "id")
    tool = ToolCall(
        name="" if named is None else str(named),
        id=None if id is None else str(id),
        arguments=None if finished else parsed_json(given),
        result=_result(call, finished=finished),
        state=state,
        error=error,
    )
    return Part(type=_part_type(kind), tool=tool)


def parsed_json(value: object) -> object:
    """Return what a text of JSON says; the value itself where it is none."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


# Any: a mapping's keys are invariant, and those of strings and of objects are both read.
def first(value: Mapping[Any, object], *names: str) -> object:
    """Return the first of these fields that is there and not None."""
    return next((value[name] for name in names if value.get(name) is not None), None)


def _result(call: Mapping[object, object], *, finished: bool) -> object:
    result = first(call, "result", "response", "output")
    if result is None and finished:
        result = call.get("content")
    # The AI SDK wraps what a tool gave: {"type": "json" | "text", "value": …}.
    if is_object(result) and set(result) == {"type", "value"}:
        return result["value"]
    return parsed_json(result) if finished else result


def _outcome(call: Mapping[object, object], *, finished: bool) -> tuple[State, str | None]:
    said = first(call, "errorText", "error_text", "error")
    wrapped = call.get("output")
    kind = str(wrapped.get("type")) if is_object(wrapped) else ""
    flagged = bool(first(call, "isError", "is_error")) or kind.startswith("error-")
    state = _STATES.get(call.get("state"))
    if flagged or state == "error" or (said is not None and not finished and state is None):
        return "error", None if said is None else str(said)
    has_result = first(call, "result", "response") is not None or (
        call.get("output") is not None and "state" not in call
    )
    if state is None and (finished or ("state" not in call and has_result)):
        state = "result"
    return state or "call", None if said is None else str(said)


def _part_type(kind: str) -> str:
    if kind in _RESULTS:
        return "tool-result"
    return "tool-invocation" if kind in _CALLS else kind
