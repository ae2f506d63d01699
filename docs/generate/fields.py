"""The fields of pydantic models and dataclasses, as their sources write them."""

from __future__ import annotations

import builtins
import dataclasses
from collections.abc import Callable, Iterator
from typing import cast

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from sphinx.pycode import ModuleAnalyzer

from generate.annotations import Links
from generate.plain_text import plain_text


def is_record(kind: type[object]) -> bool:
    """Whether a class is its fields: its signature would only repeat them."""
    return issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind)


def field_names(kind: type[object]) -> tuple[str, ...]:
    """Return the names of a record's public fields."""
    if issubclass(kind, BaseModel):
        return tuple(kind.model_fields)
    return tuple(name for name in _dataclass_fields(kind) if not name.startswith("_"))


def field_directives(kind: type[object], links: Links) -> Iterator[str]:
    """Yield the lines of a `py:attribute` directive for each field, parents' fields first."""
    for name in field_names(kind):
        owner, annotation = _written(kind, name)
        yield f".. py:attribute:: {name}"
        if hasattr(builtins, name):
            # Else each mention of Python's own `type` or `id` could mean this field.
            yield "   :no-index:"
        yield f"   :type: {links.linked(annotation, owner.__module__)}"
        default = _default(kind, name)
        if default is not None:
            yield f"   :value: {default}"
        yield ""
        for line in attribute_documentation(owner.__module__, owner.__qualname__, name):
            yield f"   {line}"
        yield ""


def attribute_documentation(module: str, owner: str, name: str) -> list[str]:
    """Return the lines of the text under an attribute (`owner` is "" for a module's own)."""
    found = ModuleAnalyzer.for_module(module).find_attr_docs()
    return plain_text(found.get((owner, name), []))


def _dataclass_fields(kind: type[object]) -> dict[str, dataclasses.Field[object]]:
    assert dataclasses.is_dataclass(kind)
    return {field.name: field for field in dataclasses.fields(kind)}


def _written(kind: type[object], name: str) -> tuple[type[object], str]:
    """Return the class that declares a field and the annotation that stands there."""
    for owner in kind.__mro__:
        annotations: dict[str, object] = vars(owner).get("__annotations__", {})
        if name in annotations:
            return owner, str(annotations[name])
    raise LookupError(f"no class declares {kind.__name__}.{name}")


def _default(kind: type[object], name: str) -> str | None:
    factory: object
    if issubclass(kind, BaseModel):
        model_field = kind.model_fields[name]
        value: object = model_field.default
        factory = model_field.default_factory
    else:
        field = _dataclass_fields(kind)[name]
        value, factory = field.default, field.default_factory
    if value is not PydanticUndefined and value is not dataclasses.MISSING:
        return _shown(value)
    if factory is None or factory is dataclasses.MISSING:
        return None
    # Neither kind of record here has factories that take what is validated so far.
    return _shown(cast("Callable[[], object]", factory)())


def _shown(value: object) -> str:
    kind = type(value)
    # The fields of a record with nothing set stand in its own entry; other objects tell nothing.
    if is_record(kind) or kind.__repr__ is object.__repr__:
        return f"{kind.__name__}()"
    return repr(value)
