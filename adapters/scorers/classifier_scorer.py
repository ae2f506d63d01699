"""A classifier's answer to one question as a scorer, with its evidence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Generic, Literal, TypeAlias

from classify.adapters.scorers.builder import AnyIn, AnyOut
from classify.adapters.scorers.classifier_asking import Asks, Projected
from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.definition import Definition, OnResult, PrepareRun
from classify.adapters.scorers.projection import Options
from classify.adapters.scorers.registry import Registry
from classify.adapters.scorers.result import (
    Direction,
    In,
    NotScorable,
    Out,
    StepContext,
    not_scorable,
)
from classify.adapters.scorers.scorer import Scorer
from classify.answers import NoVerdict
from classify.classifier import Classifier
from classify.json_values import JSON

Scored: TypeAlias = StepContext[Any, Any, None, ClassifierEvidence]


class ClassifierScorer(Scorer[In, Out, None, ClassifierEvidence], Generic[In, Out]):
    """A scorer that asks a classifier; `create_classifier_scorer` makes one."""

    def __init__(self, definition: Definition, asks: Asks) -> None:
        """Take the settings without steps, and what is asked."""
        super().__init__(
            definition.with_step("analyze", asks.evidence)
            .with_step("generate_score", _score)
            .with_step("generate_reason", _reason)
        )
        self._settings, self._asks = definition, asks

    @property
    def classifier(self) -> Classifier | str:
        """The classifier that is asked, or the id that it is registered under."""
        return self._asks.classifier

    @property
    def question(self) -> str:
        """The id of the question whose answer is scored."""
        return self._asks.question

    def with_registry(self, registry: Registry) -> ClassifierScorer[In, Out]:
        """Return the scorer with a registry to find its classifier in, where it needs one."""
        if isinstance(self.classifier, Classifier) or self._asks.registry is not None:
            return self
        return ClassifierScorer(self._settings, replace(self._asks, registry=registry))


def create_classifier_scorer(
    id: str,
    classifier: Classifier | str,
    question: str,
    state: Callable[[StepContext[AnyIn, AnyOut, None, None]], JSON | Awaitable[JSON]],
    *,
    scores: Mapping[str, float] | None = None,
    correct: Options | None = None,
    projection: Literal["expected"] | None = None,
    name: str | None = None,
    description: str | None = None,
    type: Literal["agent", "trajectory"] | None = None,
    direction: Direction = "higher",
    max_retries: int = 2,
    timeout: float | None = None,
    provider_options: Mapping[str, JSON] | None = None,
    prepare_run: PrepareRun[AnyIn, AnyOut] | None = None,
    on_result: OnResult[AnyIn, AnyOut] | None = None,
    registry: Registry | None = None,
) -> ClassifierScorer[AnyIn, AnyOut]:
    """Return a scorer of a classifier's answer to one of its questions.

    `classifier` is a Classifier with questions, or the id of one in `registry`, which is looked up
    when the scorer runs. `state(context)` says what is judged, as JSON; it may be asynchronous.
    Where it gives None, as of a run without an output, the run fails.

    A choice becomes `scores[option]` of the chosen option; with projection="expected" the sum of
    p * scores over all options; with `correct` the probability of those options (also for levels
    and for true or false). A score becomes level / (levels - 1), a boolean P(true). No verdict
    becomes not_scorable, which fails a gate. All of the classifier's questions are asked.

    Raises ScorerDefinitionError, for an id when the scorer runs: no such question, or a projection
    that does not fit it.
    """
    asks = Asks(
        scorer_id=id,
        classifier=classifier,
        question=question,
        state=state,
        projection=Projected(scores, correct, projection),
        options={
            "max_retries": max_retries,
            "timeout": timeout,
            "provider_options": provider_options,
        },
        registry=registry,
    )
    definition = Definition(
        id=id,
        name=id if name is None else name,
        description=_described(question) if description is None else description,
        type=type,
        prepare_run=prepare_run,
        on_result=on_result,
        direction=direction,
    )
    return ClassifierScorer(definition, asks)


def _score(context: Scored) -> float | NotScorable:
    """Project the answer."""
    evidence = context.results.analyze_step_result
    if isinstance(evidence.answer, NoVerdict):
        return not_scorable(
            f"question {evidence.question!r} has no verdict ({evidence.answer.cause}): "
            f"{evidence.answer.message}",
            no_verdict=True,
        )
    score = evidence.score
    assert score is not None  # there is a verdict
    return score


def _reason(context: Scored) -> str:
    """Name the question, the answer and the number that it became."""
    evidence = context.results.analyze_step_result
    answer, rule = evidence.answer, evidence.projection.rule
    name, score = evidence.question, context.score
    if rule == "correct":
        options = " or ".join(evidence.projection.correct or ())
        return f"Question {name!r}: the probability of {options} is {score:.6g}."
    if answer.type == "choice":
        how = "which scores" if rule == "selected" else "and the expected score is"
        return f"Question {name!r} was answered {answer.choice!r}, {how} {score:.6g}."
    if answer.type == "score":
        highest = len(evidence.asked.options) - 1
        return f"Question {name!r} was answered with level {answer.score:.6g} of {highest}."
    return f"Question {name!r}: the probability of true is {score:.6g}."


def _described(question: str) -> str:
    return f"Scores a classifier's answer to the question {question!r}."
