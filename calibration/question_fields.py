"""In which fields two questions differ."""

from __future__ import annotations

from classify.json_values import JSON

ABSENT = "nothing"
"""What is said of a field that one of two questions does not have."""


def differing_fields(first: JSON, second: JSON) -> dict[str, tuple[str, str]]:
    """Return field -> what each holds, as text, where two questions as JSON values differ.

    A field within a field is named with both: "criteria.refund".
    """
    if not isinstance(first, dict) or not isinstance(second, dict):
        return {} if first == second else {"": (repr(first), repr(second))}
    found: dict[str, tuple[str, str]] = {}
    for name in dict.fromkeys((*first, *second)):
        if name not in first or name not in second:
            found[name] = (
                repr(first[name]) if name in first else ABSENT,
                repr(second[name]) if name in second else ABSENT,
            )
            continue
        for inner, both in differing_fields(first[name], second[name]).items():
            found[f"{name}.{inner}" if inner else name] = both
    return found
