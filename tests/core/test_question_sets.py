"""Sets of questions: plain mappings checked by name, classes whose answers have types."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pydantic import JsonValue

from classify.answers import NoVerdict
from classify.classifier import Classifier
from classify.errors import InvalidInput, LabelCollision
from classify.question_sets import NoVerdictError, QuestionSet, ask, parse_questions
from classify.questions import Boolean, Choice, Score
from classify.testing.scripted import ScriptedModel


class Message(QuestionSet):
    """Questions about a message."""

    polite = ask(Boolean())


class Ticket(Message):
    """More questions about a message that is a ticket."""

    topic = ask(Choice(criteria={"billing": None, "delivery": None}))
    urgency = ask(Score(criteria=["low", "high"]))


@pytest.mark.parametrize(
    ("questions", "message"),
    [
        pytest.param([], r"non-empty object .*got \[\]", id="list"),
        pytest.param("q", "non-empty object", id="text"),
        pytest.param(
            {"": {"type": "boolean"}}, "ids must be non-empty strings, got ''", id="blank"
        ),
        pytest.param({1: {"type": "boolean"}}, "ids must be non-empty strings, got 1", id="number"),
        pytest.param({"\ud800": Boolean()}, "question ids must .* surrogate", id="surrogate"),
        pytest.param({"q": None}, "questions.q: must be a question or an object", id="null"),
        pytest.param({"q": {}}, "questions.q: invalid type: unknown type None", id="no type"),
        pytest.param(
            {"q": {"type": "bolean"}},
            "questions.q: invalid type: unknown type 'bolean': did you mean 'boolean'",
            id="typo",
        ),
        pytest.param({"q": {"type": ["choice"]}}, "questions.q: invalid type", id="unhashable"),
        pytest.param(
            {"q": {"type": "boolean", "instruction": "x"}},
            "questions.q: .*unknown field 'instruction': did you mean 'instructions'",
            id="field",
        ),
        pytest.param({"q": Boolean}, "questions.q: must be a question", id="a class"),
    ],
)
def test_unusable_sets_are_refused(questions: Any, message: str) -> None:
    """The message names the question and the field."""
    with pytest.raises(InvalidInput, match=message):
        parse_questions(questions)


def test_the_class_of_the_error_is_kept() -> None:
    """A collision stays a collision, with the question's name before it."""
    question = {"type": "choice", "criteria": {"a": None, "A": None}}

    with pytest.raises(LabelCollision, match=r"questions\.q: .*'a' and 'A'"):
        parse_questions({"q": question})


def test_what_was_changed_after_construction_is_caught() -> None:
    """A question's containers can be changed, so they are checked with every call."""
    criteria: dict[str, JsonValue] = {"a": None}
    model = ScriptedModel(lambda _: {})
    classifier = Classifier("c", model, {"q": Choice(criteria=criteria)})
    kept = classifier.questions["q"].criteria
    assert isinstance(kept, dict)
    kept.clear()

    with pytest.raises(InvalidInput, match=r"questions\.q: .*non-empty object"):
        asyncio.run(classifier.evaluate("text"))
    assert model.requests == []


def test_a_classifier_keeps_its_own_questions() -> None:
    """Changing the caller's mapping afterwards changes nothing."""
    given = {"q": {"type": "choice", "criteria": {"a": None}}}
    classifier = Classifier("c", ScriptedModel(lambda _: {}), given)

    given["q"]["criteria"] = {}

    assert classifier.questions["q"] == Choice(criteria={"a": None})


def test_a_class_lists_its_questions_parents_first() -> None:
    """In the order of declaration, and each reads as the question from the class."""
    assert list(Ticket.questions()) == ["polite", "topic", "urgency"]
    assert Ticket.polite == Boolean()
    assert parse_questions(Ticket) == Ticket.questions()


def test_an_empty_class_is_refused() -> None:
    """Nothing is asked."""

    class Empty(QuestionSet):
        """No questions."""

    with pytest.raises(InvalidInput, match="non-empty object"):
        parse_questions(Empty)


def test_answers_are_read_by_attribute() -> None:
    """From the evaluation, each of its own type."""
    model = ScriptedModel(
        lambda _: {
            "polite": {"type": "boolean", "probability": 0.25},
            "topic": {"type": "choice", "choice": "billing"},
            "urgency": {"type": "score", "score": 0.5},
        }
    )

    ticket = Classifier("c", model, Ticket).evaluate_sync("text").read(Ticket)

    assert (ticket.polite.probability, ticket.topic.choice, ticket.urgency.score) == (
        0.25,
        "billing",
        0.5,
    )


def test_reading_a_missing_verdict_raises() -> None:
    """An answer that is not there is no None that goes on unnoticed."""
    verdict = NoVerdict(kind="boolean", cause="refusal", message="the model refused to answer")

    with pytest.raises(NoVerdictError, match=r"'polite' has no verdict \(refusal\)") as raised:
        print(Message({"polite": verdict}).polite)
    assert raised.value.verdict is verdict


def test_a_question_without_ask_is_refused() -> None:
    """It would never be asked, and nobody would hear of it."""
    with pytest.raises(InvalidInput, match=r"Forgotten\.polite is a bare Boolean.*ask\(Boolean"):
        type("Forgotten", (QuestionSet,), {"topic": ask(Boolean()), "polite": Boolean()})
