"""Is the text true to its source: faithfulness, hallucination, summarization."""

from __future__ import annotations

from typing import Unpack

from classify.adapters.scorers.measures import arithmetic
from classify.adapters.scorers.measures.inputs import (
    Source,
    Splitter,
    input_text,
    joined,
    output_text,
    split,
    texts,
)
from classify.adapters.scorers.measures.items import Item, Plan, Verdicts
from classify.adapters.scorers.measures.measure import AnyRun, Measure, MeasureScorer
from classify.adapters.scorers.measures.sentences import sentences
from classify.adapters.scorers.measures.settings import Judging, Settings
from classify.adapters.scorers.result import NotScorable
from classify.questions import Boolean

SUPPORTED = Boolean(
    instructions="Does the context support the claim? Judge by the context alone.",
    criteria={
        "true": "everything the claim says is stated in the context or follows from it",
        "false": "the context contradicts the claim, or does not say so",
    },
    cue="According to the context, the claim is",
    words={"true": ["true", "correct"], "false": ["false", "wrong"]},
)
CONTRADICTED = Boolean(
    instructions="Does the output contradict the statement, which is taken from the context?",
    criteria={
        "true": "the output says something that cannot be true if the statement is",
        "false": "the output agrees with the statement, or says nothing of it",
    },
    cue="According to the output, the statement is",
    words={"true": ["false", "wrong"], "false": ["true", "correct"]},
)
COVERED = Boolean(
    instructions="Does the summary convey the point?",
    criteria={"true": "the point is there, in whatever words", "false": "it is missing or wrong"},
    cue="In the summary, this point is",
    words={"true": ["included", "mentioned"], "false": ["missing", "omitted"]},
)
_NO_CONTEXT = Plan(nothing=NotScorable("there is no context to judge by"))


def faithfulness(
    judge: Judging = None,
    *,
    context: Source | None = None,
    claims: Splitter = sentences,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return the share of the output's claims that the context supports; higher is better.

    `context` defaults to the run's `context` (additional or request context), then to what its
    tools returned. Without context or claims a run is not scorable.
    """

    async def plan(run: AnyRun) -> Plan:
        source = joined(await texts(context, run))
        if not source:
            return _NO_CONTEXT
        found = await split(output_text(run), claims)
        return Plan(items=tuple(_claim(claim, source) for claim in found))

    return Measure(
        name="faithfulness",
        description="How much of what the output claims is supported by the context.",
        formula="supported / claims",
        questions={"supported": SUPPORTED},
        plan=plan,
        compute=lambda verdicts: arithmetic.share(verdicts.shares("supported", "true")),
    ).scorer(judge, settings)


def hallucination(
    judge: Judging = None,
    *,
    context: Source | None = None,
    statements: Splitter = sentences,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return the share of the context's statements that the output contradicts; lower is better.

    Statements are the sentences of every piece of context. Without context or output a run is
    not scorable.
    """

    async def plan(run: AnyRun) -> Plan:
        output, pieces = output_text(run), await texts(context, run)
        if not pieces or not output.strip():
            return _NO_CONTEXT if not pieces else Plan()
        found = [text for piece in pieces for text in await split(piece, statements)]
        return Plan(
            items=tuple(
                Item(
                    question="contradicted",
                    text=statement,
                    state={"output": output, "statement": statement},
                    long="output",
                )
                for statement in found
            )
        )

    return Measure(
        name="hallucination",
        description="How much of the context the output contradicts.",
        formula="contradicted / statements of the context",
        questions={"contradicted": CONTRADICTED},
        plan=plan,
        compute=lambda verdicts: arithmetic.share(verdicts.shares("contradicted", "true")),
        direction="lower",
    ).scorer(judge, settings)


def summarization(
    judge: Judging = None,
    *,
    claims: Splitter = sentences,
    key_points: Splitter = sentences,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return the lower of alignment and coverage of a summary; higher is better.

    Alignment is the share of the summary's claims that the source supports, coverage the share of
    the source's key points that the summary conveys. The source is the run's input, the summary
    its output. Every sentence of the source counts as a point unless `key_points` picks some.
    """

    async def plan(run: AnyRun) -> Plan:
        source, summary = input_text(run), output_text(run)
        points = await split(source, key_points)
        found = await split(summary, claims)
        if not points or not found:
            return Plan(nothing=NotScorable("there is no source or no summary"))
        covered = (
            Item(
                question="covered",
                text=point,
                state={"summary": summary, "point": point},
                long="summary",
            )
            for point in points
        )
        return Plan(items=(*(_claim(claim, source) for claim in found), *covered))

    return Measure(
        name="summarization",
        description="How true a summary is to its source, and how much of it it conveys.",
        formula="min(supported / claims, covered / key points)",
        questions={"supported": SUPPORTED, "covered": COVERED},
        plan=plan,
        compute=_summarization,
    ).scorer(judge, settings)


def _summarization(verdicts: Verdicts) -> float:
    return arithmetic.summarization(
        arithmetic.share(verdicts.shares("supported", "true")),
        arithmetic.share(verdicts.shares("covered", "true")),
    )


def _claim(claim: str, source: str) -> Item:
    return Item(
        question="supported",
        text=claim,
        state={"context": source, "claim": claim},
        long="context",
    )
