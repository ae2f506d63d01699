"""How much of the input is in the output, and how alike the two are; no model is asked.

Plain counts of words and letters: quick and the same every time, and blind to meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from classify.adapters.scorers.agent_text import user_texts
from classify.adapters.scorers.checks.finding import Check, Finding, check
from classify.adapters.scorers.checks.text_checks import said
from classify.adapters.scorers.checks.words import dice, keywords
from classify.adapters.scorers.result import NotScorable, ScorerRun, not_scorable

_LIKE = 0.6
"""The share of the longer word that the shorter must be for the two to count as one."""


def completeness(*, id: str = "completeness") -> Check:
    """Measure which of the input's terms the output covers: covered / terms; more is better.

    Terms are the words that are no stop words. A term is covered by the same word, and a term of
    more than three letters also by one that contains it or is contained in it with more than 0.6
    of the longer one's length ("deliver" and "delivered"). Two texts without terms are 1; an input
    without any beside an output that has some is not scorable.
    """

    def look(run: ScorerRun[Any, Any]) -> Finding | NotScorable:
        terms, given = keywords(_asked(run)), keywords(said(run))
        return _share(terms, [t for t in terms if any(_covers(word, t) for word in given)], given)

    return check(id, "Share of the input's terms that the output covers.", look)


def keyword_coverage(*, id: str = "keyword-coverage") -> Check:
    """Measure which of the input's keywords are in the output: matched / keywords; more is better.

    Keywords are the words that are no stop words, and match themselves alone, in any case. Two
    texts without keywords are 1; an input without any beside an output that has some is not
    scorable.
    """

    def look(run: ScorerRun[Any, Any]) -> Finding | NotScorable:
        terms, given = keywords(_asked(run)), keywords(said(run))
        return _share(terms, [term for term in terms if term in set(given)], given)

    return check(id, "Share of the input's keywords that are in the output.", look)


def content_similarity(
    *, ignore_case: bool = True, ignore_whitespace: bool = True, id: str = "content-similarity"
) -> Check:
    """Measure how alike input and output are: Dice's coefficient of letter pairs; 1 is the same."""

    def look(run: ScorerRun[Any, Any]) -> Finding:
        pair = [text.casefold() if ignore_case else text for text in (_asked(run), said(run))]
        if ignore_whitespace:
            pair = ["".join(text.split()) for text in pair]
        value = dice(*pair)
        return Finding(value, f"Input and output share {value:.4g} of their letter pairs.")

    return check(id, "Dice's coefficient of the letter pairs of input and output.", look)


def textual_difference(*, id: str = "textual-difference") -> Check:
    """Measure how alike input and output are as sequences of characters; 1 is the same.

    2 * matching characters / all characters, found as the longest common block and again on both
    its sides (Ratcliff and Obershelp). The time grows with the product of the lengths.
    """

    def look(run: ScorerRun[Any, Any]) -> Finding:
        # Without autojunk: it would pass over frequent letters of texts above 200 characters.
        matcher = SequenceMatcher(None, _asked(run), said(run), autojunk=False)
        changes = sum(tag != "equal" for tag, *_ in matcher.get_opcodes())
        value = matcher.ratio()
        reason = f"Input and output agree by {value:.4g}, with {changes} changes."
        return Finding(value, reason, {"changes": changes})

    return check(id, "Ratio of the matching characters of input and output.", look)


def _asked(run: ScorerRun[Any, Any]) -> str:
    return " ".join(user_texts(run.input))


def _share(
    terms: Sequence[str], covered: Sequence[str], given: Sequence[str]
) -> Finding | NotScorable:
    if not terms and given:
        return not_scorable("the input has no keywords")
    missing = [term for term in terms if term not in set(covered)]
    score = len(covered) / len(terms) if terms else 1.0
    reason = f"{len(covered)} of {len(terms)} keywords of the input are in the output."
    return Finding(score, reason, {"covered": list(covered), "missing": missing})


def _covers(word: str, term: str) -> bool:
    if word == term:
        return True
    shorter, longer = sorted((word, term), key=len)
    return len(term) > 3 and shorter in longer and len(shorter) / len(longer) > _LIKE
