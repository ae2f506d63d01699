"""A scorer as an evaluator of pydantic-evals: `evaluators=[pydantic_evaluator(scorer)]`."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from classify.adapters.frameworks.libraries import load
from classify.adapters.frameworks.shapes import to_pydantic_evals
from classify.adapters.scorers.scorer_like import ScorerLike

# Any: pydantic-evals' types exist only where its library is installed.
Arguments: TypeAlias = Callable[[Any], Mapping[str, Any]]


def pydantic_evaluator(scorer: ScorerLike, *, arguments: Arguments | None = None) -> Any:
    """Return an evaluator that runs the scorer and reports under its id.

    `arguments(context)` gives the arguments of `scorer.run`; without it they are the case's
    inputs, its output, the expected output as ground truth, and metadata that is a mapping as
    request context. A failed run is the evaluator's failure; one that is not scorable reports the
    label "not_scorable". Raises MissingExtra without pydantic-evals.
    """
    return _evaluator_class()(scorer, arguments or _arguments)


@cache
def _evaluator_class() -> Any:
    base = load("pydantic_evals.evaluators", "pydantic-evals").Evaluator
    return types.new_class("ScorerEvaluator", (_ScorerEvaluator, base))


class _ScorerEvaluator:
    """What the evaluator does, before it is joined with the library's base class."""

    def __init__(self, scorer: ScorerLike, arguments: Arguments) -> None:
        """Take the scorer."""
        self._scorer, self._arguments = scorer, arguments

    def get_default_evaluation_name(self) -> str:
        """Return the name in reports."""
        return self._scorer.id

    async def evaluate(self, ctx: Any) -> Any:
        """Score one case."""
        reason = load("pydantic_evals.evaluators", "pydantic-evals").EvaluationReason
        result = await self._scorer.run(**self._arguments(ctx))
        return reason(**to_pydantic_evals(result))


def _arguments(context: Any) -> dict[str, Any]:
    held = context.metadata
    return {
        "input": context.inputs,
        "output": context.output,
        "ground_truth": context.expected_output,
        "request_context": held if isinstance(held, Mapping) else None,
    }
