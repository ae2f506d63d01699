"""Exact logprobs of given next tokens, in one request as a rule.

A llama.cpp server lists the probabilities of the likeliest tokens only. With a known bias b on
the wanted tokens they are listed nearly always, and their own probabilities follow from what is
listed: p'ₖ = pₖ·exp(b) / Z, all others keep pᵢ / Z, and the pᵢ sum to 1, so
Z⁻¹ = Σ p'ₖ·exp(-b) + (1 - Σ p'ₖ).
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from classify.adapters.models.llama_replies import Completion, Listed, Token
from classify.errors import CapabilityError
from classify.json_values import JSON

Ask: TypeAlias = Callable[[Mapping[str, JSON]], Awaitable[Completion]]
"""Read out the token after one fixed prompt, again and again."""

# Lifts a probability of 1e-6 among the hundred likeliest, and costs log(probability) at most
# exp(8) times the rounding of the server's numbers (6e-8): 2e-4.
_BIAS = 8.0
_LISTED = 100
_FORCE = 1000.0
_LIFT = 100.0
_LEAD = 20.0
_NEUTRAL: Mapping[str, JSON] = {
    "n_predict": 1,
    "temperature": 1.0,
    "samplers": ["temperature"],
    "seed": 1,  # what is sampled decides whether the server is silent, and so the way taken here
}


async def next_logprobs(ask: Ask, wanted: Sequence[Token], *, safe: int) -> dict[int, float]:
    """Return the natural-log probability of each wanted token, by its id.

    `safe` is any token that spells whole characters: the server is silent about a sampled token
    that ends within one, so no such token may be made likely. A token less likely than about
    1e-36 times the likeliest gets -inf.
    """
    known = await _biased(ask, wanted) or await _forced(ask, safe)
    missing = [token.id for token in wanted if token.id not in known]
    if missing:
        known |= await _compared(ask, missing, known)
    return {token.id: known[token.id].log_p for token in wanted}


class _Known:
    """A token's logprob, and whether it may be sampled."""

    __slots__ = ("log_p", "whole")

    def __init__(self, listed: Listed, log_p: float) -> None:
        self.log_p = log_p
        self.whole = is_whole(bytes(listed.bytes))


async def _biased(ask: Ask, wanted: Sequence[Token]) -> dict[int, _Known]:
    """Read every listed token under the bias; nothing where the server is silent."""
    bias = {token.id: _BIAS for token in wanted if isinstance(token.piece, str)}
    reply = await ask(
        {
            **_NEUTRAL,
            "n_probs": _LISTED + len(bias),
            "post_sampling_probs": True,
            "logit_bias": [[token, b] for token, b in bias.items()],
        }
    )
    listed = _listed(reply)
    biased = [(entry.prob or 0.0) for entry in listed if entry.id in bias]
    log_z = -math.log(sum(biased) * math.exp(-_BIAS) + max(0.0, 1.0 - sum(biased)))
    return {
        entry.id: _Known(entry, min(0.0, math.log(entry.prob) - bias.get(entry.id, 0.0) + log_z))
        for entry in listed
        if entry.prob
    }


async def _forced(ask: Ask, safe: int) -> dict[int, _Known]:
    """Read the likeliest tokens as they are, sampling the safe one."""
    reply = await ask({**_NEUTRAL, "n_probs": _LISTED, "logit_bias": [[safe, _FORCE]]})
    known = {
        entry.id: _Known(entry, min(0.0, entry.logprob))
        for entry in _listed(reply)
        if entry.logprob is not None
    }
    if not known:
        raise CapabilityError(
            f"model {reply.model!r} does not list the probabilities of its tokens (n_probs); "
            f"update the llama.cpp server"
        )
    return known


async def _compared(
    ask: Ask, missing: Sequence[int], known: Mapping[int, _Known]
) -> dict[int, _Known]:
    """Read tokens too unlikely to be listed beside one whose logprob is known.

    All others are out of the running, and the known one stays far ahead, so it is what is
    sampled.
    """
    pivot = max((t for t in known if known[t].whole), key=lambda t: known[t].log_p)
    bias = {token: _LIFT for token in missing} | {pivot: _LIFT + _LEAD}
    reply = await ask(
        {
            **_NEUTRAL,
            "n_probs": len(bias),
            "post_sampling_probs": True,
            "logit_bias": [[token, b] for token, b in bias.items()],
        }
    )
    listed = {entry.id: entry for entry in _listed(reply)}
    lead = math.log(listed[pivot].prob or 0.0) - _LEAD - known[pivot].log_p
    return {
        token: _Known(entry, min(0.0, math.log(entry.prob) - lead) if entry.prob else -math.inf)
        for token in missing
        for entry in (listed.get(token, Listed(id=token)),)
    }


def _listed(reply: Completion) -> tuple[Listed, ...]:
    """Return the alternatives and the token sampled, each once."""
    if not reply.completion_probabilities:
        return ()
    sampled = reply.completion_probabilities[0]
    listed = (*sampled.top_probs, *sampled.top_logprobs)
    return listed if any(entry.id == sampled.id for entry in listed) else (*listed, sampled)


def is_whole(spelled: bytes) -> bool:
    """Whether bytes spell whole characters."""
    try:
        spelled.decode()
    except UnicodeDecodeError:
        return False
    return True
