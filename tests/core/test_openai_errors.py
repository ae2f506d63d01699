"""The one place that decides what a failed request is, and whether another may succeed."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from classify.errors import CapabilityError, ModelError, ProviderError
from classify.openai_errors import refused, retry_after, unanswered
from classify.openai_shapes import Endpoint

ENDPOINT = Endpoint("m-1", "http://host/v1")


def error(
    status: int,
    message: str = "no",
    *,
    code: str | None = None,
    headers: Mapping[str, str] | None = None,
    asked_logprobs: bool = False,
    sent: str = "",
) -> ModelError:
    body = {"error": {"message": message, "code": code}}
    return refused(
        ENDPOINT,
        status,
        headers=headers or {},
        body=body,
        asked_logprobs=asked_logprobs,
        sent=sent,
    )


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_a_status_that_may_pass_is_retryable(status: int) -> None:
    """As in the SDK: request timeout, lock, throttling and faults of the server."""
    failed = error(status)
    assert isinstance(failed, ProviderError)
    assert (failed.status, failed.retryable) == (status, True)


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422, 451])
def test_a_refusal_is_not_retryable(status: int) -> None:
    """Asking again would be refused again (fault D3: never retry 422)."""
    failed = error(status)
    assert isinstance(failed, ProviderError)
    assert (failed.status, failed.retryable) == (status, False)


def test_a_used_up_quota_is_not_retried_although_it_is_a_429() -> None:
    """No waiting fills it."""
    failed = error(429, "You exceeded your current quota", code="insufficient_quota")
    assert isinstance(failed, ProviderError)
    assert not failed.retryable
    assert "quota is used up" in str(failed)


@pytest.mark.parametrize(
    ("status", "asked", "retryable"),
    [
        pytest.param(500, "false", False, id="a-fault-not-to-be-retried"),
        pytest.param(400, "true", True, id="a-refusal-to-be-retried"),
    ],
)
def test_the_server_may_say_whether_to_retry(status: int, asked: str, retryable: bool) -> None:
    """The header x-should-retry wins."""
    failed = error(status, headers={"x-should-retry": asked})
    assert isinstance(failed, ProviderError)
    assert failed.retryable is retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({"retry-after": "2"}, 2.0, id="seconds"),
        pytest.param({"retry-after-ms": "250", "retry-after": "2"}, 0.25, id="milliseconds-first"),
        pytest.param({"retry-after": "soon"}, None, id="nonsense"),
        pytest.param({"retry-after": "-3"}, None, id="negative"),
        pytest.param({"retry-after": "inf"}, None, id="infinite"),
        pytest.param({}, None, id="absent"),
    ],
)
def test_retry_after_is_read(headers: Mapping[str, str], seconds: float | None) -> None:
    """Both headers in use."""
    assert retry_after(headers) == seconds


def test_retry_after_may_be_a_date() -> None:
    """The other form that HTTP allows."""
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    seconds = retry_after({"retry-after": date})
    assert seconds is not None
    assert 0.0 < seconds <= 30.0


@pytest.mark.parametrize(
    ("status", "message"),
    [
        pytest.param(403, "You are not allowed to request logprobs from this model", id="403"),
        pytest.param(400, "logprobs are not supported with reasoning models", id="400"),
        pytest.param(400, "`logprobs` is not supported with this model", id="400-groq"),
        pytest.param(404, "No endpoints support the parameters: top_logprobs", id="404-router"),
        pytest.param(422, "top_logprobs: extra inputs are not permitted", id="422"),
    ],
)
def test_a_refusal_that_speaks_of_logprobs_is_a_capability_error(status: int, message: str) -> None:
    """Naming the model, the address and the ways out."""
    failed = error(status, message, asked_logprobs=True)
    assert isinstance(failed, CapabilityError)
    assert "'m-1' at http://host/v1 gives no logprobs" in str(failed)
    assert 'fallback="sample"' in str(failed)


def test_a_server_fault_that_speaks_of_logprobs_may_pass() -> None:
    """A 500 says nothing of what the endpoint can do."""
    assert isinstance(error(500, "logprobs worker died", asked_logprobs=True), ProviderError)


@pytest.mark.parametrize(
    ("message", "code", "expected"),
    [
        pytest.param(
            "This model's maximum context length is 8192 tokens",
            None,
            "context_length_exceeded",
            id="context-by-message",
        ),
        pytest.param("no", "context_length_exceeded", "context_length_exceeded", id="by-code"),
        pytest.param(
            "The response was filtered due to the prompt triggering Azure OpenAI's content"
            " management policy",
            "content_filter",
            "content_filter",
            id="filter",
        ),
        pytest.param("no such model", "model_not_found", "model_not_found", id="other"),
    ],
)
def test_known_causes_have_one_code(message: str, code: str | None, expected: str) -> None:
    """Whatever words the server uses."""
    failed = error(400, message, code=code)
    assert isinstance(failed, ProviderError)
    assert (failed.code, failed.retryable) == (expected, False)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        pytest.param({"error": {"message": "bad A"}}, "bad A", id="openai"),
        pytest.param({"message": "bad B", "code": 3}, "bad B", id="inside-alone"),
        pytest.param({"detail": "bad C"}, "bad C", id="fastapi"),
        pytest.param({"error": "bad D"}, "bad D", id="text-in-error"),
        pytest.param("bad E", "bad E", id="plain-text"),
        pytest.param({"detail": [{"msg": "bad F"}]}, "bad F", id="pydantic"),
        pytest.param(None, "answered 400", id="nothing"),
        pytest.param({"error": None}, "answered 400", id="null"),
    ],
)
def test_the_reason_is_found_in_every_shape(body: object, reason: str) -> None:
    """Servers do not agree on where it stands."""
    failed = refused(ENDPOINT, 400, headers={}, body=body, asked_logprobs=False)
    assert reason in str(failed)


def test_a_key_in_the_servers_message_is_cut_out() -> None:
    """OpenAI repeats a wrong key in its 401."""
    failed = error(401, "Incorrect API key provided: sk-proj-abcd1234efgh.")
    assert "sk-proj" not in str(failed)
    assert "[secret]" in str(failed)


def test_a_message_that_quotes_the_prompt_is_left_out() -> None:
    """A state may be private, and errors are written to files."""
    state = "My name is Ada Lovelace and my card is 4111 1111 1111 1111."
    failed = error(400, f"cannot tokenize: {state}", sent=f"Judge this. {state} Answer A or B.")
    assert "Ada" not in str(failed)
    assert "4111" not in str(failed)


def test_a_long_message_is_cut_short() -> None:
    """An HTML page of a proxy is no message."""
    assert len(str(error(502, "x" * 10_000))) < 600


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        pytest.param(TimeoutError(), "timeout", id="timeout"),
        pytest.param(ConnectionResetError(), "connection", id="reset"),
    ],
)
def test_no_response_is_retryable_and_says_which(cause: Exception, code: str) -> None:
    """The SDK's transport calls a dropped connection a timeout; the first cause knows better."""
    outer = RuntimeError("as the SDK says")
    outer.__cause__ = cause
    failed = unanswered(ENDPOINT, outer)
    assert (failed.code, failed.retryable) == (code, True)
    assert type(cause).__name__ in str(failed)


def test_a_host_that_is_not_found_is_said_in_words() -> None:
    """Without a network this is what a newcomer reads first, and "gaierror" says nothing."""
    outer = RuntimeError("as the SDK says")
    outer.__cause__ = socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    failed = unanswered(ENDPOINT, outer)

    assert (failed.code, failed.retryable) == ("connection", True)
    assert "the host's name was not found" in str(failed)
    assert "gaierror" not in str(failed)


def test_a_date_that_its_time_zone_puts_out_of_range_is_none() -> None:
    """An OverflowError would end every other request of the call."""
    assert retry_after({"retry-after": "Fri, 31 Dec 9999 23:59:59 -2359"}) is None


def test_the_key_is_never_repeated_whatever_it_looks_like() -> None:
    """Many providers' keys have no mark that tells them from other words."""
    key = "0f3c9e5d7b1a4c2e8d6f"
    failed = refused(
        Endpoint("m-1", "http://host/v1", key),
        401,
        headers={},
        body={"error": {"message": f"Incorrect API key: {key}", "code": f"bad_{key}"}},
        asked_logprobs=False,
    )
    assert isinstance(failed, ProviderError)
    assert "Incorrect API key: [secret]" in str(failed)
    assert failed.code == "bad_[secret]"
    assert key not in repr(Endpoint("m-1", "http://host/v1", key))


def test_a_short_state_is_not_quoted_either() -> None:
    """It is a line of the prompt, and shorter than any stretch that is compared."""
    failed = error(
        400, "cannot read 'my PIN is 9911'", sent="Question: a\n<state>\nmy PIN is 9911\n"
    )
    assert "9911" not in str(failed)


@pytest.mark.parametrize("code", [{"a": 1}, ["x"]], ids=["object", "list"])
def test_a_code_is_a_word_or_a_number(code: object) -> None:
    """Whatever else stands there is no name of a problem, and may hold anything."""
    body = {"error": {"message": "no", "code": code}}
    failed = refused(ENDPOINT, 400, headers={}, body=body, asked_logprobs=False)
    assert isinstance(failed, ProviderError)
    assert failed.code is None
