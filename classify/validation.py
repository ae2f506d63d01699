"""Turn pydantic's errors into ours: the field, the value and the way out, one line each."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from classify.errors import InvalidInput
from classify.json_values import is_object


class Strict(BaseModel):
    """A frozen model that takes no unknown field and raises InvalidInput."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    if not TYPE_CHECKING:  # type checkers keep the constructor that the fields define

        def __init__(self, **values: Any) -> None:
            try:
                super().__init__(**values)
            except ValidationError as error:
                raise invalid_input(error, type(self).__name__) from None

    # Wrapped around the rest: a misspelt field is named before the field that it was meant for is
    # missed.
    @model_validator(mode="wrap")
    @classmethod
    def _fields_are_known(cls, values: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if is_object(values):
            for key in values:
                if key not in cls.model_fields:
                    raise ValueError(unknown_name("field", key, cls.model_fields))
        return handler(values)


def invalid_input(error: ValidationError, where: str, *, with_values: bool = True) -> InvalidInput:
    """Return the error to raise for a failed validation of what stands at `where`.

    Without values the messages do not repeat what was given. The class of an InvalidInput raised
    inside a validator is kept.
    """
    problems = error.errors(include_url=False)
    lines = [
        _line(problem["loc"], problem["msg"], problem, where)
        + (f", got {problem['input']!r}" if with_values and _shows_value(problem) else "")
        for problem in problems
    ]
    causes = [problem.get("ctx", {}).get("error") for problem in problems]
    kind = next((type(c) for c in causes if isinstance(c, InvalidInput)), InvalidInput)
    return kind("\n".join(lines))


def _line(loc: Iterable[int | str], message: str, problem: Mapping[str, Any], where: str) -> str:
    place = where + "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in loc)
    if problem["type"] in ("value_error", "assertion_error"):
        return f"{place}: {problem['ctx']['error']}"
    if problem["type"] == "missing":
        return f"{place}: is required and missing"
    return f"{place}: {message[:1].lower()}{message[1:]}"


def _shows_value(problem: Mapping[str, Any]) -> bool:
    """Whether the value helps: what raised in a validator names its own, and missing has none."""
    return problem["type"] not in ("value_error", "assertion_error", "missing")


def check_timeout(timeout: float | None) -> None:
    """Raise InvalidInput unless a time limit is None or a positive number of seconds."""
    if timeout is None:
        return
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if not number or not 0.0 < timeout <= sys.float_info.max:
        raise InvalidInput(f"timeout must be a positive number of seconds, got {timeout!r}")


def unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return the message for a name that is not among the known ones, with a suggestion."""
    names = list(known)
    close = closest(str(name), names)
    hint = f"known are {', '.join(sorted(names))}" if close is None else f"did you mean {close!r}?"
    return f"unknown {what} {name!r}: {hint}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one most likely means, None where none is near."""
    names = list(known)
    # So long a text is near to none, by difflib's measure, which takes long to see it: a column of
    # texts that is taken for labels has one in every row.
    if 3 * len(name) > 7 * max(map(len, names), default=0):
        return None
    return next(iter(difflib.get_close_matches(name, names, n=1)), None)
