"""Scorers: an answer, or a pipeline of steps, as one number between 0 and 1 with its evidence."""

from __future__ import annotations

from classify.adapters.scorers.agent_messages import (
    AgentInput,
    AgentMessage,
    AgentOutput,
    Part,
    ToolCall,
)
from classify.adapters.scorers.agent_run import AgentRun, agent_run
from classify.adapters.scorers.agent_text import (
    assistant_text,
    assistant_texts,
    conversation_text,
    system_text,
    tool_calls,
    user_text,
    user_texts,
)
from classify.adapters.scorers.builder import ScorerBuilder, create_scorer
from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.classifier_scorer import ClassifierScorer, create_classifier_scorer
from classify.adapters.scorers.definition import StepInfo
from classify.adapters.scorers.errors import ScorerDefinitionError, ScorerRunError
from classify.adapters.scorers.eval_errors import EvalDefinitionError, EvalRunError
from classify.adapters.scorers.eval_figures import Figures, Interval
from classify.adapters.scorers.eval_items import EvalItem, Turn
from classify.adapters.scorers.eval_outcomes import Failure, ItemResult, Scoring
from classify.adapters.scorers.eval_progress import EvalProgress, progress_bar
from classify.adapters.scorers.eval_report import EvalReport, GateResult, ThresholdResult
from classify.adapters.scorers.eval_target import StepOutcome, TargetResult, Thread
from classify.adapters.scorers.evals import run_evals, run_evals_sync
from classify.adapters.scorers.filter_run import filter_run
from classify.adapters.scorers.judge import Judge
from classify.adapters.scorers.judge_records import Cost, JudgeExecution, JudgeRecord
from classify.adapters.scorers.judging import IncompleteReply, NoStructuredOutput
from classify.adapters.scorers.legacy import LegacyResult, LegacyScorer
from classify.adapters.scorers.length_limits import LengthLimit, Shorten
from classify.adapters.scorers.live import LiveCounts, LiveEntry, LiveFailure, LiveScoring, Sampling
from classify.adapters.scorers.live_filter import LiveContext, read_filter
from classify.adapters.scorers.message_reading import read_agent_input, read_messages
from classify.adapters.scorers.otel_traces import read_otel
from classify.adapters.scorers.processors import ErrorProcessor, InputProcessor, OutputProcessor
from classify.adapters.scorers.projection import Projection
from classify.adapters.scorers.prompt_step import PromptStep
from classify.adapters.scorers.redaction import PATTERNS, Redact
from classify.adapters.scorers.registry import NotRegistered, Registry
from classify.adapters.scorers.reprojection import RowScore, reproject
from classify.adapters.scorers.result import (
    NotScorable,
    Results,
    ScorerResult,
    ScorerRun,
    StepContext,
    not_scorable,
)
from classify.adapters.scorers.retrying import RetryProcessor
from classify.adapters.scorers.score_spec import ScoreSpec, load_score_spec, score_spec_schema
from classify.adapters.scorers.score_traces import (
    TraceScore,
    TraceScores,
    TraceTarget,
    score_trace,
    score_trace_sync,
    score_traces,
    score_traces_sync,
)
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.adapters.scorers.thresholds import Threshold, WithThreshold
from classify.adapters.scorers.traces import Span, Trace, TraceError, read_trace
from classify.adapters.scorers.trajectory_accuracy import (
    TrajectoryComparison,
    compare_trajectories,
    create_trajectory_accuracy_scorer,
)
from classify.adapters.scorers.trajectory_extraction import (
    extract_trajectory,
    extract_trajectory_from_trace,
    extract_workflow_trajectory,
    read_trajectory,
)
from classify.adapters.scorers.trajectory_quality import (
    TrajectoryQuality,
    assess_trajectory,
    create_trajectory_scorer,
)
from classify.adapters.scorers.trajectory_types import (
    ExpectedStep,
    Trajectory,
    TrajectoryExpectation,
    TrajectoryStep,
    read_expectation,
)

__all__ = [
    "PATTERNS",
    "AgentInput",
    "AgentMessage",
    "AgentOutput",
    "AgentRun",
    "ClassifierEvidence",
    "ClassifierScorer",
    "Cost",
    "ErrorProcessor",
    "EvalDefinitionError",
    "EvalItem",
    "EvalProgress",
    "EvalReport",
    "EvalRunError",
    "ExpectedStep",
    "Failure",
    "Figures",
    "GateResult",
    "IncompleteReply",
    "InputProcessor",
    "Interval",
    "ItemResult",
    "Judge",
    "JudgeExecution",
    "JudgeRecord",
    "LegacyResult",
    "LegacyScorer",
    "LengthLimit",
    "LiveContext",
    "LiveCounts",
    "LiveEntry",
    "LiveFailure",
    "LiveScoring",
    "NoStructuredOutput",
    "NotRegistered",
    "NotScorable",
    "OutputProcessor",
    "Part",
    "Projection",
    "PromptStep",
    "Redact",
    "Registry",
    "Results",
    "RetryProcessor",
    "RowScore",
    "Sampling",
    "ScoreSpec",
    "Scorer",
    "ScorerBuilder",
    "ScorerDefinitionError",
    "ScorerLike",
    "ScorerResult",
    "ScorerRun",
    "ScorerRunError",
    "Scoring",
    "Shorten",
    "Span",
    "StepContext",
    "StepInfo",
    "StepOutcome",
    "TargetResult",
    "Thread",
    "Threshold",
    "ThresholdResult",
    "ToolCall",
    "Trace",
    "TraceError",
    "TraceScore",
    "TraceScores",
    "TraceTarget",
    "Trajectory",
    "TrajectoryComparison",
    "TrajectoryExpectation",
    "TrajectoryQuality",
    "TrajectoryStep",
    "Turn",
    "WithThreshold",
    "agent_run",
    "assess_trajectory",
    "assistant_text",
    "assistant_texts",
    "compare_trajectories",
    "conversation_text",
    "create_classifier_scorer",
    "create_scorer",
    "create_trajectory_accuracy_scorer",
    "create_trajectory_scorer",
    "extract_trajectory",
    "extract_trajectory_from_trace",
    "extract_workflow_trajectory",
    "filter_run",
    "load_score_spec",
    "not_scorable",
    "progress_bar",
    "read_agent_input",
    "read_expectation",
    "read_filter",
    "read_messages",
    "read_otel",
    "read_trace",
    "read_trajectory",
    "reproject",
    "run_evals",
    "run_evals_sync",
    "score_spec_schema",
    "score_trace",
    "score_trace_sync",
    "score_traces",
    "score_traces_sync",
    "system_text",
    "tool_calls",
    "user_text",
    "user_texts",
]
