"""What a judge did in one step of a scorer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from classify.language_model import Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What an execution cost, only where the provider itself reported it."""

    amount: float
    """Summed over all attempts."""
    source: str
    """The provider that reported it."""
    unit: str | None = None
    """None where the provider does not name it; OpenRouter counts in credits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeExecution:
    """One logical execution of a judge: the first attempt and what was tried after it."""

    status: Literal["success", "failed"]
    prompt: str
    model: str
    provider: str
    output: Any = None
    """The validated object, number or text; None where there was none."""
    usage: Usage | None = None
    """Summed over all attempts; None where nothing was reported."""
    attempt_count: int = 1
    """Invocations: the first and the structured-output fallback, not a processor's retries."""
    retry_count: int = 0
    """Requests that an error processor repeated, over all invocations."""
    model_call_count: int = 0
    """Model calls that were completed."""
    duration_ms: int = 0
    """Milliseconds for all attempts."""
    cost: Cost | None = None
    raw_output: str | None = None
    """The last text of a failed execution."""
    finish_reason: str | None = None
    """Why the last attempt's text ended, as the provider says."""
    error: Mapping[str, str] | None = None
    """name, message and, where known, code: never headers."""


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """The executions of a judge in one step."""

    executions: tuple[JudgeExecution, ...]
