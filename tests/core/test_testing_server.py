"""The loopback server, asked with nothing but the standard library."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
from typing import Any

import pytest

from classify.testing import Answer, LoopbackServer, Request, error, likely, throttled

SURE = Answer(positions=[likely({"A": 0.7, "B": 0.2, "C": 0.1})])


def post(server: LoopbackServer, path: str = "/v1/chat/completions", **body: object) -> Any:
    """Return status, headers and JSON; Any because it is JSON as it came."""
    connection = http.client.HTTPConnection(server.base_url.split("/")[2])
    try:
        connection.request("POST", path, body=json.dumps(body))
        response = connection.getresponse()
        return response.status, response.headers, json.loads(response.read())
    finally:
        connection.close()


def test_a_chat_answer_shows_as_many_alternatives_as_asked_for() -> None:
    """Likeliest first, with their bytes, as OpenAI does."""
    with LoopbackServer(SURE) as server:
        _, _, body = post(server, logprobs=True, top_logprobs=2)
    (position,) = body["choices"][0]["logprobs"]["content"]
    assert [top["token"] for top in position["top_logprobs"]] == ["A", "B"]
    assert position["top_logprobs"][1] == {"token": "B", "logprob": math.log(0.2), "bytes": [66]}
    assert body["choices"][0]["message"]["content"] == "A"


def test_nothing_is_shown_that_was_not_asked_for() -> None:
    """No logprobs without the field."""
    with LoopbackServer(SURE) as server:
        _, _, body = post(server)
    assert "logprobs" not in body["choices"][0]


def test_a_completion_echoes_its_prompts_tokens() -> None:
    """With offsets, and no logprob for the first."""
    answer = Answer(positions=[likely({" b": 1.0})], echo=[("Say", None), (" a", -2.0)])
    with LoopbackServer(answer) as server:
        _, _, body = post(server, "/v1/completions", prompt="Say a", echo=True, logprobs=1)
    choice = body["choices"][0]
    assert choice["text"] == "Say a b"
    assert choice["logprobs"]["tokens"] == ["Say", " a", " b"]
    assert choice["logprobs"]["token_logprobs"] == [None, -2.0, 0.0]
    assert choice["logprobs"]["text_offset"] == [0, 3, 5]


def test_several_prompts_are_answered_one_by_one() -> None:
    """Each as if it had been asked alone."""
    with LoopbackServer(lambda request: Answer(text=f"<{request.body['prompt']}>")) as server:
        _, _, body = post(server, "/v1/completions", prompt=["a", "b"])
    assert [(c["index"], c["text"]) for c in body["choices"]] == [(0, "<a>"), (1, "<b>")]
    assert len(server.requests) == 1


def test_a_sequence_is_used_in_turn_and_its_last_again_and_again() -> None:
    """A fault first, then answers."""
    with LoopbackServer([throttled(2.0), SURE]) as server:
        statuses = [post(server)[0] for _ in range(3)]
    assert statuses == [429, 200, 200]


def test_faults_carry_their_headers_and_openais_shape() -> None:
    """As clients expect them."""
    with LoopbackServer([throttled(2.0), error(401, "bad key", code="invalid_api_key")]) as server:
        _, headers, _ = post(server)
        status, _, body = post(server)
    assert headers["Retry-After"] == "2"
    assert (status, body["error"]["code"]) == (401, "invalid_api_key")


def test_a_dropped_connection_has_no_answer() -> None:
    """The server hangs up instead."""
    with LoopbackServer(Answer(ending="dropped")) as server:
        with pytest.raises((http.client.RemoteDisconnected, ConnectionError), match=r"."):
            post(server)


def test_a_truncated_answer_ends_early() -> None:
    """Half of what its length promises."""
    with LoopbackServer(Answer(text="A", ending="truncated")) as server:
        with pytest.raises(http.client.IncompleteRead, match="bytes read"):
            post(server)


def test_an_answer_may_be_a_coroutine_in_the_servers_loop() -> None:
    """So that it can wait for something."""

    async def answer(request: Request) -> Answer:
        await asyncio.sleep(0)
        return Answer(text=str(request.number))

    with LoopbackServer(answer) as server:
        texts = [post(server)[2]["choices"][0]["message"]["content"] for _ in range(2)]
    assert texts == ["0", "1"]


def test_a_mistake_in_the_answer_is_raised_where_the_block_ends() -> None:
    """A test must not pass over it; meanwhile the client gets a 500."""

    def answer(request: Request) -> Answer:
        raise KeyError("no such state")

    with pytest.raises(KeyError, match="no such state"):
        with LoopbackServer(answer) as server:
            connection = http.client.HTTPConnection(server.base_url.split("/")[2])
            connection.request("POST", "/v1/chat/completions", body="{}")
            assert connection.getresponse().status == 500
            connection.close()


def test_a_connection_is_kept_alive_and_counted() -> None:
    """As between a client and a real server."""
    with LoopbackServer(SURE) as server:
        connection = http.client.HTTPConnection(server.base_url.split("/")[2])
        for _ in range(3):
            connection.request("POST", "/v1/chat/completions", body="{}")
            connection.getresponse().read()
        connection.close()
    assert (len(server.requests), server.connections, server.most_in_flight) == (3, 1, 1)


def test_held_requests_are_in_flight_until_they_are_released() -> None:
    """No test needs to sleep."""

    async def hold() -> None:
        async with LoopbackServer(SURE) as server:
            server.hold()
            asked = [asyncio.create_task(asyncio.to_thread(post, server)) for _ in range(3)]
            await asyncio.to_thread(server.wait_in_flight, 3)
            assert server.most_in_flight == 3
            server.release()
            assert [status for status, _, _ in await asyncio.gather(*asked)] == [200] * 3
            assert server.in_flight == 0

    asyncio.run(hold())


def test_a_server_stops_although_a_connection_is_open_and_a_request_held() -> None:
    """A failed test must not hang."""
    with LoopbackServer(SURE) as server:
        connection = http.client.HTTPConnection(server.base_url.split("/")[2])
        server.hold()
        connection.request("POST", "/v1/chat/completions", body="{}")
        server.wait_in_flight(1)
    connection.close()


def test_many_servers_may_run_at_once() -> None:
    """Each on a port of its own."""
    with LoopbackServer(Answer(text="a")) as one, LoopbackServer(Answer(text="b")) as two:
        assert one.base_url != two.base_url
        assert post(two)[2]["choices"][0]["message"]["content"] == "b"
