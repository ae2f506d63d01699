"""Run the steps of a scorer, one after the other, keeping all that they gave."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, TypeAlias

from classify.adapters.scorers.definition import (
    AnyPromptStep,
    AnyResult,
    AnyRun,
    Definition,
    Step,
)
from classify.adapters.scorers.errors import ScorerRunError
from classify.adapters.scorers.judge_records import JudgeRecord
from classify.adapters.scorers.judging import JudgeRequest
from classify.adapters.scorers.message_reading import read_agent_input, read_messages
from classify.adapters.scorers.output_schema import ScoreAnswer
from classify.adapters.scorers.result import (
    NotScorable,
    Results,
    ScorerResult,
    ScorerRun,
    StepContext,
    StepName,
)
from classify.adapters.scorers.scores import as_number, normalized
from classify.adapters.scorers.settling import settled
from classify.errors import InvalidInput

AnyContext: TypeAlias = StepContext[Any, Any, Any, Any]


async def score_run(definition: Definition, given: AnyRun) -> AnyResult:
    """Score one run; what prepare_run raises comes through as it is.

    Raises ScorerRunError where a step failed.
    """
    given = _typed(definition, given)
    progress = _Progress(definition, await _prepared(definition, given))
    for step in definition.steps:
        try:
            await progress.perform(step)
        except Exception as error:
            raise progress.failure(step, error) from error
        if progress.not_scorable is not None:
            return progress.result()
    result = progress.result()
    if definition.on_result is not None:
        await _report(definition, result, given)
    return result


def _typed(definition: Definition, given: AnyRun) -> AnyRun:
    # An agent scorer's steps are promised an agent's messages, in whatever shape they come.
    if definition.type != "agent":
        return given
    return replace(
        given,
        input=read_agent_input(given.input),
        output=read_messages(given.output, role="assistant"),
    )


async def _prepared(definition: Definition, given: AnyRun) -> AnyRun:
    if definition.prepare_run is None:
        return given
    run: AnyRun = await settled(definition.prepare_run(given))
    if not isinstance(run, ScorerRun):
        raise InvalidInput(
            f"prepare_run of scorer {definition.id!r} must return a ScorerRun, "
            f"got {type(run).__name__}; dataclasses.replace(run, ...) changes fields of one"
        )
    return run


async def _report(definition: Definition, result: AnyResult, given: AnyRun) -> None:
    assert definition.on_result is not None
    try:
        await settled(definition.on_result(result, given))
    except Exception as error:  # the score is there: what becomes of it elsewhere cannot undo it
        warnings.warn(
            f"on_result of scorer {definition.id!r} failed for run {result.run_id!r}: {error!r}",
            RuntimeWarning,
            stacklevel=2,
        )


class _Progress:
    """What the steps of one run have given so far."""

    def __init__(self, definition: Definition, run: AnyRun) -> None:
        self._definition, self._run = definition, run
        self._completed: list[StepName] = []
        self._values: dict[StepName, Any] = {}
        self._prompts: dict[StepName, str] = {}
        self._judge: dict[StepName, JudgeRecord] = {}
        self._raw_score: float | None = None
        self.not_scorable: NotScorable | None = None

    async def perform(self, step: Step) -> None:
        """Perform one step and keep what it gave."""
        name = step.info.name
        context = self._context()
        value = await settled(step.function(context))
        if step.prompt is not None:
            value = await self._judged(step, step.prompt, value, context)
        if isinstance(value, NotScorable):
            self.not_scorable = value
            return
        if name == "generate_score":
            self._raw_score = as_number(value)
            value = normalized(self._raw_score, self._definition.bounds)
        elif name == "generate_reason" and not isinstance(value, str):
            raise InvalidInput(f"generate_reason must return a string, got {value!r}")
        self._values[name] = value
        self._completed.append(name)

    async def _judged(
        self, step: Step, asks: AnyPromptStep, prompt: Any, context: AnyContext
    ) -> Any:
        """Put the prompt to the judge, and return its object, its score or its text."""
        name = step.info.name
        if not isinstance(prompt, str):
            raise InvalidInput(f"create_prompt of {name} must return a string, got {prompt!r}")
        self._prompts[name] = prompt
        assert step.judge is not None
        request = JudgeRequest(
            prompt, step.judge, schema=asks.schema_of(name), models=self._definition.models
        )
        try:
            judged = await request.run()
        except Exception as error:
            self._judge[name] = JudgeRecord((request.record(error),))
            raise
        self._judge[name] = JudgeRecord((request.record(),))
        if asks.calculate_score is not None:
            return await settled(asks.calculate_score(judged, context))
        return judged.score if isinstance(judged, ScoreAnswer) else judged

    def result(self) -> AnyResult:
        """Return all there is."""
        values = self._values
        return ScorerResult(
            scorer_id=self._definition.id,
            run=self._run,
            score=values.get("generate_score") if self.not_scorable is None else None,
            reason=values.get("generate_reason"),
            preprocess_step_result=values.get("preprocess"),
            analyze_step_result=values.get("analyze"),
            prompts=dict(self._prompts),
            judge=dict(self._judge),
            not_scorable=self.not_scorable,
            raw_score=self._raw_score,
            bounds=self._definition.bounds,
            direction=self._definition.direction,
        )

    def failure(self, step: Step, error: Exception) -> ScorerRunError:
        """Return the error for a failed step, with what was there before it."""
        return ScorerRunError(
            self._definition.id,
            step.info.name,
            tuple(self._completed),
            cause=error,
            result=self.result() if self._completed or self._prompts else None,
        )

    def _context(self) -> AnyContext:
        values = self._values
        results = Results(values.get("preprocess"), values.get("analyze"))
        return StepContext(self._run, results, values.get("generate_score"))
