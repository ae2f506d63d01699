"""What other people's shapes need to know of a result; it knows none of the shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel

from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.measures.items import MeasureEvidence
from classify.adapters.scorers.result import ScorerResult
from classify.answers import NoVerdict

# Results carry the types that the scorer's author chose.
AnyResult: TypeAlias = ScorerResult[Any, Any, Any, Any]


def explanation(result: AnyResult) -> str | None:
    """Return the reason of the score, or why there is none."""
    if result.not_scorable is not None:
        return f"not scorable: {result.not_scorable.reason or 'no reason given'}"
    return result.reason


def metadata(result: AnyResult) -> dict[str, Any]:
    """Return the rest as JSON: ids, direction, raw score and the evidence.

    The run itself, prompts and the judge's outputs stay out: they may hold what is private.
    """
    facts: dict[str, Any] = {
        "scorer_id": result.scorer_id,
        "run_id": result.run_id,
        "direction": result.direction,
    }
    if result.raw_score is not None and result.raw_score != result.score:
        facts |= {"raw_score": result.raw_score, "bounds": result.bounds}
    if result.not_scorable is not None:
        facts["not_scorable"] = result.not_scorable.reason or ""
    if result.analyze_step_result is not None:
        facts["evidence"] = as_json(result.analyze_step_result)
    return facts


def label(result: AnyResult) -> str | None:
    """Return the option that a classifier chose; None for any other scorer."""
    evidence = result.analyze_step_result
    if not isinstance(evidence, ClassifierEvidence) or isinstance(evidence.answer, NoVerdict):
        return None
    return evidence.answer.choice if evidence.answer.type == "choice" else None


def judged_by(result: AnyResult) -> str | None:
    """Return the name of the model that judged; None where only code did."""
    evidence = result.analyze_step_result
    if isinstance(evidence, ClassifierEvidence):
        return evidence.response.model_id
    if isinstance(evidence, MeasureEvidence):
        return evidence.model_id
    for record in result.judge.values():
        for execution in record.executions:
            return execution.model
    return None


def as_json(value: object) -> Any:
    """Return a step's result as JSON values; what is none is shown by its repr."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    return json.loads(json.dumps(value, default=repr))


def as_texts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return facts as text -> text, for stores that hold nothing else."""
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in facts.items()
    }
