"""Read the label that a person gave to a row, in the forms that files have them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TypeAlias

from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Choice, Question, Score
from classify.validation import closest

Label: TypeAlias = str | float | bool
"""An option of a choice, a level (or a mean of levels) of a score, the truth of a boolean."""

_TRUTHS = {
    **dict.fromkeys(("true", "yes", "1", "1.0"), True),
    **dict.fromkeys(("false", "no", "0", "0.0"), False),
}
"""1.0 and 0.0 are how columns of 1 and 0 with gaps are written."""


def read_label(question: Question, value: JSON) -> Label | None:
    """Return the label, None where there is none (null, or an empty cell).

    Choices take an option's name; booleans true, false, yes, no, 1 and 0; scores a level's
    description, else a number from 0 to the last level, or on the scale of descriptions that are
    evenly spaced numbers: 3.5 of "1" to "5" is level 2.5. Raises InvalidInput, which names what was
    expected and not the value: it may be someone's text.
    """
    if value is None or value == "":
        return None
    text = value.strip() if isinstance(value, str) else json.dumps(value)
    if isinstance(question, Choice):
        return _option(question, text)
    if isinstance(question, Score):
        return _level(question, text)
    truth = _TRUTHS.get(text.lower())
    if truth is None:
        raise InvalidInput("is none of true, false, yes, no, 1, 0")
    return truth


def _option(question: Choice, text: str) -> str:
    for option in question.options:
        if text == option.strip():
            return option
    known = f"is no option of the question ({', '.join(question.options)})"
    close = closest(text.lower(), question.options)
    raise InvalidInput(known if close is None else f"{known}: did you mean {close!r}?")


def _level(question: Score, text: str) -> float:
    # Descriptions come first: on a scale described as "1" to "5", a label of 1 is its first level.
    described = [d if isinstance(d, str) else json.dumps(d) for d in question.criteria]
    for level, description in enumerate(described):
        if text == description.strip():
            return float(level)
    value, ends = _number(text), _ends(described)
    for level, description in enumerate(described):
        # 3.0 for 3 is how columns of numbers with gaps are written.
        if value is not None and value == _number(description):
            return float(level)
    between = "" if ends is None else f" and no number from {ends[0]:g} to {ends[1]:g}"
    if value is None or ends is None or not min(ends) <= value <= max(ends):
        raise InvalidInput(f"is no level's description{between}")
    first, last = ends
    return (value - first) / (last - first) * (len(described) - 1)


def _ends(described: Sequence[str]) -> tuple[float, float] | None:
    """Return the numbers of the first and the last level that a label between two is given in.

    A mean of people is of the numbers that they were shown: where those are not evenly spaced,
    nothing tells what lies between them.
    """
    numbers = [number for d in described if (number := _number(d)) is not None]
    steps = len(described) - 1
    if len(numbers) <= steps:
        return 0.0, float(steps)
    first, whole = numbers[0], numbers[-1] - numbers[0]
    off = (abs(first + whole * level / steps - n) for level, n in enumerate(numbers))
    return (first, numbers[-1]) if max(off) <= 1e-9 * abs(whole) else None


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
