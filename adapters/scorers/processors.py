"""What may act on a judge's messages, on its text, and on the errors of its model."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Protocol, runtime_checkable

from classify.language_model import Message


@runtime_checkable
class InputProcessor(Protocol):
    """Changes or refuses the messages before they reach the model.

    It sees the instructions and the prompt, not the schema that we may add to them.
    """

    def process_input(
        self, messages: Sequence[Message], /
    ) -> Sequence[Message] | Awaitable[Sequence[Message]]:
        """Return the messages to send; what it raises fails the step."""
        ...


@runtime_checkable
class OutputProcessor(Protocol):
    """Changes or refuses the model's text before anything is read from it."""

    def process_output(self, text: str, /) -> str | Awaitable[str]:
        """Return the text to read; what it raises fails the step."""
        ...


@runtime_checkable
class ErrorProcessor(Protocol):
    """Decides what becomes of a failed request."""

    def process_error(self, error: Exception, /, *, retry_count: int) -> bool | Awaitable[bool]:
        """Return True to ask again, after waiting as long as that takes; False to let it fail.

        `retry_count` is how often this judge request was repeated so far, 0 at first.
        """
        ...
