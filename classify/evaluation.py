"""The result of putting a classifier's questions to one state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue, PrivateAttr

from classify.answers import AnyAnswer, check_asked
from classify.decision import ResponseInfo, Rounding
from classify.display.notebook import Shown
from classify.display.printed import Printed
from classify.evidence import UsageSeen
from classify.question_sets import QuestionSet
from classify.questions import Question

if TYPE_CHECKING:
    from classify.display.cards import Card

S = TypeVar("S", bound=QuestionSet)


class TotalUsage(UsageSeen):
    """Tokens used for all answers together."""

    total_tokens: int = 0
    """Input and output; what was not reported counts as 0."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What was asked, beside the answers: it makes no two evaluations unequal."""

    questions: Mapping[str, Question] = field(default_factory=dict[str, Question], compare=False)


class Evaluation(Printed, Shown, BaseModel):
    """Checked answers to every question about one state, and what it took.

    `print` shows every option's probability as a bar; `repr` lists the fields.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    classifier_id: str
    """The name of the classifier that asked."""
    answers: dict[str, AnyAnswer]
    """Question id -> answer or no-verdict, in the order of the questions."""
    usage: TotalUsage
    """Tokens of all questions together."""
    warnings: tuple[str, ...] = ()
    """What was odd about how the answers came about."""
    rounding: Rounding | None = None
    """To how many decimals the model rounds, where it says so."""
    provider_metadata: dict[str, JsonValue] | None = None
    """What a decision model adds of its own."""
    response: ResponseInfo
    """Which response this was; of several, the last question's."""
    attempts: int = 0
    """Requests made, failed ones included."""
    seconds: float = 0.0
    """For everything, with waits and retries."""
    _asked: _Asked = PrivateAttr(default_factory=_Asked)

    @property
    def questions(self) -> Mapping[str, Question]:
        """The questions that were asked, for showing the answers; not part of the JSON.

        None are known after reading an evaluation from JSON: `with_questions` adds them.
        """
        return self._asked.questions

    def with_questions(self, questions: Mapping[str, Question]) -> Self:
        """Return a copy that knows what was asked.

        Raises InvalidInput where an answer is to another question.
        """
        for name, answer in self.answers.items():
            check_asked(name, answer, questions)
        copy = self.model_copy()
        copy._asked = _Asked(questions)
        return copy

    def read(self, questions: type[S]) -> S:
        """Return the answers as an instance of the question set, so that their types are known."""
        return questions(self.answers)

    def _card(self) -> Card:
        from classify.display.answer_cards import evaluation_card

        return evaluation_card(self)
