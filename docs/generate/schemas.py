"""Tables of a JSON Schema's objects: field, type, default and meaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from classify.json_values import JSON

Schema: TypeAlias = Mapping[str, JSON]


def schema_tables(schema: Schema, title: str, *, level: int = 2) -> str:
    """Return a section for the whole and one for each object that it refers to."""
    inner = cast("Mapping[str, Schema]", schema.get("$defs", {}))
    parts = {title: schema, **inner}
    return "\n\n".join(
        _section(name, part, level) for name, part in parts.items() if "properties" in part
    )


def _section(name: str, schema: Schema, level: int) -> str:
    fields = cast("Mapping[str, Schema]", schema["properties"])
    required = cast("list[str]", schema.get("required", []))
    lines = [f"{'#' * level} {name}", ""]
    if "description" in schema:
        lines += [str(schema["description"]), ""]
    lines += ["| field | type | where absent | meaning |", "|---|---|---|---|"]
    lines += [
        f"| `{field}` | {_cell(_type(about))} | {_absent(field, about, required)} "
        f"| {_cell(str(about.get('description', '')))} |"
        for field, about in fields.items()
    ]
    return "\n".join(lines)


def _absent(field: str, about: Schema, required: list[str]) -> str:
    if field in required:
        return "**required**"
    default = about.get("default")
    # The defaults of an object are told in its own section.
    return "" if default in (None, []) or isinstance(default, dict) else f"`{json.dumps(default)}`"


def _type(about: Schema) -> str:
    return " or ".join(dict.fromkeys(_kinds(about)))


def _kinds(about: Schema) -> Iterator[str]:
    for union in ("anyOf", "oneOf"):
        for one in cast("list[Schema]", about.get(union, [])):
            yield from _kinds(one)
        if union in about:
            return
    if "$ref" in about:
        name = str(about["$ref"]).rpartition("/")[2]
        yield "any JSON" if name == "JsonValue" else f"[{name}](#{name.lower()})"
    elif "const" in about:
        yield f"`{about['const']}`"
    elif "enum" in about:
        yield ", ".join(f"`{value}`" for value in cast("list[JSON]", about["enum"]))
    else:
        yield _named(about)


def _named(about: Schema) -> str:
    kind = str(about.get("type", "any JSON"))
    if kind == "array":
        items = cast("Schema | None", about.get("items"))
        return _tuple(about) if items is None else f"list of {_type(items)}"
    if kind == "object":
        inside = about.get("additionalProperties")
        return f"object of {_type(cast('Schema', inside))}" if inside else "object"
    return f"{kind}{_range(about)}"


def _tuple(about: Schema) -> str:
    items = cast("list[Schema]", about.get("prefixItems", []))
    return f"[{', '.join(map(_type, items))}]"


def _range(about: Schema) -> str:
    ends = {"minimum": "≥", "exclusiveMinimum": ">", "maximum": "≤", "exclusiveMaximum": "<"}
    limits = [f"{sign} {about[name]}" for name, sign in ends.items() if name in about]
    return f" ({', '.join(limits)})" if limits else ""


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
