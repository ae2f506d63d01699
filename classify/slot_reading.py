"""Ask one slate of labels and read the slot, or say why there is nothing to read."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from classify.answers import Cause
from classify.asking import Asking
from classify.errors import CapabilityError
from classify.evidence import OrderSeen, SeenToken
from classify.json_values import writable
from classify.labels import DIGITS, LETTERS, Slate
from classify.language_model import Capabilities, Prompt, Reply, Sampling
from classify.logspace import Floats
from classify.options import Options
from classify.prompts import label_prompt, prompt_hash
from classify.reading import NoReading
from classify.readout import SlotReading, find_slot, kept_logprob, normalized
from classify.tokenizers import check_labels

DEFAULT_FLOOR = 0.5
FEW_TOKENS = 8
_LABEL_AND_MORE = 3
"""Tokens that show whether a label is the beginning of something longer, as the 1 of "10" is where
digits are tokens of their own, the 3 of "3.5" and the I of "I'm sorry"."""


@dataclass(frozen=True, slots=True)
class Slot:
    """The reading of one slate, and what to keep of it."""

    slate: Slate
    p: Floats
    """(labels,) normalised."""
    lower: Floats
    upper: Floats
    seen: OrderSeen


async def read_slot(
    asking: Asking, shown: Slate, *, reason: str | None, path: tuple[str, ...]
) -> Slot | NoReading:
    """Ask for a label of the slate; `path` names the groups above it in a tree."""
    prompt = label_prompt(
        asking.name,
        asking.question,
        slate=shown,
        state=asking.request.state,
        form=asking.form,
        reason=reason,
    )
    if len(shown.labels) == 1:  # nothing to choose, so nothing to ask
        one = np.ones(1)
        return Slot(shown, one, one, one, _seen(shown, prompt, path, p=one, label_mass=1.0))
    check_labels(shown.labels, asking.capabilities.tokenizer)
    labels = exact_labels(asking.capabilities, shown)
    reply = await _alternatives(asking, prompt, labels, tokens=_tokens(shown.labels))
    found = None if stopped(reply) else find_slot(reply.positions, shown.labels)
    if found is None and not stopped(reply):
        reply = await _alternatives(asking, prompt, labels, tokens=FEW_TOKENS)
        found = None if stopped(reply) else find_slot(reply.positions, shown.labels)
    if found is None:
        return nothing_read(reply, wanted="a label")
    position, reading = found
    mass = reading.label_mass
    seen = _seen(shown, prompt, path, p=reading.p, label_mass=mass, reply=reply, found=found)
    floor = coverage_floor(asking.options)
    if mass <= 0.0 or mass < floor:
        written = reply.positions[position].token
        nothing = _too_little(reading, seen, floor=floor, written=written)
        return replace(nothing, written=words_of(reply))
    return Slot(shown, reading.p, reading.lower, reading.upper, seen)


def _tokens(labels: tuple[str, ...]) -> int:
    """Return how many tokens to ask for: more than the label's only where it may go on."""
    return _LABEL_AND_MORE if any(label in (*DIGITS, "I") for label in labels) else 1


def coverage_floor(options: Options) -> float:
    """Return the label mass below which a label prompt has no verdict."""
    return DEFAULT_FLOOR if options.min_coverage is None else options.min_coverage


def resolution(capabilities: Capabilities) -> int:
    """Return how many labels can be told apart at one position."""
    most = capabilities.top_logprobs
    return max(most, len(LETTERS)) if capabilities.exact_labels else most


def exact_labels(capabilities: Capabilities, shown: Slate) -> tuple[str, ...]:
    """Return the labels to ask for by name: all, where they do not fit among the likeliest tokens.

    Where they fit, the likeliest tokens say more: every spelling of a label, and what else the
    model would have written.
    """
    fit = len(shown.labels) <= capabilities.top_logprobs
    return shown.labels if capabilities.exact_labels and not fit else ()


async def _alternatives(
    asking: Asking, prompt: Prompt, labels: tuple[str, ...], *, tokens: int
) -> Reply:
    capabilities = asking.capabilities
    sampling = Sampling(
        max_tokens=tokens,
        top_logprobs=capabilities.top_logprobs,
        temperature=capabilities.temperature,
        labels=labels,
    )
    reply = await asking.complete(prompt, sampling)
    read = reply.positions
    if len(read) > 1 and not (read[-1].token and reply.text.endswith(read[-1].token)):
        read = read[:-1]  # the mark of the end, which is no part of the text
    shown = read and all(position.alternatives for position in read)
    if not shown and not stopped(reply) and not _wrote_nothing(reply):
        raise CapabilityError(f"{asking.where} returned no logprobs; {ALTERNATIVES}")
    return reply


ALTERNATIVES = 'use a model that shows them, fallback="sample" to count draws, or a decision model'


def _seen(
    shown: Slate,
    prompt: Prompt,
    path: tuple[str, ...],
    *,
    p: Floats,
    label_mass: float,
    reply: Reply | None = None,
    found: tuple[int, SlotReading] | None = None,
) -> OrderSeen:
    counted = found[1].counted if found else ()
    return OrderSeen(
        labels=shown.mapping(),
        probabilities=dict(zip(shown.mapping().values(), p.tolist(), strict=True)),
        label_mass=label_mass,
        position=found[0] if found else None,
        alternatives=tuple(
            # Twenty of them for each answer, of values that were checked: not checked again.
            SeenToken.model_construct(
                token=writable(a.token), logprob=kept_logprob(a.logprob), label=label
            )
            for a, label in counted
        ),
        path=path,
        prompt_hash=prompt_hash(prompt),
        response_id=reply.response_id if reply else None,
    )


def stopped(reply: Reply) -> bool:
    """Whether the model refused, or the provider filtered: what was written is no answer then."""
    return bool(reply.refusal) or reply.finish_reason == "content_filter"


def _wrote_nothing(reply: Reply) -> bool:
    # The answer ended where it should have begun: no token, so no logprobs to miss.
    return not reply.positions and not reply.text and reply.usage.output_tokens == 0


def nothing_read(reply: Reply, *, wanted: str) -> NoReading:
    """Return why a reply holds nothing of what was wanted, such as "a label"."""
    cause: Cause = "no_label"
    if reply.refusal:
        cause, message = "refusal", "the model refused to answer"
    elif reply.finish_reason == "content_filter":
        cause, message = "content_filter", "the provider's content filter stopped the answer"
    elif reply.finish_reason == "length":
        cause, message = "truncated", f"the output ended before {wanted}"
    elif _wrote_nothing(reply):
        message = "the model ended its answer before any token"
    else:
        message = "the model answered with nothing but formatting or thoughts"
    return NoReading(cause, message, "logprobs", written=words_of(reply))


def words_of(reply: Reply) -> tuple[str, ...]:
    """Return what a reply says, and its refusal."""
    return tuple(text for text in (reply.text, reply.refusal) if text)


def _too_little(reading: SlotReading, seen: OrderSeen, *, floor: float, written: str) -> NoReading:
    cause: Cause
    is_label = normalized(written) in {normalized(label) for label in seen.labels}
    piece = is_label and any(a.token == written and label is None for a, label in reading.counted)
    longer = f"; the model went on after {written!r}, which is no label then" if piece else ""
    if reading.label_mass > 0.0:
        cause, message = (
            "low_label_mass",
            (
                f"the labels got a probability of {reading.label_mass:.3g} together, below the "
                f"floor of {floor:g} (min_coverage){longer}"
            ),
        )
    elif is_label and not piece:
        cause, message = (
            "unusable_logprobs",
            (
                f"the model wrote the label {written!r} but gave no label any probability: the "
                "logprobs are not those of what was written (constrained decoding does that)"
            ),
        )
    else:
        cause, message = "no_label", f"no label was among the alternatives at the slot{longer}"
    return NoReading(cause, message, "logprobs", label_mass=reading.label_mass, orders=(seen,))
