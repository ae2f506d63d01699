"""Checks that need no model: what was said, which tools were called, how alike texts are."""

from __future__ import annotations

from classify.adapters.scorers.checks.finding import Finding, check
from classify.adapters.scorers.checks.text_checks import (
    equals,
    excludes,
    includes,
    matches,
    similarity,
)
from classify.adapters.scorers.checks.text_measures import (
    completeness,
    content_similarity,
    keyword_coverage,
    textual_difference,
)
from classify.adapters.scorers.checks.tone import sentiment, tone_consistency
from classify.adapters.scorers.checks.tool_checks import (
    called_tool,
    did_not_call,
    max_tool_calls,
    no_tool_errors,
    tool_call_accuracy,
    tool_order,
    used_no_tools,
)

__all__ = [
    "Finding",
    "called_tool",
    "check",
    "completeness",
    "content_similarity",
    "did_not_call",
    "equals",
    "excludes",
    "includes",
    "keyword_coverage",
    "matches",
    "max_tool_calls",
    "no_tool_errors",
    "sentiment",
    "similarity",
    "textual_difference",
    "tone_consistency",
    "tool_call_accuracy",
    "tool_order",
    "used_no_tools",
]
