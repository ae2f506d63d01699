"""The probe: what an endpoint can do, found out once."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from classify import capability_probe
from classify.errors import CapabilityError, ProviderError
from classify.json_values import JSON
from classify.language_model import Capabilities, ChatPrompt, Message, Sampling
from classify.openai_compatible import OpenAICompatible
from classify.provider_table import COMPATIBLE, PROVIDERS, Provider
from classify.testing import Answer, LoopbackServer, Request, error, likely

QUESTION = ChatPrompt((Message("user", "A or B?"),))
READ = Sampling(max_tokens=1, top_logprobs=5)
MANY = Answer(positions=[likely({f"t{i}": 0.01 for i in range(150)})])
CHAT_ONLY = replace(COMPATIBLE, name="chat-only", echo=False)


@pytest.fixture(autouse=True)
def _no_probe_is_remembered() -> None:
    capability_probe.forget()


def found(
    server: LoopbackServer,
    *,
    provider: Provider = CHAT_ONLY,
    model_id: str = "m-1",
    settings: Mapping[str, JSON] | None = None,
) -> Capabilities:
    model = OpenAICompatible(
        model_id, base_url=server.base_url, provider=provider, settings=settings
    )
    return asyncio.run(model.capabilities())


def at_most(limit: int) -> Callable[[Request], Answer]:
    """Return a server's answer that refuses more alternatives than it can show."""

    def answer(request: Request) -> Answer:
        wanted = request.body.get("top_logprobs")
        if isinstance(wanted, int) and wanted > limit:
            message = f"Invalid top_logprobs: expected at most {limit}, got {wanted}"
            return error(400, message)
        return MANY

    return answer


@pytest.mark.parametrize(
    ("limit", "provider", "expected"),
    [
        pytest.param(20, "chat-only", 20, id="openai-like"),
        pytest.param(5, "chat-only", 5, id="five"),
        pytest.param(100, "vllm", 100, id="vllm-with-more"),
        pytest.param(20, "vllm", 20, id="vllm-as-shipped"),
        pytest.param(8, "xai", 8, id="xai"),
    ],
)
def test_the_most_alternatives_are_found(limit: int, provider: str, expected: int) -> None:
    """The best value is tried first; a refused one costs nothing."""
    row = replace(PROVIDERS.get(provider, CHAT_ONLY), echo=False)
    with LoopbackServer(at_most(limit)) as server:
        assert found(server, provider=row).top_logprobs == expected


def test_a_server_that_quietly_shows_fewer_is_believed() -> None:
    """It took the number, and shows what it can."""
    few = Answer(positions=[likely({f"t{i}": 0.1 for i in range(7)})])
    with LoopbackServer(few) as server:
        assert found(server).top_logprobs == 7


def test_a_scripted_server_with_two_alternatives_is_not_taken_for_a_limit() -> None:
    """No server stops below five."""
    two = Answer(positions=[likely({"A": 0.7, "B": 0.3})])
    with LoopbackServer(two) as server:
        assert found(server).top_logprobs == 20


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(
            error(403, "You are not allowed to request logprobs from this model"), id="refused"
        ),
        pytest.param(Answer(text="A", logprobs="null"), id="null"),
        pytest.param(Answer(text="A", logprobs="empty"), id="empty"),
    ],
)
def test_an_endpoint_without_logprobs_is_known_before_more_is_spent(answer: Answer) -> None:
    """It can still be sampled; a reading ends without a request, naming the ways out."""

    async def both(server: LoopbackServer) -> None:
        model = OpenAICompatible("m-1", base_url=server.base_url, provider=CHAT_ONLY)
        assert (await model.capabilities()).top_logprobs == 0
        asked = len(server.requests)
        with pytest.raises(CapabilityError, match=r'fallback="sample", or a decision model'):
            await model.complete(QUESTION, READ, options={})
        assert len(server.requests) == asked

    with LoopbackServer(answer) as server:
        asyncio.run(both(server))


@pytest.mark.parametrize(
    ("provider", "model_id", "expected", "encoding"),
    [
        pytest.param("openai", "gpt-4o-mini", 20, "o200k_base", id="gpt-4o-mini"),
        pytest.param("openai", "gpt-4.1-nano-2025-04-14", 20, "o200k_base", id="dated"),
        pytest.param("openai", "ft:gpt-4o-mini-2024-07-18:me::1", 20, "o200k_base", id="tuned"),
        pytest.param("openai", "gpt-4-turbo", 20, "cl100k_base", id="gpt-4-turbo"),
        pytest.param("openai", "o4-mini", 0, "o200k_base", id="o4-mini"),
        pytest.param("openai", "gpt-5-mini", 0, "o200k_base", id="gpt-5-mini"),
        pytest.param("deepseek", "deepseek-chat", 20, None, id="deepseek-chat"),
        pytest.param("deepseek", "deepseek-reasoner", 0, None, id="deepseek-reasoner"),
    ],
)
def test_what_is_documented_is_not_asked(
    provider: str, model_id: str, expected: int, encoding: str | None
) -> None:
    """The table saves the probe."""
    with LoopbackServer(MANY) as server:
        capabilities = found(server, provider=PROVIDERS[provider], model_id=model_id)
    assert (capabilities.top_logprobs, capabilities.tokenizer) == (expected, encoding)
    assert server.requests == []


@pytest.mark.parametrize("model_id", ["gpt-5.1", "gpt-5.2-mini", "gpt-6-luna", "gpt-4o-search"])
def test_what_is_not_documented_is_asked(model_id: str) -> None:
    """From gpt-5.1 on it depends on the settings."""
    with LoopbackServer(MANY) as server:
        found(server, provider=PROVIDERS["openai"], model_id=model_id)
    assert len(server.requests) == 1


def test_echo_is_tried_where_it_is_not_known() -> None:
    """One more request of a few tokens."""

    def answer(request: Request) -> Answer:
        if request.path.endswith("/chat/completions"):
            return MANY
        echo = [("One,", None), (" two,", -1.0), (" three", -0.5)]
        return Answer(positions=[likely({",": 1.0})], echo=echo)

    with LoopbackServer(answer) as server:
        assert found(server, provider=COMPATIBLE).scores_text
    with LoopbackServer(MANY) as server:
        assert not found(server, provider=COMPATIBLE).scores_text


def test_a_server_without_completions_scores_no_texts() -> None:
    """404 is an answer; what may pass is not."""

    def answer(request: Request) -> Answer:
        chat = request.path.endswith("/chat/completions")
        return MANY if chat else error(404, "no such path")

    with LoopbackServer(answer) as server:
        assert not found(server, provider=COMPATIBLE).scores_text


def test_a_probe_is_made_once_per_address_model_and_settings() -> None:
    """For the life of the process, by whatever object asks."""
    with LoopbackServer(MANY) as server:
        for _ in range(3):
            found(server)
        assert len(server.requests) == 1
        found(server, model_id="m-2")
        found(server, settings={"reasoning_effort": "none"})
    assert len(server.requests) == 3
    assert server.requests[2].body["reasoning_effort"] == "none"


def test_many_first_callers_share_one_probe() -> None:
    """One request, not as many as there are rows in flight."""

    async def all_at_once(server: LoopbackServer) -> list[Capabilities]:
        model = OpenAICompatible("m-1", base_url=server.base_url, provider=CHAT_ONLY)
        return await asyncio.gather(*(model.capabilities() for _ in range(50)))

    with LoopbackServer(MANY) as server:
        results = asyncio.run(all_at_once(server))
    assert {r.top_logprobs for r in results} == {20}
    assert len(server.requests) == 1


def test_callers_on_several_threads_share_one_probe() -> None:
    """Each thread has its own event loop."""
    with LoopbackServer(MANY) as server:
        server.hold()
        threads = [threading.Thread(target=found, args=(server,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        server.wait_in_flight(1)
        server.release()
        for thread in threads:
            thread.join()
    assert len(server.requests) == 1


def test_a_failed_probe_fails_all_who_wait_and_is_not_remembered() -> None:
    """The endpoint may come up; each who asked counts its own attempts."""

    async def twice(server: LoopbackServer) -> list[Capabilities | BaseException]:
        model = OpenAICompatible("m-1", base_url=server.base_url, provider=CHAT_ONLY)
        first = await asyncio.gather(
            *(model.capabilities() for _ in range(3)), return_exceptions=True
        )
        return [*first, await model.capabilities()]

    with LoopbackServer([error(503, "busy"), MANY]) as server:
        *failed, then = asyncio.run(twice(server))
    assert [type(f) for f in failed] == [ProviderError] * 3
    assert len({id(f) for f in failed}) == 3
    assert isinstance(then, Capabilities)
    assert len(server.requests) == 2


def test_a_cancelled_probe_is_taken_over_by_one_who_waits() -> None:
    """The first caller's deadline is not the others'."""

    async def cancel_first(server: LoopbackServer) -> Capabilities:
        model = OpenAICompatible("m-1", base_url=server.base_url, provider=CHAT_ONLY)
        server.hold()
        first = asyncio.create_task(model.capabilities())
        await asyncio.to_thread(server.wait_in_flight, 1)
        second = asyncio.create_task(model.capabilities())
        await asyncio.sleep(0)
        first.cancel()
        server.release()
        return await second

    with LoopbackServer(MANY) as server:
        assert asyncio.run(cancel_first(server)).top_logprobs == 20


def test_one_who_waits_may_be_cancelled_without_harm() -> None:
    """The probe goes on for the others."""

    async def cancel_second(server: LoopbackServer) -> Capabilities:
        model = OpenAICompatible("m-1", base_url=server.base_url, provider=CHAT_ONLY)
        server.hold()
        first = asyncio.create_task(model.capabilities())
        await asyncio.to_thread(server.wait_in_flight, 1)
        second = asyncio.create_task(model.capabilities())
        await asyncio.sleep(0)
        second.cancel()
        server.release()
        return await first

    with LoopbackServer(MANY) as server:
        assert asyncio.run(cancel_second(server)).top_logprobs == 20
    assert len(server.requests) == 1


def test_a_wrong_key_is_said_by_the_probe() -> None:
    """It is no statement about logprobs."""
    with LoopbackServer(error(401, "bad key")) as server:
        with pytest.raises(ProviderError, match="answered 401"):
            found(server)


def test_a_model_without_a_chat_template_continues_text() -> None:
    """A base model behind vLLM refuses conversations; its readout is the options' words."""

    def answer(request: Request) -> Answer:
        if request.path.endswith("/chat/completions"):
            return error(400, "default chat template is no longer allowed")
        tokens = [("One,", None), (" two,", -1.0), (" three", -0.5)]
        return Answer(positions=MANY.positions, echo=tokens)

    with LoopbackServer(answer) as server:
        capabilities = found(server, provider=COMPATIBLE)
    assert (capabilities.form, capabilities.forms) == ("completion", frozenset({"completion"}))
    assert (capabilities.top_logprobs, capabilities.scores_text) == (20, True)
    assert set(capabilities.readouts.values()) == {"words"}


def test_a_server_that_refuses_everything_says_what_it_said_of_chat() -> None:
    """Not what it said of the second try."""

    def answer(request: Request) -> Answer:
        chat = request.path.endswith("/chat/completions")
        return error(404, "no model m-1" if chat else "no completions")

    with LoopbackServer(answer) as server:
        with pytest.raises(ProviderError, match="no model m-1"):
            found(server, provider=COMPATIBLE)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system starts processes otherwise")
def test_a_process_forked_during_a_probe_makes_its_own() -> None:
    """Nobody there finishes its parent's, for which it would wait for ever."""
    script = """
import asyncio, os, sys, threading
from classify.openai_compatible import OpenAICompatible
from classify.testing import Answer, LoopbackServer, likely

def ask():
    return asyncio.run(OpenAICompatible("m-1", base_url=server.base_url).capabilities())

with LoopbackServer(Answer(positions=[likely({"A": 0.7, "B": 0.3})])) as server:
    server.hold()
    asking = threading.Thread(target=ask)
    asking.start()
    server.wait_in_flight(1)
    child = os.fork()
    if not child:
        limit = threading.Timer(30, os._exit, [3])
        limit.start()
        ask()
        os._exit(0)
    server.release()
    asking.join()
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False)
    assert ended.returncode == 0
