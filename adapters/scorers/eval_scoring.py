"""Put one run to scorers, one after the other; a failure becomes part of the outcome."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from classify.adapters.scorers.classifier_evidence import ClassifierEvidence
from classify.adapters.scorers.eval_items import EvalItem
from classify.adapters.scorers.eval_outcomes import Failure, Scoring, Where
from classify.adapters.scorers.eval_plan import Planned
from classify.adapters.scorers.eval_target import TargetResult
from classify.adapters.scorers.kept_json import kept_json
from classify.adapters.scorers.measures.items import MeasureEvidence
from classify.adapters.scorers.result import ScorerResult
from classify.adapters.scorers.trajectory_extraction import extract_trajectory
from classify.answers import NoVerdict
from classify.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """What is scored: one call of the target, or a whole conversation."""

    item: EvalItem
    run_id: str
    # Any: the target's own.
    input: Any
    output: Any
    target: TargetResult | None = None
    """Where steps and trajectory are found; None for a conversation of several calls."""


async def score_all(
    scored: Scored, plan: Iterable[Planned], where: Where
) -> dict[str, tuple[Scoring, Exception | None]]:
    """Return scorer's key -> what it made of this, with the error where it failed.

    A step that did not succeed is not scorable.
    """
    found: dict[str, tuple[Scoring, Exception | None]] = {}
    for planned in plan:
        if planned.place == "step" and not _has_step(scored, planned):
            why = f"step {planned.step!r} did not succeed, or gave no output"
            found[planned.key] = Scoring(not_scorable=why), None
            continue
        try:
            given = _given(scored, planned)
            result = await planned.scorer.run(
                **given,
                run_id=scored.run_id,
                ground_truth=scored.item.ground_truth,
                expected_trajectory=scored.item.expected_trajectory,
                request_context=scored.item.request_context,
                score_source="experiment",
            )
            found[planned.key] = _scoring(result), None
        except Exception as error:  # one scorer's failure is no reason to lose the others
            found[planned.key] = Scoring(failure=Failure.of(error, where)), error
    return found


def _has_step(scored: Scored, planned: Planned) -> bool:
    if scored.target is None or planned.step is None:
        return False
    step = scored.target.steps.get(planned.step)
    return step is not None and step.status == "success" and step.output is not None


def _given(scored: Scored, planned: Planned) -> dict[str, Any]:
    """Return the input and the output that a scorer gets."""
    if planned.place == "step" and scored.target is not None and planned.step is not None:
        step = scored.target.steps[planned.step]
        return {
            "input": scored.input if step.input is None else step.input,
            "output": step.output,
        }
    if planned.wants_trajectory:
        return {"input": scored.input, "output": _trajectory(scored)}
    return {"input": scored.input, "output": scored.output}


def _trajectory(scored: Scored) -> Any:
    if scored.target is not None and scored.target.trajectory is not None:
        return scored.target.trajectory
    return extract_trajectory(scored.output)


def _scoring(result: ScorerResult[Any, Any, Any, Any]) -> Scoring:
    details = _details(result)
    if result.not_scorable is not None:
        why = result.not_scorable.reason or ""
        return Scoring(
            not_scorable=why,
            no_verdict=result.not_scorable.no_verdict,
            details=details,
            result=result,
        )
    score = result.score
    if score is None or not math.isfinite(score):
        raise InvalidInput(f"scorer {result.scorer_id!r} gave no finite score: {score!r}")
    return Scoring(
        score=score,
        reason=result.reason,
        methods=_methods(result.analyze_step_result),
        details=details,
        result=result,
    )


def _methods(evidence: object) -> tuple[str, ...]:
    if isinstance(evidence, ClassifierEvidence):
        return (evidence.answer.method,)
    if isinstance(evidence, MeasureEvidence):
        used = (i.answer.method for i in evidence.items if not isinstance(i.answer, NoVerdict))
        return tuple(sorted(set(used)))
    return ()


def _details(result: ScorerResult[Any, Any, Any, Any]) -> Mapping[str, Any]:
    names = ("preprocess_step_result", "analyze_step_result", "prompts", "judge")
    found = {name: getattr(result, name) for name in names}
    if result.raw_score is not None and result.raw_score != result.score:
        found["raw_score"] = result.raw_score
    kept = {name: kept_json(value) for name, value in found.items()}
    return {name: value for name, value in kept.items() if value not in (None, {})}
