"""A scorer as one of DeepEval's metrics: `evaluate(cases, [deepeval_metric(scorer)])`."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias

from classify.adapters.frameworks.libraries import load
from classify.adapters.frameworks.result_facts import explanation, judged_by, metadata
from classify.adapters.scorers.result import ScorerResult
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.blocking import blocking
from classify.errors import InvalidInput

# Any: DeepEval's types exist only where its library is installed.
Arguments: TypeAlias = Callable[[Any], Mapping[str, Any]]


def deepeval_metric(
    scorer: ScorerLike, *, threshold: float = 0.5, arguments: Arguments | None = None
) -> Any:
    """Return a DeepEval metric that runs the scorer; `metric.result` is our last result.

    The threshold is the lowest score that succeeds, or the highest where lower is better.
    `arguments(test_case)` gives the arguments of `scorer.run`; without it they are the case's
    input, actual output, expected output as ground truth, and its retrieval context (or context)
    as the request context's `context`. A run that is not scorable is an error of the metric and
    no success. Raises MissingExtra without deepeval.
    """
    if not 0.0 <= threshold <= 1.0:
        raise InvalidInput(f"threshold must be from 0 to 1, got {threshold!r}")
    return _metric_class()(scorer, threshold, arguments or _arguments)


@cache
def _metric_class() -> Any:
    base = load("deepeval.metrics", "deepeval").BaseMetric
    return types.new_class("ScorerMetric", (_ScorerMetric, base))


class _ScorerMetric:
    """What the metric does, before it is joined with DeepEval's base class."""

    score: float | None
    error: str | None
    success: bool | None

    def __init__(self, scorer: ScorerLike, threshold: float, arguments: Arguments) -> None:
        """Take the scorer.

        DeepEval copies a metric for each test case: it fills these parameters from the attributes
        of the same names.
        """
        self.scorer, self.threshold, self.arguments = scorer, threshold, arguments
        self.async_mode, self.include_reason, self.verbose_mode = True, True, False
        self.result: ScorerResult[Any, Any, Any, Any] | None = None
        self._forget()

    def measure(self, test_case: Any, *arguments: Any, **options: Any) -> float | None:
        """Score a test case, and wait."""
        return blocking(self.a_measure)(test_case, *arguments, **options)

    async def a_measure(self, test_case: Any, *arguments: Any, **options: Any) -> float | None:
        """Score a test case; what DeepEval's progress display passes along is not needed."""
        self._forget()
        result = await self.scorer.run(**self.arguments(test_case))
        self.result, self.score = result, result.score
        self.reason, self.evaluation_model = explanation(result), judged_by(result)
        self.score_breakdown = metadata(result)
        if result.score is None:
            self.error = explanation(result) or "there is no score"
        self.is_successful()
        return result.score

    def is_successful(self) -> bool:
        """Whether there is a score and it is on the good side of the threshold."""
        passed = False
        if self.error is None and self.score is not None:
            lower = self.scorer.direction == "lower"
            passed = self.score <= self.threshold if lower else self.score >= self.threshold
        self.success = passed
        return passed

    def _forget(self) -> None:
        self.score, self.error, self.reason, self.success = None, None, None, None
        self.skipped = False

    @property
    def __name__(self) -> str:
        """The name that reports show."""
        return self.scorer.name


def _arguments(test_case: Any) -> dict[str, Any]:
    context = test_case.retrieval_context or test_case.context
    return {
        "input": test_case.input,
        "output": test_case.actual_output,
        "ground_truth": test_case.expected_output,
        "request_context": None if context is None else {"context": list(context)},
    }
