"""The client over real HTTP, against a loopback server."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
import openai
import pytest

from classify import capability_probe
from classify.errors import (
    CapabilityError,
    ClassifyError,
    InvalidInput,
    MalformedResponse,
    ProviderError,
)
from classify.json_values import JSON
from classify.language_model import (
    ChatPrompt,
    LanguageModel,
    Message,
    Prompt,
    Reply,
    Sampling,
    TextPrompt,
)
from classify.openai_compatible import OpenAICompatible, sdk_errors
from classify.openai_shapes import Endpoint
from classify.provider_table import PROVIDERS, Provider
from classify.testing import Answer, LoopbackServer, Request, error, likely, throttled

QUESTION = ChatPrompt((Message("system", "Answer A or B."), Message("user", "A state.")))
READ = Sampling(max_tokens=1, top_logprobs=20)
SURE = Answer(positions=[likely({"A": 0.7, "B": 0.3})])
KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_probe_is_remembered() -> None:
    capability_probe.forget()


def ask(
    server: LoopbackServer,
    *,
    prompt: Prompt = QUESTION,
    sampling: Sampling = READ,
    options: Mapping[str, JSON] | None = None,
    provider: Provider | None = None,
    settings: Mapping[str, JSON] | None = None,
) -> Reply:
    async def once() -> Reply:
        model = OpenAICompatible(
            "m-1", base_url=server.base_url, api_key=KEY, provider=provider, settings=settings
        )
        return await model.complete(prompt, sampling, options=options or {})

    return asyncio.run(once())


def failure(answer: Answer | Sequence[Answer], *, prompt: Prompt = QUESTION) -> ClassifyError:
    with LoopbackServer(answer) as server, pytest.raises(ClassifyError) as caught:
        ask(server, prompt=prompt)
    return caught.value


def test_it_is_a_language_model() -> None:
    """The protocol is what everything else asks for."""
    assert isinstance(OpenAICompatible("m", base_url="http://localhost/v1"), LanguageModel)


def test_the_request_asks_for_neutral_sampling_and_every_alternative() -> None:
    """Both logprobs and top_logprobs (fault 14), temperature 1, one token."""
    with LoopbackServer(SURE) as server:
        ask(server)
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert server.requests[0].body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "Answer A or B."},
            {"role": "user", "content": "A state."},
        ],
        "temperature": 1.0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": 20,
    }


def test_openai_is_sent_its_own_names_and_no_default() -> None:
    """Its newer models refuse max_tokens, and some the temperature that is the default."""
    with LoopbackServer(SURE) as server:
        ask(server, provider=PROVIDERS["openai"])
    assert server.requests[0].body["max_completion_tokens"] == 1
    assert not {"max_tokens", "temperature"} & set(server.requests[0].body)


def test_a_temperature_that_is_not_the_default_is_sent() -> None:
    """To every provider."""
    with LoopbackServer(SURE) as server:
        ask(server, sampling=Sampling(temperature=0.5), provider=PROVIDERS["openai"])
    assert server.requests[0].body["temperature"] == 0.5


@pytest.mark.parametrize(
    ("provider", "fields"),
    [
        pytest.param("vllm", {"top_p": 1.0, "top_k": -1}, id="vllm"),
        pytest.param("openrouter", {"provider": {"require_parameters": True}}, id="openrouter"),
        pytest.param("together", {"logprobs": 20}, id="together"),
        pytest.param("xai", {"max_completion_tokens": 1}, id="xai"),
    ],
)
def test_a_providers_habits_are_followed(provider: str, fields: Mapping[str, JSON]) -> None:
    """They stand in the table as data."""
    with LoopbackServer(SURE) as server:
        ask(server, provider=PROVIDERS[provider])
    assert fields.items() <= server.requests[0].body.items()


def test_options_are_merged_into_the_body_beside_a_providers_fields() -> None:
    """The user's routing must not drop ours."""
    options: Mapping[str, JSON] = {"user": "u", "provider": {"order": ["x"]}}
    with LoopbackServer(SURE) as server:
        ask(server, options=options, provider=PROVIDERS["openrouter"])
    assert server.requests[0].body["provider"] == {"require_parameters": True, "order": ["x"]}
    assert server.requests[0].body["user"] == "u"


def test_settings_are_sent_with_every_request_and_options_win() -> None:
    """Settings belong to the model, options to a call."""
    with LoopbackServer(SURE) as server:
        ask(server, settings={"a": 1, "b": 1}, options={"b": 2})
    assert (server.requests[0].body["a"], server.requests[0].body["b"]) == (1, 2)


@pytest.mark.parametrize("name", ["stream", "n"])
def test_options_that_change_the_shape_of_the_reply_are_refused(name: str) -> None:
    """One call is one whole reply."""
    with LoopbackServer(SURE) as server:
        with pytest.raises(InvalidInput, match=rf"provider_options\.{name} is not taken"):
            ask(server, options={name: True})
    assert server.requests == []


def test_a_field_cannot_ask_another_model_than_the_evidence_names() -> None:
    """A result would be stored and calibrated under the name of a model that never answered."""
    with LoopbackServer(SURE) as server:
        with pytest.raises(InvalidInput, match=r"^settings\.model is not .* its own model_id"):
            ask(server, settings={"model": "other"})
        with pytest.raises(InvalidInput, match=r"^provider_options\.model is not taken"):
            ask(server, options={"model": "other"})
    assert server.requests == []


def test_a_schema_a_seed_and_a_draw_are_asked_for_as_openai_does() -> None:
    """Without top_logprobs no logprobs are requested."""
    schema: Mapping[str, JSON] = {"type": "string", "enum": ["A", "B"]}
    with LoopbackServer(Answer(text="A")) as server:
        ask(server, sampling=Sampling(5, seed=3, json_schema=schema))
    body = server.requests[0].body
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": schema},
    }
    assert (body["seed"], body["max_tokens"]) == (3, 5)
    assert "logprobs" not in body


def test_a_plain_text_is_continued_by_a_completion() -> None:
    """The other endpoint, the other shape."""
    with LoopbackServer(SURE) as server:
        reply = ask(server, prompt=TextPrompt("Letter:"), sampling=Sampling(1, top_logprobs=2))
    assert server.requests[0].path == "/v1/completions"
    assert server.requests[0].body["prompt"] == "Letter:"
    assert server.requests[0].body["logprobs"] == 2
    assert [a.token for a in reply.positions[0].alternatives] == ["A", "B"]


@pytest.mark.parametrize(
    ("provider", "fields", "message"),
    [
        pytest.param(
            "vllm", {"continue_final_message": True, "add_generation_prompt": False}, {}, id="vllm"
        ),
        pytest.param("mistral", {}, {"prefix": True}, id="mistral"),
    ],
)
def test_an_assistants_turn_is_continued_where_the_provider_can(
    provider: str, fields: Mapping[str, JSON], message: Mapping[str, JSON]
) -> None:
    """Each has a field of its own for it."""
    begun = ChatPrompt((*QUESTION.messages, Message("assistant", "Answer:")))
    with LoopbackServer(SURE) as server:
        ask(server, prompt=begun, provider=PROVIDERS[provider])
    body = server.requests[0].body
    assert fields.items() <= body.items()
    messages = body["messages"]
    assert isinstance(messages, list)
    assert messages[-1] == {"role": "assistant", "content": "Answer:", **message}


def test_an_assistants_turn_is_not_sent_where_it_might_be_answered_instead() -> None:
    """An unknown endpoint may begin a new turn, and the slot would be another."""
    begun = ChatPrompt((*QUESTION.messages, Message("assistant", "Answer:")))
    with LoopbackServer(SURE) as server:
        with pytest.raises(CapabilityError, match="continue an assistant's turn"):
            ask(server, prompt=begun)
    assert server.requests == []


@pytest.mark.parametrize("logprobs", ["null", "missing", "empty"])
def test_logprobs_that_come_and_go_are_noticed_on_every_response(logprobs: str) -> None:
    """Fault 58: which host a gateway chooses decides, call by call."""
    gone = Answer(text="A", logprobs=logprobs)  # type: ignore[arg-type]
    with LoopbackServer([SURE, gone, SURE]) as server:
        assert ask(server).positions
        with pytest.raises(CapabilityError, match=f"'m-1' at {server.base_url} gives no"):
            ask(server)
        assert ask(server).positions
    assert len(server.requests) == 3


def test_a_positive_logprob_names_the_server() -> None:
    """Vector: probabilities under the name of logprobs."""
    failed = failure(Answer(positions=[[("A", 0.7), ("B", 0.3)]]))
    assert isinstance(failed, MalformedResponse)
    assert "'m-1' at http://127.0.0.1" in str(failed)


def test_a_nan_is_malformed_and_minus_infinity_is_kept() -> None:
    """Vector V14, as JSON's extension writes them."""
    failed = failure(Answer(positions=[[("A", float("nan")), ("B", -1.0)]]))
    assert isinstance(failed, MalformedResponse)
    impossible = Answer(positions=[[("A", -0.1), ("B", float("-inf")), ("C", -9999.0)]])
    with LoopbackServer(impossible) as server:
        reply = ask(server)
    logprobs = [a.logprob for a in reply.positions[0].alternatives]
    assert logprobs == [-0.1, -math.inf, -math.inf]


@pytest.mark.parametrize(
    ("answer", "status", "retryable"),
    [
        pytest.param(error(401, "bad key"), 401, False, id="401"),
        pytest.param(error(404, "no model"), 404, False, id="404"),
        pytest.param(throttled(2.0), 429, True, id="429"),
        pytest.param(error(503, "busy"), 503, True, id="503"),
        pytest.param(error(529, "overloaded"), 529, True, id="529"),
        pytest.param(Answer(status=502, body=b"<html>Bad gateway</html>"), 502, True, id="html"),
        pytest.param(Answer(status=500, body=b""), 500, True, id="empty-500"),
    ],
)
def test_a_status_becomes_our_error_and_is_asked_once(
    answer: Answer, status: int, retryable: bool
) -> None:
    """The SDK's own retries are off."""
    with LoopbackServer(answer) as server, pytest.raises(ProviderError) as caught:
        ask(server)
    assert (caught.value.status, caught.value.retryable) == (status, retryable)
    assert len(server.requests) == 1


def test_half_a_surrogate_pair_in_a_reply_is_a_question_mark() -> None:
    """A server that cuts a text within one writes it so; a parser may refuse it."""
    body = rb'{"choices": [{"message": {"content": "Caf\u00e9 \ud83d"}, "finish_reason": "stop"}]}'
    with LoopbackServer(Answer(body=body)) as server:
        reply = ask(server, sampling=Sampling(8))
    assert (reply.text, reply.finish_reason) == ("Caf\u00e9 ?", "stop")


def test_retry_after_reaches_the_error() -> None:
    """Who retries decides by it."""
    failed = failure(throttled(2.5))
    assert isinstance(failed, ProviderError)
    assert failed.retry_after == 2.5


def test_a_refusal_of_logprobs_is_a_capability_error() -> None:
    """OpenAI's answer for its reasoning models."""
    failed = failure(error(403, "You are not allowed to request logprobs from this model"))
    assert isinstance(failed, CapabilityError)


@pytest.mark.parametrize("ending", ["dropped", "truncated"])
def test_a_connection_that_breaks_may_be_tried_again(ending: str) -> None:
    """Before the answer, or in the middle of it."""
    failed = failure(Answer(positions=SURE.positions, ending=ending))  # type: ignore[arg-type]
    assert isinstance(failed, ProviderError)
    assert (failed.retryable, failed.code) == (True, "connection")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>", id="html"),
        pytest.param(b"", id="nothing"),
        pytest.param(b'{"choices": [{"mess', id="half"),
        pytest.param(b"[" * 100_000, id="deep"),
        pytest.param(b"null", id="null"),
        pytest.param(b"\xff\xfe", id="bytes"),
    ],
)
def test_a_success_that_is_not_the_protocol_is_malformed(body: bytes) -> None:
    """A proxy's page with status 200, for one."""
    assert isinstance(failure(Answer(body=body)), MalformedResponse)


def test_an_error_inside_a_success_is_that_error() -> None:
    """Gateways answer 200 where the host behind them was throttled."""
    body = json.dumps({"error": {"message": "Rate limited upstream", "code": 429}}).encode()
    failed = failure(Answer(body=body))
    assert isinstance(failed, ProviderError)
    assert (failed.status, failed.retryable) == (429, True)


def test_an_endpoint_that_is_not_there_may_come_up() -> None:
    """The message says what to check."""
    with LoopbackServer(SURE) as server:
        address = server.base_url

    async def once() -> None:
        await OpenAICompatible("m-1", base_url=address).complete(QUESTION, READ, options={})

    with pytest.raises(ProviderError, match=r"no response from .*check the address") as caught:
        asyncio.run(once())
    assert caught.value.retryable


@pytest.mark.parametrize("timeout", [0, -1, math.nan, math.inf, True, "5"], ids=repr)
def test_a_timeout_that_is_no_time_is_refused_before_any_request(timeout: Any) -> None:
    """Infinity overflows deep in the client, and 0 never gets an answer."""
    with pytest.raises(InvalidInput, match="timeout must be a positive number of seconds, got "):
        OpenAICompatible("m-1", base_url="http://localhost:1/v1", timeout=timeout)


def test_a_silent_server_is_a_timeout() -> None:
    """`timeout` bounds one request."""

    async def once(server: LoopbackServer) -> None:
        model = OpenAICompatible("m-1", base_url=server.base_url, timeout=0.05)
        await model.complete(QUESTION, READ, options={})

    with LoopbackServer(SURE) as server:
        server.hold()
        with pytest.raises(ProviderError, match="too long") as caught:
            asyncio.run(once(server))
    assert (caught.value.retryable, caught.value.code) == (True, "timeout")


def _error_classes(of: type[BaseException]) -> list[type[BaseException]]:
    return [of, *(found for kind in of.__subclasses__() for found in _error_classes(kind))]


def _raised(kind: type[BaseException]) -> BaseException:
    # Made without its constructor: each wants something else, and only these facts are read.
    failed = kind.__new__(kind, "no")
    request = httpx2.Request("POST", "http://host/v1")
    facts = {"response": httpx2.Response(418, request=request), "status_code": 418, "body": None}
    failed.__dict__.update(facts)
    return failed


@pytest.mark.parametrize("kind", _error_classes(openai.OpenAIError), ids=lambda kind: kind.__name__)
def test_every_error_class_of_the_sdk_becomes_one_of_ours(kind: type[BaseException]) -> None:
    """A new class in a new SDK must not slip through."""
    with pytest.raises(ClassifyError, match=r"'m-1' at http://host/v1"):
        with sdk_errors(Endpoint("m-1", "http://host/v1"), {}, logprobs=False):
            raise _raised(kind)


def test_a_programmers_error_passes_through() -> None:
    """It is a bug, not an answer of the server."""
    with pytest.raises(ZeroDivisionError, match="division"):
        with sdk_errors(Endpoint("m-1", "http://host/v1"), {}, logprobs=False):
            _ = 1 / 0


def test_neither_key_nor_prompt_is_in_an_error_or_a_repr() -> None:
    """Errors are written to result files."""
    with LoopbackServer(error(401, f"Incorrect key {KEY} for: A state.")) as server:
        with pytest.raises(ProviderError) as caught:
            ask(server, prompt=ChatPrompt((Message("user", "A secret of Ada Lovelace's."),)))
        model = OpenAICompatible("m-1", base_url=server.base_url, api_key=KEY)
    shown = f"{caught.value!r} {caught.value.__dict__} {caught.value.__cause__} {model!r}"
    assert KEY not in shown
    assert "Ada" not in shown


def test_nothing_of_ours_is_logged_and_no_secret_by_the_sdk(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Even where everything is shown, neither the key nor the state is."""
    with caplog.at_level(logging.DEBUG), LoopbackServer([SURE, throttled()]) as server:
        ask(server)
        with pytest.raises(ProviderError):
            ask(server)
    assert [r for r in caplog.records if r.name.startswith("classify")] == []
    assert KEY not in caplog.text
    assert "A state." not in caplog.text


def test_a_quiet_log_stays_empty(caplog: pytest.LogCaptureFixture) -> None:
    """With logging as Python sets it up, an ordinary call says nothing."""
    with LoopbackServer([SURE, throttled()]) as server:
        ask(server)
        with pytest.raises(ProviderError):
            ask(server)
    assert caplog.records == []


@pytest.mark.parametrize("address", ["localhost:8000/v1", "", "ftp://host"])
def test_an_address_without_a_scheme_is_refused(address: str) -> None:
    """With an example of one."""
    with pytest.raises(InvalidInput, match=r"base_url must begin with http://.*got '"):
        OpenAICompatible("m-1", base_url=address)


def test_a_key_with_white_space_inside_is_refused_without_showing_it() -> None:
    """It would be a header of two lines."""
    with pytest.raises(InvalidInput, match="api_key holds no key") as caught:
        OpenAICompatible("m-1", base_url="http://host/v1", api_key="two\nlines")
    assert "two" not in str(caught.value)


def test_importing_the_client_loads_no_sdk() -> None:
    """`import classify` stays quick."""
    code = (
        "import sys, classify.openai_compatible, classify.providers, classify.tokenizers\n"
        "print([m for m in ('openai', 'aiohttp', 'httpx2', 'tiktoken') if m in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_azure_is_asked_through_its_deployments(monkeypatch: pytest.MonkeyPatch) -> None:
    """With its own header for the key and the version as a parameter."""
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")

    def answer(request: Request) -> Answer:
        assert request.headers["api-key"] == KEY
        return SURE

    with LoopbackServer(answer) as server:
        address = server.base_url.removesuffix("/v1")

        async def once() -> Reply:
            azure = PROVIDERS["azure"]
            model = OpenAICompatible("dep", base_url=address, api_key=KEY, provider=azure)
            return await model.complete(QUESTION, READ, options={})

        assert asyncio.run(once()).text == "A"
    path = "/openai/deployments/dep/chat/completions?api-version=2024-10-21"
    assert server.requests[0].path == path


def test_what_the_environment_says_of_openai_goes_to_nobody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The SDK would send the organization to any address."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    with LoopbackServer(SURE) as server:
        ask(server)
        ask(server, provider=PROVIDERS["openai"])
    assert "openai-organization" not in server.requests[0].headers
    assert "openai-project" not in server.requests[0].headers
    assert server.requests[1].headers["openai-organization"] == "org-1"


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("https://me:hunter2@host/v1", id="password"),
        pytest.param("https://host/v1?key=hunter2", id="parameter"),
    ],
)
def test_a_secret_in_the_address_is_refused_without_showing_it(address: str) -> None:
    """Addresses stand in errors and results; the key has a place of its own."""
    with pytest.raises(InvalidInput, match=r"'https://host/v1' was given with") as caught:
        OpenAICompatible("m-1", base_url=address)
    assert "hunter" not in str(caught.value)


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It could not reach the address."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    with LoopbackServer(SURE) as server:
        assert ask(server).text == "A"
