"""What a loopback server says: answers in OpenAI's wire shapes, and every way of failing."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from classify.json_values import JSON

Likely: TypeAlias = Sequence[tuple[str, float]]
"""Tokens at one position with their natural-log probabilities."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server received it."""

    number: int
    """0 for the first."""
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server says to one request."""

    text: str | None = None
    """The text; None for the likeliest token of each position, joined."""
    positions: Sequence[Likely] = ()
    """The alternatives at each generated position; as many are shown as the request asks for."""
    echo: Sequence[tuple[str, float | None]] | None = None
    """The prompt's tokens and logprobs, where a completion asks for echo; None ignores echo."""
    logprobs: Literal["shown", "null", "missing", "empty"] = "shown"
    finish_reason: str = "stop"
    refusal: str | None = None
    usage: Mapping[str, JSON] | None = None
    model: str = "loopback"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    """These bytes, whatever the rest says."""
    ending: Literal["whole", "truncated", "dropped"] = "whole"
    """Send all, half and then hang up, or hang up at once."""


def likely(probabilities: Mapping[str, float]) -> Likely:
    """Return one position from the probability of each token; 0 gives a logprob of -9999.

    >>> likely({"A": 1.0, "B": 0.0})
    [('A', 0.0), ('B', -9999.0)]
    """
    return [(token, math.log(p) if p > 0.0 else -9999.0) for token, p in probabilities.items()]


def error(
    status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Return a refusal in OpenAI's shape."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Answer(status=status, headers=headers or {}, body=json.dumps(body).encode())


def throttled(retry_after: float | None = None) -> Answer:
    """Return a 429, with Retry-After in seconds where one is given."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    return error(429, "Rate limit reached", code="rate_limit_exceeded", headers=headers)


def render(request: Request, answers: Sequence[Answer]) -> bytes:
    """Return the body: one choice for each answer (a completion may ask several prompts)."""
    first = answers[0]
    if first.body is not None:
        return first.body
    chat = request.path.partition("?")[0].endswith("/chat/completions")
    choice = _chat_choice if chat else _completion_choice
    usage = {"prompt_tokens": 8, "completion_tokens": len(answers), "total_tokens": 9}
    body: dict[str, JSON] = {
        "id": f"loopback-{request.number}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": first.model,
        "system_fingerprint": "loopback",
        "choices": [choice(request.body, index, answer) for index, answer in enumerate(answers)],
        "usage": dict(first.usage) if first.usage is not None else dict(usage),
    }
    return json.dumps(body).encode()


def _chat_choice(asked: Mapping[str, JSON], index: int, answer: Answer) -> JSON:
    # One provider's chat takes the number in `logprobs` itself.
    most = asked.get("top_logprobs") or asked.get("logprobs")
    content: list[JSON] = [_chat_position(p, _count(most)) for p in answer.positions]
    choice: dict[str, JSON] = {
        "index": index,
        "finish_reason": answer.finish_reason,
        "message": {"role": "assistant", "content": _text(answer), "refusal": answer.refusal},
    }
    if asked.get("logprobs"):
        shown: JSON = {"content": content, "refusal": None}
        _show(choice, answer, shown, {"content": [], "refusal": None})
    return choice


def _chat_position(position: Likely, most: int) -> JSON:
    entries: list[dict[str, JSON]] = [
        {"token": token, "logprob": logprob, "bytes": list(token.encode())}
        for token, logprob in position
    ]
    ranked = sorted(entries, key=lambda entry: -_number(entry["logprob"]))
    return {**entries[0], "top_logprobs": [*ranked[:most]]}


def _completion_choice(asked: Mapping[str, JSON], index: int, answer: Answer) -> JSON:
    echo = list(answer.echo or ()) if asked.get("echo") else []
    generated = [(position[0][0], position[0][1]) for position in answer.positions]
    tokens = [*echo, *generated]
    text = "".join(token for token, _ in echo) + _text(answer)
    choice: dict[str, JSON] = {"index": index, "text": text, "finish_reason": answer.finish_reason}
    if asked.get("logprobs") is not None:
        most = _count(asked["logprobs"])
        tops: list[JSON] = []
        for token, logprob in echo:
            tops.append(None if logprob is None else {token: logprob})
        for position in answer.positions:
            tops.append({**dict(sorted(position, key=lambda pair: -pair[1])[:most])})
        shown: dict[str, JSON] = {
            "tokens": [token for token, _ in tokens],
            "token_logprobs": [logprob for _, logprob in tokens],
            "top_logprobs": tops,
            "text_offset": [sum(len(t) for t, _ in tokens[:i]) for i in range(len(tokens))],
        }
        empty: dict[str, JSON] = {name: [] for name in shown}
        _show(choice, answer, shown, empty)
    return choice


def _show(choice: dict[str, JSON], answer: Answer, shown: JSON, empty: JSON) -> None:
    if answer.logprobs != "missing":
        choice["logprobs"] = {"shown": shown, "empty": empty, "null": None}[answer.logprobs]


def _text(answer: Answer) -> str:
    if answer.text is not None:
        return answer.text
    return "".join(position[0][0] for position in answer.positions)


def _count(value: JSON) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _number(value: JSON) -> float:
    # A NaN sorts last, wherever it stands: what order it would be shown in means nothing.
    return value if isinstance(value, int | float) and value == value else -math.inf
