"""What an agent was told and what it said: messages, their parts, and the calls of tools.

The types only; `message_reading` makes them of other people's shapes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from classify.json_values import is_object


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call of a tool, with its result where there is one."""

    name: str
    id: str | None = None
    # Any: arguments and results are of the tool's own choosing.
    arguments: Any = None
    result: Any = None
    state: Literal["call", "result", "error"] = "call"
    """Asked for and no more; finished; thrown, or flagged as an error."""
    error: str | None = None
    """What a call that failed said."""

    @property
    def succeeded(self) -> bool:
        """Whether it finished, and its result names no error of its own."""
        if self.state != "result":
            return False
        return not (is_object(self.result) and self.result.get("error"))

    def joined(self, later: ToolCall) -> ToolCall:
        """Return the call with what a later record of the same call adds."""
        return replace(
            self,
            name=self.name or later.name,
            arguments=later.arguments if self.arguments is None else self.arguments,
            result=self.result if later.result is None else later.result,
            state=self.state if later.state == "call" else later.state,
            error=later.error or self.error,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a message."""

    type: str
    """"text", "tool-invocation", "tool-result", "reasoning", "file" …"""
    text: str = ""
    """What a text part says."""
    tool: ToolCall | None = None
    """The call that a tool part records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentMessage:
    """One message."""

    role: str
    """"user", "assistant", "system", "tool" …"""
    content: str | None = None
    """Its text, where it came as one text; None where it came in parts."""
    parts: tuple[Part, ...] = ()
    id: str | None = None
    created_at: str | None = None

    @property
    def text(self) -> str:
        """All its text, parts apart by a line break; reasoning and tools are no text."""
        if self.content is not None:
            return self.content
        return "\n".join(part.text for part in self.parts if part.type == "text" and part.text)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that it records, as it records them."""
        return tuple(part.tool for part in self.parts if part.tool is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInput:
    """What an agent was given: a run's input where the scorer has type="agent"."""

    input_messages: tuple[AgentMessage, ...] = ()
    """What it is to answer now."""
    remembered_messages: tuple[AgentMessage, ...] = ()
    """What was said before."""
    system_messages: tuple[AgentMessage, ...] = ()
    tagged_system_messages: Mapping[str, tuple[AgentMessage, ...]] = field(
        default_factory=dict[str, tuple[AgentMessage, ...]]
    )
    """Tag -> system messages that memory or another part of the agent added."""

    @property
    def messages(self) -> tuple[AgentMessage, ...]:
        """All of them as a conversation: system, tagged, remembered, input."""
        tagged = (m for messages in self.tagged_system_messages.values() for m in messages)
        return (
            *self.system_messages,
            *tagged,
            *self.remembered_messages,
            *self.input_messages,
        )


AgentOutput: TypeAlias = Sequence[AgentMessage]
"""What an agent answered: a run's output where the scorer has type="agent"."""


def joined_calls(messages: Sequence[AgentMessage]) -> tuple[ToolCall, ...]:
    """Return every call once, in the order of the first record, with its result.

    Records belong together by id; a result without one belongs to the last call without result.
    """
    calls = list[ToolCall]()
    for call in (call for message in messages for call in message.tool_calls):
        place = _same_call(calls, call)
        if place is None:
            calls.append(call)
        else:
            calls[place] = calls[place].joined(call)
    return tuple(calls)


def _same_call(calls: Sequence[ToolCall], call: ToolCall) -> int | None:
    for place in reversed(range(len(calls))):
        earlier = calls[place]
        if call.id is not None and earlier.id == call.id:
            return place
        waiting = earlier.state == "call" and call.state != "call"
        if call.id is None and waiting and call.name in ("", earlier.name):
            return place
    return None
