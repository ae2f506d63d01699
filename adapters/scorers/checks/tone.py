"""Whether the tone stays the same, by counting friendly and unfriendly words of English."""

from __future__ import annotations

import re
from collections.abc import Callable
from statistics import pvariance
from typing import Any

from classify.adapters.scorers.agent_text import user_texts
from classify.adapters.scorers.checks.finding import Check, Finding, check
from classify.adapters.scorers.checks.text_checks import said
from classify.adapters.scorers.checks.words import sentences, words
from classify.adapters.scorers.result import ScorerRun

_GOOD = frozenset(
    """able admire agree amazing appreciate appreciated awesome beautiful benefit best better bright
    brilliant calm charming cheerful clean clear comfortable confident cool correct delight
    delighted delightful easy effective elegant enjoy enjoyed excellent excited exciting fair
    fantastic fast favourite favorite fine free fresh friendly fun generous gentle glad good
    grateful great happy helpful honest hope impressive improve improved interesting joy liked
    love loved lovely nice outstanding perfect perfectly pleasant pleased pleasure polite positive
    praise proud quick reliable safe satisfied satisfying smart smooth solid splendid strong
    success successful super superb support terrific thank thankful thanks true trust useful
    valuable warm welcome win wise wonderful worth""".split()
)
_BAD = frozenset(
    """abuse afraid angry annoyed annoying anxious arrogant ashamed awful bad badly boring broken
    careless cheap clumsy cold complain complaint confused confusing crash cruel damage damaged
    danger dangerous dead difficult dirty disappointed disappointing disappointment disaster
    disgusting dishonest dislike error fail failed failure fake fault faulty fear fool frustrated
    frustrating guilty harm harmful hate hated hopeless horrible hostile hurt ignorant impossible
    inferior insult jealous lazy lie lost mad mess miserable mistake nasty negative nervous
    pain painful pathetic poor problem problems regret ridiculous rude sad scared selfish
    shame sick silly slow sorry stupid terrible threat tired trouble ugly unacceptable unfair
    unfortunately unhappy unpleasant upset useless violent weak worried worse worst worthless wrong
    """.split()
)
_NOT = frozenset("not no never neither nor without hardly cannot can't don't doesn't didn't isn't "
                 "wasn't aren't weren't won't wouldn't shouldn't couldn't".split())  # fmt: skip
_CLAUSE_END = re.compile(r"[.,;:!?\n]+")
_REACH = 3
"""How many words before a word may turn it around."""


def sentiment(text: str) -> float:
    """Return (friendly - unfriendly) / (both) of a text's words, from -1 to 1; 0 without any.

    A negation up to three words before it in its clause turns a word around. The lists are short
    and English.

    >>> sentiment("This is good, not bad at all.")
    1.0
    """
    clauses = [words(clause) for clause in _CLAUSE_END.split(text)]
    signs = [_sign(clause, place) for clause in clauses for place in range(len(clause))]
    carrying = [sign for sign in signs if sign]
    return sum(carrying) / len(carrying) if carrying else 0.0


def tone_consistency(
    *, sentiment: Callable[[str], float] = sentiment, id: str = "tone-consistency"
) -> Check:
    """Measure whether the tone stays the same; 1 is the same throughout, more is better.

    Beside an input: max(0, 1 - |difference of the two sentiments|). Without one: max(0, 1 -
    variance of the sentiments of the output's sentences). `sentiment` gives a text's, from -1 to 1.
    """

    def look(run: ScorerRun[Any, Any]) -> Finding:
        asked, answer = " ".join(user_texts(run.input)), said(run)
        if asked.strip():
            pair = [sentiment(asked), sentiment(answer)]
            reason = f"The input's sentiment is {pair[0]:.3g}, the output's {pair[1]:.3g}."
            return Finding(max(0.0, 1.0 - abs(pair[0] - pair[1])), reason, {"sentiments": pair})
        each = [sentiment(sentence) for sentence in sentences(answer)]
        variance = pvariance(each) if each else 0.0
        reason = f"The sentiments of {len(each)} sentences vary by {variance:.3g}."
        return Finding(max(0.0, 1.0 - variance), reason, {"sentiments": each})

    return check(id, "Likeness of the tone of input and output, or within the output.", look)


def _sign(found: list[str], place: int) -> int:
    sign = (found[place] in _GOOD) - (found[place] in _BAD)
    before = found[max(0, place - _REACH) : place]
    return -sign if any(word in _NOT for word in before) else sign
