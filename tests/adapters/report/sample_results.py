"""Results whose figures are known, for the tests of pages."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import JsonValue

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.decision import ResponseInfo
from classify.evaluation import TotalUsage
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result, RowError

QUESTIONS: dict[str, Question] = {
    "topic": Choice(
        criteria={"refund": "money back", "delivery": None, "other": None},
        instructions="What is it about?",
    ),
    "mood": Score(criteria=("angry", "neutral", "happy")),
    "urgent": Boolean(),
}


def row(index: int, state: JsonValue, **changes: object) -> Result:
    """Return the result of a row: the surer the higher its index, up to 100."""
    p = 0.4 + 0.005 * index
    answers: dict[str, AnyAnswer] = {
        "topic": ChoiceAnswer(
            choice="delivery" if index % 3 else "refund",
            probabilities={
                "refund": (1 - p) * 0.8 if index % 3 else p,
                "delivery": p if index % 3 else (1 - p) * 0.8,
                "other": (1 - p) * 0.2,
            },
            method="logprobs",
        ),
        "mood": ScoreAnswer(
            score=round(1.2 - 0.4 * p, 6),
            probabilities={"0": 0.4 * p, "1": 0.8 - 0.4 * p, "2": 0.2},
            method="logprobs",
        ),
        "urgent": BooleanAnswer(probability=p, method="logprobs"),
    }
    made = Result(
        id=f"row-{index}",
        index=index,
        key=f"{index:064}",
        state=state,
        answers=answers,
        labels={"topic": "delivery" if index % 2 else "refund", "mood": 1.0, "urgent": True},
        usage=TotalUsage(input_tokens=10, output_tokens=1, total_tokens=11),
        response=ResponseInfo(
            timestamp=datetime(2026, 1, 2, 3, 4, index % 60, tzinfo=UTC), model_id="m-1"
        ),
        attempts=1,
        seconds=0.5,
    )
    return made.model_copy(update=changes)


FAILED: dict[str, object] = {
    "answers": {},
    "error": RowError(type="ProviderError", message="no answer", status=503, retryable=True),
    "usage": None,
    "response": None,
    "seconds": None,
}
UNANSWERED: AnyAnswer = NoVerdict(
    kind="choice", cause="refusal", message="the model refused", method="logprobs"
)


def sample() -> list[Result]:
    """Return sixty rows, of which two failed and two have no topic."""
    rows = [row(index, f"message {index} about a parcel") for index in range(60)]
    for index in (10, 20):
        rows[index] = rows[index].model_copy(update=FAILED)
    for index in (30, 40):
        answers = {**rows[index].answers, "topic": UNANSWERED}
        rows[index] = rows[index].model_copy(update={"answers": answers})
    return rows
