"""Read the label that a person gave to a row, in the forms that files have them."""

from __future__ import annotations

import json
import math
from typing import TypeAlias

from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.questions import Choice, Question, Score

Label: TypeAlias = str | float | bool
"""An option of a choice, a level (or a mean of levels) of a score, the truth of a boolean."""

_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def read_label(question: Question, value: JSON) -> Label | None:
    """Return the label, None where there is none (null, or an empty cell).

    Choices take an option's name; booleans true, false, yes, no, 1 and 0; scores a level's
    description, else a number from 0 to the last level. Raises InvalidInput, which names what was
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
    raise InvalidInput(f"is no option of the question ({', '.join(question.options)})")


def _level(question: Score, text: str) -> float:
    # Descriptions come first: on a scale described as "1" to "5", a label of 1 is its first level.
    for level, description in enumerate(question.criteria):
        described = description if isinstance(description, str) else json.dumps(description)
        if text == described.strip():
            return float(level)
    last = len(question.criteria) - 1
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= last:
        raise InvalidInput(f"is no level's description and no number from 0 to {last}")
    return value
