"""Text from files and models, made safe to show: nothing in it can steer a terminal."""

from __future__ import annotations

import unicodedata

from rich.cells import cell_len, set_cell_size

_ISOLATE, _END = "\u2068", "\u2069"


def visible(text: str, *, keep: str = "") -> str:
    """Return the text with control, format and bidi characters as escapes, except those in `keep`.

    Joiners stay: scripts and emoji need them, and they move nothing.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in keep else _visible(c) for c in text)


def fitted(text: str, width: int) -> str:
    """Return the text in exactly `width` cells, cut with an ellipsis where it is too wide.

    Right-to-left text is isolated, so that it cannot turn around what stands beside it.
    """
    text = visible(text)
    if cell_len(text) > width:
        text = set_cell_size(text, width - 1).rstrip() + "…"
    padding = " " * (width - cell_len(text))
    if any(unicodedata.bidirectional(c) in ("R", "AL") for c in text):
        text = f"{_ISOLATE}{text}{_END}"
    return text + padding


def _visible(character: str) -> str:
    kind = unicodedata.category(character)
    joins = character in "\u200c\u200d"
    if joins or kind not in ("Cc", "Cf", "Cs", "Zl", "Zp"):
        return character
    return character.encode("unicode_escape").decode()
