"""What tells a model from others of its name, in this process and in the next."""

from __future__ import annotations

import json
from typing import cast

from classify.errors import InvalidInput
from classify.json_values import JSON, check_json, is_object
from classify.logprob_model import LogprobModel

_TOLD_ANYHOW = {"provider", "model_id", "supported_question_types", "base_url"}


def model_facts(model: object) -> JSON:
    """Return a model's class, its names, its address where it has one, and its `settings`.

    Raises InvalidInput where they do not tell it from others: where it holds more than its names
    and has no `settings`, or where those are no mapping of JSON values.
    """
    kind = type(model)
    names = [str(getattr(model, name, "")) for name in ("provider", "model_id", "base_url")]
    return [f"{kind.__module__}.{kind.__qualname__}", *names, _settings(model)]


def _settings(model: object) -> JSON:
    if type(model) is LogprobModel:  # its options are the classifier's
        return model_facts(model.language_model)
    settings = cast("object", getattr(model, "settings", None))
    name = type(model).__qualname__
    if settings is None:
        held = ", ".join(_held(model))
        if held:
            raise InvalidInput(
                f"the model holds {held} and has no `settings`, which tell it from others of its "
                f"name: give {name} a property `settings`, a mapping of JSON values such as its "
                "address and version, or an empty one where its names are all there is to know"
            )
        return None
    if not is_object(settings):
        raise InvalidInput(
            f"{name}.settings must be a mapping of JSON values, which tell the model from others "
            f"of its name; it is of type {type(settings).__name__}"
        )
    check_json(settings, f"{name}.settings")
    return json.dumps(settings, sort_keys=True, default=dict)  # of any kind of mapping


def _held(model: object) -> list[str]:
    """Return the names of what a model holds besides its names."""
    state = object.__getstate__(model)
    # With __slots__ it is a pair: what is in __dict__, and what is in the slots.
    parts = cast("tuple[object, ...]", state) if isinstance(state, tuple) else (state,)
    held = [str(name) for part in parts if is_object(part) for name in part]
    return [name for name in held if name not in _TOLD_ANYHOW and not name.startswith("__")]
