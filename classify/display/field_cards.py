"""The card of an object that is its fields: their names in words, their values short."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from itertools import islice

from pydantic import BaseModel

from classify.display.cards import Card, facts
from classify.json_values import is_list, is_object

_SHOWN = 8
"""Entries of a list in one value."""
_SCALAR = (bool, int, float, str)


def field_card(shown: object, *, without: Sequence[str] = ()) -> Card:
    """Return a card with what the object says of itself, else with a line per field."""
    if _says(shown):
        return Card(spaced_name(type(shown)), str(shown))
    rows = (
        (_spaced(name), value_text(value))
        for name, value in _fields(shown).items()
        if name not in without and value is not None
    )
    return Card(spaced_name(type(shown)), "", facts(*rows))


def spaced_name(kind: type) -> str:
    """Return a class's name in words: "VennAbersCalibrator" is "Venn abers calibrator"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).capitalize()


def value_text(value: object) -> str:
    """Return a field's value as a person reads it, long lists with how many are left out."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:z.4g}"
    if is_object(value):
        named = [f"{name}: {value_text(value[name])}" for name in islice(value, _SHOWN)]
        return _several(named, of=len(value))
    if is_list(value):
        if value and (is_list(value[0]) or _fields(value[0])):
            what = "row" if is_list(value[0]) else spaced_name(type(value[0])).lower()
            return f"{what} ({len(value)})"
        return _several([value_text(each) for each in value[:_SHOWN]], of=len(value))
    if _says(value) or not _fields(value):
        shape = getattr(value, "shape", None)
        return str(value) if shape is None else f"numbers of shape {shape}"
    scalars = {n: each for n, each in _fields(value).items() if isinstance(each, _SCALAR)}
    return ", ".join(f"{_spaced(name)} {value_text(each)}" for name, each in scalars.items())


def _several(texts: Sequence[str], *, of: int) -> str:
    if not texts:
        return "none"
    left = of - len(texts)
    return ", ".join(texts) + (f" … {left} more" if left else "")


def _says(value: object) -> bool:
    """Whether a class defines how its objects are printed."""
    return type(value).__str__ not in (object.__str__, BaseModel.__str__)


def _fields(value: object) -> Mapping[str, object]:
    if isinstance(value, BaseModel):
        names = tuple(type(value).model_fields)
    elif is_dataclass(value):
        names = tuple(field.name for field in fields(value))
    else:
        return {}
    return {name: getattr(value, name) for name in names if not name.startswith("_")}


def _spaced(name: str) -> str:
    return name.replace("_", " ")
