"""The seam between a Classifier and whatever answers questions.

A decision model takes a state and questions and returns one envelope of plain answers: a service,
a fake of five lines, or this package's own reading of a language model's logprobs. Nothing in an
envelope is believed before `classify.gate` has checked it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, runtime_checkable

from classify.calls import Calls
from classify.json_values import JSON
from classify.language_model import Usage
from classify.questions import Question


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """Questions about one state."""

    state: JSON
    """What is judged."""
    questions: Mapping[str, Question]
    """Question id -> question."""
    calls: Calls = field(default_factory=Calls)
    """Where a model that makes several requests runs each of them: limits, retries, deadline."""
    provider_options: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    """Passed to the provider as they are."""


@dataclass(frozen=True, slots=True)
class Rounding:
    """Decimals to which the model rounds what it returns; None where it does not say."""

    probability_decimals: int | None = None
    score_decimals: int | None = None


@dataclass(frozen=True, slots=True)
class ResponseInfo:
    """Which response this was: never headers or bodies."""

    id: str | None = None
    """The provider's id of the response."""
    timestamp: datetime | None = None
    """When it was made."""
    model_id: str | None = None
    """The model that the provider says answered."""


@dataclass(frozen=True, slots=True)
class DecisionResponse:
    """The envelope: one plain answer per question, and how it came about.

    An answer is a mapping as in the reference: {"type": "choice", "choice": …, "probabilities"?},
    {"type": "score", "score": …, "probabilities"?}, {"type": "boolean", "probability": …} or
    {"type": "no_verdict", "cause": …, "message": …}; each may carry "evidence", and an answer a
    "confidence" of the model's own, which becomes its `provider_confidence`.
    """

    answers: Mapping[str, Mapping[str, object]]
    """Question id -> plain answer."""
    usage: Usage | None = None
    """Tokens of all questions together."""
    warnings: Sequence[str] = ()
    """What was odd about how the answers came about."""
    rounding: Rounding | None = None
    provider_metadata: Mapping[str, JSON] | None = None
    """What the model adds of its own."""
    response: ResponseInfo | None = None


@runtime_checkable
class DecisionModel(Protocol):
    """Anything that answers typed questions about a state.

    One that holds more than its names, such as an address, a version or a prompt, also has
    `settings`, a mapping of JSON values that tell it from others of its name: only so is an answer
    of one never taken for the other's, and a run of it resumed. They are kept only as a hash. They
    are empty where the names are all there is to know. Calibrators go by `model_id` alone: what
    answers in another way, such as with another prompt, has another.
    """

    @property
    def provider(self) -> str:
        """The provider's short name."""
        ...

    @property
    def model_id(self) -> str:
        """The model's name at the provider."""
        ...

    @property
    def supported_question_types(self) -> frozenset[str] | None:
        """The kinds of question it answers; None for all."""
        ...

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Answer the questions; raises ModelError and its kinds."""
        ...
