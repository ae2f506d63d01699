"""Read traces of OpenTelemetry's GenAI conventions: OTLP JSON, or the Python SDK's own JSON.

Messages and tool calls are read from a span's attributes or from its event of an inference's
details (conventions from 1.37 on), or from one event per message (before). A span without an
operation of these conventions is "generic".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from classify.adapters.scorers.agent_messages import ToolCall, joined_calls
from classify.adapters.scorers.message_reading import read_messages
from classify.adapters.scorers.otel_json import OtelSpan, otel_spans
from classify.adapters.scorers.part_reading import parsed_json
from classify.adapters.scorers.traces import Span, Trace, TraceError, by_start
from classify.json_values import is_list, is_object

_KINDS = {
    "chat": "model_generation",
    "generate_content": "model_generation",
    "text_completion": "model_generation",
    "invoke_agent": "agent_run",
    "invoke_workflow": "workflow_run",
    "execute_tool": "tool_call",
}
_OLD_EVENTS = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_NAMES = {
    "model_generation": ("gen_ai.request.model", "gen_ai.response.model"),
    "agent_run": ("gen_ai.agent.name", "gen_ai.agent.id"),
    "workflow_run": ("gen_ai.workflow.name", "gen_ai.agent.name"),
    "tool_call": ("gen_ai.tool.name",),
    "mcp_tool_call": ("gen_ai.tool.name",),
}
"""Where a span of each kind has its name; a model's call names the agent as well."""


def read_otel(document: object) -> tuple[Trace, ...]:
    """Return the traces of an export, in the order in which they appear.

    `document` is JSON or lines of JSON as text or bytes, or the parsed objects. A span whose
    parent is not in the export (another service's) counts as a root. An agent's input and output
    that its own span does not hold are taken from its first and last model call.

    Raises TraceError for what is no export of spans.
    """
    traces: dict[str, list[OtelSpan]] = defaultdict(list)
    for span in otel_spans(document):
        traces[span.trace_id].append(span)
    if not traces:
        raise TraceError("the export has no spans")
    return tuple(_trace(trace_id, spans) for trace_id, spans in traces.items())


def _trace(trace_id: str, raw: Sequence[OtelSpan]) -> Trace:
    known = {span.span_id for span in raw}
    read = [_read(span, known) for span in raw]
    calls = {
        call.id: call
        for call in joined_calls([m for span in read for m in span.messages])
        if call.id is not None
    }
    trace = Trace(trace_id, tuple(_with_recorded_call(span.span, calls) for span in read))
    return Trace(trace_id, tuple(_completed(span, trace) for span in trace.spans))


@dataclass(frozen=True, slots=True)
class _Read:
    span: Span
    messages: tuple[Any, ...]


def _read(raw: OtelSpan, known: set[str]) -> _Read:
    details = [e for e in raw.events if e.name == "gen_ai.client.inference.operation.details"]
    facts = {**raw.attributes, **(details[-1].attributes if details else {})}
    kind = _KINDS.get(str(facts.get("gen_ai.operation.name")), "generic")
    if kind == "tool_call":
        given = parsed_json(facts.get("gen_ai.tool.call.arguments"))
        gave = parsed_json(facts.get("gen_ai.tool.call.result"))
        kind = "mcp_tool_call" if "mcp.method.name" in facts else kind
    else:
        given = _given(facts, raw)
        gave = _gave(facts, raw)
    label = next((str(facts[name]) for name in _NAMES.get(kind, ()) if facts.get(name)), None)
    span = Span(
        span_id=raw.span_id,
        kind=kind,
        name=raw.name,
        parent_id=raw.parent_id if raw.parent_id in known else None,
        input=given,
        output=gave,
        started_ms=raw.started_ms,
        ended_ms=raw.ended_ms,
        error=raw.error,
        entity=label,
        attributes=_attributes(facts),
    )
    messages = (
        ()
        if kind != "model_generation"
        else (
            *read_messages(given, role="user"),
            *read_messages(gave, role="assistant"),
        )
    )
    return _Read(span, messages)


def _given(facts: Mapping[str, Any], raw: OtelSpan) -> list[Any] | None:
    """Return the messages that went in, the system's first."""
    instructions = parsed_json(facts.get("gen_ai.system_instructions"))
    listed = parsed_json(facts.get("gen_ai.input.messages"))
    messages = list(listed) if is_list(listed) else list(_old_messages(raw))
    if is_list(instructions):
        messages = [{"role": "system", "parts": list(instructions)}, *messages]
    elif instructions:
        messages = [{"role": "system", "content": str(instructions)}, *messages]
    return messages or None


def _gave(facts: Mapping[str, Any], raw: OtelSpan) -> list[Any] | None:
    listed = parsed_json(facts.get("gen_ai.output.messages"))
    if is_list(listed):
        return list(listed)
    choices = [e.attributes for e in raw.events if e.name == "gen_ai.choice"]
    messages = [_plain(parsed_json(choice.get("message")) or choice) for choice in choices]
    return [{"role": "assistant", **message} for message in messages] or None


def _plain(value: object) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()} if is_object(value) else {}


def _old_messages(raw: OtelSpan) -> Iterator[dict[str, Any]]:
    """Yield the messages of conventions before 1.37: an event each."""
    for event in raw.events:
        if event.name in _OLD_EVENTS:
            yield {"role": _OLD_EVENTS[event.name], **event.attributes}


def _attributes(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes, and what trajectories read of them under the reference's names."""
    usage = {
        ours: facts[theirs]
        for ours, theirs in (
            ("inputTokens", "gen_ai.usage.input_tokens"),
            ("outputTokens", "gen_ai.usage.output_tokens"),
        )
        if theirs in facts
    }
    named = {
        "toolCallId": facts.get("gen_ai.tool.call.id"),
        "model": facts.get("gen_ai.response.model") or facts.get("gen_ai.request.model"),
        "usage": usage or None,
    }
    return {**facts, **{name: value for name, value in named.items() if value is not None}}


def _with_recorded_call(span: Span, calls: Mapping[str, ToolCall]) -> Span:
    """Return a tool's span with what only the model's messages hold of its call."""
    call = calls.get(str(span.attributes.get("toolCallId")))
    if call is None or span.kind not in ("tool_call", "mcp_tool_call"):
        return span
    return replace(
        span,
        input=call.arguments if span.input is None else span.input,
        output=call.result if span.output is None else span.output,
    )


def _completed(span: Span, trace: Trace) -> Span:
    """Return an agent's span with the input and output that only its model calls hold."""
    if span.kind != "agent_run" or (span.input is not None and span.output is not None):
        return span
    models = _own_model_calls(span, trace)
    if not models:
        return span
    return replace(
        span,
        input=_asked_now(models[0].input) if span.input is None else span.input,
        output=models[-1].output if span.output is None else span.output,
    )


def _own_model_calls(agent: Span, trace: Trace) -> tuple[Span, ...]:
    """Return the model calls of an agent, without those of agents that it called."""
    found, waiting = list[Span](), [agent]
    while waiting:
        children = trace.children(waiting.pop().span_id)
        found += (child for child in children if child.kind == "model_generation")
        waiting += (child for child in children if child.kind != "agent_run")
    return by_start(found)


def _asked_now(given: Any) -> list[Any] | None:
    """Return the last message of the user and what follows it."""
    if not is_list(given):
        return None
    places = [i for i, m in enumerate(read_messages(given, role="user")) if m.role == "user"]
    return list(given[places[-1] :]) if places else None
