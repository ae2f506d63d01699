"""What counts as JSON here, and the check that says where a value is not.

A value may come from the user as Python objects, so the check runs on the objects: it never
serialises, and a shared sub-object is fine as long as nothing contains itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeGuard

from pydantic import JsonValue

from classify.errors import InvalidInput

JSON: TypeAlias = "str | int | float | bool | Sequence[JSON] | Mapping[str, JSON] | None"

# Readers of JSON stop at 200 levels, and results and records put a few around a value.
_DEEPEST = 190
# Python writes and reads no number of more than 4300 digits.
_LONGEST_NUMBER = 4000


def is_object(value: object) -> TypeGuard[Mapping[object, object]]:
    """Whether a value is a mapping, of whatever keys."""
    return isinstance(value, Mapping)


def is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list or a tuple."""
    return isinstance(value, list | tuple)


def check_json(value: object, where: str) -> None:
    """Raise InvalidInput, naming the place, unless the value is JSON-compatible."""
    _check(value, where, ())


def plain(value: JSON) -> JsonValue:
    """Return a JSON value as it is read back: of dicts and lists, whatever mappings it was of."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value]


def writable(text: str) -> str:
    """Return a text that can be written to a file.

    Half a surrogate pair, as where a reply was cut, becomes a question mark.
    """
    return text.encode("utf-8", "replace").decode()


def _check(value: object, where: str, above: tuple[int, ...]) -> None:
    if value is None:
        return
    if isinstance(value, int):
        if value.bit_length() > _LONGEST_NUMBER * math.log2(10):
            raise InvalidInput(
                f"{where} must hold only JSON-compatible values: a whole number of more than "
                f"{_LONGEST_NUMBER} digits is none that others read"
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInput(f"{where} must hold only JSON-compatible values, got {value!r}")
    elif isinstance(value, str):
        _check_text(value, where)
    elif is_object(value) or is_list(value):
        _check_container(value, where, above)
    else:
        raise InvalidInput(
            f"{where} must hold only JSON-compatible values (null, true, false, numbers, strings, "
            f"lists, objects), got {type(value).__name__}"
        )


def _check_container(
    value: Mapping[object, object] | Sequence[object],
    where: str,
    above: tuple[int, ...],
) -> None:
    if id(value) in above:
        raise InvalidInput(f"{where} must not contain circular references")
    if len(above) >= _DEEPEST:
        raise InvalidInput(f"{where} is nested more than {_DEEPEST} levels deep")
    inside = (*above, id(value))
    if is_object(value):
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
