"""What tells a function from others of its name, in this process and in the next.

It does not follow global names: what a function calls by one is told by that name alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import CodeType, FunctionType
from typing import cast

from classify.errors import InvalidInput
from classify.json_values import JSON, check_json, is_list


def function_facts(function: object) -> JSON:
    """Return what a function is called, does and holds: equal facts, equal function.

    That is its module and name, its bytecode, its default values and what it closes over. Bytecode
    is of a version of Python, so another version's facts differ. Raises InvalidInput for what is
    no Python function, or holds anything but JSON values and other such functions.
    """
    return _function(function, above=())


def _function(function: object, *, above: tuple[object, ...]) -> JSON:
    if not isinstance(function, FunctionType):
        raise InvalidInput(f"no Python function is an object of type {type(function).__name__}")
    name = [function.__module__, function.__qualname__]
    if function in above:  # it calls itself
        return name
    inside = (*above, function)
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    return [
        *name,
        _code(function.__code__),
        _values(defaults, above=inside),
        _values(_closed_over(function), above=inside),
    ]


def _closed_over(function: FunctionType) -> list[object]:
    try:
        return [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:
        raise InvalidInput(f"{function.__qualname__} uses a name that has no value yet") from None


def _values(values: Iterable[object], *, above: tuple[object, ...]) -> JSON:
    return [_value(value, above=above) for value in values]


def _value(value: object, *, above: tuple[object, ...]) -> JSON:
    if isinstance(value, FunctionType):
        return _function(value, above=above)
    check_json(value, "what a function holds")
    return repr(value)  # of a tuple another than of a list, of True another than of 1


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
