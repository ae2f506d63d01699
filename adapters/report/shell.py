"""One HTML file made of styles, scripts and data: nothing in it is fetched, nothing can leave it.

It knows nothing of what a page shows. Scripts are ES modules kept as files; they are put in one
script here, whose hash is all that the page's Content-Security-Policy lets run.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path

from classify.json_values import JSON

PAGE = Path(__file__).resolve().parent / "page-parts"
"""The styles and modules of pages."""

STYLES = tuple(
    PAGE / f"{name}.css"
    for name in ("theme", "grid", "report", "figures", "tables", "pictures", "rows", "row")
)
"""Those that every page about results has."""

MARK = "<!doctype html>\n<!-- made by classify -->\n"
"""How every page begins, so that one can be told from a file that must not be overwritten."""

_IMPORT = re.compile(r'^import (\{[^}]*\}) from "(\.[^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
# "<" could end the script or open a comment; the others are escaped to be safe in any context.
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Shell:
    """What a page is besides its data."""

    title: str
    script: Path
    """The module to run; what it imports comes with it."""
    styles: tuple[Path, ...]
    connects: bool = False
    """Whether scripts may speak to the server that the page came from; a file never may."""


@dataclass(frozen=True, slots=True)
class Payload:
    """Data in a page under a name, as payloads.js reads it."""

    name: str
    text: str
    kind: str = "application/json"


def plain_payload(name: str, value: JSON) -> Payload:
    """Return JSON to be read at once."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Payload(name, text.translate(_UNSAFE))


def packed_payload(name: str, value: JSON) -> Payload:
    """Return compressed JSON: the same value gives the same text."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = gzip.compress(text.encode("utf-8"), compresslevel=6, mtime=0)
    return Payload(name, base64.b64encode(packed).decode("ascii"), "application/gzip")


def html_page(
    shell: Shell, payloads: Iterable[Payload], *, later: Iterable[Payload] = ()
) -> Iterator[str]:
    """Yield the page in parts: the script runs once `payloads` are there, before `later` are."""
    script, style = bundled(shell.script), _styles(shell.styles)
    yield MARK
    yield (
        '<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(shell, script, style)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(shell.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<noscript><p>This page shows its data with JavaScript, which is switched off.</p>"
        "</noscript>\n"
    )
    yield from map(_block, payloads)
    yield f"<script>{script}</script>\n"
    yield from map(_block, later)
    yield "</body>\n</html>\n"


def bundled(entry: Path) -> str:
    """Return a module and all that it imports as one classic script, each before its importers.

    Each module keeps its own scope. Imports are named, unrenamed, and from paths beside the
    module; what is exported is a function, a class or a constant.
    """
    modules: dict[Path, str] = {}
    _collect(entry.resolve(), modules)
    return '"use strict";\nconst modules = [];\n' + "".join(modules.values())


def _collect(module: Path, modules: dict[Path, str]) -> None:
    text = module.read_text(encoding="utf-8")
    for _, imported in _IMPORT.findall(text):
        path = (module.parent / imported).resolve()
        if path not in modules:
            _collect(path, modules)
    places = {path: place for place, path in enumerate(modules)}

    def taken(found: re.Match[str]) -> str:
        path = (module.parent / found[2]).resolve()
        return f"const {found[1]} = modules[{places[path]}];"

    exported = ", ".join(name for _, name in _EXPORT.findall(text))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(taken, text))
    modules[module] = f"modules.push((() => {{\n{body}return {{ {exported} }};\n}})());\n"


def _styles(paths: Iterable[Path]) -> str:
    return "".join(path.read_text(encoding="utf-8") for path in paths)


def _policy(shell: Shell, script: str, style: str) -> str:
    rules = [
        "default-src 'none'",
        f"script-src {_hash(script)}",
        f"style-src {_hash(style)}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    return "; ".join([*rules, "connect-src 'self'"] if shell.connects else rules)


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}'"


def _block(payload: Payload) -> str:
    name, kind = escape(payload.name), escape(payload.kind)
    return f'<script type="{kind}" id="payload-{name}">{payload.text}</script>\n'
