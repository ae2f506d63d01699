"""Cards of notebooks, laid out by a real browser."""

from __future__ import annotations

from playwright.sync_api import Page

from classify import Boolean, BooleanAnswer, Classifier
from classify.evidence import Evidence
from classify.testing import ScriptedModel

LONG_WORD = "Donaudampfschifffahrt" * 40


def test_short_words_of_a_table_stay_whole_beside_a_long_text(browser_page: Page) -> None:
    """The kind of a question is one line, however long the instructions of others are."""
    questions = {f"q{k}": Boolean(instructions="How is it? " * 30) for k in range(20)}
    questions["last"] = Boolean(instructions=LONG_WORD)
    classifier = Classifier("tickets", ScriptedModel(lambda request: {}), questions)

    browser_page.set_content(classifier._repr_html_())  # pyright: ignore[reportPrivateUsage]

    kinds = browser_page.get_by_role("cell", name="boolean", exact=True)
    assert 21 == kinds.count()
    assert [1] * 21 == kinds.evaluate_all(LINES)


def test_a_long_word_in_a_line_is_broken(browser_page: Page) -> None:
    """So that the whole card can be read without scrolling it sideways."""
    answer = BooleanAnswer(probability=0.5, evidence=Evidence(warnings=(LONG_WORD,)))

    browser_page.set_content(answer._repr_html_())  # pyright: ignore[reportPrivateUsage]

    card = browser_page.get_by_role("group").first
    assert card.evaluate("card => card.scrollWidth === card.clientWidth")


LINES = """cells => cells.map(cell => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return range.getClientRects().length;
})"""
