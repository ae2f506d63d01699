"""Which functions are one and the same to a run that is resumed."""

from __future__ import annotations

# pyright: reportUnknownLambdaType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# A lambda says nothing of its types.
import functools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

import pytest

from classify.classifier import Classifier
from classify.decision import DecisionResponse
from classify.errors import InvalidInput
from classify.function_facts import function_facts
from classify.questions import Boolean
from classify.testing.scripted import ScriptedModel

Function = Callable[..., Any]


def _closure(held: object) -> Function:
    return lambda given: (given, held)


def _defaults(held: object) -> Function:
    return lambda given, held=held: (given, held)


def _keyword(held: object) -> Function:
    return lambda given, *, held=held: (given, held)


def _both(held: object, given: object, *, more: object = None) -> object:
    return given, held, more


def _partial(held: object) -> Function:
    return functools.partial(_both, held)


def _partial_by_name(held: object) -> Function:
    return functools.partial(_both, 1, more=held)


class _Holder:
    def __init__(self, held: object) -> None:
        self.held = held

    def method(self, given: object) -> object:
        return given, self.held

    @classmethod
    def made(cls, given: object) -> object:
        return cls(given)

    __call__ = method


@dataclass(frozen=True, slots=True)
class _Frozen:
    held: object

    def __call__(self, given: object) -> object:
        return given, self.held


def _method(held: object) -> Function:
    return _Holder(held).method


@pytest.mark.parametrize(
    "make",
    [
        _closure,
        _defaults,
        _keyword,
        _partial,
        _partial_by_name,
        _method,
        _Holder,
        _Frozen,
    ],
)
def test_functions_of_one_name_are_told_by_what_they_hold(
    make: Callable[[object], Function],
) -> None:
    """A threshold in a closure is the usual case; types that compare equal count too."""
    held = [0.5, 0.6, 1, True, "1", None, [1], (1,), {"a": 1}, _closure(1), _closure(2)]
    held += [_partial(1), _method(1), _Holder(1), _Frozen([_closure(1)]), {"a": _closure(1)}]
    facts = [json.dumps(function_facts(make(each))) for each in held]

    assert len(set(facts)) == len(facts)
    assert facts == [json.dumps(function_facts(make(each))) for each in held]


def test_functions_of_one_name_are_told_by_what_they_do() -> None:
    """Constants, attributes, operations and functions inside them."""
    functions: list[Function] = [
        lambda r: r,
        lambda r: r.answers,
        lambda r: r.warnings,
        lambda r: r + 1,
        lambda r: r + 2,
        lambda r: r - 1,
        lambda r: r in ("a", "b"),
        lambda r: r in {"a", "b"},
        lambda r: [*map(lambda x: x + 1, r)],
        lambda r: [*map(lambda x: x + 2, r)],
    ]
    facts = [json.dumps(function_facts(function)) for function in functions]

    assert len(set(facts)) == len(facts)


class _Counts(dict[str, int]):
    def __call__(self, given: object) -> object:
        return given, self


def _nested(levels: int) -> Function:
    held: object = None
    for _ in range(levels):
        held = [held]
    return _Holder(held)


@pytest.mark.parametrize(
    "unknown",
    [
        functools.lru_cache(_closure),
        [].append,
        DecisionResponse,
        _closure(object()),
        _partial(object()),
        _method(object()),
        _Holder(Lock()),
        _Counts(),
        _nested(1000),
    ],
    ids=["cache", "built in", "class", "closure", "partial", "method", "lock", "dict", "deep"],
)
def test_what_cannot_be_told_has_no_facts(unknown: object) -> None:
    """A classifier with it must not take another's answers."""
    with pytest.raises(InvalidInput):
        function_facts(unknown)


def test_a_function_that_calls_itself_has_facts() -> None:
    """By its name, where it is met again."""

    def countdown(n: int) -> int:
        return countdown(n - 1) if n else 0

    assert function_facts(countdown) == function_facts(countdown)


def test_an_object_that_holds_itself_has_facts() -> None:
    """By its class, where it is met again."""
    first, second = _Holder(1), _Holder(1)
    first.held, second.held = first.method, second.method

    assert function_facts(first) == function_facts(second)
    assert function_facts(first.method) != function_facts(_Holder(1).method)
    assert function_facts(_Holder.made) == function_facts(_Holder(2).made)


_SCRIPT = """
import functools, json
from classify.function_facts import function_facts
class Held:
    def __init__(self, **held): vars(self).update(held)
    def __call__(self, r): return r
f = lambda r: r in {"a", "b", "c", "d", "e"} and r[1:2] != (1, "x")
g = functools.partial(Held(a=f, b={"c": 1.5}, d=Held().__call__), e=f)
print(json.dumps([function_facts(f), function_facts(g)]))
"""


def test_facts_are_the_same_in_every_process() -> None:
    """A run is resumed in another one, where texts have other hashes."""
    found = {
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }

    assert len(found) == 1


def test_a_transform_of_the_same_name_is_another_classifier() -> None:
    """Its answers were reused: both are called <lambda>."""

    def made(transform: Callable[[DecisionResponse], DecisionResponse] | None) -> str:
        model = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 0.5}})
        return Classifier("c", model, {"q": Boolean()}, transform=transform).fingerprint

    plain, noted = lambda r: r, lambda r: replace(r, warnings=("noted",))

    assert len({made(None), made(plain), made(noted)}) == 3
    assert made(noted) == made(noted)
