"""The numbers that a table of rows is made of, and what a row shows when it is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from classify.adapters.report.columns import CAUSES, FLAGS, QuestionColumns, RowColumns
from classify.adapters.report.details import row_detail
from classify.answers import AnyAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.display.views import answer_views
from classify.errors import InvalidInput
from classify.evidence import Evidence
from classify.questions import Boolean, Choice
from classify.row_labels import Label
from tests.adapters.report.sample_results import QUESTIONS, UNANSWERED, row


def columns(question: str, answer: AnyAnswer | None, *labels: Label) -> dict[str, list[int]]:
    """Return the columns of one row."""
    made = QuestionColumns(QUESTIONS[question])
    made.add(answer, labels)
    return cast("dict[str, list[int]]", made.to_json())


def of(question: str) -> AnyAnswer:
    """Return the sample's first answer: refund .4, level 1.04 of 2, P(true) .4."""
    return row(0, "x").answers[question]


@pytest.mark.parametrize(
    ("question", "labels", "loss"),
    [
        pytest.param("topic", ["refund"], 6000, id="choice: what the label was not given"),
        pytest.param("urgent", [True], 6000, id="boolean: the same"),
        pytest.param("mood", [0.0], 5200, id="score: levels away, of two"),
        pytest.param("mood", [1.5], 2300, id="score: a mean of levels"),
        pytest.param("topic", ["refund", "delivery"], 5600, id="two people: the mean"),
        pytest.param("topic", [], -1, id="no label"),
    ],
)
def test_the_loss_is_how_far_an_answer_is_from_its_label(
    question: str, labels: Sequence[Label], loss: int
) -> None:
    """In ten thousandths, from 0 for all on the label to 10,000 for nothing."""
    assert columns(question, of(question), *labels)["losses"] == [loss]


def test_an_answer_without_probabilities_is_all_right_or_all_wrong() -> None:
    """And has no confidence, which is not one of 0."""
    answer = ChoiceAnswer(choice="refund")

    assert columns("topic", answer, "refund")["losses"] == [0]
    found = columns("topic", answer, "other")
    assert (found["losses"], found["confidences"]) == ([10_000], [-1])
    assert found["flags"] == [1 << FLAGS.index("no probabilities")]


def test_no_verdict_and_no_answer_are_no_option() -> None:
    """Each has a number of its own below 0, and no loss whatever the label."""
    found = columns("topic", UNANSWERED, "refund")

    assert found["codes"] == [-2 - CAUSES.index("refusal")]
    assert (found["losses"], found["labels"]) == ([-1], [0])
    assert columns("topic", None)["codes"] == [-1]


def test_people_who_differ_name_no_option() -> None:
    """Two who agree name theirs."""
    assert columns("topic", of("topic"), "refund", "other")["labels"] == [-2]
    assert columns("topic", of("topic"), "other", "other")["labels"] == [2]
    assert columns("mood", of("mood"), 1.0, 1.5)["labels"] == [-2]


@pytest.mark.parametrize(
    "answer",
    [
        ChoiceAnswer(choice="strange", probabilities={"refund": 0.5, "strange": 0.5}),
        ChoiceAnswer(choice="refund", probabilities={"refund": 1.0}),
        ScoreAnswer(score=1.0),
        NoVerdict(kind="boolean", cause="refusal", message="no"),
    ],
    ids=["another option", "an option less", "another kind", "no verdict of another kind"],
)
def test_an_answer_to_another_question_is_refused(answer: AnyAnswer) -> None:
    """It would be counted for an option that nobody chose."""
    with pytest.raises(InvalidInput, match="belongs to another question"):
        columns("topic", answer)


def test_the_error_names_row_and_question() -> None:
    """So that it can be found in a long file."""
    made = RowColumns({"topic": Boolean()})

    with pytest.raises(InvalidInput, match="row 'row-3', question 'topic': an answer or a label"):
        made.add(row(3, "x"), {})


def test_long_texts_are_cut_and_the_rest_is_kept() -> None:
    """Beginning and rest together are the text, whatever its characters."""
    text = "🙃" * 300
    made = RowColumns({})
    made.add(row(0, text), {})

    begun = cast("dict[str, list[str]]", made.columns())["texts"]
    rest = cast("list[str]", made.texts())
    assert begun[0] + rest[0] == text
    assert len(begun[0]) < 200


def test_the_fields_of_an_object_are_lines_of_text() -> None:
    """So that they are sought like any text."""
    made = RowColumns({})
    made.add(row(0, {"subject": "late", "tags": ["a", 1]}), {})

    assert cast("dict[str, list[str]]", made.columns())["texts"] == [
        'subject: late\ntags: ["a", 1]'
    ]


def test_details_leave_out_what_is_not_there_and_cut_digits() -> None:
    """A page of many rows stays small; the state of a text is in the columns already."""
    answer = ChoiceAnswer(
        choice="yes",
        probabilities={"yes": 2 / 3, "no": 1 / 3},
        evidence=Evidence(calibrator="c" * 64),
    )
    result = row(0, "a text", answers={"q": answer}, labels={})
    views = answer_views({"q": answer}, {"q": Choice(criteria={"yes": None, "no": None})})

    found = row_detail(result, views, {})

    assert not {"state", "error", "warnings", "labels"} & found.keys()
    answers = cast("dict[str, dict[str, object]]", found["answers"])
    assert answers["q"]["bars"] == [
        {"name": "yes", "p": 0.66667, "best": True},
        {"name": "no", "p": 0.33333},
    ]
    assert cast("dict[str, object]", answers["q"]["evidence"])["calibrator"] == "c" * 16
