"""Exact logprobs of given texts from a completion that echoes its prompt."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.echo_scores import read_scores
from classify.errors import CapabilityError, MalformedResponse
from classify.json_values import JSON
from classify.language_model import ChatPrompt, Message, TextPrompt, TextScores
from classify.openai_compatible import OpenAICompatible
from classify.openai_shapes import Endpoint
from classify.testing import Answer, LoopbackServer, Request, likely

ENDPOINT = Endpoint("m-1", "http://host/v1")
NEXT = likely({" and": 0.9})
PROMPT = "Review: fine. Sentiment:"
Tokens = Sequence[tuple[str, float | None]]


def tokens_of(text: str) -> Tokens:
    """Return words with their spaces; a word's logprob is minus its length, the first has none."""
    words = re.findall(r"\s*\S+|\s+", text)
    return [(word, None if at == 0 else -float(len(word))) for at, word in enumerate(words)]


def echoing(request: Request) -> Answer:
    return Answer(positions=[NEXT], echo=tokens_of(str(request.body["prompt"])))


def scores(server: LoopbackServer, texts: Sequence[str], prompt: str = PROMPT) -> TextScores:
    async def once() -> TextScores:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        return await model.score(TextPrompt(prompt), texts, options={})

    return asyncio.run(once())


def test_every_text_is_scored_in_one_request() -> None:
    """As long as each of its tokens, given all before it; the generated token is left out."""
    with LoopbackServer(echoing) as server:
        found = scores(server, [" positive", " not so good", ""])
    assert found.logprobs == ((-9.0,), (-4.0, -3.0, -5.0), ())
    assert len(server.requests) == 1
    assert server.requests[0].path == "/v1/completions"
    assert server.requests[0].body["echo"] is True


def test_an_endpoint_that_ignores_echo_is_found_out() -> None:
    """Fault 19: llama.cpp's server shows the generated token only."""
    with LoopbackServer(Answer(positions=[likely({" positive": 0.5})])) as server:
        with pytest.raises(CapabilityError, match="cannot score given texts exactly"):
            scores(server, [" positive"])


def test_a_prompt_echoed_without_logprobs_is_found_out() -> None:
    """Another server's half of the feature."""

    def answer(request: Request) -> Answer:
        words = [(token, None) for token, _ in tokens_of(str(request.body["prompt"]))]
        return Answer(positions=[NEXT], echo=words)

    with LoopbackServer(answer) as server:
        with pytest.raises(CapabilityError, match="carry no logprobs"):
            scores(server, [" positive"])


def test_a_token_across_the_boundary_is_an_error_that_says_what_to_do() -> None:
    """The text's probability is then no product of tokens."""
    with LoopbackServer(echoing) as server:
        with pytest.raises(CapabilityError, match="no token begins where 'ly' does"):
            scores(server, ["ly"])


def test_a_conversation_cannot_be_scored() -> None:
    """How the server would write it as text is not known."""

    async def once() -> None:
        model = OpenAICompatible("m-1", base_url="http://localhost:1/v1")
        await model.score(ChatPrompt((Message("user", "x"),)), [" a"], options={})

    with pytest.raises(CapabilityError, match="only after a plain text"):
        asyncio.run(once())


def completion(tokens: Tokens, text: str) -> JSON:
    values: list[JSON] = [logprob for _, logprob in tokens]
    names: list[JSON] = [token for token, _ in tokens]
    shown: JSON = {"tokens": names, "token_logprobs": values}
    return {"choices": [{"index": 0, "text": text, "logprobs": shown}]}


def read(tokens: Tokens, *, echoed: str, prompt: str, text: str) -> tuple[float, ...]:
    body = completion(tokens, echoed)
    return read_scores(body, prompt=prompt, texts=[text], endpoint=ENDPOINT).logprobs[0]


def test_a_token_that_begins_the_sequence_does_not_shift_the_text() -> None:
    """VLLM shows the model's own first token, which is not part of the echoed text."""
    tokens: Tokens = [("<s>", None), ("Say", -3.0), (" yes", -1.0), ("!", -0.2)]
    assert read(tokens, echoed="Say yes!", prompt="Say", text=" yes") == (-1.0,)


def test_a_model_that_ends_at_once_may_show_an_empty_token_or_none() -> None:
    """In both cases the last token of the text is its own."""
    for rest in ([], [("", -0.1)], [("</s>", -0.1)]):
        tokens: Tokens = [("Say", None), (" yes", -1.0), *rest]
        assert read(tokens, echoed="Say yes", prompt="Say", text=" yes") == (-1.0,)


def test_a_text_that_ends_in_itself_is_not_guessed() -> None:
    """With or without a generated token the tokens would spell it, with different logprobs."""
    tokens: Tokens = [("Say", None), (" yes", -1.0), (" yes", -2.0)]
    with pytest.raises(CapabilityError, match="unclear which tokens"):
        read(tokens, echoed="Say yes", prompt="Say", text=" yes")


def test_a_character_in_several_tokens_is_put_together() -> None:
    """Such tokens are written as bytes."""
    tokens: Tokens = [
        ("Mood:", None),
        ("bytes:\\xe2\\x98", -1.0),
        ("bytes:\\xba", -0.5),
        (".", -1.0),
    ]
    assert read(tokens, echoed="Mood:☺.", prompt="Mood:", text="☺") == (-1.0, -0.5)


def test_fewer_choices_than_texts_are_malformed() -> None:
    """A server that takes the first prompt of several."""
    body = completion(tokens_of("Say yes"), "Say yes")
    with pytest.raises(MalformedResponse, match="1 choices for 2 prompts"):
        read_scores(body, prompt="Say", texts=[" yes", " no"], endpoint=ENDPOINT)


PIECES = st.lists(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=4), min_size=1, max_size=5
)


@given(before=PIECES, inside=PIECES, after=st.text("xyz", min_size=1, max_size=3))
@settings(max_examples=200)
def test_the_tokens_of_the_text_are_found_whatever_they_are(
    before: list[str], inside: list[str], after: str
) -> None:
    """Any cut of prompt and text into tokens, as long as it cuts between them."""
    words = [*before, *inside, after]
    tokens: Tokens = [(word, -float(at)) for at, word in enumerate(words)]
    found = read(tokens, echoed="".join(words), prompt="".join(before), text="".join(inside))
    assert found == tuple(-float(len(before) + at) for at in range(len(inside)))
