"""Scorers in other people's evaluation tools; each tool's library is loaded when it is used."""

from __future__ import annotations

from classify.adapters.frameworks.deepeval import deepeval_metric
from classify.adapters.frameworks.inspect_ai import inspect_scorer
from classify.adapters.frameworks.mlflow import mlflow_feedback, mlflow_scorer
from classify.adapters.frameworks.pydantic_evals import pydantic_evaluator
from classify.adapters.frameworks.pytest import assert_score
from classify.adapters.frameworks.shapes import (
    to_braintrust,
    to_inspect,
    to_langsmith,
    to_mlflow,
    to_phoenix,
    to_promptfoo,
    to_pydantic_evals,
)

__all__ = [
    "assert_score",
    "deepeval_metric",
    "inspect_scorer",
    "mlflow_feedback",
    "mlflow_scorer",
    "pydantic_evaluator",
    "to_braintrust",
    "to_inspect",
    "to_langsmith",
    "to_mlflow",
    "to_phoenix",
    "to_promptfoo",
    "to_pydantic_evals",
]
