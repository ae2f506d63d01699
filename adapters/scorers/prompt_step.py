"""A step that asks the judge."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeAlias

from pydantic import BaseModel
from typing_extensions import TypeVar

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.judge import Judge
from classify.adapters.scorers.output_schema import OutputSchema, ScoreAnswer, output_schema
from classify.adapters.scorers.result import Ana, In, NotScorable, Out, Pre, StepContext, StepName
from classify.json_values import JSON

Judged = TypeVar("Judged", bound=BaseModel, default=Any)
"""The pydantic model of the judge's object; a JSON Schema gives plain JSON, of any type."""

Object = TypeVar("Object")
CreatePrompt: TypeAlias = Callable[[StepContext[In, Out, Pre, Ana]], str | Awaitable[str]]
CalculateScore: TypeAlias = Callable[
    [Object, StepContext[In, Out, Pre, Ana]],
    float
    | NotScorable
    | Awaitable[float]
    | Awaitable[NotScorable]
    | Awaitable[float | NotScorable],
]

_SCORE = output_schema(ScoreAnswer)


class PromptStep(Generic[In, Out, Pre, Ana, Judged]):
    """Ask the judge for an object, a score or a reason.

    preprocess and analyze need an `output_schema`, a pydantic model or a JSON Schema; its object
    is the step's result. generate_score asks for {"score": number} without one; with one,
    `calculate_score(object, context)` gives the number. generate_reason takes the judge's text.
    `judge` overrides the scorer's settings, field by field.

    Raises ScorerDefinitionError for unusable settings.
    """

    def __init__(
        self,
        description: str,
        create_prompt: CreatePrompt[In, Out, Pre, Ana],
        *,
        output_schema: type[Judged] | Mapping[str, JSON] | None = None,
        judge: Judge | None = None,
        calculate_score: CalculateScore[Judged, In, Out, Pre, Ana] | None = None,
    ) -> None:
        """Check the settings; which of them a step takes is checked as it is added."""
        if not callable(create_prompt):
            raise ScorerDefinitionError(
                f"create_prompt must be a function of a StepContext, got {create_prompt!r}"
            )
        if not isinstance(description, str):
            raise ScorerDefinitionError(f"description must be a string, got {description!r}")
        self.description = description
        self.create_prompt: Callable[[Any], Any] = create_prompt
        self.schema = _schema(output_schema)
        self.judge = judge
        self.calculate_score: Callable[[Any, Any], Any] | None = calculate_score

    def schema_of(self, name: StepName) -> OutputSchema | None:
        """Return what the judge is asked for in that step; None for text."""
        return _SCORE if name == "generate_score" and self.schema is None else self.schema

    def check(self, name: StepName) -> None:
        """Raise ScorerDefinitionError where the settings are not those of that step."""
        if name == "generate_score":
            if (self.schema is None) != (self.calculate_score is None):
                raise ScorerDefinitionError(
                    "generate_score takes output_schema and calculate_score together, or neither: "
                    "then the judge is asked for a score"
                )
        elif self.calculate_score is not None:
            raise ScorerDefinitionError(f"{name} takes no calculate_score; generate_score does")
        elif name == "generate_reason" and self.schema is not None:
            raise ScorerDefinitionError(
                "generate_reason takes no output_schema: a reason is the judge's text"
            )
        elif name != "generate_reason" and self.schema is None:
            raise ScorerDefinitionError(f"{name} as a prompt needs an output_schema")


def _schema(given: object) -> OutputSchema | None:
    return None if given is None else output_schema(given)
