"""Bound what a judge is sent and what is read of its answer: refuse it, or cut it visibly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.errors import InvalidInput
from classify.language_model import Message


class LengthLimit:
    """An input and output processor that fails the step where a text is longer than allowed."""

    def __init__(self, max_characters: int) -> None:
        """Take the bound of each message and of the answer."""
        self._most = _checked(max_characters)

    def process_input(self, messages: Sequence[Message], /) -> Sequence[Message]:
        """Return the messages; raises InvalidInput for one that is too long."""
        for message in messages:
            self._check(message.content, f"the judge's {message.role} message")
        return messages

    def process_output(self, text: str, /) -> str:
        """Return the text; raises InvalidInput where it is too long."""
        self._check(text, "the judge's answer")
        return text

    def _check(self, text: str, what: str) -> None:
        if len(text) > self._most:
            raise InvalidInput(
                f"{what} has {len(text)} characters, more than the limit of {self._most}; "
                f"shorten it in prepare_run or create_prompt, or use Shorten"
            )


class Shorten:
    """An input processor that cuts the middle out of long prompts and says so in its place.

    Instructions are never cut.
    """

    def __init__(self, max_characters: int) -> None:
        """Take the number of characters to keep; the note comes on top."""
        self._most = _checked(max_characters)

    def process_input(self, messages: Sequence[Message], /) -> Sequence[Message]:
        """Cut every message but the instructions."""
        return [
            message if message.role == "system" else replace(message, content=self.text(message))
            for message in messages
        ]

    def text(self, message: Message) -> str:
        """Return the beginning and the end of a message, and how much was between them."""
        content, most = message.content, self._most
        if len(content) <= most:
            return content
        head = most - most // 2
        note = f"\n[{len(content) - most} characters left out]\n"
        return content[:head] + note + content[len(content) - (most - head) :]


def _checked(most: int) -> int:
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ScorerDefinitionError(
            f"max_characters must be a whole number of at least 1, got {most!r}"
        )
    return most
