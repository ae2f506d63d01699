"""Signatures and types as the sources write them, with links to what the pages document."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from importlib import import_module

_WORD = re.compile(r"'[^']*'|\"[^\"]*\"|[\w.]+")


class Links:
    """Where each documented name stands."""

    def __init__(self, documented: Iterable[tuple[str, str]]) -> None:
        """Take the modules and names that the pages list."""
        self._places: dict[str, set[str]] = {}
        for module, name in documented:
            self._places.setdefault(name, set()).add(f"{module}.{name}")

    def linked(self, annotation: str, home: str) -> str:
        """Return an annotation with its documented names in full; they are shown short.

        `home` is the module that it is written in.
        """
        return _WORD.sub(lambda word: self._full(word.group(), home), annotation)

    def signature(self, thing: Callable[..., object]) -> tuple[str, str]:
        """Return the arguments in brackets and what is returned ("" where nothing is said)."""
        found, home = inspect.signature(thing), thing.__module__
        parameters = [
            parameter.replace(annotation=_Written(self.linked(_text(parameter.annotation), home)))
            if parameter.annotation is not parameter.empty
            else parameter
            for parameter in found.parameters.values()
        ]
        if _is_method(thing):
            parameters = parameters[1:]
        shown = found.replace(parameters=parameters, return_annotation=found.empty)
        says_nothing = isinstance(thing, type) or found.return_annotation is found.empty
        return str(shown), "" if says_nothing else self.linked(_text(found.return_annotation), home)

    def documents(self, thing: type[object]) -> bool:
        """Whether a class has an entry of its own."""
        return any(_at(place) is thing for place in self._places.get(thing.__name__, ()))

    def _full(self, name: str, home: str) -> str:
        if name == "type":
            return "~builtins.type"  # not one of the attributes that are called so
        places = self._places.get(name, set())
        meant = vars(import_module(home)).get(name)
        if meant is not None:
            places = {place for place in places if _at(place) is meant}
        if len(places) == 1:
            return next(iter(places))
        # Another thing of a documented name: in full, so that it is not taken for that one.
        return f"~{home}.{name}" if name in self._places else name


def _at(place: str) -> object:
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)


class _Written:
    """An annotation that prints as it was written, not as the repr of a string."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _text(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def _is_method(thing: Callable[..., object]) -> bool:
    # A class's own function; a static method's first argument is never called so.
    names = list(inspect.signature(thing).parameters)
    return inspect.isfunction(thing) and names[:1] in (["self"], ["cls"])
