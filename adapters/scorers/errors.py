"""What can go wrong with a scorer.

ClassifyError
├── InvalidInput
│   └── ScorerDefinitionError  steps missing, doubled or out of order; unusable settings
└── ScorerRunError             a step failed; what was done before it is kept
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from classify.errors import ClassifyError, InvalidInput

if TYPE_CHECKING:
    from classify.adapters.scorers.result import ScorerResult


class ScorerDefinitionError(InvalidInput):
    """A scorer that cannot run as it was put together."""


class ScorerRunError(ClassifyError):
    """A step of a scorer failed.

    `cause` is the original error and `result` what was there before it, None where nothing was.
    Neither shows in the message's JSON: prompts and outputs stay in the process.
    """

    def __init__(
        self,
        scorer_id: str,
        failed_step: str,
        completed_steps: tuple[str, ...],
        *,
        cause: BaseException,
        result: ScorerResult[Any, Any, Any, Any] | None = None,
    ) -> None:
        """Keep the facts as attributes beside the message."""
        super().__init__(f"scorer {scorer_id!r} failed at {failed_step}: {cause}")
        self.scorer_id, self.failed_step = scorer_id, failed_step
        self.completed_steps, self.cause, self.result = completed_steps, cause, result

    def to_json(self) -> dict[str, object]:
        """Return what may be logged: which step failed, and the kind of the error."""
        return {
            "type": type(self).__name__,
            "scorer_id": self.scorer_id,
            "failed_step": self.failed_step,
            "completed_steps": list(self.completed_steps),
            "cause": type(self.cause).__name__,
        }
