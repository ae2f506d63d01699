"""Which runs are scored live: predicates over what is known of a run, never over its texts.

A predicate is {"field": path, operator: value}, or {"all": […]}, {"any": […]} or {"not": …} of
predicates. Operators: eq, ne, in, not_in, lt, lte, gt, gte, exists, not_exists (these two with
true). A path that leads nowhere makes every operator false but not_exists.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from classify.errors import InvalidInput
from classify.json_values import is_list, is_object
from classify.validation import unknown_name

_MISSING = object()
_OBJECTS = ("request_context", "entity")
_VALUES = ("entity_type", "source", "thread_id", "resource_id", "project_id")
_NAMES = {
    "requestContext": "request_context",
    "entityType": "entity_type",
    "threadId": "thread_id",
    "resourceId": "resource_id",
    "projectId": "project_id",
}
"""The reference's names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveContext:
    """What is known of a run beside its input and output."""

    request_context: Mapping[str, Any] | None = None
    entity: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What ran: its id, name, version …"""
    entity_type: str | None = None
    """"agent", "workflow" …"""
    source: str = "live"
    thread_id: str | None = None
    resource_id: str | None = None
    project_id: str | None = None


Predicate: TypeAlias = Callable[[LiveContext], bool]


def read_filter(given: object, where: str = "filter") -> Predicate:
    """Return the predicate that a filter says; raises InvalidInput for one that says none."""
    if not is_object(given) or not given:
        raise InvalidInput(f"{where} must be an object with field, all, any or not, got {given!r}")
    if "field" in given:
        return _comparison(given, where)
    if len(given) == 1:
        ((name, inner),) = given.items()
        if name == "not":
            negated = read_filter(inner, f"{where}.not")
            return lambda context: not negated(context)
        if name in ("all", "any") and is_list(inner) and inner:
            parts = [read_filter(part, f"{where}.{name}[{i}]") for i, part in enumerate(inner)]
            combine = all if name == "all" else any
            return lambda context: combine(part(context) for part in parts)
    raise InvalidInput(
        f"{where} must have field and an operator, or one of all, any (lists, not empty) and not, "
        f"got {sorted(map(str, given))}"
    )


def _comparison(given: Mapping[object, object], where: str) -> Predicate:
    names = [name for name in given if name != "field"]
    if len(names) != 1:
        raise InvalidInput(f"{where} must have one operator beside field, got {names!r}")
    name, wanted = names[0], given[names[0]]
    if name not in _OPERATORS:
        raise InvalidInput(f"{where}: {unknown_name('operator', name, _OPERATORS)}")
    if name in ("in", "not_in") and not is_list(wanted):
        raise InvalidInput(f"{where}.{name} must be a list, got {wanted!r}")
    if name in ("exists", "not_exists") and wanted is not True:
        raise InvalidInput(f"{where}.{name} must be true, got {wanted!r}")
    path, holds = _path(given["field"], f"{where}.field"), _OPERATORS[str(name)]
    missing_holds = name == "not_exists"

    def predicate(context: LiveContext) -> bool:
        found = _value(context, path)
        return missing_holds if found is _MISSING else holds(found, wanted)

    return predicate


def _path(given: object, where: str) -> tuple[str, str]:
    """Return the root and what follows it."""
    if not isinstance(given, str):
        raise InvalidInput(f"{where} must be a path such as 'request_context.tier', got {given!r}")
    root, _, rest = given.partition(".")
    root = _NAMES.get(root, root)
    if root not in (*_OBJECTS, *_VALUES):
        raise InvalidInput(f"{where}: {unknown_name('root', root, (*_OBJECTS, *_VALUES))}")
    if (root in _OBJECTS) != bool(rest):
        say = f"{root}.<key>" if root in _OBJECTS else f"{root} alone"
        raise InvalidInput(f"{where} must be {say}, got {given!r}")
    return root, rest


def _value(context: LiveContext, path: tuple[str, str]) -> object:
    root, rest = path
    value: object = getattr(context, root)
    if not rest:
        return _MISSING if value is None else value
    if is_object(value) and rest in value:  # a flat key with dots in it comes first
        return value[rest]
    for key in rest.split("."):
        if not is_object(value) or key not in value:
            return _MISSING
        value = value[key]
    return value


def _compared(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(found: Any, wanted: Any) -> bool:
        try:
            return bool(compare(found, wanted))
        except TypeError:  # a text is neither above nor below a number
            return False

    return holds


def _always(found: object, wanted: object) -> bool:
    return True


def _never(found: object, wanted: object) -> bool:
    return False


_OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda found, wanted: found in wanted,
    "not_in": lambda found, wanted: found not in wanted,
    "lt": _compared(operator.lt),
    "lte": _compared(operator.le),
    "gt": _compared(operator.gt),
    "gte": _compared(operator.ge),
    "exists": _always,
    "not_exists": _never,
}
