"""How `python -m sphinx -W --keep-going docs build/docs` builds the site."""

from __future__ import annotations

import sys
from pathlib import Path

from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))

from generate.annotations import Links
from generate.api_blocks import expand_api_blocks, listed_names
from generate.fields import is_record
from generate.marks import fill_marks
from generate.plain_text import plain_text

from classify.version import __version__

project = "classify"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["generate"]

myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# What stands in single backticks is a name of ours where there is one, else a piece of code.
default_role = "py:obj"
python_use_unqualified_type_names = True
add_module_names = False
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "classify"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_context = {"default_mode": "auto"}
html_sidebars: dict[str, list[str]] = {"index": [], "tutorial": []}
html_theme_options: dict[str, object] = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "footer_start": [],
    "footer_end": [],
}

_PAGES = Path(__file__).parent.rglob("*.md")
_LINKS = Links(name for page in _PAGES for name in listed_names(page.read_text(encoding="utf-8")))


def _read_page(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = expand_api_blocks(fill_marks(source[0]), _LINKS)


def _signature(
    app: Sphinx, what: str, name: str, thing: object, options: object, arguments: str | None, _: str
) -> tuple[str, str] | None:
    if arguments is None:
        return None
    if isinstance(thing, type) and (is_record(thing) or "__init__" not in vars(thing)):
        return "", ""  # its fields follow, or there is nothing of its own to give
    if what in ("class", "exception", "function", "method") and callable(thing):
        return _LINKS.signature(thing)
    return None


def _docstring(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    lines[:] = plain_text(lines)


def setup(app: Sphinx) -> None:
    """Hang the generated parts in."""
    app.connect("source-read", _read_page)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _docstring)
