"""Talk to a llama.cpp server: one connection pool per event loop, every failure one of ours.

It knows paths, statuses and bodies, and nothing of prompts or tokens.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from classify.errors import (
    CapabilityError,
    InvalidInput,
    MalformedResponse,
    ModelError,
    ProviderError,
)
from classify.json_values import JSON
from classify.loop_clients import LoopClients

if TYPE_CHECKING:
    from aiohttp import ClientSession

R = TypeVar("R", bound=BaseModel)

_CONNECT_SECONDS = 10.0
# The server hangs up after 5 idle seconds; a connection it is just closing would fail a request.
_IDLE_SECONDS = 2.0
_OVERFLOW = "exceed_context_size_error"


class _Problem(BaseModel):
    model_config = ConfigDict(extra="ignore")
    message: str = ""
    type: str = ""
    n_prompt_tokens: int | None = None
    n_ctx: int | None = None


class _Refusal(BaseModel):
    model_config = ConfigDict(extra="ignore")
    error: _Problem


class LlamaHTTP:
    """One llama.cpp server, reached from any number of event loops."""

    def __init__(
        self, base_url: str, *, api_key: str | None = None, hints: Mapping[str, str] | None = None
    ) -> None:
        """Take the address and the key; hints are ways out: "unreachable", "key", "context"."""
        self.base_url = base_url.rstrip("/").removesuffix("/v1")
        self._headers = {"Content-Type": "application/json"}
        if api_key:
            self._headers["Authorization"] = f"Bearer {api_key}"
        self._hints = dict(hints or {})
        self._sessions: LoopClients[ClientSession] = LoopClients(self._open)

    async def post(self, path: str, body: Mapping[str, JSON], reply: type[R]) -> R:
        """Send one request and return the reply, checked.

        Raises InvalidInput for a prompt longer than the context, CapabilityError for a path the
        server does not have, ProviderError otherwise.
        """
        import aiohttp

        session = await self._sessions.get()
        try:
            async with session.post(self.base_url + path, data=json.dumps(body).encode()) as answer:
                status, raw = answer.status, await answer.read()
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            raise ProviderError(
                f"no answer from the llama.cpp server at {self.base_url}: "
                f"{error or type(error).__name__}{self._hint('unreachable')}",
                retryable=True,
            ) from error
        if status != 200:
            raise self._refused(path, status, raw)
        try:
            return reply.model_validate_json(raw)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "the body"
            raise MalformedResponse(
                f"{self.base_url}{path} answered in no shape of a llama.cpp server: "
                f"{place}: {first['msg']}",
                status=status,
            ) from None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._sessions.aclose()

    def _open(self) -> ClientSession:
        import aiohttp

        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE_SECONDS),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        )

    def _refused(self, path: str, status: int, raw: bytes) -> ModelError | InvalidInput:
        try:
            problem = _Refusal.model_validate_json(raw).error
        except ValidationError:
            problem = _Problem(message=raw[:200].decode(errors="replace"))
        where = f"{self.base_url}{path}"
        if problem.type == _OVERFLOW:
            return InvalidInput(
                f"the prompt has {problem.n_prompt_tokens} tokens and the model takes fewer than "
                f"{problem.n_ctx}: shorten the state{self._hint('context', ', or ')}"
            )
        if status in (401, 403):
            return ProviderError(
                f"{where} refused the key (status {status}){self._hint('key')}", status=status
            )
        said = f"{where} answered {status}: {problem.message or 'no reason given'}"
        if status in (404, 405, 501):
            return CapabilityError(f"{said}; is it a llama.cpp server (llama-server)?")
        return ProviderError(
            said, status=status, retryable=status >= 500 or status in (408, 429), code=problem.type
        )

    def _hint(self, key: str, joint: str = "; ") -> str:
        return f"{joint}{self._hints[key]}" if key in self._hints else ""
