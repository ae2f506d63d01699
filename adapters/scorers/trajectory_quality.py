"""A trajectory under all aspects: accuracy, efficiency, failures of tools, what is forbidden."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, TypeAlias

from classify.adapters.scorers.agent_run import TOOL_KINDS
from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.result import NotScorable, StepContext, not_scorable
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.trajectory_accuracy import (
    TrajectoryComparison,
    compare_trajectories,
)
from classify.adapters.scorers.trajectory_extraction import read_trajectory
from classify.adapters.scorers.trajectory_types import (
    Trajectory,
    TrajectoryExpectation,
    TrajectoryStep,
    expectation_of,
    read_expectation,
)

_ACCURACY, _EFFICIENCY, _FAILURES, _FORBIDDEN, _NESTED = 0.4, 0.3, 0.2, 0.1, 0.3
_PENALTY = 0.2
"""For each redundant call, and for each retry of a tool beyond those allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryQuality:
    """A trajectory's score and the parts that it is made of; None for one that was not asked."""

    score: float
    """In [0, 1]."""
    accuracy: TrajectoryComparison | None = None
    efficiency: float | None = None
    """The mean of the budgets' shares and of the calls that are not redundant."""
    tool_failures: float | None = None
    """None where no tool was called again after it had failed."""
    forbidden: tuple[str, ...] = ()
    """Tools and sequences of tools that must not be called and were."""
    redundant: tuple[str, ...] = ()
    """Tools called twice in a row with the same arguments."""
    retries: tuple[tuple[str, int], ...] = ()
    """Tools called again after they had failed, and how often."""
    unknown: tuple[str, ...] = ()
    """Budgets that could not be checked, as the trajectory does not say what was used."""
    children: tuple[TrajectoryQuality, ...] = ()
    """One for each expected step that expects something of its children."""


def assess_trajectory(
    trajectory: Trajectory, expectation: TrajectoryExpectation
) -> TrajectoryQuality:
    """Assess the parts that an expectation asks for.

    Weights .4 accuracy, .3 efficiency, .2 failures of tools and .1 for what is forbidden, over the
    parts there are; 0 where something forbidden was done. Expected steps' children count .3.
    """
    own = compare_trajectories(trajectory.steps, _without_children(expectation))
    budgets = _budgets(trajectory, expectation)
    retries = tuple(_retries(trajectory.steps))
    children = tuple(_children(trajectory, expectation, own))
    forbidden = tuple(_forbidden(trajectory.steps, expectation))
    listed = bool(expectation.blacklisted_tools or expectation.blacklisted_sequences)
    accuracy = None if expectation.steps is None else own
    efficiency = _mean([share for share in budgets.values() if share is not None])
    failures = _failures(retries, expectation.max_retries_per_tool)
    score = _weighted(
        (_ACCURACY, None if accuracy is None else accuracy.score),
        (_EFFICIENCY, efficiency),
        (_FAILURES, failures),
        (_FORBIDDEN, 1.0 if listed else None),
    )
    inside = _mean([child.score for child in children])
    if inside is not None:
        score = (1 - _NESTED) * score + _NESTED * inside
    return TrajectoryQuality(
        score=0.0 if forbidden else min(max(score, 0.0), 1.0),
        accuracy=accuracy,
        efficiency=efficiency,
        tool_failures=failures,
        forbidden=forbidden,
        redundant=tuple(_redundant(trajectory.steps)),
        retries=retries,
        unknown=tuple(name for name, share in budgets.items() if share is None),
        children=children,
    )


def create_trajectory_scorer(
    id: str = "trajectory", *, expected: Any = None, name: str | None = None
) -> Scorer[Any, Any, None, TrajectoryQuality]:
    """Return a scorer of trajectories under all aspects that are expected.

    `expected` holds defaults for the fields of a run's own expected_trajectory. A run for which
    nothing at all is expected is not scorable (the reference gives it 1).
    """
    default = None if expected is None else read_expectation(expected)

    def assess(context: StepContext[Any, Any, None, None]) -> TrajectoryQuality | NotScorable:
        """Assess the steps taken."""
        expectation = expectation_of(default, context.run.expected_trajectory)
        if not expectation.model_fields_set:
            return not_scorable("nothing is expected: give the run an expectation, or the scorer")
        return assess_trajectory(read_trajectory(context.run.output), expectation)

    description = "Accuracy, efficiency, failures of tools and forbidden calls of a trajectory."
    begun = create_scorer[Any, Any](id, name=name, description=description, type="trajectory")
    return begun.analyze(assess).generate_score(_score).generate_reason(_reason)


Assessed: TypeAlias = StepContext[Any, Any, None, TrajectoryQuality]


def _score(context: Assessed) -> float:
    """Take the assessment's score."""
    return context.results.analyze_step_result.score


def _reason(context: Assessed) -> str:
    """Name the parts and what was done wrong."""
    found = context.results.analyze_step_result
    parts = {
        "accuracy": None if found.accuracy is None else found.accuracy.score,
        "efficiency": found.efficiency,
        "failures of tools": found.tool_failures,
    }
    said = [f"{name} {value:.2f}" for name, value in parts.items() if value is not None]
    if found.accuracy is not None and found.accuracy.missing:
        said.append(f"missing: {', '.join(found.accuracy.missing)}")
    if found.forbidden:
        said.append(f"forbidden: {', '.join(found.forbidden)}")
    if found.unknown:
        said.append(f"not known: {', '.join(found.unknown)}")
    return ("; ".join(said) or "nothing was done wrong") + "."


def _weighted(*parts: tuple[float, float | None]) -> float:
    """Return the mean of the parts that there are by their weights; 1 without any."""
    there = [(weight, value) for weight, value in parts if value is not None]
    total = math.fsum(weight for weight, _ in there)
    return math.fsum(weight * value for weight, value in there) / total if there else 1.0


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _failures(retries: Sequence[tuple[str, int]], allowed: int) -> float | None:
    if not retries:
        return None
    excess = sum(max(0, count - allowed) for _, count in retries)
    return max(0.0, 1.0 - _PENALTY * excess)


def _without_children(expectation: TrajectoryExpectation) -> TrajectoryExpectation:
    steps = [step.model_copy(update={"children": None}) for step in expectation.steps or ()]
    return expectation.model_copy(update={"steps": tuple(steps)})


def _children(
    trajectory: Trajectory, expectation: TrajectoryExpectation, own: TrajectoryComparison
) -> Iterator[TrajectoryQuality]:
    taken = dict(own.pairs)
    for place, step in enumerate(expectation.steps or ()):
        if step.children is None:
            continue
        if place not in taken:  # what was not done was not done well inside
            yield TrajectoryQuality(score=0.0)
            continue
        inside = trajectory.steps[taken[place]]
        yield assess_trajectory(
            Trajectory(steps=inside.children, total_duration_ms=inside.duration_ms), step.children
        )


def _budgets(trajectory: Trajectory, expectation: TrajectoryExpectation) -> dict[str, float | None]:
    """Return the share of each thing asked of efficiency; None where it is not known."""
    used = {
        "max_steps": float(len(trajectory.steps)),
        "max_total_tokens": _tokens(trajectory.steps),
        "max_total_duration_ms": _duration(trajectory),
    }
    shares: dict[str, float | None] = {}
    for name, amount in used.items():
        most: float | None = getattr(expectation, name)
        if most is not None:
            shares[name] = None if amount is None else _share(amount, most)
    asked = "no_redundant_calls" in expectation.model_fields_set or bool(shares)
    if asked and expectation.no_redundant_calls:
        count = len(list(_redundant(trajectory.steps)))
        shares["no_redundant_calls"] = max(0.0, 1.0 - _PENALTY * count)
    return shares


def _share(amount: float, most: float) -> float:
    if amount <= most:
        return 1.0
    return max(0.0, 1.0 - (amount - most) / most) if most > 0 else 0.0


def _tokens(steps: Sequence[TrajectoryStep]) -> float | None:
    """Return the tokens of all model calls, those inside other steps too; None where none say."""
    counts = [
        step.details[name]
        for step in _all_steps(steps)
        for name in ("prompt_tokens", "completion_tokens")
        if step.details.get(name) is not None
    ]
    return math.fsum(counts) if counts else None


def _duration(trajectory: Trajectory) -> float | None:
    if trajectory.total_duration_ms is not None:
        return trajectory.total_duration_ms
    times = [step.duration_ms for step in trajectory.steps if step.duration_ms is not None]
    return math.fsum(times) if times else None


def _all_steps(steps: Sequence[TrajectoryStep]) -> Iterator[TrajectoryStep]:
    for step in steps:
        yield step
        yield from _all_steps(step.children)


def _redundant(steps: Sequence[TrajectoryStep]) -> Iterator[str]:
    for before, step in pairwise(steps):
        same = (before.name, before.step_type) == (step.name, step.step_type)
        if same and step.step_type in TOOL_KINDS and before.arguments == step.arguments:
            yield step.name


def _retries(steps: Sequence[TrajectoryStep]) -> Iterator[tuple[str, int]]:
    """Yield each tool that was called again at once after it had failed, and how often."""
    calls = [step for step in steps if step.step_type in TOOL_KINDS]
    for name, group in groupby(calls, key=lambda step: step.name):
        row = list(group)
        count = sum(step.success is False for step in row[:-1])
        if count:
            yield name, count


def _forbidden(
    steps: Sequence[TrajectoryStep], expectation: TrajectoryExpectation
) -> Iterator[str]:
    names = tuple(step.name for step in steps)
    yield from (tool for tool in expectation.blacklisted_tools if tool in names)
    for sequence in expectation.blacklisted_sequences:
        size = len(sequence)
        if size and any(names[i : i + size] == sequence for i in range(len(names) - size + 1)):
            yield " then ".join(sequence)
