"""Reports as JSON: dataclasses and models become objects, and what is not finite becomes null."""

from __future__ import annotations

from typing import cast

from pydantic_core import from_json, to_json

from classify.json_values import JSON


def plain(value: object) -> JSON:
    """Return the JSON of a dataclass, a model, or what holds them."""
    return cast("JSON", from_json(to_json(value, inf_nan_mode="null")))
