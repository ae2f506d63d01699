"""Run the items of an evaluation through the target and its scorers, a bounded number at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from classify.adapters.scorers.eval_errors import EvalRunError, RunCase
from classify.adapters.scorers.eval_items import PlannedItem, PlannedTurn
from classify.adapters.scorers.eval_outcomes import Failure, ItemResult, Scoring, TurnOutcome
from classify.adapters.scorers.eval_plan import Place, Planned
from classify.adapters.scorers.eval_scoring import Scored, score_all
from classify.adapters.scorers.eval_target import Runner, TargetResult, Thread
from classify.adapters.scorers.settling import settled
from classify.json_values import is_list

OnItemComplete: TypeAlias = Callable[[ItemResult], object]
Judged: TypeAlias = dict[str, tuple[Scoring, Exception | None]]
Work: TypeAlias = tuple[PlannedItem, int]
"""An item and the number of the trial."""

_CASES: Mapping[Place, RunCase] = {
    "whole": "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_RESULT",
    "step": "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_STEP_RESULT",
    "trajectory": "RUN_EXPERIMENT_SCORER_FAILED_TO_SCORE_TRAJECTORY",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRunner:
    """Everything that one item needs."""

    runner: Runner
    scorers: tuple[Planned, ...]
    gates: tuple[Planned, ...]
    stop_on_error: bool = False

    async def run(self, planned: PlannedItem, trial: int) -> ItemResult:
        """Run one item; raises EvalRunError where it is to stop at errors, and there is one."""
        started = time.monotonic()
        item = planned.item
        thread = Thread(f"{planned.name}/{trial}")
        turns: list[TurnOutcome] = []
        try:
            target = await self._answers(planned, trial, thread, turns)
        except EvalRunError:  # of a turn's scorer
            raise
        except Exception as error:
            return self._failed(planned, trial, error, tuple(turns), started)
        scored = Scored(
            item=item,
            run_id=thread.id,
            input=planned.turns[0].input,
            output=target.output if planned.single else _joined(thread),
            target=target if planned.single else None,
        )
        gates, scores = await self._judged(planned, trial, scored, self.gates, self.scorers)
        return ItemResult(
            index=planned.index,
            trial=trial,
            id=planned.name,
            item=item,
            target_result=target,
            output=scored.output,
            scores=scores,
            gates=gates,
            turns=tuple(turns),
            seconds=time.monotonic() - started,
        )

    async def _answers(
        self, planned: PlannedItem, trial: int, thread: Thread, turns: list[TurnOutcome]
    ) -> TargetResult:
        """Put all turns to the target, judge each of a conversation, and return the last result."""
        target = TargetResult()
        for number, turn in enumerate(planned.turns):
            target = await self.runner.answer(turn.input, planned.item, thread)
            thread.exchanges.append((turn.input, target.output))
            if not planned.single:
                turns.append(await self._turn(planned, trial, number, turn, target))
        return target

    async def _turn(
        self,
        planned: PlannedItem,
        trial: int,
        number: int,
        turn: PlannedTurn,
        target: TargetResult,
    ) -> TurnOutcome:
        scored = Scored(
            item=planned.item,
            run_id=f"{planned.name}/{trial}/{number}",
            input=turn.input,
            output=target.output,
            target=target,
        )
        gates, scores = await self._judged(planned, trial, scored, turn.gates, turn.scorers)
        return TurnOutcome(output=target.output, scores=scores, gates=gates)

    async def _judged(
        self,
        planned: PlannedItem,
        trial: int,
        scored: Scored,
        gates: Iterable[Planned],
        scorers: tuple[Planned, ...],
    ) -> tuple[dict[str, Scoring], dict[str, Scoring]]:
        found_gates = await score_all(scored, gates, "gate")
        found = await score_all(scored, scorers, "scorer")
        for each in scorers if self.stop_on_error else ():
            error = found[each.key][1]
            if error is not None:
                raise EvalRunError(
                    f"data[{planned.index}], trial {trial}: scorer {each.key!r} failed: {error}",
                    _CASES["trajectory" if each.wants_trajectory else each.place],
                    index=planned.index,
                    trial=trial,
                ) from error
        return _scorings(found_gates), _scorings(found)

    def _failed(
        self,
        planned: PlannedItem,
        trial: int,
        error: Exception,
        turns: tuple[TurnOutcome, ...],
        started: float,
    ) -> ItemResult:
        if self.stop_on_error:
            raise EvalRunError(
                f"data[{planned.index}], trial {trial}: the target failed: {error}",
                "RUN_EXPERIMENT_TARGET_FAILED_TO_GENERATE_RESULT",
                index=planned.index,
                trial=trial,
            ) from error
        return ItemResult(
            index=planned.index,
            trial=trial,
            id=planned.name,
            item=planned.item,
            failure=Failure.of(error, "target"),
            turns=turns,
            seconds=time.monotonic() - started,
        )


async def run_bounded(
    work: Iterable[Work], one: Callable[[PlannedItem, int], Awaitable[None]], concurrency: int
) -> None:
    """Do all the work, at most `concurrency` pieces at a time; the first error ends it."""
    pieces = iter(work)
    workers = [asyncio.create_task(_worker(pieces, one)) for _ in range(concurrency)]
    try:
        await asyncio.gather(*workers)
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def _worker(
    pieces: Iterator[Work], one: Callable[[PlannedItem, int], Awaitable[None]]
) -> None:
    for planned, trial in pieces:
        await one(planned, trial)


async def told(callback: OnItemComplete | None, result: ItemResult) -> None:
    """Tell the user of an item; what their function raises is theirs to see."""
    if callback is not None:
        await settled(callback(result))


def _scorings(judged: Judged) -> dict[str, Scoring]:
    return {key: scoring for key, (scoring, _) in judged.items()}


def _joined(thread: Thread) -> list[Any]:
    """Return all outputs of a conversation as one list; lists of messages are put together."""
    joined: list[Any] = []
    for _, output in thread.exchanges:
        joined += output if is_list(output) else [output]
    return joined
