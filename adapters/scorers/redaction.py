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
        "phone": (
            r"(?<![\w.])(?:\+\d[\d ()./-]{6,16}\d"  # +44 20 7946 0958
            r"|\(?0\d{1,4}\)?[ ./-]?\d[\d ./-]{4,12}\d"  # 030 / 1234567
            r"|\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4})(?!\w)"  # (555) 010-9999
        ),
    }
)
"""Name -> regular expression, of how such things are usually written; no promise to find all."""


class Redact:
    """An input and an output processor that replaces what a pattern finds by its name.

    >>> Redact().text("Write to ann@example.org")
    'Write to [email]'

    `patterns` map a name to a regular expression, and are applied in their order. On the output
    they act before the JSON is read, so a pattern must not match what holds that together.
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
