"""The older scorer of three functions, with its own arguments and result fields."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.errors import ScorerDefinitionError, ScorerRunError
from classify.adapters.scorers.result import Direction, ScorerResult, ScorerRun, StepContext
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.scores import Bounds, as_number
from classify.adapters.scorers.settling import settled
from classify.blocking import blocking
from classify.display.notebook import Shown
from classify.errors import InvalidInput
from classify.json_values import is_object

if TYPE_CHECKING:
    from classify.display.cards import Card

Record: TypeAlias = Mapping[str, Any]
LegacyStep: TypeAlias = "Callable[[dict[str, Any]], Record | Awaitable[Record | None] | None]"
"""A function of one flat record: input, output, run_id, contexts and the results so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyResult(Shown):
    """What a LegacyScorer returns."""

    run_id: str
    score: float
    """As `analyze` gave it: this scorer promises no range."""
    # Any: what the author's functions returned.
    extract_step_result: Any = None
    analyze_step_result: Any = None
    reason: str | None = None
    input: Any = None
    output: Any = None
    additional_context: Record | None = None
    request_context: Record | None = None
    metadata: Record = field(default_factory=dict[str, Any])

    def _card(self) -> Card:
        from classify.adapters.scorers.result_cards import legacy_result_card

        return legacy_result_card(self)


class LegacyScorer:
    """A scorer of up to three functions: extract, analyze (which gives the score) and reason.

    `extract` returns {"results": …}, which `analyze` is given as extract_step_result; `analyze`
    returns {"score": number, "results"?: …} ("result" as well, its older name), and `reason`, given
    score and analyze_step_result too, {"reason": text}, or None. Each may be asynchronous. The
    record holds the reference's own names also (runId, extractStepResult, …).

    Raises ScorerDefinitionError for an unusable name or function.
    """

    def __init__(
        self,
        name: str,
        *,
        analyze: LegacyStep,
        description: str = "",
        extract: LegacyStep | None = None,
        reason: LegacyStep | None = None,
        metadata: Record | None = None,
        is_llm_scorer: bool = False,
    ) -> None:
        """Take the functions; nothing runs yet."""
        if not isinstance(name, str) or not name.strip():
            raise ScorerDefinitionError(
                f"the scorer's name must be a non-empty string, got {name!r}"
            )
        given = {"extract": extract, "analyze": analyze, "reason": reason}
        for step, function in given.items():
            if not callable(function) and (function is not None or step == "analyze"):
                raise ScorerDefinitionError(f"{step} must be a function, got {function!r}")
        self.name, self.description = name, description
        self.metadata: Record = dict(metadata or {})
        self.is_llm_scorer = is_llm_scorer
        self._steps = {step: f for step, f in given.items() if f is not None}
        self.run_sync = blocking(self.run)
        """Do the same as `run`, and wait."""

    async def run(
        self,
        *,
        input: Any = None,
        output: Any = None,
        run_id: str | None = None,
        additional_context: Record | None = None,
        runtime_context: Record | None = None,
        request_context: Record | None = None,
    ) -> LegacyResult:
        """Run the functions one after the other; the run's id is a new UUID where none is given.

        `runtime_context` is the older name of `request_context`; give one. Raises ScorerRunError
        where a function failed or returned something else.
        """
        if runtime_context is not None and request_context is not None:
            raise InvalidInput("give request_context or, by its older name, runtime_context")
        context = runtime_context if request_context is None else request_context
        record: dict[str, Any] = _both_names(
            input=input,
            output=output,
            run_id=str(uuid.uuid4()) if run_id is None else run_id,
            additional_context=additional_context,
            runtime_context=context,
            request_context=context,
        )
        record |= _both_names(extract_step_result=None, analyze_step_result=None)
        completed = list[str]()
        for step, function in self._steps.items():
            try:
                record |= _added(step, await _returned(function, record))
            except Exception as error:
                partial = _partial(self.name, record) if completed else None
                raise ScorerRunError(
                    self.name, step, tuple(completed), cause=error, result=partial
                ) from error
            completed.append(step)
        return LegacyResult(
            run_id=record["run_id"],
            score=record["score"],
            extract_step_result=record["extract_step_result"],
            analyze_step_result=record["analyze_step_result"],
            reason=record.get("reason"),
            input=input,
            output=output,
            additional_context=additional_context,
            request_context=context,
            metadata=self.metadata,
        )

    def as_scorer(
        self, *, bounds: Bounds = (0.0, 1.0), direction: Direction = "higher"
    ) -> Scorer[Any, Any, None, LegacyResult]:
        """Return a scorer of today's kind that runs the three functions as its analyze step.

        It is what run_evals, traces and frameworks take; its id is the name.
        """

        async def analyze(context: StepContext[Any, Any, None, None]) -> LegacyResult:
            run = context.run
            return await self.run(
                input=run.input,
                output=run.output,
                run_id=run.run_id,
                additional_context=run.additional_context,
                request_context=(
                    run.runtime_context if run.request_context is None else run.request_context
                ),
            )

        scorer = (
            create_scorer[Any, Any](
                self.name, description=self.description, bounds=bounds, direction=direction
            )
            .analyze(analyze)
            .generate_score(lambda context: context.results.analyze_step_result.score)
        )
        if "reason" not in self._steps:
            return scorer
        return scorer.generate_reason(lambda c: c.results.analyze_step_result.reason or "")


def _partial(name: str, record: Record) -> ScorerResult[Any, Any, Any, Any]:
    """Return what was there before a function failed; extract's result stands as preprocess's."""
    run = ScorerRun(
        run_id=record["run_id"],
        input=record["input"],
        output=record["output"],
        additional_context=record["additional_context"],
        request_context=record["request_context"],
    )
    return ScorerResult(
        scorer_id=name,
        run=run,
        score=record.get("score"),
        raw_score=record.get("score"),
        preprocess_step_result=record["extract_step_result"],
        analyze_step_result=record["analyze_step_result"],
        bounds=None,
    )


async def _returned(step: LegacyStep, record: dict[str, Any]) -> Record:
    """Return the object that a step gave; an empty one where it gave None."""
    returned: object = await settled(step(dict(record)))
    if returned is None:
        return {}
    if not is_object(returned):
        raise InvalidInput(f"a step must return an object, got {returned!r}")
    return {str(name): value for name, value in returned.items()}


def _added(step: str, returned: Record) -> dict[str, Any]:
    """Return what a step adds to the record."""
    if step == "extract":
        return _both_names(extract_step_result=_results(returned))
    if step == "analyze":
        if "score" not in returned:
            raise InvalidInput(f"analyze must return an object with a score, got {returned!r}")
        score = as_number(returned["score"])
        return _both_names(score=score, analyze_step_result=_results(returned))
    reason = returned.get("reason")
    if returned and not isinstance(reason, str):
        raise InvalidInput(f"reason must return an object with a reason, got {returned!r}")
    return {"reason": reason}


def _results(returned: Record) -> Any:
    return returned["results"] if "results" in returned else returned.get("result")


def _both_names(**fields: Any) -> dict[str, Any]:
    """Return the fields under Python's names and the reference's."""
    return fields | {_camel(name): value for name, value in fields.items()}


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)
