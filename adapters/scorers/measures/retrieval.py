"""Was the right context retrieved: its precision, recall and relevance."""

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
    truth_text,
)
from classify.adapters.scorers.measures.items import Item, Plan, Verdicts
from classify.adapters.scorers.measures.measure import AnyRun, Measure, MeasureScorer
from classify.adapters.scorers.measures.sentences import sentences
from classify.adapters.scorers.measures.settings import Judging, Settings
from classify.questions import Boolean, Choice

USEFUL = Boolean(
    instructions="Is this piece of context useful for answering the question?",
    criteria={"true": "it holds something that the answer needs", "false": "it does not help"},
    cue="For the question, the context is",
    words={"true": ["relevant", "useful"], "false": ["irrelevant", "useless"]},
)
ATTRIBUTED = Boolean(
    instructions="Can the claim be attributed to the context?",
    criteria={"true": "the context states it", "false": "the context does not state it"},
    cue="According to the context, the claim is",
    words={"true": ["true", "correct"], "false": ["false", "wrong"]},
)
RELEVANCE = Choice(
    instructions="How relevant is this piece of context to the question?",
    criteria={
        "high": "it answers the question or a part of it",
        "medium": "it is about the question and helps with it",
        "low": "it only touches the question's subject",
        "none": "it has nothing to do with the question",
    },
    cue="The relevance of the context to the question is",
)
USED = Boolean(
    instructions="Does the output make use of this piece of context?",
    criteria={
        "true": "something in the output comes from it",
        "false": "nothing in the output does",
    },
    cue="In the output, the context is",
    words={"true": ["used", "mentioned"], "false": ["ignored", "unused"]},
)
MISSING = Boolean(
    instructions="Is the needed information missing from the context?",
    criteria={"true": "the context does not have it", "false": "the context has it"},
    cue="In the context, the needed information is",
    words={"true": ["missing", "absent"], "false": ["present", "included"]},
)


def context_precision(
    judge: Judging = None, *, context: Source | None = None, **settings: Unpack[Settings]
) -> MeasureScorer:
    """Return the average precision of the context in the order retrieved; higher is better.

    A piece is judged for the run's input. No context, or none that is relevant, is 0.
    """

    async def plan(run: AnyRun) -> Plan:
        pieces = await texts(context, run)
        question = input_text(run)
        return Plan(items=tuple(_piece("useful", p, question) for p in pieces), nothing=0.0)

    return Measure(
        name="context-precision",
        description="Whether relevant context was ranked before irrelevant context.",
        formula="sum(precision@i x relevant_i) / relevant",
        questions={"useful": USEFUL},
        plan=plan,
        compute=lambda v: arithmetic.context_precision(v.shares("useful", "true")),
    ).scorer(judge, settings)


def context_recall(
    judge: Judging = None,
    *,
    context: Source | None = None,
    claims: Splitter = sentences,
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return the share of the ground truth's claims that the context holds; higher is better.

    A run without ground truth is 0, as in the reference, and so is one without context.
    """

    async def plan(run: AnyRun) -> Plan:
        source = joined(await texts(context, run))
        found = await split(truth_text(run), claims) if source else ()
        items = (
            Item(
                question="attributed",
                text=claim,
                state={"context": source, "claim": claim},
                long="context",
            )
            for claim in found
        )
        return Plan(items=tuple(items), nothing=0.0)

    return Measure(
        name="context-recall",
        description="How much of the true answer the context holds.",
        formula="attributed / claims of the ground truth",
        questions={"attributed": ATTRIBUTED},
        plan=plan,
        compute=lambda v: arithmetic.share(v.shares("attributed", "true")),
    ).scorer(judge, settings)


def context_relevance(
    judge: Judging = None,
    *,
    context: Source | None = None,
    needed: Source = (),
    **settings: Unpack[Settings],
) -> MeasureScorer:
    """Return how relevant the context was and whether it was used; higher is better.

    `needed` names pieces of information that an answer needs: those that the context lacks are
    the formula's missing ones, which the reference's judge makes up instead. No context is 1.
    """

    async def plan(run: AnyRun) -> Plan:
        pieces = await texts(context, run)
        if not pieces:
            return Plan(nothing=1.0)
        question, output = input_text(run), output_text(run)
        used = (_used(piece, output) for piece in pieces)
        lacking = (_needed(what, joined(pieces)) for what in await texts(needed, run))
        return Plan(
            items=(*(_piece("relevance", p, question) for p in pieces), *used, *lacking),
        )

    return Measure(
        name="context-relevance",
        description="How relevant the context was to the question, and whether it was used.",
        formula=(
            "mean(high 1, medium .7, low .3, none 0) - .1 x unused high - min(.15 x missing, .5)"
        ),
        questions={"relevance": RELEVANCE, "used": USED, "missing": MISSING},
        plan=plan,
        compute=_context_relevance,
    ).scorer(judge, settings)


def _context_relevance(verdicts: Verdicts) -> float:
    # Pieces pair up by text: one of a piece's two answers may be missing.
    high, used = (
        {i.text: i.shares(verdicts.counting) for i in verdicts.items if i.question == question}
        for question in ("relevance", "used")
    )
    unused_high = sum(
        high[text].get("high", 0.0) * shares["false"]
        for text, shares in used.items()
        if text in high
    )
    return arithmetic.context_relevance(
        verdicts.credits("relevance", arithmetic.RELEVANCE_CREDIT),
        unused_high=unused_high,
        missing=verdicts.total("missing", "true"),
    )


def _piece(question: str, piece: str, asked: str) -> Item:
    return Item(
        question=question, text=piece, state={"question": asked, "context": piece}, long="context"
    )


def _used(piece: str, output: str) -> Item:
    return Item(
        question="used", text=piece, state={"output": output, "context": piece}, long="context"
    )


def _needed(what: str, context: str) -> Item:
    return Item(
        question="missing",
        text=what,
        state={"context": context, "needed information": what},
        long="context",
    )
