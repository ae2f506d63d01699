"""The models that users write their own tests with."""

from __future__ import annotations

import asyncio
import math
from typing import Any, cast

import pytest

from classify.classifier import Classifier
from classify.decision import DecisionResponse
from classify.errors import CapabilityError, InvalidInput
from classify.language_model import Reply, Sampling, TextPrompt
from classify.testing.scripted import ScriptedLanguageModel, ScriptedModel, position_reply

QUESTIONS = {"q": {"type": "boolean"}}


def test_a_scripted_model_keeps_what_it_was_asked() -> None:
    """Plain answers or a whole envelope, and every request."""
    plain = ScriptedModel(lambda _: {"q": {"type": "boolean", "probability": 0.5}})
    whole = ScriptedModel(
        lambda _: DecisionResponse({"q": {"type": "boolean", "probability": 0.5}}, warnings=["w"])
    )

    first = asyncio.run(Classifier("c", plain, QUESTIONS).evaluate({"a": 1}))
    second = asyncio.run(Classifier("c", whole, QUESTIONS).evaluate({"a": 1}))

    assert first.answers == second.answers
    assert (first.warnings, second.warnings) == ((), ("w",))
    assert [request.state for request in plain.requests] == [{"a": 1}]


def test_the_likeliest_token_is_written() -> None:
    """All of them are alternatives, likeliest first."""
    reply = position_reply({"No": math.log(0.2), "Yes": math.log(0.7)})

    assert reply.text == "Yes"
    assert [a.token for a in reply.positions[0].alternatives] == ["Yes", "No"]
    assert position_reply({}) == Reply("", finish_reason="length")


def test_what_was_not_scripted_cannot_be_done() -> None:
    """A model with scores reads words, one with replies labels; neither invents the other."""
    speaking = ScriptedLanguageModel(scores=lambda _, texts: [[-1.0] for _ in texts])
    writing = ScriptedLanguageModel(lambda _, __: {"Yes": -0.1})

    with pytest.raises(CapabilityError, match="no reply function"):
        asyncio.run(speaking.complete(TextPrompt("x"), Sampling(), options={}))
    with pytest.raises(CapabilityError, match="no scores function"):
        asyncio.run(writing.score(TextPrompt("x"), ["y"], options={}))

    found = [
        Classifier("c", m, QUESTIONS).evaluate_sync("x").answers["q"] for m in (speaking, writing)
    ]
    assert [a.evidence.readout for a in found if a.evidence] == ["words", "yes_no"]


def test_a_reply_of_another_type_is_named() -> None:
    """A plain text is the first thing that one tries."""
    model = ScriptedLanguageModel(lambda prompt, sampling: cast("Any", "Yes"))

    with pytest.raises(InvalidInput, match="a Reply or token -> logprob, got str"):
        Classifier("c", model, QUESTIONS).evaluate_sync("text")
