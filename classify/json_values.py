"""What counts as JSON here, and the check that says where a value is not.

A value may come from the user as Python objects, so the check runs on the objects: it never
serialises, and a shared sub-object is fine as long as nothing contains itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TypeAlias

from classify.errors import InvalidInput

JSON: TypeAlias = "None | bool | int | float | str | list[JSON] | tuple[JSON, ...] | dict[str, JSON]"

_DEEPEST = 200


def check_json(value: object, where: str) -> None:
    """Raise InvalidInput, naming the place, unless the value is JSON-compatible."""
    _check(value, where, ())


def _check(value: object, where: str, above: tuple[int, ...]) -> None:
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{where} must hold only JSON-compatible values, got {value!r}")
    elif isinstance(value, str):
        _check_text(value, where)
    elif isinstance(value, Mapping | list | tuple):
        _check_container(value, where, above)
    else:
        raise InvalidInput(
            f"{where} must hold only JSON-compatible values (null, true, false, numbers, strings, "
            f"lists, objects), got {type(value).__name__}"
        )


def _check_container(
    value: Mapping[object, object] | list[object] | tuple[object, ...],
    where: str,
    above: tuple[int, ...],
) -> None:
    if id(value) in above:
        raise InvalidInput(f"{where} must not contain circular references")
    if len(above) >= _DEEPEST:
        raise InvalidInput(f"{where} is nested more than {_DEEPEST} levels deep")
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(
                    f"{where} must hold only JSON-compatible values: keys are strings, got {key!r}"
                )
            _check_text(key, where)
            _check(item, f"{where}.{key}", inside)
    else:
        for index, item in enumerate(value):
            _check(item, f"{where}[{index}]", inside)


def _check_text(text: str, where: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{where} must hold only JSON-compatible values: the text has half a surrogate pair "
            f"at position {error.start}, which no encoding can send"
        ) from None
