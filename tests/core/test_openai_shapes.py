"""OpenAI's two shapes of logprobs, read without a network."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.errors import CapabilityError, MalformedResponse
from classify.language_model import Alternative, Position, Sampling, Usage
from classify.openai_shapes import Endpoint, read_logprob, read_positions, read_reply, read_usage

ENDPOINT = Endpoint("m-1", "http://host/v1")
FIELDS = [
    *("choices", "message", "content", "logprobs", "tokens", "top_logprobs", "token_logprobs"),
    *("token", "logprob", "bytes", "usage", "refusal"),
]
EMPTY: list[object] = []
ASKED = Sampling(max_tokens=1, top_logprobs=20)


def chat(logprobs: object, *, text: str = "A", **choice: object) -> Any:
    """Return a chat completion; Any because it is JSON as a server may write it."""
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "logprobs": logprobs, **choice}]}


def content(*alternatives: tuple[str, float]) -> dict[str, object]:
    entries = [{"token": t, "logprob": lp, "bytes": list(t.encode())} for t, lp in alternatives]
    return {"content": [{**entries[0], "top_logprobs": entries}]}


def test_the_chat_shape_keeps_tokens_logprobs_and_bytes_likeliest_first() -> None:
    """Bytes tell apart entries with the same text."""
    reply = read_reply(chat(content(("B", -2.0), ("A", -0.5))), ASKED, ENDPOINT)
    assert reply.positions == (
        Position("B", (Alternative("A", -0.5, b"A"), Alternative("B", -2.0, b"B"))),
    )


def test_the_completions_shape_is_read_in_a_chat_answer_too() -> None:
    """Vector V9: llama-cpp-python answers chat in the shape of completions."""
    shape = {"tokens": ["A"], "token_logprobs": [-0.5], "top_logprobs": [{"B": -2.0, "A": -0.5}]}
    reply = read_reply(chat(shape), ASKED, ENDPOINT)
    assert reply.positions == (Position("A", (Alternative("A", -0.5), Alternative("B", -2.0))),)


def test_two_entries_with_the_same_text_are_both_kept() -> None:
    """Vector V10: "8" twice, of different bytes; who adds them up is not decided here."""
    (position,) = read_positions(content(("8", -1.2), ("8", -1.6)), ENDPOINT)  # type: ignore[arg-type]
    assert [a.logprob for a in position.alternatives] == [-1.2, -1.6]


@pytest.mark.parametrize(
    "logprobs",
    [
        pytest.param(None, id="null"),
        pytest.param({}, id="an-empty-object"),
        pytest.param({"content": None}, id="null-content"),
        pytest.param({"content": []}, id="no-positions"),
        pytest.param(
            {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": EMPTY}]},
            id="empty-top-logprobs",
        ),
        pytest.param(
            {"content": [{"token": "A", "logprob": -0.1, "top_logprobs": None}]},
            id="null-top-logprobs",
        ),
        pytest.param({"content": [{"token": "A", "logprob": -0.1}]}, id="top-logprobs-missing"),
        pytest.param(
            {"tokens": ["A"], "token_logprobs": [-0.1], "top_logprobs": None},
            id="completions-without-alternatives",
        ),
    ],
)
def test_an_answer_without_logprobs_is_a_capability_error(logprobs: object) -> None:
    """Vector V8: gateways accept the request and drop the logprobs without a word."""
    with pytest.raises(CapabilityError, match=r"'m-1' at http://host/v1 gives no logprobs"):
        read_reply(chat(logprobs), ASKED, ENDPOINT)


@pytest.mark.parametrize("mark", ["<|im_end|>", "", None])
def test_the_mark_of_the_end_needs_no_alternatives(mark: str | None) -> None:
    """Some servers show it, and nothing beside it; a label before it can be read all the same."""
    written = {"token": "A", "logprob": -0.1, "top_logprobs": [{"token": "A", "logprob": -0.1}]}
    end = {"token": mark, "logprob": 0.0, "top_logprobs": EMPTY}

    reply = read_reply(chat({"content": [written, end]}), ASKED, ENDPOINT)

    assert [position.token for position in reply.positions] == ["A"]
    with pytest.raises(CapabilityError, match="a position without top_logprobs"):
        read_reply(chat({"content": [end, {**end, "token": "A"}]}), ASKED, ENDPOINT)


def test_missing_logprobs_are_a_capability_error() -> None:
    """The field may be absent altogether."""
    body = chat(None)
    del body["choices"][0]["logprobs"]
    with pytest.raises(CapabilityError, match="gives no logprobs"):
        read_reply(body, ASKED, ENDPOINT)


def test_logprobs_nobody_asked_for_are_not_missed() -> None:
    """A draw for the sampling fallback needs none."""
    assert read_reply(chat(None), Sampling(), ENDPOINT).text == "A"


@pytest.mark.parametrize(
    ("choice", "refusal", "finish"),
    [
        pytest.param(
            {"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"},
            "I cannot.",
            "stop",
            id="refusal",
        ),
        pytest.param(
            {"message": {"content": ""}, "finish_reason": "content_filter"},
            None,
            "content_filter",
            id="content-filter",
        ),
    ],
)
def test_a_refusal_without_logprobs_is_a_reply(
    choice: dict[str, object], refusal: str | None, finish: str
) -> None:
    """Vector V19: the endpoint is able, the model was not willing; the cause is kept."""
    reply = read_reply({"choices": [{**choice, "logprobs": None}]}, ASKED, ENDPOINT)  # type: ignore[dict-item]
    assert (reply.text, reply.refusal, reply.finish_reason) == ("", refusal, finish)


def test_an_answer_of_no_tokens_lacks_no_logprobs() -> None:
    """A model may end at once: nothing was generated, so nothing can be shown."""
    body = {**chat({"content": []}, text=""), "usage": {"completion_tokens": 0}}
    assert read_reply(body, ASKED, ENDPOINT).positions == ()


@given(value=st.floats(min_value=-999.0, max_value=0.0))
def test_a_logprob_is_read_as_it_is(value: float) -> None:
    """Nothing is rounded."""
    assert read_logprob(value, ENDPOINT) == value


@given(value=st.floats(max_value=-1000.0, allow_nan=False))
def test_the_impossible_is_minus_infinity(value: float) -> None:
    """Vector V14: -9999, the least float and -inf are how servers write zero."""
    assert read_logprob(value, ENDPOINT) == -math.inf


def test_rounding_above_zero_is_cut_off() -> None:
    """Vector V13."""
    assert read_logprob(1e-7, ENDPOINT) == 0.0


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(0.7, id="a-probability"),
        pytest.param(math.inf, id="infinity"),
        pytest.param(math.nan, id="nan"),
        pytest.param(None, id="null"),
        pytest.param("-1", id="text"),
        pytest.param(True, id="true"),
    ],
)
def test_what_is_no_logprob_names_the_server(value: Any) -> None:
    """Vectors V14 and fault 16: early llama.cpp wrote probabilities under this name."""
    with pytest.raises(MalformedResponse, match=r"http://host/v1: a logprob"):
        read_logprob(value, ENDPOINT)


def test_a_probability_of_the_sampled_token_alone_is_noticed() -> None:
    """A server that writes probabilities does so for the sampled token too."""
    body = chat({"content": [{"token": "A", "logprob": 0.9, "top_logprobs": EMPTY}]})
    with pytest.raises(MalformedResponse, match="never positive"):
        read_reply(body, ASKED, ENDPOINT)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param([], id="a-list"),
        pytest.param("text", id="text"),
        pytest.param({}, id="no-choices"),
        pytest.param({"choices": []}, id="empty-choices"),
        pytest.param({"choices": [3]}, id="a-choice-that-is-a-number"),
        pytest.param(chat({"tokens": ["A"], "token_logprobs": []}), id="unequal-lists"),
        pytest.param(chat({"content": ["A"]}), id="a-position-that-is-text"),
    ],
)
def test_a_body_that_breaks_the_protocol_is_malformed(body: Any) -> None:
    """Never an IndexError or a TypeError."""
    with pytest.raises(MalformedResponse, match=r"'m-1' at http://host/v1"):
        read_reply(body, ASKED, ENDPOINT)


@given(
    body=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(FIELDS),
                inner,
                max_size=4,
            )
        ),
        max_leaves=25,
    )
)
def test_any_json_gives_a_reply_or_one_of_our_errors(body: Any) -> None:
    """Whatever a server sends, no other exception comes out."""
    try:
        read_reply(body, ASKED, ENDPOINT)
    except (CapabilityError, MalformedResponse):
        pass


def test_usage_keeps_cached_and_reasoning_tokens() -> None:
    """As OpenAI reports them."""
    usage = json.loads(
        '{"usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details":'
        ' {"cached_tokens": 8}, "completion_tokens_details": {"reasoning_tokens": 3}}}'
    )
    assert read_usage(usage) == Usage(9, 4, 8, 3)


def test_usage_of_deepseek_has_its_own_name_for_cached_tokens() -> None:
    """prompt_cache_hit_tokens, beside the prompt's count."""
    assert read_usage({"usage": {"prompt_cache_hit_tokens": 5}}).cached_tokens == 5


@pytest.mark.parametrize(
    ("cost", "read"),
    [
        pytest.param(0.95, 0.95, id="number"),
        pytest.param(0, 0.0, id="free"),
        pytest.param(None, None, id="null"),
        pytest.param("0.95", None, id="text"),
        pytest.param({"total_cost": 0.95}, None, id="object"),
        pytest.param(True, None, id="boolean"),
        pytest.param(-1, None, id="negative"),
        pytest.param(math.nan, None, id="nan"),
        pytest.param(math.inf, None, id="infinite"),
        pytest.param(10**400, None, id="too large for a float"),
    ],
)
def test_a_cost_is_what_the_provider_reports_and_never_a_guess(cost: Any, read: Any) -> None:
    """OpenRouter's usage has it beside the tokens; most providers report none."""
    assert read_reply({**chat(None), "usage": {"cost": cost}}, Sampling(), ENDPOINT).cost == read
    assert read_reply(chat(None), Sampling(), ENDPOINT).cost is None


def test_text_in_parts_is_joined() -> None:
    """Some providers split a message into parts, and not all parts are text."""
    body = chat(None, text=[{"type": "thinking"}, {"type": "text", "text": "A"}])  # type: ignore[arg-type]
    assert read_reply(body, Sampling(), ENDPOINT).text == "A"


def test_who_answered_is_kept() -> None:
    """Model, response id and fingerprint go into the evidence."""
    body = {**chat(None), "model": "m-1-2026", "id": "r-1", "system_fingerprint": "fp"}
    reply = read_reply(body, Sampling(), ENDPOINT)
    assert (reply.model, reply.response_id, reply.system_fingerprint) == ("m-1-2026", "r-1", "fp")


def test_a_logprob_too_large_for_a_float_is_read_too() -> None:
    """JSON has whole numbers of any length; an OverflowError would end the whole call."""
    assert read_logprob(-(10**400), ENDPOINT) == -math.inf
    with pytest.raises(MalformedResponse, match="never positive"):
        read_logprob(10**400, ENDPOINT)
