"""Words, sentences and letter pairs of texts."""

from __future__ import annotations

import re
from collections import Counter

_WORD = re.compile(r"[^\W_]+(?:['\u2019\-][^\W_]+)*")
_SENTENCE = re.compile("[^.!?\u3002\uff01\uff1f\n]+")

STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before
    being below between both but by can could did do does doing down during each few for from
    further had has have having he her here hers him his how i if in into is it its itself just me
    more most my no nor not now of off on once only or other our out over own please same she should
    so some such than that the their them then there these they this those through to too under
    until up very was we were what when where which while who whom why will with would you your
    """.split()
)
"""English words that say nothing about a text's subject."""


def words(text: str) -> list[str]:
    """Return the words of a text in lower case.

    >>> words("It's state-of-the-art!")
    ["it's", 'state-of-the-art']
    """
    return [word.replace("\u2019", "'") for word in _WORD.findall(text.casefold())]


def keywords(text: str) -> list[str]:
    """Return the different words of a text that are no stop words, in the order of the text.

    >>> keywords("The cat and the hat: a cat.")
    ['cat', 'hat']
    """
    return [word for word in dict.fromkeys(words(text)) if word not in STOP_WORDS]


def sentences(text: str) -> list[str]:
    """Return the parts of a text between full stops, question marks and line breaks."""
    return [part.strip() for part in _SENTENCE.findall(text) if part.strip()]


def dice(first: str, second: str) -> float:
    """Return 2 * shared pairs / all pairs of neighbouring characters (Dice 1945), from 0 to 1.

    Equal texts are 1; a text of one character or none has no pairs, and is 0 with any other.

    >>> dice("night", "nacht")
    0.25
    """
    if first == second:
        return 1.0
    left, right = _pairs(first), _pairs(second)
    total = left.total() + right.total()
    return 2 * (left & right).total() / total if left and right else 0.0


def _pairs(text: str) -> Counter[str]:
    return Counter(text[i : i + 2] for i in range(len(text) - 1))
