"""Read messages in other people's shapes: the one place that knows them.

Strings, plain objects, OpenAI chat messages and Responses items, Anthropic content blocks,
LangChain's messages, the AI SDK's, the reference's format 2, OpenTelemetry's GenAI messages, and
objects with `model_dump` of any of these. What is missing is empty; nothing is required.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from classify.adapters.scorers.agent_messages import AgentInput, AgentMessage, Part
from classify.adapters.scorers.part_reading import first, parsed_json, read_part, tool_part
from classify.json_values import is_list, is_object

_MESSAGE_KEYS = ("role", "content", "parts", "text", "tool_calls", "toolInvocations")
_ITEM_TYPES = ("function_call", "function_call_output", "tool_call", "tool_call_response")
_ROLES = {"developer": "system", "human": "user", "ai": "assistant"}
_LANGCHAIN_TYPES = ("human", "ai", "system", "tool")


def read_messages(value: object, *, role: str) -> tuple[AgentMessage, ...]:
    """Return the messages that a run's input or output holds; `role` is for those without one.

    What is no message at all becomes one message with the value as JSON.
    """
    value = plain(value)
    if value is None:
        return ()
    if isinstance(value, AgentInput):
        return value.messages
    if is_object(value) and is_list(value.get("messages")):
        return read_messages(value["messages"], role=role)
    if is_object(value) and (answered := _completion_message(value)) is not None:
        return (read_message(answered, role=role),)
    if is_object(value) and _is_agent_input(value):
        return read_agent_input(value).messages
    if is_list(value) and all(_is_message(item) for item in map(plain, value)):
        return tuple(read_message(item, role=role) for item in value if item is not None)
    return (read_message(value, role=role),)


def read_message(value: object, *, role: str) -> AgentMessage:
    """Return one message; `role` is for one without."""
    value = plain(value)
    if isinstance(value, AgentMessage):
        return value
    if isinstance(value, str):
        return AgentMessage(role=role, content=value)
    if not is_object(value) or not _is_message(value):
        return AgentMessage(role=role, content=as_text(value))
    said = str(value.get("role") or _item_role(value) or role)
    said = _ROLES.get(said, said)
    content, parts = _content(value, said)
    return AgentMessage(
        role=said,
        content=None if any(part.type == "text" for part in parts) else content,
        parts=parts,
        id=_text_or_none(value.get("id")),
        created_at=_text_or_none(first(value, "createdAt", "created_at")),
    )


def read_agent_input(value: object) -> AgentInput:
    """Return an agent's input.

    A string, a list of messages or {"messages": […]} are input messages, without the system's;
    the reference's object of four kinds of messages is read as it is.
    """
    value = plain(value)
    if isinstance(value, AgentInput):
        return value
    if is_object(value) and _is_agent_input(value):
        tagged = first(value, "taggedSystemMessages", "tagged_system_messages")
        return AgentInput(
            input_messages=_field(value, "inputMessages", "input_messages", role="user"),
            remembered_messages=_field(
                value, "rememberedMessages", "remembered_messages", role="user"
            ),
            system_messages=_field(value, "systemMessages", "system_messages", role="system"),
            tagged_system_messages={
                str(tag): read_messages(messages, role="system")
                for tag, messages in (tagged.items() if is_object(tagged) else ())
            },
        )
    messages = read_messages(value, role="user")
    return AgentInput(
        input_messages=tuple(m for m in messages if m.role != "system"),
        system_messages=tuple(m for m in messages if m.role == "system"),
    )


def as_text(value: object) -> str:
    """Return a value as text: None is empty, and what is no string is JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def plain(value: object) -> object:
    """Return an object of a library with `model_dump` as a mapping, all else as it is."""
    dump = getattr(value, "model_dump", None)
    return dump() if callable(dump) and not isinstance(value, type) else value


def _content(message: Mapping[object, object], role: str) -> tuple[str | None, tuple[Part, ...]]:
    """Return the text that came as one text, and the parts."""
    content, listed = message.get("content"), message.get("parts")
    calls = [message.get("toolInvocations"), message.get("tool_calls")]
    if is_object(content):  # the reference's format 2
        listed = content.get("parts", listed)
        calls.append(content.get("toolInvocations"))
        content = content.get("content")
    elif is_list(content):
        content, listed = None, content
    parts = _read_parts(listed)
    if role == "tool" and not parts and message.get("type") not in _ITEM_TYPES:
        result = tool_part({**message, "type": "tool-result", "result": _parsed_or_text(content)})
        return None, (result,)
    if message.get("type") in _ITEM_TYPES:
        return None, (read_part(message),)
    known = {part.tool.id for part in parts if part.tool is not None}
    for call in (call for found in calls if is_list(found) for call in found if is_object(call)):
        part = tool_part({**_unwrapped(call), "type": "tool-invocation"})
        # The reference keeps calls twice, among the parts and beside them.
        if part.tool is not None and part.tool.id not in known:
            parts = (*parts, part)
    text = message.get("text") if content is None and not is_list(listed) else content
    return (None if text is None else as_text(text)), parts


def _read_parts(listed: object) -> tuple[Part, ...]:
    return tuple(map(read_part, listed)) if is_list(listed) else ()


def _unwrapped(call: Mapping[object, object]) -> Mapping[object, object]:
    """Return an OpenAI tool call without its inner object."""
    function = call.get("function")
    return {**function, "id": call.get("id")} if is_object(function) else call


def _parsed_or_text(content: object) -> object:
    return parsed_json(content) if isinstance(content, str) else content


def _is_message(value: object) -> bool:
    if isinstance(value, str | AgentMessage) or value is None:
        return True
    if not is_object(value):
        return False
    return any(key in value for key in _MESSAGE_KEYS) or value.get("type") in _ITEM_TYPES


def _completion_message(value: Mapping[object, object]) -> object:
    """Return the first message of a whole chat completion; None where the value is none."""
    choices = value.get("choices")
    choice = choices[0] if is_list(choices) and choices else None
    return choice.get("message") if is_object(choice) else None


def _is_agent_input(value: Mapping[object, object]) -> bool:
    names = ("inputMessages", "input_messages", "rememberedMessages", "remembered_messages")
    return any(name in value for name in names)


def _item_role(item: Mapping[object, object]) -> str | None:
    kind = item.get("type")
    if kind in ("function_call_output", "tool_call_response"):
        return "tool"
    if kind in _LANGCHAIN_TYPES:
        return str(kind)
    return "assistant" if kind in _ITEM_TYPES else None


def _field(value: Mapping[object, object], *names: str, role: str) -> tuple[AgentMessage, ...]:
    return read_messages(first(value, *names), role=role)


def _text_or_none(value: object) -> str | None:
    return None if value is None else str(value)


def texts(messages: Iterable[AgentMessage], role: str) -> tuple[str, ...]:
    """Return what messages of a role say, without those that say nothing."""
    return tuple(m.text for m in messages if m.role == role and m.text.strip())
