"""The JSON Schema of spec files, for editors and for programs that write specs."""

from __future__ import annotations

from typing import cast

from classify.json_values import JSON
from classify.spec import Spec


def spec_schema(kind: type[Spec] = Spec) -> dict[str, JSON]:
    """Return the schema (draft 2020-12) that `classify schema` prints."""
    schema = cast("dict[str, JSON]", kind.model_json_schema())
    definitions = cast("dict[str, dict[str, JSON]]", schema["$defs"])
    for name in ("Boolean", "Choice", "Score"):
        # In Python a question's class says its type; a file has to.
        required = cast("list[JSON]", definitions[name].get("required", []))
        definitions[name]["required"] = ["type", *required]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
