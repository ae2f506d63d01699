"""Text from files and models, made safe to show: nothing in it can steer what it is shown on.

It knows nothing of media: what a page escapes besides is the page's.
"""

from __future__ import annotations

import re
import unicodedata

_ISOLATE, _END = "\u2068", "\u2069"
_RIGHT_TO_LEFT = frozenset({"R", "AL", "AN"})
# Letters and marks that are never seen, in which words can be hidden or told apart unseen.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\U000e0100-\U000e01ef]")
# Scripts and emoji need joiners between their letters; beside ASCII they only hide.
_IDLE_JOINER = re.compile("(?<![^\0-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\0-\x7f])")


def visible(text: str, *, keep: str = "") -> str:
    """Return the text with what is not seen, or moves what is, as escapes, except those in `keep`.

    These are control, format and bidi characters, line and paragraph separators, halves of
    surrogate pairs, and letters that are blank.
    """
    if text.isascii() and text.isprintable():
        return text
    text = _IDLE_JOINER.sub(_escaped, _BLANK.sub(_escaped, text))
    return "".join(c if c in keep else _visible(c) for c in text)


def isolated(text: str) -> str:
    """Return visible text so that right-to-left letters cannot turn around what stands beside."""
    if text.isascii() or not any(unicodedata.bidirectional(c) in _RIGHT_TO_LEFT for c in text):
        return text
    return f"{_ISOLATE}{text}{_END}"


def isolated_lines(lines: list[str]) -> list[str]:
    """Return lines of one text, each of which ends the isolation that it begins or goes on with."""
    found: list[str] = []
    opened = False
    for line in lines:
        text = f"{_ISOLATE}{line}" if opened else line
        opened = text.count(_ISOLATE) > text.count(_END)
        found.append(f"{text}{_END}" if opened else text)
    return found


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()


def _visible(character: str) -> str:
    joins = character in "\u200c\u200d"
    if joins or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    return character.encode("unicode_escape").decode()
