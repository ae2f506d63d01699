"""Splitting and shortening of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.scorers.measures import sentences, shortened
from classify.adapters.scorers.measures.sentences import ending

# ruff: noqa: RUF001  the marks that look like others are the point

TEXT = "The river rose. Cats sleep a lot. Paris lies on the Seine. Rain fell. The end came."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("One. Two! Three?", ("One.", "Two!", "Three?"), id="marks"),
        pytest.param("Dr. Smith met J. Doe.", ("Dr. Smith met J. Doe.",), id="abbreviations"),
        pytest.param(
            "It costs 3.5 at example.com.", ("It costs 3.5 at example.com.",), id="points"
        ),
        pytest.param('He said "No." Then left.', ('He said "No."', "Then left."), id="quotes"),
        pytest.param("See no. 5. He said no.", ("See no. 5.", "He said no."), id="no"),
        pytest.param("- one\n- two", ("one", "two"), id="bullets"),
        pytest.param("1. first\n2) second", ("first", "second"), id="numbers"),
        pytest.param("今天下雨。我在家！", ("今天下雨。", "我在家！"), id="chinese"),
        pytest.param("वह आया। वह गया।", ("वह आया।", "वह गया।"), id="hindi"),
        pytest.param("كيف حالك؟ بخير.", ("كيف حالك؟", "بخير."), id="arabic"),
        pytest.param("Wait... what?", ("Wait...", "what?"), id="dots"),
        pytest.param(
            "a city centre . Police said so .",
            ("a city centre .", "Police said so ."),
            id="tokenised",
        ),
        pytest.param("no end", ("no end",), id="no mark"),
        pytest.param("So do I. You too.", ("So do I.", "You too."), id="the word I"),
        pytest.param(" \n ... \n", (), id="nothing"),
    ],
)
def test_sentences(text: str, expected: tuple[str, ...]) -> None:
    """Enough of every language to judge claims, and no more than a page of code."""
    assert sentences(text) == expected


@given(st.text())
def test_no_word_is_lost(text: str) -> None:
    """Blanks and bullets may go; letters may not."""
    kept = "".join("".join(sentences(text)).split())

    assert [c for c in kept if c.isalpha()] == [c for c in text if c.isalpha()]


def test_a_text_within_the_limit_stays_whole() -> None:
    """Nothing is touched without need."""
    assert shortened(TEXT, len(TEXT), about="Paris") == TEXT


def test_the_closest_sentences_stay() -> None:
    """What the claim is about is kept, and gaps are shown."""
    assert shortened(TEXT, 60, about="Is Paris on the Seine?") == (
        "The river rose. […] Paris lies on the Seine."
    )


@given(st.text(min_size=1), st.integers(1, 80), st.text())
def test_the_limit_holds(text: str, limit: int, about: str) -> None:
    """Whatever is judged fits."""
    assert len(shortened(text, limit, about=about)) <= limit


def test_the_end_of_a_conversation_stays() -> None:
    """What was said last is what is judged."""
    assert ending("user: Hello there\n\nassistant: Good day to you", 20) == "[…] Good day to you"


@given(st.text(), st.integers(1, 40))
def test_an_end_fits_and_is_one(text: str, limit: int) -> None:
    """Within the limit, and nothing but the end."""
    kept = ending(text, limit)

    assert len(kept) <= limit or kept == text
    assert text.endswith(kept.removeprefix("[…] "))
