"""Long words and texts of several lines on the page of `classify report`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from playwright.sync_api import Page, expect

from classify.answers import ChoiceAnswer
from classify.decision import ResponseInfo
from classify.questions import Choice
from tests.adapters.report.sample_results import row

if TYPE_CHECKING:
    from tests.adapters.report.conftest import Results

Opened = Callable[..., Page]
LONG_WORD = "Donaudampfschifffahrt" * 20


def test_a_word_longer_than_the_screen_does_not_widen_the_page(
    results: Results, opened: Opened
) -> None:
    """As id, question, option, instructions, model and warning."""
    question = Choice(criteria={LONG_WORD: LONG_WORD, "other": None}, instructions=LONG_WORD)
    answer = ChoiceAnswer(choice=LONG_WORD, probabilities={LONG_WORD: 0.75, "other": 0.25})
    made = row(
        0,
        LONG_WORD,
        id=LONG_WORD,
        answers={LONG_WORD: answer},
        labels={LONG_WORD: "other"},
        response=ResponseInfo(model_id=LONG_WORD),
        warnings=(LONG_WORD,),
    )
    results.write([made], {LONG_WORD: question})

    page = opened(results.make(), width=400)
    expect(page.get_by_role("grid")).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth") == 400
    page.locator(".grid-body .grid-row").first.click()
    assert page.evaluate("document.querySelector('dialog').scrollWidth") <= 400


def test_instructions_of_several_lines_are_shown_as_lines(results: Results, opened: Opened) -> None:
    """As they were written, and not with the ends of lines as escapes."""
    question = Choice(criteria={"delivery": None, "other": None}, instructions="One.\nTwo.")
    answer = ChoiceAnswer(choice="other", probabilities={"delivery": 0.25, "other": 0.75})
    results.write([row(0, "a text", answers={"topic": answer}, labels={})], {"topic": question})

    page = opened(results.make())

    told = page.get_by_text("Two.")
    expect(told).to_be_visible()
    assert told.inner_text() == "One.\nTwo."
