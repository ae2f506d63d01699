"""Put the state of a run to a classifier, and keep its answer as evidence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.projection import (
    Options,
    Projection,
    projected_bounds,
    projection_of,
)
from classify.adapters.scorers.registry import NotRegistered, Registry
from classify.adapters.scorers.result import StepContext
from classify.adapters.scorers.settling import settled
from classify.answers import NoVerdict
from classify.classifier import Classifier
from classify.errors import InvalidAnswer, InvalidInput
from classify.evaluation import Evaluation
from classify.json_values import JSON
from classify.questions import Question
from classify.validation import unknown_name


@dataclass(frozen=True, slots=True)
class Projected:
    """The settings of a projection, before the question is known."""

    scores: Mapping[str, float] | None
    correct: Options | None
    projection: Literal["expected"] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asks:
    """What a classifier scorer asks of whom."""

    scorer_id: str
    classifier: Classifier | str
    question: str
    state: Callable[[StepContext[Any, Any, None, None]], JSON | Awaitable[JSON]]
    projection: Projected
    options: Mapping[str, Any]
    """Passed on to `Classifier.evaluate`."""
    registry: Registry | None = None

    def __post_init__(self) -> None:
        """Check what is known by now; raises ScorerDefinitionError."""
        if not callable(self.state):
            raise ScorerDefinitionError(
                f"state must be a function of a StepContext, got {self.state!r}"
            )
        if isinstance(self.classifier, Classifier):
            self.checked(self.classifier)
        elif not isinstance(self.classifier, str) or not self.classifier.strip():
            raise ScorerDefinitionError(
                "classifier must be a Classifier or the id of a registered one, "
                f"got {self.classifier!r}"
            )

    async def evidence(self, context: StepContext[Any, Any, None, None]) -> ClassifierEvidence:
        """Ask the classifier about this run."""
        classifier = self._found()
        asked, projection = self.checked(classifier)
        state: JSON = await settled(self.state(context))
        if state is None:  # a model would judge the word "null", and may well like it
            raise InvalidInput(
                "state gave None, so there is nothing to judge: return what the run made, and see "
                "that it made something"
            )
        evaluation = await classifier.evaluate(state, **self.options)
        return _evidence(evaluation, self.question, asked=asked, projection=projection)

    def checked(self, classifier: Classifier) -> tuple[Question, Projection]:
        """Return the question and the projection; raises ScorerDefinitionError."""
        where = f"scorer {self.scorer_id!r}, classifier {classifier.id!r}"
        if not classifier.questions:
            raise ScorerDefinitionError(
                f"{where}: the classifier was built without questions; give it some"
            )
        if self.question not in classifier.questions:
            raise ScorerDefinitionError(
                f"{where}: {unknown_name('question', self.question, classifier.questions)}"
            )
        asked = classifier.questions[self.question]
        given = self.projection
        try:
            projection = projection_of(
                self.question,
                asked,
                scores=given.scores,
                correct=given.correct,
                projection=given.projection,
            )
        except ScorerDefinitionError as error:
            raise ScorerDefinitionError(f"{where}: {error}") from None
        return asked, projection

    def _found(self) -> Classifier:
        if isinstance(self.classifier, Classifier):
            return self.classifier
        where = f"scorer {self.scorer_id!r} names its classifier by the id {self.classifier!r}"
        if self.registry is None:
            raise InvalidInput(
                f"{where} and is in no registry: give it registry=..., or add it to a Registry "
                f"and run what registry.get_scorer returns"
            )
        try:
            return self.registry.get_classifier_by_id(self.classifier)
        except NotRegistered as error:
            raise NotRegistered(
                f"{where}, which its registry does not hold: add the classifier with "
                f"registry.add_classifier(...)"
            ) from error


def _evidence(
    evaluation: Evaluation, question: str, *, asked: Question, projection: Projection
) -> ClassifierEvidence:
    answer = evaluation.answers.get(question)
    if answer is None:
        raise InvalidAnswer(
            f"classifier {evaluation.classifier_id!r} gave no answer to question {question!r}"
        )
    return ClassifierEvidence(
        classifier_id=evaluation.classifier_id,
        question=question,
        asked=asked,
        answer=answer,
        projection=projection,
        score_bounds=(
            None if isinstance(answer, NoVerdict) else projected_bounds(projection, answer, asked)
        ),
        usage=evaluation.usage,
        warnings=evaluation.warnings,
        rounding=evaluation.rounding,
        provider_metadata=evaluation.provider_metadata,
        response=evaluation.response,
        attempts=evaluation.attempts,
        seconds=evaluation.seconds,
    )
