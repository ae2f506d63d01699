"""Anything that a target or a scorer gives, as JSON that a line of a file can hold."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python


# Any: JSON, whatever comes in.
def kept_json(value: object) -> Any:
    """Return the JSON of a value; of one that has none, such as bytes or a loop, its text.

    Half a surrogate pair, as where a text was cut, is a question mark.
    """
    try:
        found = to_jsonable_python(value, serialize_unknown=True)
        return json.loads(json.dumps(found, ensure_ascii=False).encode("utf-8", "replace"))
    except Exception:  # what serialises a value may be its own code
        return _text(value)


def _text(value: object) -> str:
    try:
        return repr(value).encode("utf-8", "replace").decode()
    except Exception:  # of an object's own, or nested too deeply
        return f"an object of type {type(value).__qualname__}"
