"""Exact logprobs of given texts, read from a completion that echoes its prompt.

The server is sent prompt + text and shows every token of it. The tokens that spell the text are
found from the end of what was sent, and must begin exactly where the text does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from classify.errors import CapabilityError
from classify.json_values import JSON
from classify.language_model import TextScores
from classify.openai_shapes import (
    Endpoint,
    Object,
    as_object,
    items,
    read_logprob,
    read_usage,
)


def echo_body(prompt: str, texts: Sequence[str]) -> dict[str, JSON]:
    """Return the request; one token is generated, because several servers refuse to write none."""
    return {
        "prompt": [prompt + text for text in texts],
        "echo": True,
        "logprobs": 1,
        "max_tokens": 1,
        "temperature": 1.0,
    }


def read_scores(body: JSON, *, prompt: str, texts: Sequence[str], endpoint: Endpoint) -> TextScores:
    """Return the logprobs of each text; raises CapabilityError where the server did not echo."""
    response = as_object(body, "the response", endpoint)
    choices = [as_object(c, "a choice", endpoint) for c in items(response, "choices")]
    choices.sort(key=lambda choice: _index(choice))
    if len(choices) != len(texts):
        raise endpoint.malformed(f"{len(choices)} choices for {len(texts)} prompts")
    logprobs = [
        _text_logprobs(choice, prompt=prompt, text=text, endpoint=endpoint)
        for choice, text in zip(choices, texts, strict=True)
    ]
    model, identity = response.get("model"), response.get("id")
    fingerprint = response.get("system_fingerprint")
    return TextScores(
        logprobs=tuple(logprobs),
        usage=read_usage(response),
        model=model if isinstance(model, str) else None,
        response_id=identity if isinstance(identity, str) else None,
        system_fingerprint=fingerprint if isinstance(fingerprint, str) else None,
    )


def _text_logprobs(
    choice: Object, *, prompt: str, text: str, endpoint: Endpoint
) -> tuple[float, ...]:
    if not text:
        return ()
    echoed, logprobs = choice.get("text"), choice.get("logprobs")
    if logprobs is None:
        raise endpoint.no_logprobs("the completion's logprobs are null or missing")
    if not isinstance(echoed, str) or not echoed.startswith(prompt + text):
        raise _no_echo(endpoint, "the completion does not begin with the prompt")
    shown = as_object(logprobs, "logprobs", endpoint)
    tokens, values = items(shown, "tokens"), items(shown, "token_logprobs")
    if len(tokens) != len(values):
        raise endpoint.malformed(f"{len(tokens)} tokens with {len(values)} logprobs")
    pieces = [_token_bytes(token) for token in tokens]
    start, end = _span(pieces, text, echoed != prompt + text, endpoint)
    if any(value is None for value in values[start:end]):
        raise _no_echo(endpoint, "tokens of the prompt carry no logprobs")
    return tuple(read_logprob(value, endpoint) for value in values[start:end])


def _span(pieces: Sequence[bytes], text: str, wrote: bool, endpoint: Endpoint) -> tuple[int, int]:
    """Return where the tokens of the text begin and end.

    The last token is the one generated; only where the model wrote nothing may it be the text's.
    """
    wanted = text.encode()
    ends = [len(pieces) - 1]
    if not wrote and pieces and pieces[-1]:
        ends.append(len(pieces))
    spans = [(start, end) for end in ends if (start := _start(pieces, end, wanted)) is not None]
    if len(spans) == 1:
        return spans[0]
    if spans:
        raise _no_echo(endpoint, f"it is unclear which tokens spell {text!r}")
    raise _no_echo(
        endpoint,
        f"no token begins where {text!r} does: end the prompt where a word ends, "
        f"and begin the text with the space",
    )


def _start(pieces: Sequence[bytes], end: int, wanted: bytes) -> int | None:
    start, left = end, len(wanted)
    while left > 0 and start > 0:
        start -= 1
        left -= len(pieces[start])
    exact = left == 0 and b"".join(pieces[start:end]) == wanted
    # A text that nothing precedes was not given the prompt.
    return start if exact and start > 0 else None


def _token_bytes(token: JSON) -> bytes:
    text = token if isinstance(token, str) else ""
    if text.startswith("bytes:"):  # how a token that is part of a character is written
        with suppress(ValueError):
            return text.removeprefix("bytes:").encode().decode("unicode_escape").encode("latin-1")
    return text.encode()


def _index(choice: Object) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def _no_echo(endpoint: Endpoint, seen: str) -> CapabilityError:
    return CapabilityError(
        f"{endpoint} cannot score given texts exactly ({seen}); read the answer from its first "
        f'token instead (readout="letters" or "yes_no")'
    )
