"""How well the steps taken are the steps expected, as a number and as a scorer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.result import NotScorable, StepContext, not_scorable
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.trajectory_extraction import read_trajectory
from classify.adapters.scorers.trajectory_types import (
    ExpectedStep,
    Ordering,
    Trajectory,
    TrajectoryExpectation,
    TrajectoryStep,
    expectation_of,
    read_expectation,
)

Pairs: TypeAlias = list[tuple[int, int]]
"""Places of an expected step and of the step taken for it."""
Fits: TypeAlias = Callable[[int, int], bool]

_EXTRA_PENALTY = 0.5
_REPEAT_PENALTY = 0.1
_CHILDREN = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class TrajectoryComparison:
    """A trajectory beside its expectation."""

    score: float
    """In [0, 1]."""
    matched: tuple[str, ...]
    """The expected steps that were taken, by the ordering's rule."""
    missing: tuple[str, ...]
    """The expected steps that were not."""
    extra: tuple[str, ...]
    """The steps taken that were not expected."""
    repeated: tuple[str, ...]
    """Names of steps taken more than once."""
    pairs: tuple[tuple[int, int], ...] = ()
    """The place of each matched expected step, and of the step taken for it."""
    children: tuple[TrajectoryComparison, ...] = ()
    """One for each expected step that expects something of its children."""


def compare_trajectories(
    actual: Sequence[TrajectoryStep], expectation: TrajectoryExpectation
) -> TrajectoryComparison:
    """Compare the steps taken with those expected.

    strict: (same at the same place - extra / 2) / expected; relaxed: longest common subsequence /
    expected; unordered: most that can be paired / expected. Where steps must not repeat, 0.1 less
    for each name that does. Where expected steps have children, 0.7 of that and 0.3 of the
    children's mean. Nothing expected is 1 where nothing was done, else 0.
    """
    expected = expectation.steps or ()
    compare_data = expectation.compare_step_data

    def fits(e: int, a: int) -> bool:
        return _fits(expected[e], actual[a], compare_data=compare_data)

    pairs = _PAIRINGS[expectation.ordering](fits, len(expected), len(actual))
    counts = Counter(step.name for step in actual)
    repeated = tuple(name for name, count in counts.items() if count > 1)
    score = _share(len(pairs), len(expected), len(actual), strict=expectation.ordering == "strict")
    if not expectation.allow_repeated_steps:
        score -= _REPEAT_PENALTY * len(repeated)
    taken = dict(pairs)
    children = tuple(_children(expected, actual, taken))
    if children:
        mean = math.fsum(child.score for child in children) / len(children)
        score = (1 - _CHILDREN) * score + _CHILDREN * mean
    return TrajectoryComparison(
        score=min(max(score, 0.0), 1.0),
        matched=tuple(expected[place].name for place, _ in sorted(pairs)),
        missing=tuple(step.name for place, step in enumerate(expected) if place not in taken),
        extra=tuple(step.name for place, step in enumerate(actual) if place not in taken.values()),
        repeated=repeated,
        pairs=tuple(sorted(pairs)),
        children=children,
    )


def _children(
    expected: Sequence[ExpectedStep], actual: Sequence[TrajectoryStep], taken: Mapping[int, int]
) -> Iterator[TrajectoryComparison]:
    """Compare what happened inside steps that expect something there."""
    for place, step in enumerate(expected):
        if step.children is not None:
            inside = actual[taken[place]].children if place in taken else ()
            yield compare_trajectories(inside, step.children)


def create_trajectory_accuracy_scorer(
    id: str = "trajectory-accuracy", *, expected: Any = None, name: str | None = None
) -> Scorer[Any, Any, None, TrajectoryComparison]:
    """Return a scorer of trajectories against the expected one.

    `expected` is an expectation, an object of its fields, or a list of steps or names; the fields
    of a run's own expected_trajectory come first. Without steps from either a run is not scorable
    (the reference gives it 0).
    """
    default = None if expected is None else read_expectation(expected)

    def compare(context: StepContext[Any, Any, None, None]) -> TrajectoryComparison | NotScorable:
        """Compare the steps taken with those expected."""
        expectation = expectation_of(default, context.run.expected_trajectory)
        if expectation.steps is None:
            return not_scorable("no expected trajectory: give the run one, or the scorer")
        trajectory: Trajectory = read_trajectory(context.run.output)
        return compare_trajectories(trajectory.steps, expectation)

    return (
        create_scorer[Any, Any](
            id,
            name=name,
            description="How well the steps taken are the steps expected.",
            type="trajectory",
        )
        .analyze(compare)
        .generate_score(_score)
        .generate_reason(_reason)
    )


Compared: TypeAlias = StepContext[Any, Any, None, TrajectoryComparison]


def _score(context: Compared) -> float:
    """Take the comparison's score."""
    return context.results.analyze_step_result.score


def _reason(context: Compared) -> str:
    """Name what is missing, extra and repeated."""
    found = context.results.analyze_step_result
    total = len(found.matched) + len(found.missing)
    said = [f"{len(found.matched)} of {total} expected steps were taken"]
    for what in ("missing", "extra", "repeated"):
        names: tuple[str, ...] = getattr(found, what)
        if names:
            said.append(f"{what}: {', '.join(names)}")
    return "; ".join(said) + "."


def _share(matched: int, expected: int, actual: int, *, strict: bool) -> float:
    if not expected:
        return 0.0 if actual else 1.0
    extra = max(actual - expected, 0) if strict else 0
    return (matched - _EXTRA_PENALTY * extra) / expected


def _fits(expected: ExpectedStep, step: TrajectoryStep, *, compare_data: bool) -> bool:
    if expected.name != step.name:
        return False
    if expected.step_type is not None and expected.step_type != step.step_type:
        return False
    # Data that is not named may be anything; data that is must be the same.
    return not compare_data or all(
        name in step.data and step.data[name] == value
        for name, value in (expected.data or {}).items()
    )


def _same_places(fits: Fits, expected: int, actual: int) -> Pairs:
    return [(place, place) for place in range(min(expected, actual)) if fits(place, place)]


def _common_subsequence(fits: Fits, expected: int, actual: int) -> Pairs:
    """Return the pairs of a longest common subsequence."""
    longest = [[0] * (actual + 1) for _ in range(expected + 1)]
    for e in reversed(range(expected)):
        for a in reversed(range(actual)):
            longest[e][a] = (
                1 + longest[e + 1][a + 1]
                if fits(e, a)
                else max(longest[e + 1][a], longest[e][a + 1])
            )
    pairs, e, a = Pairs(), 0, 0
    while e < expected and a < actual:
        if fits(e, a):
            pairs.append((e, a))
            e, a = e + 1, a + 1
        elif longest[e + 1][a] > longest[e][a + 1]:
            e += 1
        else:
            a += 1
    return pairs


def _most_pairs(fits: Fits, expected: int, actual: int) -> Pairs:
    """Return the most pairs there can be, each step in one (augmenting paths)."""
    taken_by = dict[int, int]()

    def place(e: int, tried: set[int]) -> bool:
        for a in range(actual):
            if a in tried or not fits(e, a):
                continue
            tried.add(a)
            if a not in taken_by or place(taken_by[a], tried):
                taken_by[a] = e
                return True
        return False

    for e in range(expected):
        place(e, set())
    return [(e, a) for a, e in taken_by.items()]


_PAIRINGS: dict[Ordering, Callable[[Fits, int, int], Pairs]] = {
    "strict": _same_places,
    "relaxed": _common_subsequence,
    "unordered": _most_pairs,
}
