"""A finished scorer: it can run, and take a reason as its last step."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, overload

from classify.adapters.scorers.definition import Definition, StepInfo
from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.judge import Judge
from classify.adapters.scorers.pipeline import score_run
from classify.adapters.scorers.prompt_step import PromptStep
from classify.adapters.scorers.result import (
    Ana,
    Direction,
    In,
    NotScorable,
    Out,
    Pre,
    ScorerResult,
    ScorerRun,
    StepContext,
)
from classify.adapters.scorers.scores import Bounds
from classify.blocking import blocking
from classify.display.notebook import Shown

if TYPE_CHECKING:
    from classify.display.cards import Card


class Defined(Shown):
    """What can be read of a scorer, finished or not."""

    def __init__(self, definition: Definition) -> None:
        """Take the checked settings and steps."""
        self._definition = definition

    def __repr__(self) -> str:
        """Show the id and the steps."""
        steps = "".join(f".{step.name}" for step in self.steps())
        return f"{type(self).__name__}({self.id!r}){steps}"

    @property
    def id(self) -> str:
        """What identifies it."""
        return self._definition.id

    @property
    def name(self) -> str:
        """What to call it; its id where nothing else was given."""
        return self._definition.name

    @property
    def description(self) -> str:
        """What it measures."""
        return self._definition.description

    @property
    def type(self) -> Literal["agent", "trajectory"] | None:
        """What traces and gates give it; None for plain input and output."""
        return self._definition.type

    @property
    def direction(self) -> Direction:
        """Which end of its score is the good one."""
        return self._definition.direction

    @property
    def bounds(self) -> Bounds:
        """The range that its scores are normalised from; None where they are taken as they are."""
        return self._definition.bounds

    @property
    def judge(self) -> Judge | None:
        """The settings of its prompt steps, where they give none of their own."""
        return self._definition.judge

    def steps(self) -> tuple[StepInfo, ...]:
        """Return the steps in the order in which they run."""
        return tuple(step.info for step in self._definition.steps)

    def _card(self) -> Card:
        from classify.adapters.scorers.result_cards import scorer_card

        return scorer_card(self)


class Scorer(Defined, Generic[In, Out, Pre, Ana]):
    """A scorer that can run; it never changes, and runs may overlap."""

    def __init__(self, definition: Definition) -> None:
        """Take a definition that has a generate_score step; `create_scorer` makes one."""
        super().__init__(definition)
        self.run_sync = blocking(self.run)
        """Do the same as `run`, and wait."""
        self.aclose_sync = blocking(self.aclose)

    @overload
    def generate_reason(
        self, step: Callable[[StepContext[In, Out, Pre, Ana]], Awaitable[str | NotScorable]]
    ) -> Scorer[In, Out, Pre, Ana]: ...
    @overload
    def generate_reason(
        self, step: Callable[[StepContext[In, Out, Pre, Ana]], str | NotScorable]
    ) -> Scorer[In, Out, Pre, Ana]: ...
    @overload
    def generate_reason(
        self, step: PromptStep[In, Out, Pre, Ana, Any]
    ) -> Scorer[In, Out, Pre, Ana]: ...
    def generate_reason(self, step: object) -> Scorer[In, Out, Pre, Ana]:
        """Return the scorer with a step that explains the score, given as `context.score`.

        Raises ScorerDefinitionError where there is one already.
        """
        return Scorer(self._definition.with_step("generate_reason", step))

    def preprocess(self, step: object) -> NoReturn:
        """Raise ScorerDefinitionError: it would come after generate_score."""
        self._refuse("preprocess", step)

    def analyze(self, step: object) -> NoReturn:
        """Raise ScorerDefinitionError: it would come after generate_score."""
        self._refuse("analyze", step)

    def generate_score(self, step: object) -> NoReturn:
        """Raise ScorerDefinitionError: there is one already."""
        self._refuse("generate_score", step)

    def _refuse(
        self, name: Literal["preprocess", "analyze", "generate_score"], step: object
    ) -> NoReturn:
        self._definition.with_step(name, step)
        raise ScorerDefinitionError(f"{name} cannot follow generate_score")

    async def run(
        self,
        *,
        input: In | None = None,
        output: Out | None = None,
        run_id: str | None = None,
        ground_truth: Any = None,
        expected_trajectory: Any = None,
        request_context: Mapping[str, Any] | None = None,
        additional_context: Mapping[str, Any] | None = None,
        runtime_context: Mapping[str, Any] | None = None,
        score_source: str | None = None,
        target_scope: Literal["span", "trajectory"] | None = None,
        target_entity_type: str | None = None,
        target_trace_id: str | None = None,
        target_span_id: str | None = None,
        target_metadata: Mapping[str, Any] | None = None,
    ) -> ScorerResult[In, Out, Pre, Ana]:
        """Score one run; what is left out is None, the run's id a new UUID.

        Raises ScorerRunError where a step failed, and what prepare_run raised as it is.
        """
        given: ScorerRun[In | None, Out | None] = ScorerRun(
            run_id=str(uuid.uuid4()) if run_id is None else run_id,
            input=input,
            output=output,
            ground_truth=ground_truth,
            expected_trajectory=expected_trajectory,
            request_context=request_context,
            additional_context=additional_context,
            runtime_context=runtime_context,
            score_source=score_source,
            target_scope=target_scope,
            target_entity_type=target_entity_type,
            target_trace_id=target_trace_id,
            target_span_id=target_span_id,
            target_metadata=target_metadata,
        )
        return await score_run(self._definition, given)

    async def aclose(self) -> None:
        """Close the judge's models that were given by name; those given as objects are yours."""
        await self._definition.models.aclose()
