"""The package as a whole: what is imported, exported and shipped."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import classify

ROOT = Path(__file__).parents[2]
HEAVY = ("scipy", "openai", "aiohttp", "tiktoken", "pandas", "yaml", "rich", "typer")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]


def test_importing_the_package_is_light() -> None:
    """What a script that judges one text never needs is not loaded for it."""
    code = f"import sys, classify; print(sorted(set({HEAVY}) & set(sys.modules)))"

    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
    )

    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")


def test_all_names_are_the_public_ones() -> None:
    """What __init__ imports is what it exports, sorted, and every name is there."""
    tree = ast.parse((ROOT / "classify" / "__init__.py").read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    }

    assert set(classify.__all__) == imported
    assert list(classify.__all__) == sorted(classify.__all__)
    assert all(hasattr(classify, name) for name in classify.__all__)


@pytest.mark.parametrize(
    "module", ["classify.testing", "classify.adapters", "classify.calibration"]
)
def test_subpackages_export_what_they_say(module: str) -> None:
    """Every name in __all__ exists."""
    package = importlib.import_module(module)

    names: list[str] = list(getattr(package, "__all__", []))
    assert all(hasattr(package, name) for name in names)
    assert len(names) == len(set(names))  # ruff holds their order


def test_every_package_on_disk_is_shipped() -> None:
    """One that is not listed would be missing from the wheel without a word."""
    folders = {"classify": ROOT / "classify"}
    folders |= {f"classify.{name}": ROOT / name for name in ("adapters", "calibration")}
    found = {
        ".".join((package, *init.parent.relative_to(folder).parts))
        for package, folder in folders.items()
        for init in folder.rglob("__init__.py")
        if package != "classify"
        or not {"adapters", "calibration"} & set(init.parts[len(ROOT.parts) :])
    }

    assert set(SETUPTOOLS["packages"]) == found


def test_every_package_has_its_folder() -> None:
    """The build map names the folders that the links stand for."""
    for package in SETUPTOOLS["packages"]:
        folder = SETUPTOOLS["package-dir"].get(package)
        if folder is None:
            assert not package.startswith(("classify.adapters", "classify.calibration"))
            folder = package.replace(".", "/")
        assert (ROOT / folder / "__init__.py").is_file(), package


def test_the_version_is_said_once() -> None:
    """The package's and the project's are the same."""
    assert classify.__version__ == PROJECT["project"]["version"]


def test_types_are_shipped() -> None:
    """Type-checkers read the annotations of an installed package only with this file."""
    assert (ROOT / "classify" / "py.typed").is_file()
    assert "py.typed" in SETUPTOOLS["package-data"]["classify"]


def test_every_module_says_what_it_is() -> None:
    """A docstring first, and annotations that are not evaluated."""
    for path in sorted((ROOT / "classify").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path.name
