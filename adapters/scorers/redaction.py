"""Take personal data and secrets out of what a judge reads and writes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.language_model import Message

PATTERNS: Mapping[str, str] = MappingProxyType(
    {
        "email": r"\b[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}\b",
        "key": r"\b(?:sk|pk|gsk|xai|ghp|AKIA)[-_]?[A-Za-z0-9_-]{16,}\b",
        "iban": r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b",
        "card": r"\b(?:\d[ -]?){13,18}\d\b",
        "ip": r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
        "phone": r"(?<!\w)\+?\(?\d{1,4}\)?(?:[ ./-]?\(?\d{2,4}\)?){2,5}(?!\w)",
    }
)
"""Name -> regular expression; written wide, as a number too many is better than one too few."""


class Redact:
    """An input and an output processor that replaces what a pattern finds by its name.

    >>> Redact().text("Write to ann@example.org")
    'Write to [email]'

    `patterns` map a name to a regular expression, and are applied in their order; a number that
    is part of the answer's JSON may look like a phone number's, so give the output few of them.
    Raises ScorerDefinitionError for a pattern that is none.
    """

    def __init__(self, patterns: Mapping[str, str | re.Pattern[str]] = PATTERNS) -> None:
        """Compile the patterns."""
        self._patterns = {name: _compiled(name, pattern) for name, pattern in patterns.items()}

    def text(self, text: str) -> str:
        """Return the text with every finding replaced."""
        for name, pattern in self._patterns.items():
            # A backslash in a name would be read as a reference to a group.
            text = pattern.sub(f"[{name}]".replace("\\", r"\\"), text)
        return text

    def process_input(self, messages: Sequence[Message], /) -> Sequence[Message]:
        """Redact every message."""
        return [replace(message, content=self.text(message.content)) for message in messages]

    def process_output(self, text: str, /) -> str:
        """Redact the model's text."""
        return self.text(text)


def _compiled(name: str, pattern: str | re.Pattern[str]) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise ScorerDefinitionError(
            f"patterns[{name!r}] is no regular expression: {error}, got {pattern!r}"
        ) from None
