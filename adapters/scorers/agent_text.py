"""Text, tool calls and results of runs, whatever shape they have; nothing missing is an error."""

from __future__ import annotations

from classify.adapters.scorers.agent_messages import ToolCall, joined_calls
from classify.adapters.scorers.message_reading import read_agent_input, read_messages, texts


def user_texts(input: object) -> tuple[str, ...]:
    """Return what the user said, message by message; remembered messages are left out."""
    return texts(read_agent_input(input).input_messages, "user")


def user_text(input: object) -> str:
    """Return all that the user said, messages apart by a line break.

    >>> user_text([{"role": "user", "content": "Hello"}])
    'Hello'
    """
    return "\n".join(user_texts(input))


def system_text(input: object) -> str:
    """Return the system's messages, tagged ones last, apart by a blank line."""
    return "\n\n".join(texts(read_agent_input(input).messages, "system"))


def assistant_texts(output: object) -> tuple[str, ...]:
    """Return what the assistant said, message by message."""
    return texts(read_messages(output, role="assistant"), "assistant")


def assistant_text(output: object) -> str:
    """Return all that the assistant said, messages apart by a line break.

    >>> assistant_text({"text": "Hi"})
    'Hi'
    """
    return "\n".join(assistant_texts(output))


def tool_calls(output: object) -> tuple[ToolCall, ...]:
    """Return every call of a tool once, in order, with its arguments and its result."""
    return joined_calls(read_messages(output, role="assistant"))


def conversation_text(input: object, output: object) -> str:
    """Return the whole conversation, a line for the role and the text of each message."""
    messages = (*read_agent_input(input).messages, *read_messages(output, role="assistant"))
    return "\n\n".join(f"{m.role}: {m.text}" for m in messages if m.text.strip())
