"""The tokens that spell a label, asked of the server itself, once per label.

A server that takes token ids answers with the tokens asked for instead of the likeliest, so each
label is asked for as it may stand at the slot: bare and after a space.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from classify.json_values import JSON
from classify.language_model import Reply
from classify.openai_shapes import Endpoint, as_object, items
from classify.readout import normalized

Tokenize = Callable[[str], Awaitable[JSON]]
"""Text -> the response of the server's tokenizer."""

# Every object of one address and model shares what the server has said, as with its capabilities.
_known: dict[tuple[str, str, str], tuple[int, ...]] = {}


def tokenizer_url(base_url: str) -> str:
    """Return where vLLM's tokenizer is: beside the protocol's own paths, not among them.

    >>> tokenizer_url("http://localhost:8000/v1")
    'http://localhost:8000/tokenize'
    """
    return base_url.removesuffix("/v1") + "/tokenize"


async def label_ids(
    labels: Sequence[str], tokenize: Tokenize, endpoint: Endpoint
) -> tuple[int, ...]:
    """Return the ids of the tokens that spell the labels.

    Raises MalformedResponse where a label is no single token.
    """
    # One after the other: a server without a tokenizer says so once.
    found = [await _spellings(label, tokenize, endpoint) for label in labels]
    return tuple(dict.fromkeys(token for tokens in found for token in tokens))


def check_shown(reply: Reply, labels: Sequence[str], endpoint: Endpoint) -> None:
    """Raise MalformedResponse where a position lacks a label that was asked for.

    What is shown is then not the likeliest tokens either, so it bounds nothing.
    """
    for position in reply.positions:
        shown = {normalized(a.token, fold=False) for a in position.alternatives}
        lacking = [label for label in labels if label not in shown]
        if lacking:
            raise endpoint.malformed(
                f"the tokens of the labels {lacking!r} were asked for and are not shown"
            )


async def _spellings(label: str, tokenize: Tokenize, endpoint: Endpoint) -> tuple[int, ...]:
    key = endpoint.base_url, endpoint.model_id, label
    if key not in _known:
        bare, spaced = [_ids(await tokenize(text), endpoint) for text in (label, f" {label}")]
        if len(bare) != 1:
            raise endpoint.malformed(f"the label {label!r} is {len(bare)} tokens, not one")
        _known[key] = (*bare, *spaced) if len(spaced) == 1 else bare
    return _known[key]


def _ids(response: JSON, endpoint: Endpoint) -> tuple[int, ...]:
    tokens = items(as_object(response, "the tokenizer's response", endpoint), "tokens")
    ids = tuple(token for token in tokens if isinstance(token, int))
    if not ids or len(ids) != len(tokens):
        raise endpoint.malformed(f"the tokenizer's response has no ids: tokens is {tokens!r}")
    return ids
