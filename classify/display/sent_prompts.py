"""Build again the prompts that an answer's evidence names by their hash alone.

A prompt is a function of question, state, options and the labels offered, so nothing is asked and
nothing is guessed: the hash says whether what is built is what was sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from classify.evidence import Evidence, OrderSeen
from classify.json_values import JSON
from classify.labels import Listing, Slate, canonical, listings, slate
from classify.language_model import Prompt
from classify.options import Options
from classify.prompts import (
    TEMPLATE,
    label_prompt,
    option_prompt,
    prompt_hash,
    reason_prompt,
    words_prompt,
)
from classify.questions import Question


@dataclass(frozen=True, slots=True)
class Told:
    """What was put to the model: a question, the state if it was kept, and how it was asked."""

    name: str
    question: Question
    options: Options
    state: JSON = None
    has_state: bool = True


@dataclass(frozen=True, slots=True)
class SentPrompt:
    """A prompt, and whether it is known to be the one that was sent."""

    prompt: Prompt | None
    """None where it cannot be built again."""
    matches: bool | None
    """Whether its hash is that of what was sent; None where there is nothing to compare."""
    told: str
    """The same in words."""
    prompt_hash: str | None = None
    """SHA-256 of what was sent."""


def sent_prompts(told: Told, evidence: Evidence) -> tuple[SentPrompt, ...]:
    """Return the prompt of each of the evidence's orders."""
    orders = evidence.orders
    if not told.has_state:
        message = "the state was not kept, so the prompt cannot be built again"
        return tuple(SentPrompt(None, None, message, seen.prompt_hash) for seen in orders)
    shown: list[Listing | None] = [None] * len(orders)
    if evidence.readout == "sequence":
        shown = [*listings(told.question, told.options.orders), *shown][: len(orders)]
    return tuple(
        _checked(_prompt(told, evidence, seen, listing), seen, evidence)
        for seen, listing in zip(orders, shown, strict=True)
    )


def sent_reason_prompt(told: Told, evidence: Evidence) -> SentPrompt | None:
    """Return the prompt that asked for reasons, whose hash is not kept; None where none was."""
    if evidence.reason is None or not told.has_state or not evidence.orders:
        return None
    shown = slate(
        told.question,
        canonical(told.question),
        readout=evidence.readout or "letters",
        resolution=len(evidence.orders[0].labels),
    )
    prompt = reason_prompt(
        told.name,
        told.question,
        slate=shown,
        state=told.state,
        form=evidence.prompt_form or "chat",
    )
    return SentPrompt(prompt, None, "built as this version builds it; its hash is not kept")


def _checked(prompt: Prompt | None, seen: OrderSeen, evidence: Evidence) -> SentPrompt:
    sent = seen.prompt_hash
    if prompt is None:
        message = "cannot be built again: its labels do not stand for this question's options"
        return SentPrompt(None, False, message, sent)
    if prompt_hash(prompt) == sent:
        return SentPrompt(prompt, True, "rebuilt; matches the hash of what was sent", sent)
    why = "it was another state, spec or version"
    if evidence.template != TEMPLATE:
        why = f"prompts were of template {evidence.template} then, and are of {TEMPLATE} now"
    return SentPrompt(
        prompt, False, f"rebuilt; does NOT match the hash of what was sent: {why}", sent
    )


def _prompt(
    told: Told, evidence: Evidence, seen: OrderSeen, listing: Listing | None
) -> Prompt | None:
    form = evidence.prompt_form or "chat"
    if evidence.readout == "words":
        return words_prompt(
            told.name,
            told.question,
            state=told.state,
            state_name=evidence.state_name or told.options.state_name,
            form=form,
        )
    if evidence.readout == "sequence":
        if listing is None:
            return None
        return option_prompt(told.name, told.question, options=listing, state=told.state, form=form)
    shown = _slate(seen, told.question)
    if shown is None:
        return None
    return label_prompt(
        told.name,
        told.question,
        slate=shown,
        state=told.state,
        form=form,
        reason=evidence.reason,
    )


def _slate(seen: OrderSeen, question: Question) -> Slate | None:
    """Return the slate that was shown: the evidence keeps each group of options as one text."""
    names = tuple(seen.labels.values())
    for listing in listings(question, len(question.options)):
        for start in range(len(listing)):
            members = _runs(names, listing[start:])
            if members is not None:
                return Slate(tuple(seen.labels), members)
    return None


def _runs(names: Iterable[str], listing: Listing) -> tuple[Listing, ...] | None:
    runs: list[Listing] = []
    at = 0
    for name in names:
        end, text = at, ""
        while end < len(listing) and len(text) < len(name):
            end += 1
            text = " | ".join(listing[at:end])
        if text != name:
            return None
        runs.append(listing[at:end])
        at = end
    return tuple(runs)
