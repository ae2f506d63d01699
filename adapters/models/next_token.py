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

# Lifts a probability of a few millionths among the hundred likeliest. The server's sum of all
# tokens is off by up to 4e-7 in single precision, which exp(6) makes 2e-4 in a log-probability:
# the same for all wanted tokens, so their ratios are unharmed.
_BIAS = 6.0
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
    bias = {token.id: _BIAS for token in wanted if isinstance(token.piece, str)}
    seen = await _biased(ask, bias)
    if not seen:
        bias, seen = {}, await _forced(ask, safe)
    missing = [token.id for token in wanted if token.id not in seen]
    if missing:
        seen |= await _compared(ask, missing, seen)
    # The seen values are log(p / Z), which sum to 1 with the bias put back.
    without = math.fsum(math.exp(seen[token].log_p) for token in bias)
    lifted = math.fsum(math.exp(seen[token].log_p + b) for token, b in bias.items())
    log_z = -math.log(without + max(0.0, 1.0 - lifted))
    return {token.id: min(0.0, seen[token.id].log_p + log_z) for token in wanted}


class _Seen:
    """A token's log(p / Z), and whether it may be sampled."""

    __slots__ = ("log_p", "whole")

    def __init__(self, listed: Listed, log_p: float) -> None:
        self.log_p = log_p
        self.whole = _is_whole(bytes(listed.bytes))


async def _biased(ask: Ask, bias: Mapping[int, float]) -> dict[int, _Seen]:
    """Read the likeliest tokens under the bias; nothing where the server is silent."""
    reply = await ask(_after_samplers(bias, listed=_LISTED + len(bias)))
    return {
        entry.id: _Seen(entry, math.log(entry.prob) - bias.get(entry.id, 0.0))
        for entry in _listed(reply)
        if entry.prob
    }


async def _forced(ask: Ask, safe: int) -> dict[int, _Seen]:
    """Read the likeliest tokens as they are, sampling the safe one."""
    reply = await ask({**_NEUTRAL, "n_probs": _LISTED, "logit_bias": [[safe, _FORCE]]})
    seen = {
        entry.id: _Seen(entry, entry.logprob)
        for entry in _listed(reply)
        if entry.logprob is not None
    }
    if not seen:
        raise CapabilityError(
            f"model {reply.model!r} does not list the probabilities of its tokens (n_probs); "
            f"update the llama.cpp server"
        )
    return seen


async def _compared(
    ask: Ask, missing: Sequence[int], seen: Mapping[int, _Seen]
) -> dict[int, _Seen]:
    """Read tokens too unlikely to be listed, beside one that was.

    All others are out of the running, and the one that was listed stays far ahead, so it is what
    is sampled.
    """
    pivot = max((t for t in seen if seen[t].whole), key=lambda t: seen[t].log_p)
    bias = {token: _LIFT for token in missing} | {pivot: _LIFT + _LEAD}
    reply = await ask(_after_samplers(bias, listed=len(bias)))
    listed = {entry.id: entry for entry in _listed(reply)}
    lead = math.log(listed[pivot].prob or 0.0) - _LEAD - seen[pivot].log_p
    return {
        token: _Seen(entry, math.log(entry.prob) - lead if entry.prob else -math.inf)
        for token in missing
        for entry in (listed.get(token, Listed(id=token)),)
    }


def _after_samplers(bias: Mapping[int, float], *, listed: int) -> dict[str, JSON]:
    pairs: list[JSON] = [[token, b] for token, b in bias.items()]
    return {**_NEUTRAL, "n_probs": listed, "post_sampling_probs": True, "logit_bias": pairs}


def _listed(reply: Completion) -> tuple[Listed, ...]:
    """Return the alternatives and the token sampled, each once."""
    if not reply.completion_probabilities:
        return ()
    sampled = reply.completion_probabilities[0]
    listed = (*sampled.top_probs, *sampled.top_logprobs)
    return listed if any(entry.id == sampled.id for entry in listed) else (*listed, sampled)


def _is_whole(spelled: bytes) -> bool:
    """Whether bytes spell whole characters."""
    try:
        spelled.decode()
    except UnicodeDecodeError:
        return False
    return True
