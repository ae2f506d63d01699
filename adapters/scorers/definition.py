"""What a scorer is made of, checked as it is put together; it knows nothing of running."""

from __future__ import annotations

import inspect
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any, Literal, TypeAlias, TypeGuard, get_args

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.judge import Judge, JudgeModels
from classify.adapters.scorers.prompt_step import PromptStep
from classify.adapters.scorers.result import Direction, In, Out, ScorerResult, ScorerRun, StepName
from classify.adapters.scorers.scores import Bounds

# The builder carries the types; what is stored behind it is of any.
AnyRun: TypeAlias = ScorerRun[Any, Any]
AnyResult: TypeAlias = ScorerResult[Any, Any, Any, Any]
AnyPromptStep: TypeAlias = PromptStep[Any, Any, Any, Any, Any]
Function: TypeAlias = Callable[[Any], Any]

PrepareRun: TypeAlias = Callable[
    [ScorerRun[In, Out]], ScorerRun[In, Out] | Awaitable[ScorerRun[In, Out]]
]
OnResult: TypeAlias = Callable[[ScorerResult[In, Out, Any, Any], ScorerRun[In, Out]], object]

STEP_NAMES: tuple[StepName, ...] = get_args(StepName)
"""In the order in which steps run."""


@dataclass(frozen=True, slots=True)
class StepInfo:
    """One step, as `steps()` lists it."""

    name: StepName
    kind: Literal["function", "prompt"]
    description: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One step and what it does."""

    info: StepInfo
    function: Function
    """create_prompt, where a judge is asked."""
    prompt: AnyPromptStep | None = None
    judge: Judge | None = None
    """The settings in force; None where a function does it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A scorer's settings and its steps so far."""

    id: str
    name: str
    description: str = ""
    judge: Judge | None = None
    type: Literal["agent", "trajectory"] | None = None
    prepare_run: PrepareRun[Any, Any] | None = None
    on_result: OnResult[Any, Any] | None = None
    bounds: Bounds = (0.0, 1.0)
    direction: Direction = "higher"
    steps: tuple[Step, ...] = ()
    models: JudgeModels = field(default_factory=JudgeModels)
    """Shared by all that is built from one `create_scorer`."""

    def __post_init__(self) -> None:
        """Check what a signature cannot; raises ScorerDefinitionError."""
        if not isinstance(self.id, str) or not self.id.strip():
            raise ScorerDefinitionError(
                f"the scorer's id must be a non-empty string, got {self.id!r}"
            )
        if self.type not in (None, "agent", "trajectory"):
            raise ScorerDefinitionError(
                f"type must be 'agent', 'trajectory' or None, got {self.type!r}"
            )
        if self.direction not in get_args(Direction):
            raise ScorerDefinitionError(
                f"direction must be 'higher' or 'lower', got {self.direction!r}"
            )
        if self.judge is not None and not isinstance(self.judge, Judge):
            raise ScorerDefinitionError(f"judge must be a Judge, got {self.judge!r}")
        _check_bounds(self.bounds)

    def with_step(self, name: StepName, does: object) -> Definition:
        """Return the definition with one step more; raises ScorerDefinitionError."""
        self._check_turn(name)
        return replace(self, steps=(*self.steps, self._step(name, does)))

    def _step(self, name: StepName, does: object) -> Step:
        if _is_prompt(does):
            return self._prompt_step(name, does)
        if not callable(does):
            raise ScorerDefinitionError(
                f"{name} takes a function of a StepContext or a PromptStep, got {does!r}"
            )
        return Step(StepInfo(name, "function", _summary(does)), does)

    def _prompt_step(self, name: StepName, prompt: AnyPromptStep) -> Step:
        prompt.check(name)
        judge = (self.judge or Judge()).overridden_by(prompt.judge)
        missing = [what for what in ("model", "instructions") if not getattr(judge, what)]
        if missing:
            raise ScorerDefinitionError(
                f"scorer {self.id!r}: step {name} asks a judge that has no "
                f"{' and no '.join(missing)}; give judge=Judge(model=..., instructions=...) to "
                f"create_scorer or to the step"
            )
        if judge.max_processor_retries and judge.error_processors is None:
            raise ScorerDefinitionError(
                f"scorer {self.id!r}: step {name} sets max_processor_retries="
                f"{judge.max_processor_retries!r} and has nothing that retries; add "
                f"error_processors=[RetryProcessor(max_retries=...)] to the judge"
            )
        info = StepInfo(name, "prompt", prompt.description)
        return Step(info, prompt.create_prompt, prompt, judge)

    def _check_turn(self, name: StepName) -> None:
        present = [step.info.name for step in self.steps]
        if name in present:
            raise ScorerDefinitionError(f"scorer {self.id!r} has a step {name} already")
        later = [other for other in present if STEP_NAMES.index(other) > STEP_NAMES.index(name)]
        if later:
            raise ScorerDefinitionError(
                f"scorer {self.id!r}: {name} must come before {later[0]}; "
                f"steps run in the order {', '.join(STEP_NAMES)}"
            )
        if name == "generate_reason" and "generate_score" not in present:
            raise self.without_score()

    def without_score(self) -> ScorerDefinitionError:
        """Return the error for a scorer that cannot score."""
        return ScorerDefinitionError(
            f"scorer {self.id!r} has no generate_score step; add .generate_score(...)"
        )


def _is_prompt(does: object) -> TypeGuard[AnyPromptStep]:
    return isinstance(does, PromptStep)


def _summary(function: Function) -> str:
    """Return the first line of a function's docstring; a callable object's is its class's."""
    text = inspect.getdoc(function) if isinstance(function, FunctionType) else None
    return text.split("\n", 1)[0] if text else ""


def _check_bounds(bounds: Bounds) -> None:
    if bounds is None:
        return
    usable = (
        isinstance(bounds, tuple)
        and len(bounds) == 2
        and all(isinstance(b, int | float) and math.isfinite(b) for b in bounds)
        and bounds[0] < bounds[1]
    )
    if not usable:
        raise ScorerDefinitionError(
            f"bounds must be two finite numbers, the lower first, or None, got {bounds!r}"
        )
