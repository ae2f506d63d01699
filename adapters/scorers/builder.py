"""Put a scorer together, step by step; every method returns a new object."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, Literal, NoReturn, TypeVar, overload

from typing_extensions import TypeVar as TypeVarWithDefault

from classify.adapters.scorers.agent_messages import AgentInput, AgentOutput
from classify.adapters.scorers.definition import Definition, OnResult, PrepareRun
from classify.adapters.scorers.judge import Judge
from classify.adapters.scorers.prompt_step import Judged, PromptStep
from classify.adapters.scorers.result import (
    Ana,
    Direction,
    In,
    NotScorable,
    Out,
    Pre,
    StepContext,
)
from classify.adapters.scorers.scorer import Defined, Scorer
from classify.adapters.scorers.scores import Bounds

New = TypeVar("New")
AnyIn = TypeVarWithDefault("AnyIn", default=Any)
AnyOut = TypeVarWithDefault("AnyOut", default=Any)


class ScorerBuilder(Defined, Generic[In, Out, Pre, Ana]):
    """The steps of a scorer so far; `generate_score` makes a `Scorer` of it.

    A step is a plain function of one StepContext, synchronous or not, or a PromptStep for the
    judge. Each may be given once, in the order preprocess, analyze, generate_score,
    generate_reason; anything else raises ScorerDefinitionError. A function that returns
    not_scorable(reason) ends the run without a score.
    """

    @overload
    def preprocess(
        self: ScorerBuilder[In, Out, None, None],
        step: Callable[[StepContext[In, Out, None, None]], Awaitable[New | NotScorable]],
    ) -> ScorerBuilder[In, Out, New, None]: ...
    @overload
    def preprocess(
        self: ScorerBuilder[In, Out, None, None],
        step: Callable[[StepContext[In, Out, None, None]], New | NotScorable],
    ) -> ScorerBuilder[In, Out, New, None]: ...
    @overload
    def preprocess(
        self: ScorerBuilder[In, Out, None, None],
        step: PromptStep[In, Out, None, None, Judged],
    ) -> ScorerBuilder[In, Out, Judged, None]: ...
    def preprocess(self, step: object) -> ScorerBuilder[Any, Any, Any, Any]:
        """Return the builder with a step whose result is `results.preprocess_step_result`."""
        return ScorerBuilder(self._definition.with_step("preprocess", step))

    @overload
    def analyze(
        self: ScorerBuilder[In, Out, Pre, None],
        step: Callable[[StepContext[In, Out, Pre, None]], Awaitable[New | NotScorable]],
    ) -> ScorerBuilder[In, Out, Pre, New]: ...
    @overload
    def analyze(
        self: ScorerBuilder[In, Out, Pre, None],
        step: Callable[[StepContext[In, Out, Pre, None]], New | NotScorable],
    ) -> ScorerBuilder[In, Out, Pre, New]: ...
    @overload
    def analyze(
        self: ScorerBuilder[In, Out, Pre, None],
        step: PromptStep[In, Out, Pre, None, Judged],
    ) -> ScorerBuilder[In, Out, Pre, Judged]: ...
    def analyze(self, step: object) -> ScorerBuilder[Any, Any, Any, Any]:
        """Return the builder with a step whose result is `results.analyze_step_result`."""
        return ScorerBuilder(self._definition.with_step("analyze", step))

    @overload
    def generate_score(
        self,
        step: Callable[[StepContext[In, Out, Pre, Ana]], Awaitable[float | NotScorable]],
    ) -> Scorer[In, Out, Pre, Ana]: ...
    @overload
    def generate_score(
        self, step: Callable[[StepContext[In, Out, Pre, Ana]], float | NotScorable]
    ) -> Scorer[In, Out, Pre, Ana]: ...
    @overload
    def generate_score(
        self, step: PromptStep[In, Out, Pre, Ana, Any]
    ) -> Scorer[In, Out, Pre, Ana]: ...
    def generate_score(self, step: object) -> Scorer[In, Out, Pre, Ana]:
        """Return the finished scorer: the step gives the number, and True counts as 1."""
        return Scorer(self._definition.with_step("generate_score", step))

    def generate_reason(self, step: object) -> NoReturn:
        """Raise ScorerDefinitionError: there is no score to explain yet."""
        self._definition.with_step("generate_reason", step)
        raise self._definition.without_score()

    async def run(self, **run: Any) -> NoReturn:
        """Raise ScorerDefinitionError: nothing gives the score yet."""
        raise self._definition.without_score()

    def run_sync(self, **run: Any) -> NoReturn:
        """Raise ScorerDefinitionError: nothing gives the score yet."""
        raise self._definition.without_score()


class create_scorer(ScorerBuilder[AnyIn, AnyOut, None, None]):  # a verb, as it is called
    """Begin a scorer: `create_scorer("id").generate_score(...)`.

    It is a class so that types can be given: `create_scorer[Question, str]("id")`; what the steps
    return is carried from there. Without them input and output are of any type, or of an agent's
    for type="agent".

    `judge` answers the prompt steps. `prepare_run` changes a run before its steps; `bounds` is
    the range of what generate_score returns, normalised to 0..1 (None takes any finite number);
    `direction` says which end is good. `on_result` is called after a scored run with the result
    and the run as it was given, before prepare_run: where it fails, it only warns.

    Raises ScorerDefinitionError for an unusable setting.
    """

    @overload
    def __init__(
        self: create_scorer[AgentInput, AgentOutput],
        id: str,
        *,
        name: str | None = None,
        description: str = "",
        judge: Judge | None = None,
        type: Literal["agent"],
        prepare_run: PrepareRun[AgentInput, AgentOutput] | None = None,
        bounds: Bounds = (0.0, 1.0),
        direction: Direction = "higher",
        on_result: OnResult[AgentInput, AgentOutput] | None = None,
    ) -> None: ...
    @overload
    def __init__(
        self,
        id: str,
        *,
        name: str | None = None,
        description: str = "",
        judge: Judge | None = None,
        type: Literal["agent", "trajectory"] | None = None,
        prepare_run: PrepareRun[AnyIn, AnyOut] | None = None,
        bounds: Bounds = (0.0, 1.0),
        direction: Direction = "higher",
        on_result: OnResult[AnyIn, AnyOut] | None = None,
    ) -> None: ...
    def __init__(
        self,
        id: str,
        *,
        name: str | None = None,
        description: str = "",
        judge: Judge | None = None,
        type: Literal["agent", "trajectory"] | None = None,
        prepare_run: PrepareRun[Any, Any] | None = None,
        bounds: Bounds = (0.0, 1.0),
        direction: Direction = "higher",
        on_result: OnResult[Any, Any] | None = None,
    ) -> None:
        """Check the settings; steps come next."""
        definition = Definition(
            id=id,
            name=id if name is None else name,
            description=description,
            judge=judge,
            type=type,
            prepare_run=prepare_run,
            on_result=on_result,
            bounds=bounds,
            direction=direction,
        )
        super().__init__(definition)
