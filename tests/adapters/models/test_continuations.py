"""Prompt and text are tokenised together, and cut where they can be compared."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.models.continuations import Continuations, continuations
from classify.adapters.models.llama_replies import Token
from classify.errors import InvalidInput

# Longest match first, so that "a" + "b" is not "ab".
VOCABULARY = ("ab", " a", "\n\n", ":\n", *"ab :\n")
BEGIN = Token(id=99, piece="")


async def tokenize(text: str, begin: bool) -> tuple[Token, ...]:
    found = [BEGIN] if begin else []
    while text:
        piece = next(p for p in VOCABULARY if text.startswith(p))
        found.append(Token(id=VOCABULARY.index(piece), piece=piece))
        text = text.removeprefix(piece)
    return tuple(found)


def split(prompt: str, *texts: str) -> Continuations:
    return asyncio.run(continuations(prompt, texts, tokenize=tokenize))


def spelled(tokens: tuple[Token, ...]) -> str:
    return "".join(str(token.piece) for token in tokens)


words = st.text(alphabet="ab :\n", min_size=1, max_size=12)


@given(words, st.lists(words, min_size=1, max_size=4))
def test_prompt_and_text_spell_what_was_asked(prompt: str, texts: list[str]) -> None:
    """Whatever merges with whatever, nothing is lost and nothing is counted twice."""
    found = split(prompt, *texts)

    for text, tokens in zip(texts, found.texts, strict=True):
        assert spelled(found.prompt + tokens) == prompt + text
        assert tokens


@given(words, words)
def test_the_tokens_are_those_of_the_joint_text(prompt: str, text: str) -> None:
    """The model has seen " positive", never " " and then "positive"."""
    found = split(prompt, text)

    assert found.prompt + found.texts[0] == asyncio.run(tokenize(prompt + text, True))


def test_a_text_that_merges_takes_the_end_of_the_prompt_from_all() -> None:
    """Texts compared with one another start from the same place."""
    found = split("b:a", "b", ":")

    assert spelled(found.prompt) == "b:"
    assert [spelled(text) for text in found.texts] == ["ab", "a:"]


def test_the_prompt_is_cut_after_its_last_line_break() -> None:
    """Questions about one state share all lines but the last."""
    found = split("a:" * 20 + "\nb:", " a")

    assert len(found.pieces) == 2
    assert len(found.pieces[1]) == 2


def test_a_short_beginning_is_not_worth_a_request() -> None:
    """Its evaluation takes less time than the request."""
    assert len(split("a:\nb:", " a").pieces) == 1


def test_shared_beginnings_are_asked_once_and_parents_first() -> None:
    """Ten options that begin alike cost one request for what they share."""
    following = split("b:", " a:b", " a:a", "b").next_tokens

    assert [len(before) for before in following] == [0, 1, 2]
    assert [len(after) for after in following.values()] == [2, 1, 2]


@pytest.mark.parametrize(
    ("prompt", "texts", "message"),
    [
        pytest.param("a:", [], "one or more non-empty strings", id="no texts"),
        pytest.param("a:", [" a", ""], "one or more non-empty strings", id="an empty text"),
    ],
)
def test_texts_without_tokens_are_refused(prompt: str, texts: list[str], message: str) -> None:
    """An empty text has probability 1 after any prompt, and would win every comparison."""
    with pytest.raises(InvalidInput, match=message):
        split(prompt, *texts)


def test_an_empty_prompt_is_refused() -> None:
    """A model without a begin-of-sequence token has nothing to continue."""

    async def bare(text: str, begin: bool) -> tuple[Token, ...]:
        return await tokenize(text, False)

    with pytest.raises(InvalidInput, match="at least one token, got ''"):
        asyncio.run(continuations("", [" a"], tokenize=bare))
