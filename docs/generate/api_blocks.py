"""Turn the names listed in a page's `{api}` blocks into the reference of their docstrings.

A block names a module and, line by line, what is documented of it:

    ```{api} classify
    Choice
    Score
    ```
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module

from pydantic import BaseModel

from generate.annotations import Links
from generate.fields import field_directives, field_names, is_record
from generate.values import value_directive

BLOCK = re.compile(r"^```\{api\} (?P<module>[\w.]+)\n(?P<names>.*?)^```$", re.DOTALL | re.MULTILINE)


def listed_names(page: str) -> Iterator[tuple[str, str]]:
    """Yield the module and name of everything that a page documents."""
    for block in BLOCK.finditer(page):
        for name in block["names"].split():
            yield block["module"], name


def expand_api_blocks(page: str, links: Links) -> str:
    """Return the page with its blocks as directives that read the docstrings."""
    return BLOCK.sub(lambda block: _directives(block, links), page)


def _directives(block: re.Match[str], links: Links) -> str:
    module = block["module"]
    parts = [_directive(module, name, links) for name in block["names"].split()]
    # Names in single backticks are looked up in the module first.
    head = f".. py:currentmodule:: {module}"
    return "```{eval-rst}\n" + "\n\n".join([head, *parts]) + "\n```"


def _directive(module: str, name: str, links: Links) -> str:
    thing: object = getattr(import_module(module), name)
    where = f"{module}.{name}"
    if inspect.isclass(thing):
        return _class_directive(where, thing, links)
    if inspect.isroutine(thing):
        return f".. autofunction:: {where}"
    return value_directive(where, thing, links)


def _class_directive(where: str, kind: type[object], links: Links) -> str:
    exception = issubclass(kind, BaseException)
    lines = [f".. auto{'exception' if exception else 'class'}:: {where}", "   :members:"]
    others = [parent.__name__ for parent in kind.__mro__[1:] if not _is_hidden(parent, links)]
    if len(others) < len(kind.__mro__) - 1:
        # What a parent without an entry does is the class's own to those who use it.
        lines.append(f"   :inherited-members: {', '.join(others)}")
    if exception:
        lines.append("   :show-inheritance:")
    if is_record(kind):
        shown = {*field_names(kind), *vars(BaseModel)}
        lines.append(f"   :exclude-members: {', '.join(sorted(shown))}")
        lines += ["", *(f"   {line}" for line in field_directives(kind, links))]
    elif inspect.isfunction(vars(kind).get("__init__")):
        lines.append("   :class-doc-from: both")
    return "\n".join(lines)


def _is_hidden(kind: type[object], links: Links) -> bool:
    return kind.__module__.split(".")[0] == "classify" and not links.documents(kind)
