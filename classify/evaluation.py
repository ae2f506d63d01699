"""The result of putting a classifier's questions to one state."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue

from classify.answers import AnyAnswer
from classify.decision import ResponseInfo, Rounding
from classify.evidence import UsageSeen
from classify.question_sets import QuestionSet

S = TypeVar("S", bound=QuestionSet)


class TotalUsage(UsageSeen):
    """Tokens used for all answers together."""

    total_tokens: int = 0
    """Input and output; what was not reported counts as 0."""


class Evaluation(BaseModel):
    """Checked answers to every question about one state, and what it took."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    classifier_id: str
    answers: dict[str, AnyAnswer]
    """Question id -> answer or no-verdict, in the order of the questions."""
    usage: TotalUsage
    warnings: tuple[str, ...] = ()
    rounding: Rounding | None = None
    provider_metadata: dict[str, JsonValue] | None = None
    response: ResponseInfo
    attempts: int = 0
    """Requests made, failed ones included."""
    seconds: float = 0.0

    def read(self, questions: type[S]) -> S:
        """Return the answers as an instance of the question set, so that their types are known."""
        return questions(self.answers)
