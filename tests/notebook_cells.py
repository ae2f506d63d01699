"""What a notebook's cell shows of an object, as the tests of every object's card read it."""

from __future__ import annotations

from xml.etree import ElementTree

from classify.display.card_sizes import LIMIT
from classify.display.notebook import Shown

SVG = "{http://www.w3.org/2000/svg}"

# IPython calls it, and nobody else.
bundle = Shown._repr_mimebundle_  # pyright: ignore[reportPrivateUsage]


def html(shown: Shown) -> str:
    """Return what a notebook is given, checked to be small and without scripts."""
    found = bundle(shown)["text/html"]
    assert len(found.encode()) < LIMIT
    assert "<script" not in found
    return found


def tree(shown: Shown) -> ElementTree.Element:
    """Return what a notebook is given, checked to be well-formed."""
    return ElementTree.fromstring(html(shown))


def words(shown: Shown) -> str:
    """Return what a person reads, without stylesheets."""
    return " ".join(tree_words(tree(shown)))


def tree_words(root: ElementTree.Element) -> list[str]:
    """Return the texts of a tree, without stylesheets."""
    for element in root.iter():
        if element.tag in ("style", f"{SVG}style"):
            element.text = ""
    return [*root.itertext()]
