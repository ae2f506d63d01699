"""The reference holds every public name once, each with something to read under it."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from importlib import import_module

import pytest

from tests.markdown_pages import docs_pages, text_of

PACKAGES = (
    "classify",
    "classify.adapters.frameworks",
    "classify.adapters.scorers",
    "classify.adapters.scorers.checks",
    "classify.adapters.scorers.measures",
    "classify.calibration",
    "classify.testing",
)
_BLOCK = re.compile(r"^```\{api\} ([\w.]+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _documented() -> Counter[tuple[str, str]]:
    return Counter(
        (module, name)
        for page in docs_pages()
        for module, names in _BLOCK.findall(text_of(page))
        for name in names.split()
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_in_the_reference(package: str) -> None:
    """A new name is added to one of the {api} blocks in docs/reference."""
    public = {name for name in import_module(package).__all__ if not name.startswith("__")}

    assert public - {name for module, name in _documented() if module == package} == set()


def test_the_reference_names_nothing_twice_and_nothing_that_is_not_there() -> None:
    """Two entries for one name make its links ambiguous."""
    documented = _documented()

    assert [each for each, count in documented.items() if count > 1] == []
    assert [each for each in documented if not hasattr(import_module(each[0]), each[1])] == []


def test_every_documented_class_and_function_has_a_docstring_of_its_own() -> None:
    """An inherited text tells of something else."""
    bare: list[str] = []
    for module, name in _documented():
        thing: object = getattr(import_module(module), name)
        if (inspect.isclass(thing) or inspect.isfunction(thing)) and not vars(thing).get(
            "__doc__", thing.__doc__
        ):
            bare.append(f"{module}.{name}")

    assert bare == []
