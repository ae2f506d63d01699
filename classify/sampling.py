"""Count draws where an endpoint shows no logprobs: a distribution with an interval per option."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from classify.answers import Cause
from classify.asking import Asking
from classify.errors import CapabilityError
from classify.evidence import OrderSeen
from classify.label_reading import gather
from classify.labels import LETTERS, Slate, canonical, slate
from classify.language_model import Reply, Sampling
from classify.logspace import safe_log
from classify.prompts import label_prompt, prompt_hash
from classify.reading import NoReading, Reading
from classify.readout import label_to_come, normalized, written_label
from classify.sampling_settings import draw_fields
from classify.slot_reading import FEW_TOKENS, coverage_floor, stopped, words_of

_Z95 = 1.959963984540054
_SMOOTHING = 0.5
_MOST_WRITTEN = 5


async def read_draws(asking: Asking) -> Reading | NoReading:
    """Draw labels at temperature 1 and count them.

    Probabilities are the posterior means under Jeffreys' Dirichlet prior (1/2 per option); bounds
    are 95 % Wilson intervals of the shares. A draw that is no label counts against label mass.
    Raises InvalidInput where a user's settings make all draws alike.
    """
    if asking.options.reasoning:
        raise CapabilityError(
            f'{asking.where} shows no logprobs, and fallback="sample" draws without reasons: leave '
            "reasoning out"
        )
    shown = _slate(asking)
    prompt = label_prompt(
        asking.name,
        asking.question,
        slate=shown,
        state=asking.request.state,
        form=asking.form,
    )
    draw = Sampling(max_tokens=FEW_TOKENS, temperature=1.0)
    fields = [draw_fields(asking.user_fields, k) for k in range(asking.options.samples)]
    replies = await gather(asking.complete(prompt, draw, fields=more) for more in fields)
    names = [normalized(label) for label in shown.labels]
    drawn = ["" if stopped(reply) else written_label(reply.text) for reply in replies]
    counts = np.array([drawn.count(name) for name in names])
    labelled, n = int(counts.sum()), len(replies)
    floor = coverage_floor(asking.options)
    if labelled == 0 or labelled / n < floor:
        cause = _cause(replies, labelled)
        cut = "; most draws ended before a label" if cause == "truncated" else ""
        return NoReading(
            cause,
            f"{labelled} of {n} draws were labels, below the floor of {floor:g} (min_coverage)"
            f"{cut}",
            "sampled",
            label_mass=labelled / n,
            written=_commonest(replies, drawn, names),
        )
    p = (counts + _SMOOTHING) / (labelled + _SMOOTHING * len(counts))
    seen = OrderSeen(
        labels=shown.mapping(),
        probabilities=dict(zip(canonical(asking.question), p.tolist(), strict=True)),
        label_mass=labelled / n,
        prompt_hash=prompt_hash(prompt),
    )
    ends = np.array([wilson(int(count), labelled) for count in counts])
    return Reading(
        log_p=safe_log(p),
        method="sampled",
        label_mass=labelled / n,
        orders=(seen,),
        lower=np.minimum(ends[:, 0], p),
        upper=np.maximum(ends[:, 1], p),
        draws=tuple(int(count) for count in counts),
    )


def _slate(asking: Asking) -> Slate:
    options = canonical(asking.question)
    readout = asking.readout if asking.readout in ("letters", "digits", "yes_no") else "letters"
    shown = slate(asking.question, options, readout=readout, resolution=len(LETTERS))
    if shown.grouped:
        raise CapabilityError(
            f"question {asking.name!r} has {len(options)} options, too many to draw from one "
            f"prompt ({len(LETTERS)}); use a model that shows logprobs"
        )
    return shown


def _cause(replies: list[Reply], labelled: int) -> Cause:
    if 2 * sum(bool(reply.refusal) for reply in replies) > len(replies):
        return "refusal"
    if 2 * sum(r.finish_reason == "content_filter" for r in replies) > len(replies):
        return "content_filter"
    cut = sum(r.finish_reason == "length" and label_to_come(r.text) for r in replies)
    if 2 * cut > len(replies):
        return "truncated"
    return "low_label_mass" if labelled else "no_label"


def _commonest(replies: list[Reply], drawn: list[str], names: list[str]) -> tuple[str, ...]:
    others = (reply for reply, label in zip(replies, drawn, strict=True) if label not in names)
    counted = Counter(text for reply in others for text in words_of(reply))
    return tuple(text for text, _ in counted.most_common(_MOST_WRITTEN))


def wilson(k: int, n: int, *, z: float = _Z95) -> tuple[float, float]:
    """Return the Wilson score interval of k successes in n (Wilson 1927); z is for 95 %."""
    if n == 0:
        return 0.0, 1.0
    share, spread = k / n, z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = math.sqrt(spread * (share * (1 - share) + spread / 4)) / (1 + spread)
    return (0.0 if k == 0 else centre - half), (1.0 if k == n else centre + half)
