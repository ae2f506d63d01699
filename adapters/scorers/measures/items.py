"""What a measure asks, item by item, and what came back.

A measure asks one question about each of its items: is this claim supported, is this sentence
toxic. It knows nothing of formulas or models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from classify.adapters.scorers.measures.sentences import ending, shortened
from classify.adapters.scorers.result import NotScorable
from classify.answers import Answer, AnyAnswer, NoVerdict
from classify.display.notebook import Shown
from classify.evaluation import TotalUsage
from classify.json_values import JSON
from classify.questions import Question

if TYPE_CHECKING:
    from classify.display.cards import Card

Counting: TypeAlias = Literal["expected", "verdicts"]
"""Probabilities enter the formula as they are; or the most probable option counts as certain."""

_NOTHING = NotScorable("there is nothing to judge")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to ask about."""

    question: str
    """The id of the measure's question that it is put to."""
    text: str
    """The claim, sentence, piece of context or criterion: what evidence shows of it."""
    state: Mapping[str, JSON]
    """What the classifier sees; what stays the same from item to item comes first."""
    long: str | None = None
    """The field that may be shortened where it is too long."""
    keep: Literal["closest", "end"] = "closest"
    """What stays of it: the sentences closest to the item's text, or its end."""
    required: bool = True
    """For a rubric: whether its verdict gates the score."""

    def within(self, limit: int | None) -> Item:
        """Return the item with its long field shortened to so many characters."""
        text = None if self.long is None else self.state[self.long]
        if limit is None or self.long is None or not isinstance(text, str) or len(text) <= limit:
            return self
        closest = self.keep == "closest"
        cut = shortened(text, limit, about=self.text) if closest else ending(text, limit)
        return replace(self, state={**self.state, self.long: cut})


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that is asked about one run."""

    items: tuple[Item, ...] = ()
    nothing: float | NotScorable = _NOTHING
    """The score where there are no items."""


class ItemAnswer(BaseModel):
    """The answer about one item."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    question: str
    """The id of the question that was asked about it."""
    text: str
    """The item."""
    answer: AnyAnswer
    """What the model said of it."""
    required: bool = True
    shortened: bool = False
    """Whether the long field was cut to the limit, so that not all of it was seen."""

    def shares(self, counting: Counting) -> dict[str, float]:
        """Return option -> share, summing to 1; raises ValueError where there is no verdict.

        An answer that came without probabilities is as certain as its model made it.
        """
        if isinstance(self.answer, NoVerdict):
            raise ValueError(f"the item {self.text!r} has no verdict")
        if counting == "expected" and self.answer.probabilities is not None:
            return dict(self.answer.probabilities)
        return _certain(self.answer)


def _certain(answer: Answer) -> dict[str, float]:
    if answer.type == "choice":
        return {answer.choice: 1.0}
    if answer.type == "boolean":
        return {"true": float(answer.probability > 0.5), "false": float(answer.probability <= 0.5)}
    if answer.probabilities is not None:
        return {max(answer.probabilities, key=answer.probabilities.__getitem__): 1.0}
    low = math.floor(answer.score)  # a level between two: both, so that their mean is the score
    above = answer.score - low
    return {str(low): 1.0} if above == 0.0 else {str(low): 1.0 - above, str(low + 1): above}


class MeasureEvidence(Shown, BaseModel):
    """What a measure asked, every answer, and how the score came of them.

    It holds the items' texts, and no context, prompt, header or body. It goes to JSON and back.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    measure: str
    """The measure's name."""
    classifier_id: str | None = None
    """None where nothing was asked."""
    model_id: str | None = None
    """What answered, as it names itself."""
    formula: str
    """How the score follows from the answers, in words."""
    counting: Counting
    """Whether probabilities or verdicts were counted."""
    questions: dict[str, Question]
    """Question id -> question, as asked."""
    items: tuple[ItemAnswer, ...] = ()
    """One answer for each item."""
    expected: float | None = None
    """The formula on probabilities; None where there is no score."""
    by_verdicts: float | None = None
    """The formula on the most probable options, as if each were certain."""
    note: str | None = None
    """Why there is no score, or which documented value stands in for a formula."""
    usage: TotalUsage = TotalUsage()
    """Tokens of all questions together."""
    warnings: tuple[str, ...] = ()
    """What was odd about how the answers came about."""
    attempts: int = 0
    """Requests made, failed ones included."""

    @property
    def of(self) -> int:
        """How many items were asked about."""
        return len(self.items)

    @property
    def used(self) -> int:
        """How many of them have a verdict: the formula's n."""
        return sum(not isinstance(item.answer, NoVerdict) for item in self.items)

    @property
    def score(self) -> float | None:
        """The score in the way of counting that was chosen."""
        return self.expected if self.counting == "expected" else self.by_verdicts

    def _card(self) -> Card:
        from classify.adapters.scorers.result_cards import measure_evidence_card

        return measure_evidence_card(self)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The items with a verdict, read in one way of counting."""

    items: Sequence[ItemAnswer]
    counting: Counting
    unanswered: Sequence[ItemAnswer] = ()
    """The items without a verdict, which no formula counts."""

    def asked(self, question: str) -> bool:
        """Whether any item of this question has a verdict."""
        return any(item.question == question for item in self.items)

    def shares(self, question: str, *options: str) -> list[float]:
        """Return for each item of a question how much of it falls on these options."""
        return [sum(dist.get(option, 0.0) for option in options) for dist in self._of(question)]

    def credits(self, question: str, credit: Mapping[str, float]) -> list[float]:
        """Return for each item of a question its options' mean credit."""
        return [
            math.fsum(p * credit[option] for option, p in dist.items())
            for dist in self._of(question)
        ]

    def levels(self, question: str) -> list[float]:
        """Return for each item of a question of three levels 0, .5, 1 or what lies between."""
        return self.credits(question, {"0": 0.0, "1": 0.5, "2": 1.0})

    def total(self, question: str, *options: str) -> float:
        """Return the expected number of items that fall on these options."""
        return math.fsum(self.shares(question, *options))

    def _of(self, question: str) -> list[dict[str, float]]:
        return [item.shares(self.counting) for item in self.items if item.question == question]
