"""OpenAI's JSON to replies: no network, no SDK.

Two shapes carry logprobs: that of chat completions (`content`, each with `top_logprobs`) and that
of completions (`tokens`, `token_logprobs`, `top_logprobs` as maps). Servers answer in either,
whatever was asked, so both are read everywhere.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from classify.errors import CapabilityError, MalformedResponse
from classify.json_values import JSON
from classify.language_model import Alternative, Position, Reply, Sampling, Usage

ZERO_MASS = -1000.0
"""Servers write impossible as -9999 or the least float: from here down a logprob is -inf."""

_ROUNDING = 1e-3
"""How far above 0 rounding may carry a logprob; anything higher is not a logprob."""

Object = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who is asked: what every message about an answer names."""

    model_id: str
    base_url: str
    secret: str = field(default="", repr=False)
    """The key, so that no message repeats a server that repeats it."""

    def __str__(self) -> str:
        """Name both."""
        return f"model {self.model_id!r} at {self.base_url}"

    def no_logprobs(self, seen: str) -> CapabilityError:
        """Return the one error for an endpoint that shows no logprobs."""
        return CapabilityError(
            f"{self} gives no logprobs ({self.without_secret(seen)}); use a model that shows them, "
            f'fallback="sample", or a decision model'
        )

    def malformed(self, problem: str) -> MalformedResponse:
        """Return the error for a reply that breaks the protocol."""
        return MalformedResponse(f"{self}: {self.without_secret(problem)}")

    def without_secret(self, text: str) -> str:
        """Return what a server said without the key; one too short to be a secret is no secret."""
        return text if len(self.secret) < 8 else text.replace(self.secret, "[secret]")


def read_reply(body: JSON, sampling: Sampling, endpoint: Endpoint) -> Reply:
    """Return what a response says; raises CapabilityError where asked-for logprobs are missing.

    A refusal, a filtered answer and one without any token carry no logprobs, and lack none.
    """
    response = as_object(body, "the response", endpoint)
    choice = first_choice(response, endpoint)
    found = choice.get("message")
    message: Object = found if isinstance(found, Mapping) else {}
    refusal = message.get("refusal")
    finish = choice.get("finish_reason")
    usage = read_usage(response)
    logprobs = choice.get("logprobs")
    text = _text(message["content"] if "content" in message else choice.get("text"))
    positions: tuple[Position, ...] = ()
    if sampling.top_logprobs and isinstance(logprobs, Mapping) and logprobs:
        positions = _of_text(read_positions(logprobs, endpoint), text)
    silent = refusal or finish == "content_filter" or usage.output_tokens == 0
    if sampling.top_logprobs and not silent:
        _check_shown(positions, logprobs, endpoint)
    return Reply(
        text=text,
        positions=positions,
        finish_reason=_string(finish),
        refusal=_string(refusal),
        usage=usage,
        model=_string(response.get("model")),
        response_id=_string(response.get("id")),
        system_fingerprint=_string(response.get("system_fingerprint")),
        cost=_cost(response),
    )


def read_positions(logprobs: Object, endpoint: Endpoint) -> tuple[Position, ...]:
    """Return the generated positions out of either shape of logprobs."""
    content = logprobs.get("content")
    if isinstance(content, list):
        entries = [as_object(entry, "a position", endpoint) for entry in content]
        return tuple(_chat_position(entry, endpoint) for entry in entries)
    tokens, sampled = items(logprobs, "tokens"), items(logprobs, "token_logprobs")
    tops = items(logprobs, "top_logprobs") or [None] * len(tokens)
    if not len(tokens) == len(sampled) == len(tops):
        raise endpoint.malformed(
            f"{len(tokens)} tokens with {len(sampled)} logprobs and {len(tops)} lists of them"
        )
    return tuple(
        _completion_position(token, logprob, top, endpoint)
        for token, logprob, top in zip(tokens, sampled, tops, strict=True)
    )


def read_logprob(value: JSON, endpoint: Endpoint) -> float:
    """Return a logprob: rounding above 0 cut off, impossible as -inf; else MalformedResponse."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise endpoint.malformed(f"a logprob must be a number, got {value!r}")
    if value > _ROUNDING:
        raise endpoint.malformed(f"a logprob is never positive, got {value!r}: these are not any")
    return -math.inf if value <= ZERO_MASS else min(float(value), 0.0)


def read_usage(response: Object) -> Usage:
    """Return the tokens counted; what is missing or no number stays unknown."""
    usage = response.get("usage")
    if not isinstance(usage, Mapping):
        return Usage()
    prompt, completion = usage.get("prompt_tokens_details"), usage.get("completion_tokens_details")
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        # DeepSeek has a name of its own.
        cached_tokens=_count(_within(prompt, "cached_tokens"))
        if isinstance(prompt, Mapping)
        else _count(usage.get("prompt_cache_hit_tokens")),
        reasoning_tokens=_count(_within(completion, "reasoning_tokens")),
    )


def first_choice(response: Object, endpoint: Endpoint) -> Object:
    """Return the first choice; raises MalformedResponse where there is none."""
    choices = items(response, "choices")
    if not choices:
        raise endpoint.malformed(f"a response without choices; it has {sorted(response)!r}")
    return as_object(choices[0], "a choice", endpoint)


def as_object(value: JSON, what: str, endpoint: Endpoint) -> Object:
    """Return the value, or raise MalformedResponse where it is no object."""
    if not isinstance(value, Mapping):
        raise endpoint.malformed(f"{what} must be an object, got {type(value).__name__}")
    return value


def items(value: Object, name: str) -> Sequence[JSON]:
    """Return the list at a name; empty where it is null or missing."""
    found = value.get(name)
    return found if isinstance(found, list) else []


def _chat_position(entry: Object, endpoint: Endpoint) -> Position:
    read_logprob(entry.get("logprob"), endpoint)
    tops = [as_object(top, "an alternative", endpoint) for top in items(entry, "top_logprobs")]
    alternatives = [
        Alternative(
            token=_string(top.get("token")) or "",
            logprob=read_logprob(top.get("logprob"), endpoint),
            bytes=_bytes(top.get("bytes")),
        )
        for top in tops
    ]
    return Position(_string(entry.get("token")) or "", _ranked(alternatives))


def _completion_position(token: JSON, logprob: JSON, top: JSON, endpoint: Endpoint) -> Position:
    read_logprob(logprob, endpoint)
    pairs = top.items() if isinstance(top, Mapping) else ()
    alternatives = [Alternative(name, read_logprob(value, endpoint)) for name, value in pairs]
    return Position(_string(token) or "", _ranked(alternatives))


def _ranked(alternatives: Sequence[Alternative]) -> tuple[Alternative, ...]:
    return tuple(sorted(alternatives, key=lambda alternative: -alternative.logprob))


def _of_text(positions: tuple[Position, ...], text: str) -> tuple[Position, ...]:
    """Leave out the mark of the end where it has no alternatives: it is no part of the text."""
    *before, last = positions or (Position("", ()),)
    written = last.token and text.endswith(last.token)
    return positions if last.alternatives or written or not before else tuple(before)


def _check_shown(positions: Sequence[Position], logprobs: JSON, endpoint: Endpoint) -> None:
    if logprobs is None:
        raise endpoint.no_logprobs("the answer's logprobs are null or missing")
    if not positions:
        raise endpoint.no_logprobs("the answer's logprobs are empty")
    if not all(position.alternatives for position in positions):
        raise endpoint.no_logprobs("a position without top_logprobs")


def _text(content: JSON) -> str:
    if isinstance(content, list):  # parts, of which only those of text are the answer
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _string(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _cost(response: Object) -> float | None:
    """Return what the provider says it charged; OpenRouter's usage has it, in credits."""
    cost = _within(response.get("usage"), "cost")
    if isinstance(cost, bool) or not isinstance(cost, int | float):
        return None
    # Compared first: JSON has whole numbers that no float can hold.
    return float(cost) if 0.0 <= cost <= sys.float_info.max else None


def _within(value: JSON, name: str) -> JSON:
    return value.get(name) if isinstance(value, Mapping) else None


def _bytes(value: JSON) -> bytes | None:
    try:
        whole = isinstance(value, list) and all(isinstance(byte, int) for byte in value)
        return bytes(cast(list[int], value)) if whole else None
    except ValueError:
        return None
