"""Read the alternatives at the slot: label masses, label mass and bounds.

The slot is found by structure: it is the first generated position that is not mere formatting.
Text is never searched for a value. It knows nothing of options or prompts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from classify.errors import MalformedResponse
from classify.language_model import Alternative, Position
from classify.logspace import Floats

CLIPPED = 1e-3
"""A logprob up to this much above 0 is rounding; beyond it the server returns something else."""
NO_MASS = -1000.0
"""Servers write values like -9999 for a token that constrained decoding ruled out."""
MOST_SUM = math.exp(0.05)
"""Logprobs rounded to one decimal may sum to this much; beyond it they are of no distribution."""
_HALF = 0.5

_WIDE = "\u3000\uff08\uff09\u3010\u3011\u300c\u300d\u300e\u300f"
"""Blanks and brackets as Chinese and Japanese text has them."""
_EDGES = " \t\r\n\v\f\u00a0\u0120\u010a\u2581\"'`\u2018\u2019\u201c\u201d()[]{}<>*_$\\" + _WIDE
_FORMATTING_WORDS = ("answer", "label", "option", "/?think", "boxed")
_FORMATTING = re.compile(
    r"[-\s\"'`*_#()\[\]{}<>:.,=$\\|\u0120\u010a\u2581\u201c\u201d\u2018\u2019\uff1a"
    rf"{_WIDE}]+"
)
_FORMATTING_WORD = re.compile(f"(?:{'|'.join(_FORMATTING_WORDS)})?", re.IGNORECASE)
_THOUGHT = re.compile(
    r"[<\[]\|?think\|?[>\]].*?(?:[<\[]\|?/think\|?[>\]]|\Z)", re.IGNORECASE | re.DOTALL
)
"""What a model thinks aloud, up to the closing mark or as far as it came."""
_LEAD = re.compile(
    rf"(?:{_THOUGHT.pattern}|```\w*\n|{_FORMATTING.pattern}"
    rf"|(?:(?:the\s+(?:final\s+)?answer\s+is|final\s+answer|{'|'.join(_FORMATTING_WORDS)})"
    r"(?![^\W_])))*",
    re.IGNORECASE | re.DOTALL,
)
"""What may stand before a label: thoughts, marks, a code fence, words such as "Answer"."""
_CLOSED = re.compile(
    rf"(?:[{re.escape(_EDGES)}]|</\w+>)*"
    r"(?:[:.);!(\n\u3002\uff1a\uff09\uff1b\uff01\uff08]|/\d"
    r"|[,\uff0c]\s*(?!(?:or|I\s+(?:and|or))\b)(?:[a-z]{2}|I['\u2019 ]|[\u4e00-\u9fff])"
    r"|[-\u2013\u2014]\s(?!\d)|(?<=\s)out of\s\d|$)"
)
"""What must stand behind a label in a text: marks up to its end, or up to a mark that ends it."""
# Letters of Latin script only: in Chinese a word follows a letter without a space.
_MORE = re.compile(r"[0-9A-Za-z\u00c0-\u00ff]|[.,]\d*[1-9]|\.[A-Za-z]\.|\s?/\s?[A-Za-z]")
"""What makes a label the beginning of something longer: the 1 of 10 and of 1.5, the A of A.I."""
_JOINED = r",?\s(?:&|and|or|to)\s"
_SECOND_NUMBER = re.compile(rf"(?:\s?[-\u2013\u2014]\s?|,\s|{_JOINED})\d")
# "B - A customer asks" and "B, I think" name one, and the text may be cut right behind the I.
_SECOND_LETTER = re.compile(
    rf"(?:[-\u2013\u2014]|\s?[-\u2013\u2014]\s?(?![AI]\b)|,\s(?!I$)|{_JOINED})"
    r"(?!I['\u2019 ])[A-Z](?![^\W_])"
)
# "No, no refund" names one.
_SECOND_WORD = re.compile(rf"{_JOINED}(?:yes|no)(?![^\W_])", re.IGNORECASE)
_PRONOUN = re.compile(r"['\u2019][a-z]|[ \t]+[a-z]")
"""What makes an I the first word of a sentence, which is no label."""


@dataclass(frozen=True, slots=True)
class SlotReading:
    """What one position says about each label."""

    p: Floats
    """(K,) each label's share of the label mass, its spellings summed; all 0 without any."""
    lower: Floats
    """(K,) the least that each label's normalised probability can be."""
    upper: Floats
    """(K,) the most that it can be."""
    label_mass: float
    counted: tuple[tuple[Alternative, str | None], ...]
    """The alternatives, each with the label that it was counted for."""


def normalized(token: str, *, fold: bool = True) -> str:
    """Return a token's text without white space, quotes, brackets, emphasis and end marks."""
    text = token.strip(_EDGES).rstrip(".):\u3002\uff1a").strip(_EDGES)
    return text.casefold() if fold else text


def check_logprob(value: float, token: str) -> float:
    """Return a logprob as log mass: at most 0, -inf for none; raises MalformedResponse."""
    if math.isnan(value) or value == math.inf:
        raise MalformedResponse(f"the logprob of {token!r} is {value!r}: no probability")
    if value > CLIPPED:
        raise MalformedResponse(
            f"the logprob of {token!r} is {value!r}, above 0: the server returns something else "
            "under that name, such as probabilities"
        )
    return -math.inf if value <= NO_MASS else min(value, 0.0)


def kept_logprob(value: float) -> float | None:
    """Return a logprob as evidence keeps it: None for no probability, which JSON cannot say."""
    return value if math.isfinite(value) else None


def read_position(
    position: Position, labels: Sequence[str], *, before: str = "", after: str = ""
) -> SlotReading:
    """Sum each label's spellings among the alternatives, and bound what was not returned.

    `before` and `after` are what was written around the position: a token that they make a piece
    of something longer, as the 1 of 10, is no label. Raises MalformedResponse for what is no
    logprob, and where the probabilities sum to more than rounding explains.

    With S the label mass, u the unseen labels, l the least returned logprob and R the
    probability not returned: an unseen label has at most U1 = min(exp l, R), all of them at most
    U = min(u exp l, R); a seen one of mass m lies in [m/(S+U), m/S], an unseen one in
    [0, U1/(S+U1)].
    """
    fold = len({label.casefold() for label in labels}) == len(labels)
    index = {normalized(label, fold=fold): k for k, label in enumerate(labels)}
    mass = [0.0] * len(labels)
    counted: list[tuple[Alternative, str | None]] = []
    returned: list[float] = []
    for alternative in _distinct(position.alternatives):
        logprob = check_logprob(alternative.logprob, alternative.token)
        k = index.get(normalized(alternative.token, fold=fold))
        follows = after if alternative.token == position.token else ""
        # A label that is written alone is a piece of nothing.
        if k is not None and (before or follows):
            k = None if _goes_on(*_parted(alternative.token, before, follows)) else k
        share = math.exp(logprob)
        returned.append(share)
        if k is not None:
            mass[k] += share
        counted.append((alternative, None if k is None else labels[k]))
    whole = math.fsum(returned)
    if whole > MOST_SUM:
        raise MalformedResponse(
            f"the probabilities of the {len(returned)} alternatives at {position.token!r} sum to "
            f"{whole:.6g}, above 1: they are not logprobs of one distribution"
        )
    total = math.fsum(mass)
    rest = max(0.0, 1.0 - whole)
    p: Floats = np.array(mass) / (total or 1.0)
    lower, upper = _bounds(p, total, least=min(returned, default=1.0), rest=rest)
    return SlotReading(p, lower, upper, min(total, 1.0), tuple(counted))


def find_slot(
    positions: Sequence[Position], labels: Sequence[str]
) -> tuple[int, SlotReading] | None:
    """Return the slot's index and reading; None where everything so far is formatting.

    A position whose label mass is at least a half is the slot whatever token was drawn there.
    """
    text = "".join(position.token for position in positions)
    thoughts = [thought.span() for thought in _THOUGHT.finditer(text)]
    lead = _LEAD.match(text)
    assert lead is not None  # it may be empty
    end = 0
    for index, position in enumerate(positions):
        start, end = end, end + len(position.token)
        if any(first < end and start < last for first, last in thoughts):
            continue
        reading = read_position(position, labels, before=text[:start], after=text[end:])
        formatting = end <= lead.end() or is_formatting(position.token)
        if reading.label_mass >= _HALF or not formatting:
            return index, reading
    return None


def is_formatting(token: str) -> bool:
    """Whether a token is only white space, marks, a code fence or a word such as "Answer"."""
    bare = _FORMATTING.sub("", token)
    return bool(_FORMATTING_WORD.fullmatch(bare)) or token.strip().startswith("```")


def written_label(text: str) -> str:
    r"""Return the label that a text gives, normalised; "" for one that is more than a label.

    What stands before it is passed over as at a slot: "B", "B.", "B: billing", "**Answer:** B"
    and "\(B\)" are all an answer of B.
    """
    text = _THOUGHT.sub("", text)
    start = _LEAD.match(text)
    assert start is not None  # it may be empty
    before, rest = start.group(), text[start.end() :]
    label = re.match(r"[^\W_]*", rest)
    assert label is not None
    name, after = label.group(), rest[label.end() :]
    whole = _CLOSED.match(after) and not _goes_on(before, name, after)
    return normalized(name) if whole else ""


def label_to_come(text: str) -> bool:
    """Whether a text holds nothing but what may stand before a label, such as thoughts."""
    lead = _LEAD.match(text)
    assert lead is not None  # it may be empty
    return lead.end() == len(text)


def _parted(token: str, before: str, after: str) -> tuple[str, str, str]:
    """Return a token's text as a label, and what stands before and behind it."""
    bare = token.lstrip(_EDGES)
    name = normalized(token, fold=False)
    return before + token[: len(token) - len(bare)], name, bare[len(name) :] + after


def _goes_on(before: str, label: str, after: str) -> bool:
    """Whether a label is a piece of something longer or one of two, as in 10, 1.5, -1 and B/C."""
    signed = label.isdigit() and before.endswith((".", ",", "-", "\u2212"))
    speaks = label == "I" and _PRONOUN.match(after)
    return bool(signed or speaks or _MORE.match(after) or _second(label).match(after))


def _second(label: str) -> re.Pattern[str]:
    """Return what behind a label names another of its kind, as 3-4, B or C and yes and no do."""
    if label.isdigit():
        return _SECOND_NUMBER
    return _SECOND_LETTER if len(label) == 1 else _SECOND_WORD


def _distinct(alternatives: Iterable[Alternative]) -> Iterable[Alternative]:
    # The same text may stand twice for tokens of different bytes; a mere repetition may not count.
    return dict.fromkeys(alternatives)


def _bounds(p: Floats, total: float, *, least: float, rest: float) -> tuple[Floats, Floats]:
    unseen = p <= 0.0
    if total <= 0.0:
        return np.zeros_like(p), np.ones_like(p)
    one = min(least, rest)
    every = min(int(unseen.sum()) * least, rest)
    lower = p * (total / (total + every))
    upper = np.where(unseen, one / (total + one), p)
    return lower, upper
