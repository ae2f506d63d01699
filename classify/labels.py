"""Give options labels: listing orders, alphabets, groups where there are too many.

Labels come from fixed alphabets whose marks no tokenizer confuses: none is a prefix of another
and all differ when case is folded. It knows nothing of prompts or models.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from classify.errors import InvalidInput
from classify.language_model import Readout
from classify.questions import Boolean, Choice, Question, Score

Listing: TypeAlias = tuple[str, ...]

LETTERS = tuple(string.ascii_uppercase)
DIGITS = tuple(string.digits)
_TRUTH = {"true": "Yes", "false": "No"}


@dataclass(frozen=True, slots=True)
class Slate:
    """What one prompt offers: labels in the order listed, each for one option or a group."""

    labels: tuple[str, ...]
    members: tuple[Listing, ...]

    @property
    def grouped(self) -> bool:
        """Whether some label stands for several options."""
        return any(len(group) > 1 for group in self.members)

    def mapping(self) -> dict[str, str]:
        """Return label -> option; a group is named by its options."""
        return dict(zip(self.labels, map(" | ".join, self.members), strict=True))


def canonical(question: Question) -> Listing:
    """Return the options in the order that does not depend on how the user listed them."""
    return tuple(sorted(question.options)) if isinstance(question, Choice) else question.options


def listings(question: Question, count: int) -> tuple[Listing, ...]:
    """Return up to `count` orders: evenly spaced rotations of a choice; forward and reverse else.

    With as many rotations as options, an additive preference for a position cancels exactly.
    """
    first = canonical(question)
    if not isinstance(question, Choice):
        return (first, first[::-1])[:count]
    rotations = min(count, len(first))
    shifts = (turn * len(first) // rotations for turn in range(rotations))
    return tuple(first[shift:] + first[:shift] for shift in shifts)


def check_readout(name: str, question: Question, readout: Readout) -> None:
    """Raise InvalidInput where a question cannot be answered with this readout."""
    if readout == "yes_no" and not isinstance(question, Boolean):
        raise InvalidInput(
            f"question {name!r}: the readout yes_no answers boolean questions only, this is a "
            f"{question.type}; use letters, digits, words or sequence"
        )


def slate(question: Question, listing: Listing, *, readout: Readout, resolution: int) -> Slate:
    """Label the options of a listing; in groups where the endpoint cannot tell so many apart.

    `resolution` is how many alternatives it shows at one position, at least 2.
    """
    if readout == "yes_no":
        return Slate(tuple(_TRUTH[option] for option in listing), _singles(listing))
    alphabet = DIGITS if readout == "digits" and len(listing) <= len(DIGITS) else LETTERS
    if alphabet is DIGITS and isinstance(question, Score):
        # The level's own index, so that prompt, label and answer agree in either direction.
        return Slate(listing, _singles(listing))
    size = min(len(alphabet), max(resolution, 2))
    members = _singles(listing) if len(listing) <= size else _groups(listing, size)
    return Slate(alphabet[: len(members)], members)


def _singles(listing: Listing) -> tuple[Listing, ...]:
    return tuple((option,) for option in listing)


def _groups(listing: Listing, size: int) -> tuple[Listing, ...]:
    # As few groups as hold everything with the deepest level full, and of even sizes: a small
    # last group would be easier to pick.
    room = size
    while room * size < len(listing):
        room *= size
    count = -(-len(listing) // room)
    bounds = [turn * len(listing) // count for turn in range(count + 1)]
    return tuple(listing[a:b] for a, b in pairwise(bounds))
