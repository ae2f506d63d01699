"""Read a YAML or JSON file into plain values that remember their lines.

YAML is read by the rules of its version 1.2, of which JSON is a part: only true and false are
booleans, so that an option may be called `no`, and dates are text. Keys are text as written.
It knows nothing of what a spec file holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import yaml

from classify.errors import InvalidInput
from classify.json_rows import strict_json
from classify.json_values import JSON

DocumentPath: TypeAlias = tuple[str | int, ...]

_LARGEST = 1024 * 1024
_MOST_VALUES = 100_000
_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Document:
    """The value of a file, and the line of everything in it."""

    name: str
    value: JSON
    lines: dict[DocumentPath, int]

    def line(self, path: Sequence[str | int], message: str = "") -> int | None:
        """Return the line of the deepest part of a path that the file has.

        What the message names first, or in quotes, is looked up below it: a validator that sees
        the whole object can only say there which field is wrong.
        """
        place: DocumentPath = ()
        for part in path:
            if (*place, part) in self.lines:
                place = (*place, part)
        for inside, line in self.lines.items():
            name = inside[-1] if inside[:-1] == place and inside else None
            if isinstance(name, str) and (repr(name) in message or message.startswith(f"{name} ")):
                return line
        return self.lines.get(place)


def read_document(path: str | Path) -> Document:
    """Read a file; raises InvalidInput with file and line."""
    name = str(path)
    text = _text(Path(path), name)
    if not text.strip():
        raise InvalidInput(f"{name} is empty: `classify init` writes one to start from")
    if Path(path).suffix.lower() == ".json":
        return _read_json(name, text)
    value, lines = _read_yaml(name, text)
    return Document(name, value, lines)


def _text(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > _LARGEST:
            raise InvalidInput(f"{name} is larger than 1 MiB: this is no spec file")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise InvalidInput(f"{name}:{line}: not UTF-8: save the file as UTF-8") from None


def _read_json(name: str, text: str) -> Document:
    try:
        # Tabs are blanks in JSON, and trouble in YAML.
        _, lines = _read_yaml(name, text.replace("\t", " "))
    except _RepeatedKey:
        raise
    except InvalidInput:
        lines = {(): 1}  # the JSON reader below says what is wrong, if anything is
    try:
        return Document(name, strict_json(text), lines)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{name}:{error.lineno}: invalid JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name}: invalid JSON: {error}") from None


def _read_yaml(name: str, text: str) -> tuple[JSON, dict[DocumentPath, int]]:
    builder = _Builder(name)
    try:
        root = _Loader(text).get_single_node()
        if root is None:
            raise InvalidInput(f"{name} holds only comments: `classify init` writes a full one")
        return builder.build(root, (), ()), builder.lines
    except yaml.MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f":{error.problem_mark.line + 1}"
        raise InvalidInput(f"{name}{line}: invalid YAML: {error.problem}") from None
    except yaml.reader.ReaderError as error:
        number = text.count("\n", 0, error.position) + 1
        raise InvalidInput(f"{name}:{number}: invalid YAML: {error.reason}") from None
    except RecursionError:
        raise InvalidInput(f"{name}: nested too deeply") from None


class _RepeatedKey(InvalidInput):
    pass


# The core schema of YAML 1.2, section 10.3: kind, pattern, what it may begin with.
_SCALARS = (
    ("bool", "true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", "~|null|Null|NULL|", ("~", "n", "N", "")),
)


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    found: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for kind, pattern, beginnings in _SCALARS:
        for beginning in beginnings:
            rule = (_TAG + kind, re.compile(f"^(?:{pattern})$"))
            found.setdefault(beginning, []).append(rule)
    return found


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = _resolvers()


@dataclass(slots=True)
class _Builder:
    name: str
    lines: dict[DocumentPath, int] = field(default_factory=dict[DocumentPath, int])
    count: int = 0

    def build(self, node: yaml.Node, path: DocumentPath, above: tuple[int, ...]) -> JSON:
        self.lines.setdefault(path, node.start_mark.line + 1)
        self.count += 1
        if id(node) in above:
            raise self._error(node, "an alias (*) stands inside what it names: write it out")
        if self.count > _MOST_VALUES:
            raise self._error(node, "too many values: aliases (*) multiply what they name")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, (*above, id(node)))
        if isinstance(node, yaml.SequenceNode):
            inside = (*above, id(node))
            return [self.build(item, (*path, i), inside) for i, item in enumerate(node.value)]
        assert isinstance(node, yaml.ScalarNode)
        return self._scalar(node)

    def _mapping(
        self, node: yaml.MappingNode, path: DocumentPath, above: tuple[int, ...]
    ) -> dict[str, JSON]:
        found: dict[str, JSON] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self._error(key, "a key must be plain text")
            name = str(key.value)
            if name == "<<" and key.style is None:
                raise self._error(key, "merge keys (<<) are not read: write the fields out")
            if name in found:
                first = self.lines[(*path, name)]
                message = f"the key {name!r} appears twice (first in line {first})"
                raise _RepeatedKey(f"{self.name}:{key.start_mark.line + 1}: {message}")
            self.lines[(*path, name)] = key.start_mark.line + 1
            found[name] = self.build(value, (*path, name), above)
        return found

    def _scalar(self, node: yaml.ScalarNode) -> JSON:
        text = str(node.value)
        kind = node.tag.removeprefix(_TAG)
        if kind == "str":
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        try:
            if kind == "int":
                return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
            if kind == "float" and text.lstrip("+-.").lower() not in ("inf", "nan"):
                return float(text)
        except ValueError:
            raise self._error(node, f"no readable number: {text[:40]!r}") from None
        if kind == "float":
            raise self._error(node, f"{text} is no JSON value: quote it, or write null")
        raise self._error(node, f"the tag {node.tag!r} is not read: write plain values")

    def _error(self, node: yaml.Node, message: str) -> InvalidInput:
        return InvalidInput(f"{self.name}:{node.start_mark.line + 1}: {message}")
