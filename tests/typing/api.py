"""What type-checkers know of the public names: checked by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from typing import assert_type

from classify import (
    Boolean,
    BooleanAnswer,
    Choice,
    ChoiceAnswer,
    Classifier,
    ClassifyError,
    Evaluation,
    Question,
    QuestionSet,
    Score,
    ScoreAnswer,
    ask,
)
from classify.answers import AnyAnswer


class Ticket(QuestionSet):
    """A question of each kind."""

    topic = ask(Choice(criteria={"billing": None, "delivery": "parcels"}))
    urgency = ask(Score(criteria=["low", "high"]))
    angry = ask(Boolean())


async def awaited(classifier: Classifier) -> None:
    """Give each answer the type of its question."""
    evaluation = await classifier.evaluate({"text": "x"})
    assert_type(evaluation, Evaluation)
    assert_type(evaluation.answers, dict[str, AnyAnswer])

    ticket = evaluation.read(Ticket)
    assert_type(ticket, Ticket)
    assert_type(ticket.topic, ChoiceAnswer)
    assert_type(ticket.urgency, ScoreAnswer)
    assert_type(ticket.angry, BooleanAnswer)
    assert_type(Ticket.topic, Question)
    assert_type(ticket.topic.choice, str)
    assert_type(ticket.angry.probability, float)

    assert_type(await classifier.evaluate_many(["a"]), list[Evaluation | ClassifyError])
    assert_type(classifier.stream(["a"]), AsyncGenerator[Evaluation | ClassifyError, None])
    assert_type(
        classifier.as_completed(["a"]),
        AsyncGenerator[tuple[int, Evaluation | ClassifyError], None],
    )
    assert_type(classifier.stream_sync(["a"]), Generator[Evaluation | ClassifyError, None, None])


def blocking(classifier: Classifier) -> None:
    """Keep parameters and results in the blocking twins."""
    assert_type(classifier.evaluate_sync("x", max_retries=1, timeout=2.0), Evaluation)
    assert_type(
        classifier.evaluate_many_sync([{"a": 1}, None], concurrency=2),
        list[Evaluation | ClassifyError],
    )
    classifier.evaluate_sync("x", max_retrys=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    classifier.evaluate_sync(object())  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def built() -> None:
    """Know options by name and type; take plain mappings as questions."""
    Classifier("c", "openai/gpt-4.1-mini", Ticket, orders=2, readout="words", min_coverage=None)
    Classifier("c", None, {"q": {"type": "boolean"}, "r": Boolean()}, prior="batch")
    Classifier("c", "local", Ticket, readout="word")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Classifier("c", "local", Ticket, order=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Choice(criteria=["a"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
