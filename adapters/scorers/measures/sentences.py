"""Split text into sentences and shorten it, without a model and without a word list to speak of."""

# ruff: noqa: RUF001, RUF002  the marks that look like others are the point

from __future__ import annotations

import re
from collections.abc import Sequence

_ABBREVIATIONS = frozenset(
    "approx bzw ca cf dr e.g fr gen i.e inc jr lt ltd m.e mr mrs ms p.ej prof sr sra st u.a vs z.b "
    "d.h".split()
)
"""Words whose full stop ends no sentence, in a few languages; lower case, without the stop."""
_BEFORE_NUMBERS = frozenset("abs art bd fig no nos nr p pp s vol".split())
"""Words that are such only where a number follows: "no. 5", and "He said no."."""

# Where words are written without blanks, the mark alone ends a sentence; elsewhere a blank must
# follow, so that 3.5 and example.com stay whole.
_END = re.compile(r"(?:[.!?…؟।։።]+[\"'”’»)\]]*(?=\s)|[。！？｡]+[」』”’）]*)\s*")
_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,3}[.)])\s+")
_WORD = re.compile(r"\w+")
_CUT = " […] "


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text; a line break ends one too, and a list's bullets are dropped.

    >>> sentences("Dr. Smith paid 3.5 euros. Why? 好。谢谢！")
    ('Dr. Smith paid 3.5 euros.', 'Why?', '好。', '谢谢！')
    """
    found = [
        piece for line in text.splitlines() for piece in _line_sentences(_BULLET.sub("", line))
    ]
    return tuple(piece for piece in found if _WORD.search(piece))


def _line_sentences(line: str) -> list[str]:
    pieces, start = list[str](), 0
    for end in _END.finditer(line):
        if not _abbreviates(line[start : end.start() + 1], line[end.end() :]):
            pieces.append(line[start : end.end()].strip())
            start = end.end()
    return [*pieces, line[start:].strip()]


def _abbreviates(piece: str, rest: str) -> bool:
    if not piece.endswith("."):
        return False
    words = piece[:-1].split()
    last = words[-1].lstrip("(\"'“‘[") if words else ""
    initial = len(last) == 1 and last.isalpha() and last.isupper() and last != "I"
    numbered = last.casefold() in _BEFORE_NUMBERS and rest[:1].isdigit()
    return initial or numbered or last.casefold() in _ABBREVIATIONS


def shortened(text: str, limit: int, *, about: str) -> str:
    """Return the sentences that share most words with `about`, in their order, within the limit.

    Gaps are shown by […]. Words count by how rare they are in the text, so that names weigh more
    than articles; among equals the earlier sentence stays. A text within the limit stays whole.
    """
    if len(text) <= limit:
        return text
    pieces = sentences(text)
    kept, length = set[int](), 0
    for place in _by_likeness(pieces, about):
        cost = len(pieces[place]) + len(_CUT)
        if length + cost <= limit:
            kept.add(place)
            length += cost
    return _joined(pieces, kept) if kept else text[:limit]


def ending(text: str, limit: int) -> str:
    """Return the end of a text within the limit, from the start of a word, with […] before it."""
    if len(text) <= limit:
        return text
    kept = text[-limit:][len(_CUT.lstrip()) :]
    _, blank, rest = kept.partition(" ")
    return f"{_CUT.lstrip()}{rest if blank else kept}" if kept else text[-limit:]


def _by_likeness(pieces: Sequence[str], about: str) -> list[int]:
    wanted = _words(about)
    seen = [_words(piece) for piece in pieces]
    rarity = {word: 1.0 / sum(word in words for words in seen) for word in set[str]().union(*seen)}
    likeness = [sum(rarity[word] for word in sorted(words & wanted)) for words in seen]
    return sorted(range(len(pieces)), key=lambda place: (-likeness[place], place))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


def _joined(pieces: Sequence[str], kept: set[int]) -> str:
    text = ""
    for place in sorted(kept):
        gap = "" if not text else " " if place - 1 in kept else _CUT
        text += gap + pieces[place]
    return text
