"""Say which model answers, before it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classify.adapters.cli.console import say

if TYPE_CHECKING:
    from classify.classifier import Classifier


def tell_model(classifier: Classifier, *, named: str | None) -> None:
    """Say the model's name, why it is that one where none is named, and if it takes longer once."""
    from classify.adapters.models.eight_bits import to_be_made
    from classify.adapters.models.weights import MODEL

    name = f"{classifier.model.provider}/{classifier.model.model_id}"
    why = "" if named else " (the embedded one: no model is named and no provider's key is set)"
    say(f"model: {name}{why}")
    if name == f"local/{MODEL}" and to_be_made():
        say("the first start stores its weights at 8 bits, which takes some seconds")
