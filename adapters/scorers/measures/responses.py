"""Is the answer a good one: its relevancy, its likeness to the true answer, its completeness."""

from __future__ import annotations

import math
from typing import Unpack

from classify.adapters.scorers.errors import ScorerDefinitionError
from classify.adapters.scorers.measures import arithmetic
from classify.adapters.scorers.measures.inputs import (
    Splitter,
    input_text,
    output_text,
    split,
    truth_text,
)
from classify.adapters.scorers.measures.items import Item, Plan, Verdicts
from classify.adapters.scorers.measures.measure import AnyRun, Measure, MeasureScorer
from classify.adapters.scorers.measures.sentences import sentences
from classify.adapters.scorers.measures.settings import Judging, Settings
from classify.adapters.scorers.result import NotScorable
from classify.questions import Boolean, Choice

RELEVANT = Choice(
    instructions="Is the statement relevant to the input it answers?",
    criteria={
        "yes": "it answers the input or helps to",
        "unsure": "it is only partly or indirectly about the input",
        "no": "it has nothing to do with the input",
    },
    cue="The statement's relevance to the input is",
    words={
        "yes": ["high", "clear"],
        "unsure": ["unclear", "partial"],
        "no": ["none", "absent"],
    },
)
MATCH = Choice(
    instructions="How does the output match this part of the true answer?",
    criteria={
        "exact": "the output says the same in nearly the same words",
        "semantic": "the output says the same in other words",
        "partial": "the output says some of it",
        "missing": "the output does not say it",
    },
    cue="In the output, this part is",
)
ADDED = Choice(
    instructions="How does the statement, taken from the output, relate to the true answer?",
    criteria={
        "agrees": "the true answer says so, or it follows from it",
        "extra": "the true answer says nothing of it",
        "contradicts": "it cannot be true if the true answer is",
    },
    cue="Compared with the true answer, the statement is",
    words={
        "agrees": ["true", "correct"],
        "extra": ["new", "additional"],
        "contradicts": ["false", "wrong"],
    },
)
ADDRESSED = Boolean(
    instructions="Does the output deal with this part of the input?",
    criteria={"true": "the part is answered or carried out", "false": "it is left out"},
    cue="In the output, this part is",
    words={"true": ["answered", "included"], "false": ["missing", "ignored"]},
)


def answer_relevancy(
    judge: Judging = None,
    *,
    statements: Splitter = sentences,
    uncertainty_weight: float = 0.3,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return the share of the output's statements relevant to the input; higher is better.

    A statement of unsure relevance counts `uncertainty_weight`. Without statements a run is not
    scorable.
    """
    if not 0.0 <= uncertainty_weight <= 1.0:
        raise ScorerDefinitionError(
            f"uncertainty_weight must be from 0 to 1, got {uncertainty_weight!r}"
        )

    async def plan(run: AnyRun) -> Plan:
        asked = input_text(run)
        found = await split(output_text(run), statements)
        return Plan(
            items=tuple(
                Item(
                    question="relevant",
                    text=statement,
                    state={"input": asked, "statement": statement},
                    long="input",
                )
                for statement in found
            )
        )

    return Measure(
        name="answer-relevancy",
        description="How much of the output is relevant to the input.",
        formula=f"(yes + {uncertainty_weight:g} x unsure) / statements",
        questions={"relevant": RELEVANT},
        plan=plan,
        compute=lambda verdicts: arithmetic.answer_relevancy(
            verdicts.shares("relevant", "yes"),
            verdicts.shares("relevant", "unsure"),
            uncertainty_weight=uncertainty_weight,
        ),
    ).scorer(judge, settings)


def answer_similarity(
    judge: Judging = None,
    *,
    units: Splitter = sentences,
    contradiction_penalty: float = 1.0,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return how close the output comes to the ground truth; higher is better.

    Each unit of the ground truth is matched with the output, and each unit of the output is asked
    whether it agrees, adds or contradicts. Without a ground truth or output a run is not
    scorable.
    """
    if not (math.isfinite(contradiction_penalty) and contradiction_penalty >= 0.0):
        raise ScorerDefinitionError(
            f"contradiction_penalty must be a number of at least 0, got {contradiction_penalty!r}"
        )

    async def plan(run: AnyRun) -> Plan:
        truth, output = truth_text(run), output_text(run)
        if not truth.strip() or not output.strip():
            return Plan(nothing=NotScorable("there is no ground truth or no output"))
        parts = (
            _compared("match", unit, known=("output", output), name="part")
            for unit in await split(truth, units)
        )
        added = (
            _compared("added", unit, known=("true_answer", truth), name="statement")
            for unit in await split(output, units)
        )
        return Plan(items=(*parts, *added))

    def compute(verdicts: Verdicts) -> float:
        return arithmetic.answer_similarity(
            verdicts.credits("match", arithmetic.MATCH_CREDIT),
            contradictions=contradiction_penalty * verdicts.total("added", "contradicts"),
            extras=verdicts.total("added", "extra"),
        )

    return Measure(
        name="answer-similarity",
        description="How close the output comes to the true answer.",
        formula=(
            "sum(exact 1.2, semantic .8, partial .4, missing -.15) / (1.2 x units) - "
            f"{contradiction_penalty:g} x contradictions - min(.05 x extras, .2)"
        ),
        questions={"match": MATCH, "added": ADDED},
        plan=plan,
        compute=compute,
    ).scorer(judge, settings)


def completeness(
    judge: Judging = None, *, parts: Splitter = sentences, **settings: Unpack[Settings]
) -> MeasureScorer:
    """Return the share of the input's parts that the output deals with; higher is better.

    An input without parts is 1: nothing was left out.
    """

    async def plan(run: AnyRun) -> Plan:
        output = output_text(run)
        found = await split(input_text(run), parts)
        items = (
            _compared("addressed", part, known=("output", output), name="part") for part in found
        )
        return Plan(items=tuple(items), nothing=1.0)

    return Measure(
        name="completeness-judged",
        description="How much of the input the output deals with.",
        formula="addressed / parts of the input",
        questions={"addressed": ADDRESSED},
        plan=plan,
        compute=lambda verdicts: arithmetic.share(verdicts.shares("addressed", "true")),
    ).scorer(judge, settings)


def _compared(question: str, unit: str, *, known: tuple[str, str], name: str) -> Item:
    field, text = known
    return Item(question=question, text=unit, state={field: text, name: unit}, long=field)
