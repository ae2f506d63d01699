"""From a trace to what its agent was given and what it said: an agent scorer's input and output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from classify.adapters.scorers.agent_messages import (
    AgentInput,
    AgentMessage,
    Part,
    ToolCall,
    joined_calls,
)
from classify.adapters.scorers.message_reading import read_agent_input, read_messages, texts
from classify.adapters.scorers.traces import Span, Trace, TraceError, by_start

TOOL_KINDS = ("tool_call", "mcp_tool_call")


@dataclass(frozen=True, slots=True)
class AgentRun:
    """One run of an agent, as a trace shows it."""

    span: Span
    """The agent's own span."""
    input: AgentInput
    output: tuple[AgentMessage, ...]
    """One message of the assistant: its calls of tools by their start, then its text."""


def agent_run(trace: Trace, span_id: str | None = None) -> AgentRun:
    """Return the run of the trace's agent, or of the agent whose span is named.

    The first root span that is an agent's; else the only agent that no other agent called. Input
    messages are the span's own, system and remembered ones those of its first model call.

    Raises TraceError: no agent or several, no output, no model call.
    """
    span = _agent(trace) if span_id is None else trace.span(span_id)
    if span.kind != "agent_run":
        raise TraceError(f"span {span.span_id!r} is a {span.kind}, and no agent_run")
    if span.output is None:
        raise TraceError(f"agent span {span.span_id!r} has no output: was its content traced?")
    inside = _inside(trace, span)
    model = next((s for s in inside if s.kind == "model_generation"), None)
    if model is None:
        raise TraceError(f"no model_generation span was found in agent span {span.span_id!r}")
    tools = [s for s in inside if s.kind in TOOL_KINDS]
    return AgentRun(span, _input(span, model), (_answer(span, tools),))


def tool_call(span: Span) -> ToolCall:
    """Return the call that a tool's span shows; what it did not record is an empty object."""
    return ToolCall(
        name=span.label,
        id=str(span.attributes.get("toolCallId") or span.span_id),
        arguments={} if span.input is None else span.input,
        result={} if span.output is None else span.output,
        state="result" if span.error is None else "error",
        error=span.error,
    )


def _agent(trace: Trace) -> Span:
    for root in trace.roots:
        if root.kind == "agent_run":
            return root
    agents = [span for span in trace.spans if span.kind == "agent_run"]
    outermost = [
        agent for agent in agents if all(s.kind != "agent_run" for s in trace.ancestors(agent))
    ]
    if not outermost:
        raise TraceError(f"no agent_run span was found in trace {trace.trace_id!r}")
    if len(outermost) > 1:
        names = ", ".join(span.span_id for span in outermost)
        raise TraceError(
            f"trace {trace.trace_id!r} has several agent_run spans ({names}): name one, span_id=..."
        )
    return outermost[0]


def _inside(trace: Trace, agent: Span) -> tuple[Span, ...]:
    """Return the spans inside an agent's by their start, but not those inside a tool or an agent.

    Its own children come first: where frameworks put tools inside model calls, they are found too.
    """
    own = trace.children(agent.span_id)
    deeper = list[Span]()
    waiting = list(own)
    while waiting:
        span = waiting.pop(0)
        if span.kind in (*TOOL_KINDS, "agent_run"):
            continue
        children = trace.children(span.span_id)
        deeper += children
        waiting += children
    return (*own, *by_start(deeper))


def _input(agent: Span, model: Span) -> AgentInput:
    given = read_agent_input(agent.input)
    seen = read_messages(model.input, role="user")
    system = _unique([*given.system_messages, *(m for m in seen if m.role == "system")])
    remembered = [m for m in seen if m.role != "system"]
    for message in reversed(given.input_messages):
        _drop_last(remembered, message)
    return AgentInput(
        input_messages=given.input_messages,
        remembered_messages=(*given.remembered_messages, *remembered),
        system_messages=system,
        tagged_system_messages=given.tagged_system_messages,
    )


def _drop_last(messages: list[AgentMessage], message: AgentMessage) -> None:
    """Drop the last message that says the same: an earlier one was said before."""
    for place in reversed(range(len(messages))):
        same = messages[place].text == message.text and messages[place].role == message.role
        if same:
            del messages[place]
            return


def _unique(messages: Sequence[AgentMessage]) -> tuple[AgentMessage, ...]:
    return tuple({message.text: message for message in reversed(messages)}.values())[::-1]


def _answer(agent: Span, tools: Sequence[Span]) -> AgentMessage:
    said = read_messages(agent.output, role="assistant")
    calls = tuple(map(tool_call, by_start(tools))) or joined_calls(said)
    parts = tuple(Part(type="tool-invocation", tool=call) for call in calls)
    text = "\n".join(texts(said, "assistant"))
    if text.strip():
        parts = (*parts, Part(type="text", text=text))
    return AgentMessage(role="assistant", parts=parts, id=agent.span_id)
