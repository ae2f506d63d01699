"""One measure as a scorer: plan the items, ask about each, put the answers into the formula.

The one place that runs measures; the families only say what they ask and how it counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.measures.items import (
    Counting,
    Item,
    ItemAnswer,
    MeasureEvidence,
    Plan,
    Verdicts,
)
from classify.adapters.scorers.measures.settings import (
    Judging,
    Settings,
    check_settings,
    classifier_of,
    reworded,
)
from classify.adapters.scorers.result import (
    Direction,
    NotScorable,
    ScorerRun,
    StepContext,
    not_scorable,
)
from classify.adapters.scorers.scorer import Scorer
from classify.adapters.scorers.settling import settled
from classify.answers import NoVerdict
from classify.classifier import Classifier
from classify.evaluation import Evaluation, TotalUsage
from classify.questions import Question
from classify.shared_limits import concurrency_asked

AnyRun: TypeAlias = ScorerRun[Any, Any]
MeasureScorer: TypeAlias = Scorer[Any, Any, None, MeasureEvidence]
Asked: TypeAlias = tuple[ItemAnswer, Evaluation]
Judged: TypeAlias = StepContext[Any, Any, None, MeasureEvidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What one measure asks and how the answers become a score."""

    name: str
    description: str
    formula: str
    """As a person would write it."""
    questions: Mapping[str, Question]
    plan: Callable[[AnyRun], Plan | Awaitable[Plan]]
    compute: Callable[[Verdicts], float | NotScorable]
    """Called when every question that was asked has a verdict on at least one item."""
    direction: Direction = "higher"
    type: Literal["agent", "trajectory"] | None = None

    def scorer(self, judge: Judging, settings: Settings) -> MeasureScorer:
        """Return the scorer; raises ScorerDefinitionError for a setting that does not fit."""
        asks = _Asks(self, classifier_of(self.name, judge), settings)
        return (
            create_scorer[Any, Any](
                asks.id, description=self.description, direction=self.direction, type=self.type
            )
            .analyze(asks.evidence)
            .generate_score(_score)
            .generate_reason(_reason)
        )


class _Asks:
    """A measure with the classifier that answers and the settings."""

    def __init__(self, measure: Measure, classifier: Classifier, settings: Settings) -> None:
        """Check the settings."""
        check_settings(settings)
        self._measure, self._classifier = measure, classifier
        self.id = settings.get("id", measure.name)
        self._questions = reworded(measure.name, measure.questions, settings.get("questions", {}))
        self._counting: Counting = settings.get("counting", "expected")
        self._limit = settings.get("max_characters")
        self._concurrency = settings.get("concurrency")
        self._max_retries = settings.get("max_retries", 2)
        self._timeout = settings.get("timeout")
        self._options = settings.get("provider_options")

    # One step, not two: a plan holds the context once per item, and step results are stored.
    async def evidence(self, context: StepContext[Any, Any, None, None]) -> MeasureEvidence:
        """List what is asked, ask about every item, and put the answers into the formula."""
        plan: Plan = await settled(self._measure.plan(context.run))
        if not plan.items:
            return self._unasked(plan.nothing)
        return self._concluded(await self._asked(plan.items))

    async def _asked(self, items: Sequence[Item]) -> list[Asked]:
        answers = dict[int, Asked]()
        waiting = enumerate(items)

        async def work() -> None:
            for place, item in waiting:  # shared by the workers: each takes what is next
                answers[place] = await self._ask(item)

        most = self._concurrency or concurrency_asked.get()
        workers = [asyncio.ensure_future(work()) for _ in items[:most]]
        try:
            await asyncio.gather(*workers)  # the first error comes through as it is
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return [answers[place] for place in range(len(items))]

    async def _ask(self, item: Item) -> Asked:
        within = item.within(self._limit)
        evaluation = await self._classifier.evaluate(
            within.state,
            {item.question: self._questions[item.question]},
            concurrency=self._concurrency,
            max_retries=self._max_retries,
            timeout=self._timeout,
            provider_options=self._options,
        )
        answer = ItemAnswer(
            question=item.question,
            text=item.text,
            answer=evaluation.answers[item.question],
            required=item.required,
            shortened=within is not item,
        )
        return answer, evaluation

    def _concluded(self, asked: list[Asked]) -> MeasureEvidence:
        items = tuple(item for item, _ in asked)
        used = [item for item in items if not isinstance(item.answer, NoVerdict)]
        silent = {item.question for item in items} - {item.question for item in used}
        evaluations = [evaluation for _, evaluation in asked]
        evidence = self._unasked(None).model_copy(
            update={
                "items": items,
                "classifier_id": self._classifier.id,
                "model_id": evaluations[0].response.model_id,
                "usage": _total(evaluations),
                "warnings": tuple({w: None for e in evaluations for w in e.warnings}),
                "attempts": sum(e.attempts for e in evaluations),
            }
        )
        if silent:
            note = f"no item of {sorted(silent)!r} has a verdict ({len(used)} of {len(items)} used)"
            return evidence.model_copy(update={"note": note})
        unanswered = [item for item in items if isinstance(item.answer, NoVerdict)]
        values = {
            "expected": self._measure.compute(Verdicts(used, "expected", unanswered)),
            "by_verdicts": self._measure.compute(Verdicts(used, "verdicts", unanswered)),
        }
        for value in values.values():
            if isinstance(value, NotScorable):
                return evidence.model_copy(update={"note": value.reason})
        return evidence.model_copy(update=values)

    def _unasked(self, nothing: float | NotScorable | None) -> MeasureEvidence:
        score = nothing if isinstance(nothing, float) else None
        note = nothing.reason if isinstance(nothing, NotScorable) else None
        return MeasureEvidence(
            measure=self._measure.name,
            formula=self._measure.formula,
            counting=self._counting,
            questions=self._questions,
            expected=score,
            by_verdicts=score,
            note="nothing to judge: the documented value" if score is not None else note,
        )


def _score(context: Judged) -> float | NotScorable:
    """Take the formula's value."""
    evidence = context.results.analyze_step_result
    if evidence.score is None:  # nothing to judge, or items that got no verdict
        return not_scorable(evidence.note, no_verdict=bool(evidence.items))
    return evidence.score


def _reason(context: Judged) -> str:
    """Name the formula, how many items it used, and the score by verdicts."""
    evidence = context.results.analyze_step_result
    if evidence.note is not None:
        return f"{evidence.measure}: {evidence.note}, {context.score:.6g}."
    return (
        f"{evidence.measure} is {context.score:.6g} ({evidence.formula}; {evidence.used} of "
        f"{evidence.of} items used, {evidence.counting}; by verdicts {evidence.by_verdicts:.6g})."
    )


def _total(evaluations: list[Evaluation]) -> TotalUsage:
    def added(name: str) -> int | None:
        known = [getattr(e.usage, name) for e in evaluations]
        return sum(n for n in known if n is not None) if any(n is not None for n in known) else None

    return TotalUsage(
        input_tokens=added("input_tokens"),
        output_tokens=added("output_tokens"),
        cached_tokens=added("cached_tokens"),
        reasoning_tokens=added("reasoning_tokens"),
        total_tokens=added("total_tokens") or 0,
    )
