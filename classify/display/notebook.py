"""How objects show themselves in a notebook: a mixin, so that each says only what is on its card.

Nothing is imported here that costs time: cards and their rendering are loaded when a cell asks.
"""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from pydantic import BaseModel

if TYPE_CHECKING:
    from classify.display.cards import Card


class Shown:
    """An object that a notebook shows as a card, and as text where it shows no HTML."""

    __slots__ = ()

    def _repr_mimebundle_(
        self, include: Container[str] | None = None, exclude: Container[str] | None = None
    ) -> dict[str, str]:
        makers = {"text/html": self._repr_html_, "text/plain": self._repr_text}
        return {
            kind: make()
            for kind, make in makers.items()
            if (include is None or kind in include) and (exclude is None or kind not in exclude)
        }

    def _repr_html_(self) -> str:
        from classify.display.html_cards import card_html

        return card_html(self._card())

    def _repr_text(self) -> str:
        from classify.display.card_sizes import LIMIT
        from classify.display.text_cards import card_text

        # What `print` shows, where a class says what that is and a notebook should keep it all.
        if type(self).__str__ not in (object.__str__, BaseModel.__str__):
            printed = str(self)
            if len(printed.encode(errors="backslashreplace")) < LIMIT:
                return printed
        return card_text(self._card())

    def _card(self) -> Card:
        """Return what there is to see; a class whose fields say it all needs none of its own."""
        from classify.display.field_cards import field_card

        return field_card(self)


class PrintedCard(Shown):
    """An object that holds so much that `print` shows its card too, and `repr` every field."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the card as text."""
        from classify.display.text_cards import card_text

        return card_text(self._card())
