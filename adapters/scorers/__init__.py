"""Scorers: an answer, or a pipeline of steps, as one number between 0 and 1 with its evidence."""

from __future__ import annotations

from classify.adapters.scorers.builder import ScorerBuilder, create_scorer
from classify.adapters.scorers.definition import StepInfo
from classify.adapters.scorers.errors import ScorerDefinitionError, ScorerRunError
from classify.adapters.scorers.judge_records import Cost, JudgeExecution, JudgeRecord
from classify.adapters.scorers.result import (
    NotScorable,
    Results,
    ScorerResult,
    ScorerRun,
    StepContext,
    not_scorable,
)
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.scorer_like import ScorerLike

__all__ = [
    "Cost",
    "JudgeExecution",
    "JudgeRecord",
    "NotScorable",
    "Results",
    "Scorer",
    "ScorerBuilder",
    "ScorerDefinitionError",
    "ScorerLike",
    "ScorerResult",
    "ScorerRun",
    "ScorerRunError",
    "StepContext",
    "StepInfo",
    "create_scorer",
    "not_scorable",
]
