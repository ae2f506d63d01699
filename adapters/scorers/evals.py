"""Evaluate a target: run it on data, score what it gives, and say whether that is good enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from classify.adapters.scorers.eval_errors import EvalDefinitionError
from classify.adapters.scorers.eval_items import ItemLike, PlannedItem, planned_items
from classify.adapters.scorers.eval_outcomes import ItemResult, Scoring
from classify.adapters.scorers.eval_plan import (
    Planned,
    ScorerEntry,
    Scorers,
    planned_gates,
    planned_scorers,
)
from classify.adapters.scorers.eval_progress import EvalProgress
from classify.adapters.scorers.eval_report import EvalReport, Judged, Trials, judged, verdict_of
from classify.adapters.scorers.eval_run import ItemRunner, OnItemComplete, run_bounded, told
from classify.adapters.scorers.eval_store import EvalStore, Existing, item_key
from classify.adapters.scorers.eval_target import Runner, Target, takes_of
from classify.blocking import blocking
from classify.errors import InvalidInput
from classify.json_values import JSON, check_json
from classify.shared_limits import concurrency_asked

RunPlace: TypeAlias = tuple[int, int]
"""An item's position and the number of the trial."""


async def run_evals(
    target: Target,
    data: Iterable[ItemLike],
    scorers: Scorers = (),
    *,
    gates: Sequence[ScorerEntry] = (),
    target_options: Mapping[str, Any] | None = None,
    concurrency: int | None = None,
    trials: int = 1,
    on_item_complete: OnItemComplete | None = None,
    progress: Callable[[EvalProgress], None] | None = None,
    stop_on_error: bool = False,
    max_failures: int = 0,
    output: str | Path | None = None,
    existing: Existing = "error",
    version: str | None = None,
) -> EvalReport:
    """Run a target on every item, and score what it gives.

    `target(input, **options)` is any function, asynchronous or not (then it runs in a thread);
    options are `target_options` under the item's `start_options`. Where it takes
    `request_context` it gets the item's, and where it takes `thread` the conversation so far. It
    returns an output, or a TargetResult with steps and a trajectory.

    An item has one of `input`, `inputs` and `turns` (see EvalItem). A gate holds where every score
    is full marks, or what WithThreshold says, and none failed or has no verdict; a threshold where
    the average is in range and at most `max_failures` scores failed or have no verdict. Items that
    a scorer declines as not scorable count for neither.

    `concurrency` bounds the items at a time, and the requests in flight at each model's address:
    a classifier of several questions or orders makes several for an item. None is one item at a
    time, with the 8 requests that an evaluation makes where it is told nothing.

    Failing targets and scorers are counted and kept; with `stop_on_error` the first ends the
    evaluation. Each item is run `trials` times.

    `output` keeps a line of JSON per item and trial; of an output that is no JSON, its text.
    existing="resume" runs only what it lacks or what failed; it needs `version`, a name for the
    target's and the scorers' code that you change when they change, since no hash can see all
    that a function does.

    Raises EvalDefinitionError before anything runs, EvalRunError where it is to stop at errors,
    and what `on_item_complete` and `progress` raise.
    """
    at_a_time = 1 if concurrency is None else concurrency
    _check_numbers(concurrency=at_a_time, trials=trials, max_failures=max_failures)
    items = planned_items(data, holds_thread="thread" in takes_of(target))
    plan = _Plan(items, planned_scorers(scorers), planned_gates(gates), trials, max_failures)
    plan.check()
    with ExitStack() as held:
        if concurrency is not None:
            held.callback(concurrency_asked.reset, concurrency_asked.set(concurrency))
        threads = ThreadPoolExecutor(at_a_time, "classify-evals")
        # Not waited for: a target may itself be waiting for the loop that this runs in.
        held.callback(threads.shutdown, wait=False, cancel_futures=True)
        runner = ItemRunner(
            runner=Runner(target, target_options, threads),
            scorers=plan.scorers,
            gates=plan.gates,
            stop_on_error=stop_on_error,
        )
        store, keys = None, dict[RunPlace, str]()
        if output is not None:
            _check_version(existing, version)
            keys = plan.keys(version, target_options)
            store = held.enter_context(EvalStore(output, existing=existing))
        run = _Run(runner, store, keys, EvalProgress(len(items) * trials))
        run.on_item_complete, run.progress = on_item_complete, progress
        await run_bounded(plan.work(), run.one, at_a_time)
        if store is not None:
            store.finish([*keys.values()])
    return plan.report([run.results[item.index, trial] for item, trial in plan.work()])


run_evals_sync = blocking(run_evals)
"""Do the same as `run_evals`, and wait."""


class _Run:
    """The results so far."""

    on_item_complete: OnItemComplete | None = None
    progress: Callable[[EvalProgress], None] | None = None

    def __init__(
        self,
        runner: ItemRunner,
        store: EvalStore | None,
        keys: Mapping[RunPlace, str],
        so_far: EvalProgress,
    ) -> None:
        self.results: dict[RunPlace, ItemResult] = {}
        self._runner, self._store, self._keys = runner, store, keys
        self._so_far = so_far

    async def one(self, planned: PlannedItem, trial: int) -> None:
        place = planned.index, trial
        found = None if self._store is None else self._store.find(self._keys[place], planned)
        result = found or await self._runner.run(planned, trial)
        self.results[place] = result
        if found is None:
            if self._store is not None:
                self._store.put(self._keys[place], result)
            await told(self.on_item_complete, result)
        self._so_far.done += 1
        self._so_far.failed += bool(result.failures)
        self._so_far.reused += result.reused
        if self.progress is not None:
            self.progress(self._so_far)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be run, and how its results become a report."""

    items: tuple[PlannedItem, ...]
    scorers: tuple[Planned, ...]
    gates: tuple[Planned, ...]
    trials: int
    max_failures: int

    def check(self) -> None:
        """Raise EvalDefinitionError where nothing would be scored."""
        of_turns = any(turn.scorers or turn.gates for item in self.items for turn in item.turns)
        if not (self.scorers or self.gates or of_turns):
            raise EvalDefinitionError(
                "there is nothing to score with: give scorers, gates, or turns with their own",
                "NO_SCORERS_PROVIDED",
            )

    def work(self) -> list[tuple[PlannedItem, int]]:
        """Return every item with every trial, in the order of the results."""
        return [(item, trial) for item in self.items for trial in range(self.trials)]

    def keys(
        self, version: str | None, target_options: Mapping[str, Any] | None
    ) -> dict[RunPlace, str]:
        """Return what finds each item run in a file, in the order of the results.

        Items that are the same are told apart by their number among those.
        """
        identity, seen = self._identity(version, target_options), Counter[str]()
        keys: dict[RunPlace, str] = {}
        for item, trial in self.work():
            key = item_key(identity, item, trial)
            seen[key] += 1
            keys[item.index, trial] = key if seen[key] == 1 else f"{key}-{seen[key]}"
        return keys

    def _identity(self, version: str | None, target_options: Mapping[str, Any] | None) -> JSON:
        """Return what every item's key holds beside the item."""
        check_json(target_options, "target_options, to be found again in a file,")
        return {
            "version": version,
            "target_options": target_options,
            "scorers": [[each.key, each.place, each.step] for each in self.scorers],
            "gates": [each.key for each in self.gates],
        }

    def report(self, results: Sequence[ItemResult]) -> EvalReport:
        """Return the report of results that stand in the order of the work."""
        by_item = [
            results[start : start + self.trials] for start in range(0, len(results), self.trials)
        ]
        whole = judged(
            {each: _trials(by_item, each.key, gate=False) for each in self.scorers},
            {each: _trials(by_item, each.key, gate=True) for each in self.gates},
            max_failures=self.max_failures,
        )
        turns = self._turns(by_item)
        return EvalReport(
            scores=whole.scores,
            gates=whole.gates,
            thresholds=whole.thresholds,
            verdict=verdict_of([whole, *turns.values()]),
            turns=turns,
            items=tuple(results),
            total_items=len(self.items),
            trials=self.trials,
            failed_targets=sum(result.failure is not None for result in results),
        )

    def _turns(self, by_item: Sequence[Sequence[ItemResult]]) -> dict[int, Judged]:
        """Return position of a turn -> what its own scorers and gates came to."""
        found: dict[int, Judged] = {}
        for number in range(max(len(item.turns) for item in self.items)):
            having = [
                (planned.turns[number], results)
                for planned, results in zip(self.items, by_item, strict=True)
                if number < len(planned.turns)
            ]
            scorers: dict[Planned, list[list[Scoring | None]]] = {}
            gates: dict[Planned, list[list[Scoring | None]]] = {}
            for turn, results in having:
                for each in turn.scorers:
                    own = [_of_turn(result, number, each.key, gate=False) for result in results]
                    scorers.setdefault(each, []).append(own)
                for each in turn.gates:
                    own = [_of_turn(result, number, each.key, gate=True) for result in results]
                    gates.setdefault(each, []).append(own)
            if scorers or gates:
                found[number] = judged(scorers, gates, max_failures=self.max_failures)
        return found


def _trials(by_item: Sequence[Sequence[ItemResult]], key: str, *, gate: bool) -> Trials:
    return [[(r.gates if gate else r.scores).get(key) for r in results] for results in by_item]


def _of_turn(result: ItemResult, number: int, key: str, *, gate: bool) -> Scoring | None:
    if number >= len(result.turns):
        return None  # the target failed before
    turn = result.turns[number]
    return (turn.gates if gate else turn.scores).get(key)


def _check_numbers(*, concurrency: int, trials: int, max_failures: int) -> None:
    for name, value, least in (
        ("concurrency", concurrency, 1),
        ("trials", trials, 1),
        ("max_failures", max_failures, 0),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InvalidInput(f"{name} must be a whole number of at least {least}, got {value!r}")


def _check_version(existing: Existing, version: str | None) -> None:
    if existing not in ("error", "resume", "overwrite"):
        raise InvalidInput(f"existing must be 'error', 'resume' or 'overwrite', got {existing!r}")
    if existing == "resume" and not version:
        raise InvalidInput(
            "existing='resume' needs version=..., a name for the code of target and scorers: "
            "change it when they change, or old scores would be taken for theirs"
        )
