"""What a scorer adds to its own function steps, in microseconds a step.

Run: python benchmarks/scorer_overhead.py. Each round measures the bare functions and the same
functions as a scorer, one after the other in the same process; the median round counts.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from typing import Any

from classify.adapters.scorers import Scorer, StepContext, create_scorer

GOAL = 50.0
RUNS, ROUNDS, STEPS = 2000, 9, 4

Context = StepContext[Any, Any, Any, Any]
OUTPUT: str = "the quick brown fox"


def words(context: Context) -> list[str]:
    """Split the output."""
    return list[str](OUTPUT.split())


def count(context: Context) -> int:
    """Count the words."""
    return 4


def share(context: Context) -> float:
    """Give a score."""
    return 0.4


def explain(context: Context) -> str:
    """Give a reason."""
    return "four words"


async def later(context: Context) -> Any:
    """Give a result asynchronously, without waiting."""
    return 0.4


async def bare(scorer: Scorer[Any, Any, Any, Any]) -> None:
    """Call the functions and nothing else."""
    context: Any = None
    for step in (words, count, share, explain):
        step(context)


async def scored(scorer: Scorer[Any, Any, Any, Any]) -> None:
    """Run the scorer."""
    await scorer.run(output=OUTPUT)


def microseconds(
    run: Callable[[Scorer[Any, Any, Any, Any]], Awaitable[None]],
    scorer: Scorer[Any, Any, Any, Any],
) -> float:
    """Return the time of one run in a loop of many."""

    async def many() -> float:
        begin = time.perf_counter()
        for _ in range(RUNS):
            await run(scorer)
        return (time.perf_counter() - begin) / RUNS * 1e6

    return asyncio.run(many())


def overhead(scorer: Scorer[Any, Any, Any, Any]) -> float:
    """Return what the scorer adds to a step, by the median round."""
    rounds = [microseconds(scored, scorer) - microseconds(bare, scorer) for _ in range(ROUNDS)]
    return statistics.median(rounds) / STEPS


def main() -> int:
    """Print the overhead; 1 where it misses the goal."""
    plain = (
        create_scorer("plain")
        .preprocess(words)
        .analyze(count)
        .generate_score(share)
        .generate_reason(explain)
    )
    asynchronous: Scorer[Any, Any, Any, Any] = (
        create_scorer("asynchronous").preprocess(later).analyze(later).generate_score(later)
    ).generate_reason(explain)
    results = {"functions": overhead(plain), "coroutines": overhead(asynchronous)}
    for name, value in results.items():
        print(f"{name:11} {value:6.1f} µs a step (goal: below {GOAL:g})")
    return 0 if max(results.values()) < GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
