"""Where the texts that a measure judges come from; every one can be given by the user instead."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from classify.adapters.scorers.agent_text import assistant_text, tool_calls, user_text
from classify.adapters.scorers.measures.measure import AnyRun
from classify.adapters.scorers.message_reading import plain
from classify.adapters.scorers.settling import settled
from classify.errors import InvalidInput
from classify.json_values import is_list, is_object

Splitter: TypeAlias = Callable[[str], Sequence[str] | Awaitable[Sequence[str]]]
"""A text -> its claims or statements, such as `sentences`, or a function that asks a model."""
Source: TypeAlias = Sequence[str] | Callable[[AnyRun], Any]
"""Texts, or a function that takes them from a run: a list of texts, one text or None."""


def input_text(run: AnyRun) -> str:
    """Return what was asked: a string, a dict with a text, or the user's messages."""
    return user_text(run.input)


def output_text(run: AnyRun) -> str:
    """Return what was answered: a string, a dict with a text, or the assistant's messages."""
    return assistant_text(run.output)


def truth_text(run: AnyRun) -> str:
    """Return the ground truth as text; empty where there is none."""
    return "" if run.ground_truth is None else assistant_text(run.ground_truth)


def given_context(run: AnyRun) -> object:
    """Return `context` of the run's additional or request context, or what its tools returned."""
    for mapping in (run.additional_context, run.request_context):
        if mapping and mapping.get("context") is not None:
            return mapping["context"]
    return [as_text(call.result) for call in tool_calls(run.output) if call.result is not None]


async def texts(source: Source | None, run: AnyRun) -> tuple[str, ...]:
    """Return the texts of a source, blank ones left out; `given_context` where it is None.

    Raises InvalidInput for what is no text and no list of them.
    """
    found: object = await settled(source(run)) if callable(source) else source
    if source is None:
        found = given_context(run)
    if found is None:
        return ()
    if isinstance(found, str):
        found = [found]
    if not is_list(found):
        raise InvalidInput(f"context must be a list of texts, one text or None, got {found!r}")
    return tuple(text for text in map(as_text, found) if text.strip())


def as_text(value: object) -> str:
    """Return a text as it is, the text of a document that has one, anything else as JSON."""
    value = plain(value)
    if isinstance(value, str):
        return value
    if is_object(value):
        for key in ("text", "content", "page_content"):
            text = value.get(key)
            if isinstance(text, str):
                return text
    return json.dumps(value, ensure_ascii=False, default=str)


async def split(text: str, splitter: Splitter) -> tuple[str, ...]:
    """Return the pieces of a text, blank ones left out; raises InvalidInput for a splitter's slip.

    A splitter that returns one string would be read letter by letter.
    """
    if not text.strip():
        return ()
    pieces: object = await settled(splitter(text))
    if not is_list(pieces) or not all(isinstance(piece, str) for piece in pieces):
        raise InvalidInput(f"a splitter must return a list of strings, got {pieces!r}")
    return tuple(str(piece) for piece in pieces if str(piece).strip())


def joined(pieces: Sequence[str]) -> str:
    """Return pieces of context as one text."""
    return "\n\n".join(pieces)


def from_mapping(context: Mapping[str, Any] | None, name: str) -> Any:
    """Return what a run's context holds under a name, None where it holds nothing."""
    return None if context is None else context.get(name)
