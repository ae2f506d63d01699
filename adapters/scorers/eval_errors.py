"""What can go wrong with an evaluation.

ClassifyError
├── InvalidInput
│   └── EvalDefinitionError  it cannot be run as it was put together; nothing has been run
└── EvalRunError             it was told to stop at the first failure, and there was one

Both carry `case`, the reference's name for what is wrong.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from classify.errors import ClassifyError, InvalidInput

DefinitionCase: TypeAlias = Literal[
    "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED",
    "INVALID_DATA_ITEM",
    "NO_SCORERS_PROVIDED",
    "INVALID_AGENT_SCORERS",
    "INVALID_SCORER_THRESHOLD",
]
RunCase: TypeAlias = Literal[
    "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT",
    "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT",
    "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_STEP_RESULT",
    "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_TRAJECTORY",
]


class EvalDefinitionError(InvalidInput):
    """An evaluation that cannot be run."""

    def __init__(self, message: str, case: DefinitionCase) -> None:
        """Keep the reference's name of the case beside the message."""
        super().__init__(message)
        self.case = case


class EvalRunError(ClassifyError):
    """The target or a scorer failed, and the evaluation was to stop there.

    The message names the item by its position and never holds it.
    """

    def __init__(self, message: str, case: RunCase, *, index: int, trial: int) -> None:
        """Keep where it happened; the original error is `__cause__`."""
        super().__init__(message)
        self.case, self.index, self.trial = case, index, trial
