"""Scorers: an answer, or a pipeline of steps, as one number between 0 and 1 with its evidence."""

from __future__ import annotations

from classify.adapters.scorers.builder import ScorerBuilder, create_scorer
from classify.adapters.scorers.definition import StepInfo
from classify.adapters.scorers.errors import ScorerDefinitionError, ScorerRunError
from classify.adapters.scorers.judge import Judge
from classify.adapters.scorers.judge_records import Cost, JudgeExecution, JudgeRecord
from classify.adapters.scorers.judging import NoStructuredOutput
from classify.adapters.scorers.length_limits import LengthLimit, Shorten
from classify.adapters.scorers.processors import ErrorProcessor, InputProcessor, OutputProcessor
from classify.adapters.scorers.prompt_step import PromptStep
from classify.adapters.scorers.redaction import PATTERNS, Redact
from classify.adapters.scorers.result import (
    NotScorable,
    Results,
    ScorerResult,
    ScorerRun,
    StepContext,
    not_scorable,
)
from classify.adapters.scorers.retrying import RetryProcessor
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.scorer_like import ScorerLike

__all__ = [
    "PATTERNS",
    "Cost",
    "ErrorProcessor",
    "InputProcessor",
    "Judge",
    "JudgeExecution",
    "JudgeRecord",
    "LengthLimit",
    "NoStructuredOutput",
    "NotScorable",
    "OutputProcessor",
    "PromptStep",
    "Redact",
    "Results",
    "RetryProcessor",
    "Scorer",
    "ScorerBuilder",
    "ScorerDefinitionError",
    "ScorerLike",
    "ScorerResult",
    "ScorerRun",
    "ScorerRunError",
    "Shorten",
    "StepContext",
    "StepInfo",
    "create_scorer",
    "not_scorable",
]
