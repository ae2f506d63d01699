"""A scorer's result in the shapes of other evaluation tools: plain dicts, no library needed.

A result without a score is said to be none in each tool's own way, never 0; promptfoo alone takes
no result without a number, and has a mark for one that is none.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeAlias

from classify.adapters.frameworks.result_facts import (
    AnyResult,
    as_texts,
    explanation,
    judged_by,
    label,
    metadata,
)
from classify.errors import InvalidInput

Shape: TypeAlias = dict[str, Any]


def to_braintrust(result: AnyResult, *, name: str | None = None) -> Shape:
    """Return {name, score, metadata}; a score of None means skipped there."""
    facts = metadata(result)
    why = explanation(result)
    if why is not None:
        facts["rationale"] = why
    return {"name": name or result.scorer_id, "score": result.score, "metadata": facts}


def to_phoenix(result: AnyResult, *, name: str | None = None) -> Shape:
    """Return {name, score, label, explanation, metadata, kind, direction} of Phoenix's Score."""
    direction: Literal["maximize", "minimize"]
    direction = "maximize" if result.direction == "higher" else "minimize"
    return {
        "name": name or result.scorer_id,
        "score": result.score,
        "label": label(result),
        "explanation": explanation(result),
        "metadata": metadata(result),
        "kind": "heuristic" if judged_by(result) is None else "llm",
        "direction": direction,
    }


def to_langsmith(result: AnyResult, *, name: str | None = None) -> Shape:
    """Return {key, score, comment, metadata}: LangSmith's and openevals' evaluator result."""
    return {
        "key": name or result.scorer_id,
        "score": result.score,
        "comment": explanation(result),
        "metadata": metadata(result),
    }


def to_mlflow(result: AnyResult, *, name: str | None = None) -> Shape:
    """Return the arguments of MLflow's Feedback: value, rationale, source, metadata, error.

    `source` holds the arguments of an AssessmentSource. Without a score, `value` is None and
    `error` says why; its metadata holds texts only.
    """
    model = judged_by(result)
    shape: Shape = {
        "name": name or result.scorer_id,
        "value": result.score,
        "rationale": explanation(result),
        "source": {
            "source_type": "CODE" if model is None else "LLM_JUDGE",
            "source_id": model or result.scorer_id,
        },
        "metadata": as_texts(metadata(result)),
    }
    if result.score is None:
        shape["error"] = explanation(result) or "there is no score"
    return shape


def to_promptfoo(result: AnyResult, *, threshold: float, name: str | None = None) -> Shape:
    """Return promptfoo's grading result {pass, score, reason, namedScores, metadata}.

    `threshold` is the lowest score that passes, or the highest where lower is better. promptfoo
    takes higher as better, so `score` is 1 - score there, and `namedScores` has it as it is.
    Raises InvalidInput for a threshold outside 0..1.

    promptfoo refuses a grading result whose score is no number. Without one this is what promptfoo
    itself makes of what its graders could not grade: the test fails with 0, and `metadata` holds
    "graderError": True. There is no named score, whose mean is then of the scores there are. Keep
    it out of `not-python`, which turns a failure into a pass, of whatever kind.
    """
    if not 0.0 <= threshold <= 1.0:
        raise InvalidInput(f"threshold must be from 0 to 1, got {threshold!r}")
    if result.score is None:
        return {
            "pass": False,
            "score": 0.0,
            "reason": explanation(result) or "there is no score",
            "namedScores": {},
            "metadata": {**metadata(result), "graderError": True},
        }
    lower = result.direction == "lower"
    passed = result.score <= threshold if lower else result.score >= threshold
    return {
        "pass": passed,
        "score": 1.0 - result.score if lower else result.score,
        "reason": explanation(result) or f"score {result.score:.6g}, threshold {threshold:g}",
        "namedScores": {name or result.scorer_id: result.score},
        "metadata": metadata(result),
    }


def to_inspect(result: AnyResult) -> Shape:
    """Return the arguments of Inspect's Score: value, answer, explanation, reason, metadata.

    Without a score `value` is nan and `reason` "scoring_failed": Inspect's own mark of a sample
    that its metrics leave out and count.
    """
    return {
        "value": math.nan if result.score is None else result.score,
        "answer": label(result),
        "explanation": explanation(result),
        "reason": "scoring_failed" if result.score is None else None,
        "metadata": metadata(result),
    }


def to_pydantic_evals(result: AnyResult) -> Shape:
    """Return {value, reason} of pydantic-evals' EvaluationReason.

    Without a score the value is the label "not_scorable": texts are labels there and enter no
    mean.
    """
    value = "not_scorable" if result.score is None else result.score
    return {"value": value, "reason": explanation(result)}
