"""Answers, one kind per kind of question, and the state of having none.

They are what results files hold, so they are frozen pydantic models that round-trip as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, computed_field, model_validator

from classify.display.notebook import Shown
from classify.display.printed import Printed
from classify.errors import InvalidInput
from classify.evidence import Evidence, Method, Probability
from classify.json_values import is_object
from classify.questions import Question
from classify.validation import unknown_name

if TYPE_CHECKING:
    from classify.display.cards import Card

Cause: TypeAlias = Literal[
    "low_label_mass",
    "no_label",
    "refusal",
    "content_filter",
    "truncated",
    "unusable_logprobs",
    "declined",
    "uncertain",
]
"""Why there is no verdict: too little probability on any label; no label seen at all; the model
refused; the provider filtered; the output ended before a label; the endpoint returned numbers that
are no logprobs of the labels; a service declined the question; an abstention policy handed over."""


class _Answer(Printed, Shown, BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    bounds: dict[str, tuple[Probability, Probability]] | None = None
    """Option -> the interval that its probability is known to lie in, where the model did not
    show everything; None where the probabilities are exact or their bounds unknown."""
    label_mass: float | None = Field(default=None, ge=0.0, le=1.0)
    """The model's probability of answering with any label at all (its coverage)."""
    method: Method = "decision"
    """How the distribution was obtained."""
    raw_probabilities: dict[str, Probability] | None = None
    """The probabilities before a calibrator or a prior correction changed them."""
    provider_confidence: FiniteFloat | None = None
    """The `confidence` of a decision model's answer, on the model's own scale; nothing here is
    computed from it."""
    evidence: Evidence | None = None
    """What was sent and seen."""

    def _card(self) -> Card:
        from classify.display.answer_cards import answer_card

        assert isinstance(self, ChoiceAnswer | ScoreAnswer | BooleanAnswer)  # the union is closed
        return answer_card(self)


class ChoiceAnswer(_Answer):
    """The most probable option."""

    type: Literal["choice"] = "choice"
    choice: str
    """The option's name."""
    probabilities: dict[str, Probability] | None = None
    """Option -> probability; None where the model gave only its choice."""
    tie: bool = False
    """Whether another option is exactly as probable; the first declared one is chosen."""

    @model_validator(mode="after")
    def _choice_has_a_probability(self) -> Self:
        if self.probabilities is not None and self.choice not in self.probabilities:
            raise ValueError(f"choice {self.choice!r} is none of {list(self.probabilities)!r}")
        return self


class ScoreAnswer(_Answer):
    """The expected level."""

    type: Literal["score"] = "score"
    score: FiniteFloat
    """In [0, levels - 1]."""
    probabilities: dict[str, Probability] | None = None
    """Level index as text -> probability; None where only the expectation is known."""
    score_range: tuple[FiniteFloat, FiniteFloat] | None = None
    """The interval that the score is known to lie in."""


class BooleanAnswer(_Answer):
    """The probability of yes."""

    type: Literal["boolean"] = "boolean"
    probability: Probability
    """P(true), in [0, 1]."""

    @model_validator(mode="before")
    @classmethod
    def _probabilities_follow(cls, values: object) -> object:
        # They are written out with the answer, and computed again when it is read back.
        if is_object(values):
            return {key: value for key, value in values.items() if key != "probabilities"}
        return values

    @computed_field  # type: ignore[prop-decorator]  # mypy #1362: decorators on a property
    @property
    def probabilities(self) -> dict[str, float]:
        """P(true) and P(false)."""
        return {"true": self.probability, "false": 1.0 - self.probability}


class NoVerdict(Printed, Shown, BaseModel):
    """No answer, and why. Never a score, counted apart everywhere."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    type: Literal["no_verdict"] = "no_verdict"
    kind: Literal["choice", "score", "boolean"]
    """The kind of question that was asked."""
    cause: Cause
    """Why, as one of the words of `Cause`."""
    message: str
    """Why, in a sentence."""
    label_mass: float | None = Field(default=None, ge=0.0, le=1.0)
    """The model's probability of any label at all, where something was read."""
    method: Method = "decision"
    """How a distribution would have been obtained."""
    probabilities: dict[str, Probability] | None = None
    """What the policy saw that handed the answer over; None where nothing was read."""
    raw_probabilities: dict[str, Probability] | None = None
    """The probabilities before a calibrator or a prior correction changed them."""
    evidence: Evidence | None = None
    """What was sent and seen."""

    def _card(self) -> Card:
        from classify.display.answer_cards import answer_card

        return answer_card(self)


Answer: TypeAlias = ChoiceAnswer | ScoreAnswer | BooleanAnswer
AnyAnswer: TypeAlias = Annotated[
    ChoiceAnswer | ScoreAnswer | BooleanAnswer | NoVerdict, Field(discriminator="type")
]


def distribution(answer: Answer) -> Mapping[str, float] | None:
    """Return the probabilities of an answer, option by option."""
    return answer.probabilities


def most_probable(answer: Answer) -> str:
    """Return the option that an answer comes down to; 0.5 counts as true."""
    if isinstance(answer, ChoiceAnswer):
        return answer.choice
    if isinstance(answer, BooleanAnswer):
        return "true" if answer.probability >= 0.5 else "false"
    if answer.probabilities is None:
        return str(round(answer.score))
    return max(answer.probabilities, key=answer.probabilities.__getitem__)


def check_asked(name: str, answer: Answer | NoVerdict, questions: Mapping[str, Question]) -> None:
    """Raise InvalidInput where the question of that name is missing, or another one."""
    if name not in questions:
        raise InvalidInput(
            f"the answers are to other questions: {unknown_name('question', name, questions)}"
        )
    question = questions[name]
    kind = answer.kind if isinstance(answer, NoVerdict) else answer.type
    options = answer.probabilities or question.options
    if kind != question.type or set(options) != set(question.options):
        raise InvalidInput(
            f"question {name!r} is a {question.type} with the options {list(question.options)!r}, "
            f"and its answer is a {kind} about {list(options)!r}: it was another question"
        )
