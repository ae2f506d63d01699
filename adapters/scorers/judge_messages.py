"""What a judge's model is sent: the schema shown in the messages, and how to sample."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast

from classify.adapters.scorers.output_schema import OutputSchema, strict
from classify.json_values import JSON
from classify.language_model import Message, Sampling

Injected: TypeAlias = Literal["system", "inline"]

MAX_TOKENS = 2048
"""The length of an answer where the model settings give none."""

_ASK = "Answer with JSON that follows this JSON Schema, and with nothing else:"


def injected(messages: Sequence[Message], schema: OutputSchema, way: Injected) -> Sequence[Message]:
    """Return the messages with the schema added to the instructions, or to the last prompt."""
    shown = f"{_ASK}\n{json.dumps(schema.json_schema, ensure_ascii=False)}"
    role: Literal["system", "user"] = "system" if way == "system" else "user"
    last = max((i for i, message in enumerate(messages) if message.role == role), default=None)
    if last is None:
        return (Message(role, shown), *messages)
    said = messages[last].content
    added = Message(role, f"{said}\n\n{shown}" if said else shown)
    return (*messages[:last], added, *messages[last + 1 :])


def sampling_of(
    settings: Mapping[str, JSON], native: OutputSchema | None
) -> tuple[Sampling, Mapping[str, JSON]]:
    """Return how to sample, and the settings that go to the provider as they are.

    `native` is the schema for the provider's own response format. The settings are checked: see
    `Judge`.
    """
    options: dict[str, Any] = dict(settings)
    sampling = Sampling(
        max_tokens=options.pop("max_tokens", MAX_TOKENS),
        temperature=options.pop("temperature", 1.0),
        seed=options.pop("seed", None),
        json_schema=None
        if native is None
        else cast("Mapping[str, JSON]", strict(native.json_schema)),
    )
    return sampling, options
