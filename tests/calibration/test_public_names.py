"""What `classify.calibration` offers: every name resolves, and importing it loads nothing heavy."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import classify.calibration as calibration
from classify.calibration.calibrators import Calibrator

NAMES: list[str] = vars(calibration)["__all__"]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_resolves_to_its_definition(name: str) -> None:
    """A lazy name that is misspelt would fail only where somebody uses it."""
    assert getattr(calibration, name) is getattr(importlib.import_module(_homes()[name]), name)


def test_the_names_are_those_that_type_checkers_see() -> None:
    """Each stands once in the stub."""
    assert sorted(_homes()) == NAMES
    assert len(set(NAMES)) == len(NAMES)


def test_what_functions_take_can_be_made() -> None:
    """A type that an argument names is public too; calibrators come from fits and files."""
    functions = [each for name in NAMES if inspect.isfunction(each := getattr(calibration, name))]
    taken = {
        kind
        for each in functions
        for name, hint in get_type_hints(each).items()
        if name != "return"
        for kind in _own_types(hint)
    }

    assert taken - {getattr(calibration, name) for name in NAMES} <= {*_own_types(Calibrator)}
    assert calibration.SetScore in taken


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="calibarte"):
        getattr(calibration, "calibarte")  # noqa: B009  a constant name would not type-check


def test_importing_the_package_loads_no_scipy_and_none_of_its_modules() -> None:
    """It is imported by commands that may never calibrate."""
    code = (
        "import sys, classify.calibration; "
        "print([m for m in sys.modules if m.startswith(('scipy', 'classify.calibration.'))])"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert found.stdout.strip() == "[]"


def _homes() -> dict[str, str]:
    assert calibration.__file__ is not None
    stub = Path(calibration.__file__).with_suffix(".pyi")
    imports = [
        node
        for node in ast.parse(stub.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ImportFrom)
    ]
    return {
        alias.name: f"classify.calibration.{node.module}"
        for node in imports
        for alias in node.names
    }


def _own_types(hint: object) -> Iterator[type]:
    """Return the types of this package that a hint names."""
    if inspect.isclass(hint) and hint.__module__.startswith("classify.calibration"):
        yield hint
    for part in get_args(hint):
        yield from _own_types(part)
