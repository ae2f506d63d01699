"""What `classify.calibration` offers: every name resolves, and importing it loads nothing heavy."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import classify.calibration as calibration


@pytest.mark.parametrize("name", calibration.__all__)
def test_every_public_name_resolves_to_its_definition(name: str) -> None:
    """A lazy name that is misspelt would fail only where somebody uses it."""
    value = getattr(calibration, name)

    home = importlib.import_module(f"classify.calibration.{_homes()[name]}")
    assert value is getattr(home, name)


def test_the_names_are_sorted_and_the_type_checkers_see_the_same() -> None:
    """Three lists say the same: __all__, the lazy table and the imports for type checkers."""
    names = [*calibration.__all__]

    assert sorted(names) == sorted(_homes())
    assert len(set(names)) == len(names)
    assert sorted(_typed()) == sorted(names)


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As of any module."""
    with pytest.raises(AttributeError, match="has no attribute 'calibarte'"):
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
    return dict(vars(calibration)["_HOMES"])


def _typed() -> list[str]:
    assert calibration.__file__ is not None
    tree = ast.parse(Path(calibration.__file__).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If)]
    imports = [node for node in blocks[0].body if isinstance(node, ast.ImportFrom)]
    return [alias.name for node in imports for alias in node.names]
