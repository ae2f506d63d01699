"""What everything that runs scorers needs of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from classify.adapters.scorers.result import Direction, ScorerResult


@runtime_checkable
class ScorerLike(Protocol):
    """Anything that scores runs: `create_scorer`, `create_classifier_scorer`, a check."""

    @property
    def id(self) -> str:
        """What identifies it."""
        ...

    @property
    def name(self) -> str:
        """What to call it; its id where nothing else was given."""
        ...

    @property
    def description(self) -> str:
        """What it measures."""
        ...

    @property
    def type(self) -> str | None:
        """Say "agent" or "trajectory" where it scores those: what traces and gates then give it."""
        ...

    @property
    def direction(self) -> Direction:
        """Which end of its score is the good one."""
        ...

    async def run(
        self,
        *,
        input: Any = None,
        output: Any = None,
        run_id: str | None = None,
        ground_truth: Any = None,
        expected_trajectory: Any = None,
        request_context: Mapping[str, Any] | None = None,
        score_source: str | None = None,
        target_scope: Any = None,
        target_entity_type: str | None = None,
        target_trace_id: str | None = None,
        target_span_id: str | None = None,
        target_metadata: Mapping[str, Any] | None = None,
    ) -> ScorerResult[Any, Any, Any, Any]:
        """Score one run; raises ScorerRunError where a step failed."""
        ...
