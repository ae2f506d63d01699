"""Rubric classifiers on language models: the distribution, the evidence, the calibration."""

from __future__ import annotations

from classify.answers import Answer, AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.classifier import Classifier
from classify.decision import (
    DecisionModel,
    DecisionRequest,
    DecisionResponse,
    ResponseInfo,
    Rounding,
)
from classify.errors import (
    CalibrationError,
    CapabilityError,
    ClassifyError,
    DeadlineExceeded,
    InvalidAnswer,
    InvalidInput,
    LabelCollision,
    MalformedResponse,
    MissingExtra,
    ModelError,
    ProviderError,
    UnexpectedError,
    UnsupportedQuestion,
)
from classify.evaluation import Evaluation
from classify.evidence import Evidence
from classify.language_model import LanguageModel
from classify.logprob_model import LogprobModel
from classify.options import Options
from classify.providers import resolve_model
from classify.question_sets import NoVerdictError, QuestionSet, ask, parse_questions
from classify.questions import Boolean, Choice, Question, Score
from classify.version import __version__

__all__ = [
    "Answer",
    "AnyAnswer",
    "Boolean",
    "BooleanAnswer",
    "CalibrationError",
    "CapabilityError",
    "Choice",
    "ChoiceAnswer",
    "Classifier",
    "ClassifyError",
    "DeadlineExceeded",
    "DecisionModel",
    "DecisionRequest",
    "DecisionResponse",
    "Evaluation",
    "Evidence",
    "InvalidAnswer",
    "InvalidInput",
    "LabelCollision",
    "LanguageModel",
    "LogprobModel",
    "MalformedResponse",
    "MissingExtra",
    "ModelError",
    "NoVerdict",
    "NoVerdictError",
    "Options",
    "ProviderError",
    "Question",
    "QuestionSet",
    "ResponseInfo",
    "Rounding",
    "Score",
    "ScoreAnswer",
    "UnexpectedError",
    "UnsupportedQuestion",
    "__version__",
    "ask",
    "parse_questions",
    "resolve_model",
]
