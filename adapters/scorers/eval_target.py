"""What an evaluation runs: any callable, with its options, in threads where it would block."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias

from classify.adapters.scorers.eval_items import EvalItem
from classify.adapters.scorers.settling import settled
from classify.errors import InvalidInput

# Any: what goes in and what comes out are the target's own.
Target: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """One step of a workflow: what went in, and what came out where it went well."""

    status: Literal["success", "failed", "skipped"] = "success"
    input: Any = None
    """None for the workflow's own input."""
    output: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetResult:
    """What a target returns that has more to show than its output."""

    output: Any = None
    steps: Mapping[str, StepOutcome] = field(default_factory=dict[str, StepOutcome])
    """Step -> its outcome, for the scorers of steps."""
    trajectory: Any = None
    """For trajectory scorers; where None, it is read from the output's messages."""
    status: Literal["success", "failed"] = "success"
    """A failed workflow is scored too, with None as its output."""


@dataclass(slots=True)
class Thread:
    """One conversation: what a target with a parameter named `thread` is given."""

    id: str
    exchanges: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    """Input and output of each turn so far."""


class Runner:
    """Calls the target for one item after another."""

    def __init__(
        self, target: Target, options: Mapping[str, Any] | None, threads: Executor
    ) -> None:
        """Find out what the target takes."""
        if not callable(target):
            raise InvalidInput(f"target must be a function of an input, got {target!r}")
        self._target, self._options, self._threads = target, dict(options or {}), threads
        self._asynchronous = _is_asynchronous(target)
        takes = takes_of(target)
        self._context, self._thread = "request_context" in takes, "thread" in takes

    async def answer(self, input: Any, item: EvalItem, thread: Thread) -> TargetResult:
        """Call the target; a failed workflow's output is None."""
        given: dict[str, Any] = {}
        if self._context:
            given["request_context"] = item.request_context
        if self._thread:
            given["thread"] = thread
        call = partial(
            self._target, input, **{**given, **self._options, **(item.start_options or {})}
        )
        if self._asynchronous:
            value = await settled(call())
        else:
            # A function that blocks would hold up everything else that runs.
            context = contextvars.copy_context()
            loop = asyncio.get_running_loop()
            value = await settled(
                await loop.run_in_executor(self._threads, partial(context.run, call))
            )
        result = value if isinstance(value, TargetResult) else TargetResult(output=value)
        if result.status == "failed":
            return TargetResult(steps=result.steps, trajectory=result.trajectory, status="failed")
        return result


def takes_of(target: Target) -> frozenset[str]:
    """Return the names of what a target can be given by keyword."""
    try:
        parameters = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have none
        return frozenset()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return frozenset(p.name for p in parameters if p.kind in by_name)


def _is_asynchronous(target: Target) -> bool:
    call = getattr(type(target), "__call__", None)  # noqa: B004  # the method itself is wanted
    return inspect.iscoroutinefunction(target) or inspect.iscoroutinefunction(call)
