"""Was it done as asked: prompt alignment, a rubric's criteria, a criterion of a conversation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, Unpack

from classify.adapters.scorers.agent_text import conversation_text, system_text
from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.measures import arithmetic
from classify.adapters.scorers.measures.inputs import (
    Splitter,
    from_mapping,
    input_text,
    output_text,
    split,
)
from classify.adapters.scorers.measures.items import Item, Plan, Verdicts
from classify.adapters.scorers.measures.measure import AnyRun, Measure, MeasureScorer
from classify.adapters.scorers.measures.sentences import sentences
from classify.adapters.scorers.measures.settings import Judging, Settings
from classify.adapters.scorers.result import NotScorable
from classify.errors import InvalidInput
from classify.json_values import is_list, is_object
from classify.questions import Boolean, Question, Score

Criteria: TypeAlias = str | Sequence[str | Mapping[str, Any]]
"""One criterion, several, or {"description": ..., "required": bool} each."""

_DIMENSIONS = ("intent", "requirements", "completeness", "form")
_WORDS = [["poor", "bad"], ["partial", "fair"], ["full", "good"]]
_QUESTIONS: Mapping[str, Question] = {
    "intent": Score(
        instructions="Does the output serve the purpose of the prompt?",
        criteria=["it misses the purpose", "it serves it in part", "it serves it"],
        cue="How well the output serves the purpose of the prompt:",
        words=_WORDS,
    ),
    "requirements": Boolean(
        instructions="Does the output fulfil this requirement of the prompt?",
        criteria={"true": "it is fulfilled", "false": "it is broken or ignored"},
        cue="In the output, the requirement is",
        words={"true": ["fulfilled", "met"], "false": ["ignored", "broken"]},
    ),
    "completeness": Score(
        instructions="Is the output complete for what the prompt asks?",
        criteria=["most is missing", "something is missing", "nothing is missing"],
        cue="How complete the output is:",
        words=_WORDS,
    ),
    "form": Score(
        instructions="Do format, length and tone of the output suit the prompt?",
        criteria=["they do not", "they do in part", "they do"],
        cue="How well the form of the output suits the prompt:",
        words=_WORDS,
    ),
}
MET = Boolean(
    instructions="Is the criterion met?",
    criteria={"true": "it is met in full", "false": "it is not, or only in part"},
    cue="The criterion is",
    words={"true": ["met", "satisfied"], "false": ["failed", "violated"]},
)


def prompt_alignment(
    judge: Judging = None,
    *,
    mode: Literal["user", "system", "both"] = "both",
    requirements: Splitter = sentences,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return how well the output follows its prompt; higher is better.

    Each sentence of the prompt counts as a requirement unless `requirements` picks them. With
    mode "both", the system's prompt is judged by itself where there is one (the reference gives
    it the user's score); where there is none, the user's counts alone.
    """
    if mode not in ("user", "system", "both"):
        raise ScorerDefinitionError(f"mode must be 'user', 'system' or 'both', got {mode!r}")

    async def plan(run: AnyRun) -> Plan:
        prompts = {"user": input_text(run), "system": system_text(run.input)}
        output = output_text(run)
        items = [
            item
            for who, prompt in prompts.items()
            if mode in (who, "both") and prompt.strip()
            for item in _aligned(who, prompt, output, await split(prompt, requirements))
        ]
        return Plan(items=tuple(items), nothing=NotScorable(f"there is no prompt (mode {mode!r})"))

    return Measure(
        name="prompt-alignment",
        description="How well the output follows its prompt.",
        formula=(
            "user: .4 intent + .3 requirements + .2 completeness + .1 form; system: .35, .35, "
            ".15, .15; both: .7 user + .3 system"
        ),
        questions={
            f"{who}_{name}": question
            for who in ("user", "system")
            for name, question in _QUESTIONS.items()
        },
        plan=plan,
        compute=_alignment,
    ).scorer(judge, settings)


def rubric(
    judge: Judging = None, *, criteria: Criteria | None = None, **settings: Unpack[Settings]
) -> MeasureScorer:
    """Return whether all required criteria are met; higher is better.

    Without `criteria` they are the request context's `rubric` or `criteria`. By verdicts the
    score is 1 or 0; expected, it is the probability that all are met, were they independent.
    Where no criterion is required, all of them are. Nothing to grade is 1. A run is not scorable
    where a required criterion has no verdict: left out, it would pass.
    """

    def plan(run: AnyRun) -> Plan:
        found = criteria
        if found is None:
            held = (from_mapping(run.request_context, name) for name in ("rubric", "criteria"))
            found = next((value for value in held if value is not None), ())
        listed = _criteria(found)
        state = {"input": input_text(run), "output": output_text(run)}
        none_required = not any(required for _, required in listed)
        items = (
            Item(
                question="met",
                text=text,
                state={**state, "criterion": text},
                long="output",
                required=required or none_required,
            )
            for text, required in listed
        )
        return Plan(items=tuple(items), nothing=1.0)

    return Measure(
        name="rubric",
        description="Whether every required criterion is met.",
        formula="1 if all required criteria are met, else 0",
        questions={"met": MET},
        plan=plan,
        compute=_rubric,
    ).scorer(judge, settings)


def multi_turn_judge(
    judge: Judging = None, *, criterion: str, **settings: Unpack[Settings]
) -> MeasureScorer:
    """Return whether a whole conversation meets one criterion; higher is better.

    By verdicts the score is 1 or 0; expected, it is the probability that it is met.
    """
    if not isinstance(criterion, str) or not criterion.strip():
        raise ScorerDefinitionError(f"criterion must be a non-empty text, got {criterion!r}")

    def plan(run: AnyRun) -> Plan:
        conversation = conversation_text(run.input, run.output)
        state = {"conversation": conversation, "criterion": criterion}
        item = Item(question="met", text=criterion, state=state, long="conversation", keep="end")
        return Plan(items=(item,) if conversation else ())

    return Measure(
        name="multi-turn-judge",
        description=f"Whether the conversation meets the criterion: {criterion}",
        formula="1 if the criterion is met, else 0",
        questions={"met": MET},
        plan=plan,
        compute=lambda verdicts: arithmetic.share(verdicts.shares("met", "true")),
    ).scorer(judge, settings)


def _aligned(who: str, prompt: str, output: str, required: Sequence[str]) -> list[Item]:
    whole = {"prompt": prompt, "output": output}
    requirements = [
        Item(
            question=f"{who}_requirements",
            text=text,
            state={"output": output, "requirement": text},
            long="output",
        )
        for text in required
    ]
    dimensions = [
        Item(question=f"{who}_{name}", text=prompt, state=whole, long="output")
        for name in _DIMENSIONS
        if name != "requirements"
    ]
    return [*requirements, *dimensions]


def _alignment(verdicts: Verdicts) -> float:
    weights = {"user": arithmetic.USER_WEIGHTS, "system": arithmetic.SYSTEM_WEIGHTS}
    scores = {
        who: arithmetic.prompt_alignment(_parts(verdicts, who), weight)
        for who, weight in weights.items()
        if verdicts.asked(f"{who}_intent")
    }
    if len(scores) == 2:
        return arithmetic.both_prompts(scores["user"], scores["system"])
    return next(iter(scores.values()))


def _parts(verdicts: Verdicts, who: str) -> list[float]:
    parts = list[float]()
    for name in _DIMENSIONS:
        question = f"{who}_{name}"
        if name != "requirements":
            parts.append(arithmetic.share(verdicts.levels(question)))
        elif verdicts.asked(question):
            parts.append(arithmetic.share(verdicts.shares(question, "true")))
        else:
            parts.append(1.0)  # nothing was required
    return parts


def _rubric(verdicts: Verdicts) -> float | NotScorable:
    # Left out, a required criterion without a verdict would pass.
    open_gates = [item.text for item in verdicts.unanswered if item.required]
    if open_gates:
        return NotScorable(f"required criteria have no verdict: {open_gates!r}")
    gates = [item for item in verdicts.items if item.required]
    return arithmetic.rubric([item.shares(verdicts.counting)["true"] for item in gates])


def _criteria(given: object) -> list[tuple[str, bool]]:
    if isinstance(given, str):
        given = [line for line in given.splitlines() if line.strip()]
    if not is_list(given):
        raise InvalidInput(f"criteria must be a text or a list, got {given!r}")
    return [_criterion(one) for one in given]


def _criterion(given: object) -> tuple[str, bool]:
    if isinstance(given, str) and given.strip():
        return given, True
    text = given.get("description") if is_object(given) else None
    required = given.get("required", True) if is_object(given) else True
    if not isinstance(text, str) or not text.strip() or not isinstance(required, bool):
        raise InvalidInput(
            f"a criterion must be a text, or a description with required true or false, "
            f"got {given!r}"
        )
    return text, required
