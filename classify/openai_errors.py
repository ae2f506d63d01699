"""What went wrong at an OpenAI-shaped endpoint, as an error of ours: the one place that decides.

It knows statuses, headers and bodies, and no SDK. A message names the model, the address and what
the server said, cut short; never a key, a header, or the prompt.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

from classify.errors import ModelError, ProviderError
from classify.openai_shapes import Endpoint

_SEVERAL = frozenset({408, 409, 429})
"""Statuses below 500 after which another attempt may succeed."""

_LONGEST_REASON = 300
_LONGEST_CODE = 100

_ADVICE = {
    401: "the key is missing, wrong or expired",
    402: "the account has no credit left",
    403: "the key may not do this",
    404: "there is no such model or path; check the model's name and the base URL",
    413: "the request is too large",
    422: "the server cannot work with a field of the request",
    429: "too many requests, or the quota is used up",
    529: "the server is overloaded",
}

_LOGPROBS = re.compile(r"log[_ ]?prob", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context[_ ](length|window)|maximum context|too many tokens|prompt is too long", re.IGNORECASE
)
_FILTERED = re.compile(r"content[_ ](filter|policy)|responsible.?ai", re.IGNORECASE)
_SECRET = re.compile(r"\b(sk|xai|gsk|fw|tgp|key)[-_][\w*.-]{4,}|Bearer\s+\S+", re.IGNORECASE)


def refused(
    endpoint: Endpoint,
    status: int,
    *,
    headers: Mapping[str, str],
    body: object,
    asked_logprobs: bool,
    sent: str = "",
) -> ModelError:
    """Return the error for a response whose status is not a success.

    `sent` is the text of the prompt, so that a server that quotes it is not quoted in turn.
    """
    reason, code = _reason_and_code(body)
    reason, code = endpoint.without_secret(reason), code and endpoint.without_secret(code)
    if asked_logprobs and status in (400, 403, 404, 422, 501) and _speaks_of_logprobs(reason, code):
        return endpoint.no_logprobs(f"status {status}: {_said(reason, sent)}")
    code = _known_code(reason, code)
    return ProviderError(
        f"{endpoint} answered {status}: {_explained(status, code)}{_quoted(reason, sent)}",
        status=status,
        retryable=_retryable(status, code, headers),
        retry_after=retry_after(headers),
        request_id=headers.get("x-request-id"),
        code=code,
    )


def unanswered(endpoint: Endpoint, error: BaseException) -> ProviderError:
    """Return the error for a request that got no response; another attempt may get one."""
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    kind = type(cause).__name__
    if isinstance(cause, socket.gaierror):
        kind = "the host's name was not found"
    if isinstance(cause, TimeoutError) or "Timeout" in kind:
        return ProviderError(
            f"{endpoint} took too long to answer ({kind})", retryable=True, code="timeout"
        )
    return ProviderError(
        f"no response from {endpoint} ({kind}); check the address, the network, and that the "
        f"server runs",
        retryable=True,
        code="connection",
    )


def unknown(endpoint: Endpoint, error: BaseException) -> ProviderError:
    """Return the error for what the SDK raises beyond the failures of a request."""
    return ProviderError(f"{endpoint}: the client failed ({type(error).__name__})", code="client")


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait: `retry-after-ms`, seconds, or a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    try:
        moment = parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError):  # no date, or one that its time zone puts out of range
        return None
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def _retryable(status: int, code: str | None, headers: Mapping[str, str]) -> bool:
    asked = headers.get("x-should-retry")
    if asked in ("true", "false"):
        return asked == "true"
    # A used-up quota answers 429 too, and no waiting fills it.
    if code in ("insufficient_quota", "context_length_exceeded", "content_filter"):
        return False
    return status in _SEVERAL or status >= 500


def _reason_and_code(body: object) -> tuple[str, str | None]:
    """Return what the server says, from any of the shapes in use.

    {"error": {"message", "code"}}, its inside alone, {"detail": …}, {"message": …}, plain text.
    """
    if not isinstance(body, Mapping):
        return (body if isinstance(body, str) else ""), None
    fields = cast(Mapping[object, object], body)
    inside = fields.get("error")
    if inside is not None:
        reason, code = _reason_and_code(inside)
        return reason, code or _code(fields)
    reason = str(fields.get("message") or fields.get("detail") or "")
    param = fields.get("param")
    where = f" ({param})" if isinstance(param, str) and param not in reason else ""
    return f"{reason}{where}", _code(fields)


def _code(body: Mapping[object, object]) -> str | None:
    code = body.get("code") or body.get("type")
    return str(code)[:_LONGEST_CODE] if isinstance(code, str | int) else None


def _known_code(reason: str, code: str | None) -> str | None:
    both = f"{code} {reason}"
    if _TOO_LONG.search(both):
        return "context_length_exceeded"
    return "content_filter" if _FILTERED.search(both) else code


def _explained(status: int, code: str | None) -> str:
    if code == "context_length_exceeded":
        return "the prompt is longer than the model's context; shorten the state or the criteria"
    if code == "content_filter":
        return "its content filter refused the request"
    if code == "insufficient_quota":
        return "the quota is used up; no retry will help"
    return _ADVICE.get(status, "a fault of the server" if status >= 500 else "it refused")


def _quoted(reason: str, sent: str) -> str:
    said = _said(reason, sent)
    return f" ({said})" if said else ""


def _said(reason: str, sent: str) -> str:
    """Return the server's words without secrets, or nothing where they hold the prompt's."""
    words = " ".join(_SECRET.sub("[secret]", reason).split())
    if _quotes(words, sent):
        return "the server's message quotes the prompt and is left out"
    return words if len(words) <= _LONGEST_REASON else words[:_LONGEST_REASON] + "…"


def _quotes(words: str, sent: str) -> bool:
    # A line of the prompt, which a short state is, or any 24 characters of it in a row: enough
    # that a common word does not count.
    if any(len(line) > 8 and line in words for line in map(str.strip, sent.splitlines())):
        return True
    flat, width = " ".join(sent.split()), 24
    if len(flat) <= width:
        return len(flat) > 8 and flat in words
    return any(words[i : i + width] in flat for i in range(len(words) - width + 1))


def _speaks_of_logprobs(reason: str, code: str | None) -> bool:
    return _LOGPROBS.search(f"{reason} {code}") is not None


def _number(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is None or 0.0 <= value < float("inf") else None
