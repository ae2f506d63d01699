"""Constants and type aliases: what they are, and the text under them where they are defined."""

from __future__ import annotations

import ast
import inspect
import sys
from types import ModuleType

from generate.annotations import Links
from generate.fields import attribute_documentation


def value_directive(where: str, thing: object, links: Links) -> str:
    """Return the `py:data` directive of a constant, or `py:type` of a type alias."""
    name = where.rpartition(".")[2]
    home = _home(name, thing)
    kind, written = _as_written(home, name)
    lines = [f".. py:{kind}:: {where}"]
    if written:
        option = ":canonical:" if kind == "type" else ":type:"
        lines.append(f"   {option} {links.linked(written, home.__name__)}")
    text = attribute_documentation(home.__name__, "", name)
    return "\n".join([*lines, "", *(f"   {line}" for line in text)])


def _home(name: str, thing: object) -> ModuleType:
    """Return the module that assigns the name: those that only import it tell nothing of it."""
    for module in list(sys.modules.values()):
        if module.__name__.split(".")[0] == "classify" and vars(module).get(name) is thing:
            if _assignment(module, name) is not None:
                return module
    raise LookupError(f"no module of classify assigns {name}")


def _assignment(module: ModuleType, name: str) -> ast.AnnAssign | ast.Assign | None:
    for node in ast.parse(inspect.getsource(module)).body:
        targets = [node.target] if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [])
        if any(isinstance(target, ast.Name) and target.id == name for target in targets):
            assert isinstance(node, ast.AnnAssign | ast.Assign)
            return node
    return None


def _as_written(home: ModuleType, name: str) -> tuple[str, str]:
    """Return "type" and what an alias stands for, or "data" and the annotation of a constant."""
    node = _assignment(home, name)
    if not isinstance(node, ast.AnnAssign):
        return "data", ""
    annotation = ast.unparse(node.annotation)
    if annotation == "TypeAlias" and node.value is not None:
        return "type", ast.unparse(node.value)
    return "data", annotation
