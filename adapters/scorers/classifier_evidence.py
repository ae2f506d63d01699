"""What a classifier scorer saw and how it was projected: its analyze step's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

from classify.adapters.scorers.projection import (
    Interval,
    Options,
    Projection,
    projected,
    projected_bounds,
    projection_of,
)
from classify.answers import AnyAnswer, NoVerdict
from classify.decision import ResponseInfo, Rounding
from classify.display.notebook import Shown
from classify.evaluation import TotalUsage
from classify.evidence import Method
from classify.questions import Question

if TYPE_CHECKING:
    from classify.display.cards import Card


class ClassifierEvidence(Shown, BaseModel):
    """One answer with everything it came with: never headers, bodies or the text judged.

    It goes to JSON and back (`model_dump_json`, `model_validate_json`).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    classifier_id: str
    question: str
    """The question's id."""
    asked: Question
    """The question itself."""
    answer: AnyAnswer
    """Exactly as the classifier gave it, with probabilities, bounds, label mass and method."""
    projection: Projection
    """Which number the answer becomes."""
    score_bounds: Interval | None = None
    """The interval that the score is known to lie in; None where nothing is known of it."""
    usage: TotalUsage
    """For all questions of the classifier together."""
    warnings: tuple[str, ...] = ()
    rounding: Rounding | None = None
    provider_metadata: dict[str, JsonValue] | None = None
    response: ResponseInfo
    attempts: int = 0
    seconds: float = 0.0

    @property
    def label_mass(self) -> float | None:
        """The model's probability of answering with any label at all."""
        return self.answer.label_mass

    @property
    def method(self) -> Method:
        """How the distribution was obtained."""
        return self.answer.method

    @property
    def score(self) -> float | None:
        """The score, in [0, 1]; None where there was no verdict.

        Raises InvalidInput where the projection needs probabilities and there are none.
        """
        if isinstance(self.answer, NoVerdict):
            return None
        return projected(self.projection, self.answer, self.asked)

    def reprojected(
        self,
        *,
        scores: Mapping[str, float] | None = None,
        correct: Options | None = None,
        projection: Literal["expected"] | None = None,
    ) -> ClassifierEvidence:
        """Return the evidence with another projection of the same answer; no model is asked.

        Raises ScorerDefinitionError where the settings do not fit the question.
        """
        other = projection_of(
            self.question, self.asked, scores=scores, correct=correct, projection=projection
        )
        bounds = (
            None
            if isinstance(self.answer, NoVerdict)
            else projected_bounds(other, self.answer, self.asked)
        )
        return self.model_copy(update={"projection": other, "score_bounds": bounds})

    def _card(self) -> Card:
        from classify.adapters.scorers.result_cards import classifier_evidence_card

        return classifier_evidence_card(self)
