"""Whatever a server, or the lack of one, answers becomes one of our errors."""

from __future__ import annotations

import asyncio
import json

import pytest
from aiohttp import web

from classify.adapters.models.llama_http import LlamaHTTP
from classify.adapters.models.llama_replies import Template
from classify.adapters.models.llama_server import LlamaServerModel, from_name
from classify.errors import (
    CapabilityError,
    ClassifyError,
    InvalidInput,
    MalformedResponse,
    ProviderError,
)
from classify.language_model import ChatPrompt, Sampling, TextPrompt

KEY = "sk-never-shown"
HINTS = {"unreachable": "start it", "key": "set the key", "context": "make room"}


async def answered(status: int, body: str) -> str:
    """Return the prompt that the client reads from one answer of a loopback server."""

    async def answer(request: web.BaseRequest) -> web.Response:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        return web.Response(status=status, text=body)

    server = web.Server(answer)
    runner = web.ServerRunner(server)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    client = LlamaHTTP(f"http://127.0.0.1:{runner.addresses[0][1]}", api_key=KEY, hints=HINTS)
    try:
        return (await client.post("/apply-template", {}, Template)).prompt
    finally:
        await client.aclose()
        await runner.cleanup()


def refused(status: int, kind: str = "", message: str = "no", **facts: int) -> str:
    return json.dumps({"error": {"code": status, "type": kind, "message": message, **facts}})


def test_a_good_answer_is_read() -> None:
    """The errors below are the server's, not the client's."""
    assert asyncio.run(answered(200, '{"prompt": "x", "more": 1}')) == "x"


OVERFLOW = refused(400, "exceed_context_size_error", n_prompt_tokens=3000, n_ctx=2048)


@pytest.mark.parametrize(
    ("status", "body", "kind", "message"),
    [
        pytest.param(400, OVERFLOW, InvalidInput, "3000 tokens .* 2048.*make room", id="too long"),
        pytest.param(401, refused(401), ProviderError, "refused the key.*set the key", id="key"),
        pytest.param(404, refused(404), CapabilityError, "llama-server", id="no such path"),
        pytest.param(501, refused(501), CapabilityError, "answered 501", id="not supported"),
        pytest.param(400, refused(400, message="why"), ProviderError, "400: why", id="refused"),
        pytest.param(500, "<html>", ProviderError, "500: <html>", id="fault without JSON"),
        pytest.param(200, "<html>", MalformedResponse, "the body: Invalid JSON", id="not JSON"),
        pytest.param(200, "{}", MalformedResponse, "prompt: Field required", id="another shape"),
    ],
)
def test_every_failure_is_one_of_ours(
    status: int, body: str, kind: type[ClassifyError], message: str
) -> None:
    """Each names what happened and the way out, and none shows the key."""
    with pytest.raises(kind, match=message) as caught:
        asyncio.run(answered(status, body))

    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(400, False), (401, False), (408, True), (429, True), (500, True), (503, True)],
    ids=str,
)
def test_only_what_may_pass_is_retryable(status: int, retryable: bool) -> None:
    """503 is what a server answers while it loads its model."""
    with pytest.raises(ProviderError, match=str(status)) as caught:
        asyncio.run(answered(status, refused(status)))

    assert caught.value.retryable is retryable
    assert caught.value.status == status


def test_a_server_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Usually it was not started, or listens elsewhere."""
    monkeypatch.setenv("LLAMACPP_BASE_URL", "http://127.0.0.1:9/v1/")
    model = from_name("")

    with pytest.raises(ProviderError, match=r"127\.0\.0\.1:9: .*LLAMACPP_BASE_URL") as caught:
        asyncio.run(model.score(TextPrompt("a"), [" b"], options={}))

    assert caught.value.retryable


def test_a_conversation_without_messages_is_refused() -> None:
    """The server would answer it, with invented text."""
    model = LlamaServerModel(LlamaHTTP("http://127.0.0.1:9"), "m")

    with pytest.raises(InvalidInput, match="at least one message"):
        asyncio.run(model.complete(ChatPrompt(()), Sampling(), options={}))


def test_the_provider_of_a_server_of_ones_own_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked for is what the evidence says."""
    monkeypatch.delenv("LLAMACPP_BASE_URL", raising=False)
    model = from_name("qwen")

    assert (model.provider, model.model_id) == ("llamacpp", "qwen")
    assert asyncio.run(model.capabilities()).scored_by == "sequence"
