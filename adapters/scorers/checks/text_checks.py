"""Checks of what the assistant said: 1 where it holds, else 0; more is better.

The text is that of all the assistant's messages, joined by a space; `equals` joins without one.
"""

from __future__ import annotations

import re
from typing import Any

from classify.adapters.scorers.agent_text import assistant_texts
from classify.adapters.scorers.checks.finding import Check, Finding, check, passed, required_text
from classify.adapters.scorers.checks.words import dice
from classify.adapters.scorers.result import ScorerRun
from classify.errors import InvalidInput


def includes(expected: str, *, ignore_case: bool = True, id: str = "includes") -> Check:
    """Check that the output contains a text."""
    wanted = _cased(required_text(expected, "expected"), ignore_case)

    def look(run: ScorerRun[Any, Any]) -> Finding:
        found = wanted in _cased(said(run), ignore_case)
        return passed(found, f"The output {'contains' if found else 'lacks'} {expected!r}.")

    return check(id, f"1 where the output contains {expected!r}, else 0.", look)


def excludes(unwanted: str, *, ignore_case: bool = True, id: str = "excludes") -> Check:
    """Check that the output does not contain a text."""
    sought = _cased(required_text(unwanted, "unwanted"), ignore_case)

    def look(run: ScorerRun[Any, Any]) -> Finding:
        found = sought in _cased(said(run), ignore_case)
        return passed(not found, f"The output {'contains' if found else 'lacks'} {unwanted!r}.")

    return check(id, f"1 where the output does not contain {unwanted!r}, else 0.", look)


def equals(expected: str, *, ignore_case: bool = True, id: str = "equals") -> Check:
    """Check that the output is a text and nothing more."""

    def look(run: ScorerRun[Any, Any]) -> Finding:
        same = _cased(said(run, joint=""), ignore_case) == _cased(expected, ignore_case)
        return passed(same, f"The output {'is' if same else 'is not'} {expected!r}.")

    return check(id, f"1 where the output is {expected!r}, else 0.", look)


def matches(pattern: str | re.Pattern[str], *, exact: bool = False, id: str = "matches") -> Check:
    """Check that a regular expression is found in the output; `exact`: that it is all of it.

    Raises InvalidInput for a pattern that is none.
    """
    try:
        compiled = re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InvalidInput(f"pattern {pattern!r} is no regular expression: {error}") from None
    shown = compiled.pattern

    def look(run: ScorerRun[Any, Any]) -> Finding:
        text = said(run)
        found = compiled.fullmatch(text) if exact else compiled.search(text)
        where = None if found is None else list(found.span())
        word = "does not match" if found is None else "matches"
        return passed(found is not None, f"The output {word} {shown!r}.", span=where)

    return check(id, f"1 where the output matches {shown!r}, else 0.", look)


def similarity(
    expected: str,
    *,
    threshold: float | None = None,
    ignore_case: bool = True,
    id: str = "similarity",
) -> Check:
    """Measure how much the output is like a text: Dice's coefficient of their pairs of letters.

    With a threshold 1 where it is reached, else 0. White space counts for nothing.
    """
    if threshold is not None and not 0.0 <= threshold <= 1.0:
        raise InvalidInput(f"threshold must be from 0 to 1, got {threshold!r}")

    def look(run: ScorerRun[Any, Any]) -> Finding:
        value = dice(_letters(said(run), ignore_case), _letters(expected, ignore_case))
        score = value if threshold is None else float(value >= threshold)
        reason = f"The similarity to the expected text is {value:.4g}."
        return Finding(score, reason, {"dice": value})

    return check(id, "Dice's coefficient of letter pairs with an expected text, 0 to 1.", look)


def said(run: ScorerRun[Any, Any], joint: str = " ") -> str:
    """Return all that the assistant said."""
    return joint.join(assistant_texts(run.output))


def _cased(text: str, ignore_case: bool) -> str:
    return text.casefold() if ignore_case else text


def _letters(text: str, ignore_case: bool) -> str:
    return "".join(_cased(text, ignore_case).split())
