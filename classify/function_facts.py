"""What tells a function from others of its name, in this process and in the next.

It does not follow names: what a function calls by a global name, or by a name of its object's
class, is told by that name alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import cast

from classify.errors import InvalidInput
from classify.json_values import JSON, check_json, is_list, is_object

_DEEPEST = 100


def function_facts(function: object) -> JSON:
    """Return what a function is called, does and holds: equal facts, equal function.

    That is its module and name, its bytecode, its default values and what it closes over. Bytecode
    is of a version of Python, so another version's facts differ. A partial is told by its function
    and arguments, a method and an object that is called also by its class and by what it holds.
    Raises InvalidInput for what is not made of Python functions, or holds anything but JSON values
    and others like it.
    """
    return _function(function, above=())


def _function(function: object, *, above: tuple[object, ...]) -> JSON:
    if any(function is each for each in above):  # it calls itself
        return _name(function if isinstance(function, FunctionType) else type(function))
    inside = _deeper(above, function)
    if isinstance(function, FunctionType):
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        return [
            *_name(function),
            _code(function.__code__),
            _values(defaults, above=inside),
            _values(_closed_over(function), above=inside),
        ]
    if isinstance(function, partial):
        named = cast("dict[str, object]", function.keywords)
        return [
            _function(function.func, above=inside),
            _values(function.args, above=inside),
            [[name, _value(named[name], above=inside)] for name in sorted(named)],
        ]
    if isinstance(function, MethodType):
        bound = _object(function.__self__, above=above)
        return ["method", _function(function.__func__, above=inside), bound]
    return [_function(_called(function), above=inside), _object(function, above=above)]


def _deeper(above: tuple[object, ...], inside: object) -> tuple[object, ...]:
    if len(above) > _DEEPEST:
        raise InvalidInput(f"what it holds is nested more than {_DEEPEST} levels deep")
    return (*above, inside)


def _name(named: type | FunctionType) -> list[JSON]:
    return [named.__module__, named.__qualname__]


def _called(function: object) -> FunctionType:
    """Return what runs when an object is called."""
    called: object = getattr(type(function), "__call__", None)  # noqa: B004  # it is looked into
    if isinstance(called, FunctionType):
        return called
    raise InvalidInput(f"an object of type {type(function).__name__} is made of no Python function")


def _object(held: object, *, above: tuple[object, ...]) -> JSON:
    """Return an object's class and what it holds, as pickle would write it."""
    if isinstance(held, type):
        return _name(held)
    kind = type(held)
    if any(held is each for each in above):
        return _name(kind)
    inside = _deeper(above, held)
    try:
        parts = cast("tuple[object, ...]", held.__reduce_ex__(2))
    except Exception:  # whatever its class raises; a lock or an open file is none to write
        parts = ()
    made, arguments, state, *items = (*parts, None, None, None)
    if getattr(made, "__name__", "") != "__newobj__" or any(items):
        raise InvalidInput(f"an object of type {kind.__name__} does not say what it holds")
    given = cast("tuple[object, ...]", arguments)[1:]
    return [*_name(kind), _values(given, above=inside), _value(state, above=inside)]


def _closed_over(function: FunctionType) -> list[object]:
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        raise InvalidInput(f"{function.__qualname__} uses a name that has no value yet") from None


def _values(values: Iterable[object], *, above: tuple[object, ...]) -> JSON:
    return [_value(value, above=above) for value in values]


def _value(value: object, *, above: tuple[object, ...]) -> JSON:
    if any(value is each for each in above) or callable(value):
        return _function(value, above=above)
    inside = _deeper(above, value)
    # Of a tuple another than of a list, of True another than of 1.
    if is_list(value):
        return [type(value).__name__, _values(value, above=inside)]
    if is_object(value):
        return [
            type(value).__name__,
            _values(value, above=inside),
            _values(value.values(), above=inside),
        ]
    check_json(value, "what a function holds")
    return repr(value)


def _code(code: CodeType) -> JSON:
    # Neither file nor lines: a function that was moved is the same function.
    return [
        code.co_code.hex(),
        code.co_exceptiontable.hex(),
        list(code.co_names),
        [_constant(constant) for constant in code.co_consts],
    ]


def _constant(constant: object) -> JSON:
    if isinstance(constant, CodeType):
        return _code(constant)
    if is_list(constant):
        return [_constant(part) for part in constant]
    if isinstance(constant, frozenset):
        members = cast("frozenset[object]", constant)
        return {"set": sorted(map(repr, members))}  # its order is another in every process
    return repr(constant)
