"""A language model behind any endpoint that speaks OpenAI's protocol, through the openai SDK.

The only file that imports the SDK, and only when a request is made. The SDK brings the address,
the key, the connections and its error classes; requests are posted as plain JSON and responses
are parsed once, which costs a third of its typed methods.
"""

from __future__ import annotations

import json
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from classify import capability_probe, openai_errors
from classify.api_keys import read_key
from classify.echo_scores import echo_body, read_scores
from classify.errors import CapabilityError, InvalidInput, ModelError
from classify.json_values import JSON
from classify.label_tokens import check_shown, label_ids, tokenizer_url
from classify.language_model import (
    Capabilities,
    Prompt,
    Reply,
    Sampling,
    TextPrompt,
    TextScores,
)
from classify.loop_clients import LoopClients
from classify.openai_requests import checked_fields, merged, prompt_text, request
from classify.openai_shapes import Endpoint, read_reply
from classify.provider_table import Provider, is_local_address, provider_at, shown_address
from classify.validation import check_timeout

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_MOST_CONNECTIONS = 100_000
"""Requests in flight are bounded elsewhere; without a number aiohttp stops at 100."""

_CONNECT_SECONDS = 60.0
"""A busy loop that opens many connections at once takes longer than the SDK's 5 seconds."""

_AZURE_API_VERSION = "2024-10-21"


class OpenAICompatible:
    """A language model at an OpenAI-shaped endpoint.

    It may be used from several event loops: each has a client of its own, closed with the loop.
    """

    def __init__(
        self,
        model_id: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        provider: Provider | None = None,
        settings: Mapping[str, JSON] | None = None,
        timeout: float = 600.0,
    ) -> None:
        """Name the model and where it is; nothing is sent yet.

        Without `base_url` the provider's own is used, without `provider` what is known of the
        address. `settings` are fields of every request, the probe's included, such as
        {"reasoning_effort": "none"}. `timeout` bounds one request, in seconds. Raises InvalidInput.
        """
        if not isinstance(model_id, str) or not model_id:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(f"model_id must be the model's name, got {model_id!r}")
        address = base_url or (provider.base_url if provider else "")
        if not address.startswith(("http://", "https://")):
            raise InvalidInput(
                f"base_url must begin with http:// or https://, got {shown_address(address)!r}; "
                f'for a server on this machine "http://localhost:8000/v1"'
            )
        if shown_address(address) != address.rstrip("/"):
            raise InvalidInput(
                f"base_url {shown_address(address)!r} was given with a user, a password or "
                f"parameters, which are not sent; give the secret as api_key"
            )
        self._row = provider or provider_at(address)
        self._model_id = model_id
        self._settings = checked_fields(settings or {}, "settings")
        check_timeout(timeout)
        self._key, self._timeout = read_key(self._row, api_key), timeout
        self._endpoint = Endpoint(model_id, address.rstrip("/"), self._key or "")
        self._clients = LoopClients(self._new_client)

    def __repr__(self) -> str:
        """Show everything but the key."""
        return f"OpenAICompatible({self._model_id!r}, base_url={self.base_url!r})"

    @property
    def provider(self) -> str:
        """The provider's short name."""
        return self._row.name

    @property
    def model_id(self) -> str:
        """The model's name at the provider."""
        return self._model_id

    @property
    def settings(self) -> Mapping[str, JSON]:
        """The fields sent with every request."""
        return self._settings

    @property
    def base_url(self) -> str:
        """The endpoint's address."""
        return self._endpoint.base_url

    async def capabilities(self) -> Capabilities:
        """Say what the endpoint can do; probed at most once per address, model and settings.

        `top_logprobs` is 0 where it refuses logprobs: it can still be sampled.
        """
        return await capability_probe.remembered(self._probe_key(), self._probe)

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Continue the prompt in one request; `options` are merged into its body.

        Labels named in the sampling are tokenized before it, each once per address and model.
        Raises CapabilityError where logprobs are asked for and the response has none, or where
        an earlier probe has found so: then nothing is sent.
        """
        found = capability_probe.known(self._probe_key())
        if sampling.top_logprobs and found is not None and not found.top_logprobs:
            raise self._endpoint.no_logprobs("as it has said before; nothing was sent")
        endpoint, labels = self._endpoint, sampling.labels
        ids = await label_ids(labels, self._tokenize, endpoint) if labels else ()
        path, body = request(prompt, sampling, provider=self._row, endpoint=endpoint, label_ids=ids)
        parsed = await self._post(path, body, options, logprobs=sampling.top_logprobs > 0)
        reply = read_reply(parsed, sampling, endpoint)
        check_shown(reply, labels, endpoint)
        return reply

    async def score(
        self, prompt: Prompt, texts: Sequence[str], *, options: Mapping[str, JSON]
    ) -> TextScores:
        """Return the exact logprobs of each text after a plain prompt, in one request.

        Raises CapabilityError for a conversation, and where the endpoint does not echo prompts.
        """
        if not isinstance(prompt, TextPrompt):
            raise CapabilityError(
                f"{self._endpoint} scores given texts only after a plain text, not in a "
                f'conversation; use prompt_form="completion"'
            )
        body = {"model": self._model_id, **echo_body(prompt.text, texts)}
        parsed = await self._post("/completions", body, options, logprobs=True)
        return read_scores(parsed, prompt=prompt.text, texts=texts, endpoint=self._endpoint)

    async def aclose(self) -> None:
        """Close the connections of every event loop."""
        await self._clients.aclose()

    def _probe_key(self) -> tuple[str, str, str, str]:
        settings = json.dumps(self._settings, sort_keys=True)
        return self._row.name, self.base_url, self._model_id, settings

    async def _probe(self) -> Capabilities:
        return await capability_probe.probe(
            self._row,
            self._model_id,
            complete=lambda prompt, sampling: self.complete(prompt, sampling, options={}),
            score=lambda prompt, texts: self.score(prompt, texts, options={}),
        )

    async def _tokenize(self, text: str) -> JSON:
        body: dict[str, JSON] = {"model": self._model_id, "prompt": text}
        body["add_special_tokens"] = False
        return await self._send(tokenizer_url(self.base_url), body, logprobs=False)

    async def _post(
        self, path: str, body: dict[str, JSON], options: Mapping[str, JSON], *, logprobs: bool
    ) -> JSON:
        whole = merged(body, self._settings)
        if options:
            whole = merged(whole, checked_fields(options, "provider_options"))
        return await self._send(path, whole, logprobs=logprobs)

    async def _send(self, path: str, whole: dict[str, JSON], *, logprobs: bool) -> JSON:
        import httpx2

        client = await self._clients.get()
        with sdk_errors(self._endpoint, whole, logprobs=logprobs):
            response = await client.post(path, cast_to=httpx2.Response, body=whole)
        try:
            parsed = _parsed(response.content)
        except (ValueError, RecursionError):
            kind = response.headers.get("content-type", "without a type")
            raise self._endpoint.malformed(f"the response is not JSON ({kind})") from None
        failed = _error_inside(parsed, whole, self._endpoint, logprobs=logprobs)
        if failed is not None:
            raise failed
        return parsed

    def _new_client(self) -> AsyncOpenAI:
        import httpx2
        import openai

        most = httpx2.Limits(
            max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_CONNECTIONS
        )
        waits = httpx2.Timeout(self._timeout, connect=_CONNECT_SECONDS)
        # No proxy of the environment reaches this machine's own addresses.
        proxied = not is_local_address(self.base_url)
        http = openai.DefaultAioHttpClient(limits=most, timeout=waits, trust_env=proxied)
        if self._row.name == "azure":
            return _azure_client(self.base_url, self._key, http)
        client = openai.AsyncOpenAI(
            api_key=self._key or "none", base_url=self.base_url, max_retries=0, http_client=http
        )
        if self._row.name != "openai":
            # Read from the environment by the SDK; other companies have no use for them.
            client.organization = client.project = None
        return client


def _parsed(content: bytes) -> JSON:
    import jiter

    try:
        found: JSON = jiter.from_json(content)
    except ValueError:
        # It may be half a surrogate pair, as where a text was cut: a question mark is its place.
        text = json.dumps(json.loads(content), ensure_ascii=False)
        found = json.loads(text.encode("utf-8", "replace"))
    return found


def _azure_client(endpoint: str, key: str | None, http: httpx2.AsyncClient) -> AsyncOpenAI:
    import openai

    # Where no key is given, the SDK reads a token of Entra ID from AZURE_OPENAI_AD_TOKEN.
    return openai.AsyncAzureOpenAI(
        azure_endpoint=endpoint,
        api_version=os.environ.get("OPENAI_API_VERSION", _AZURE_API_VERSION),
        api_key=key,
        max_retries=0,
        http_client=http,
    )


@contextmanager
def sdk_errors(endpoint: Endpoint, body: Mapping[str, JSON], *, logprobs: bool) -> Generator[None]:
    """Turn the SDK's errors into ours; programmers' errors pass through.

    `logprobs` says whether they were asked for: then a refusal may be about them.
    """
    import aiohttp
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise openai_errors.refused(
            endpoint,
            error.status_code,
            headers=error.response.headers,
            body=error.body if error.body is not None else error.response.text,
            asked_logprobs=logprobs,
            sent=prompt_text(body),
        ) from None
    except openai.APIResponseValidationError:
        raise endpoint.malformed("the SDK cannot read the response") from None
    # Some errors of aiohttp come through the SDK's transport as they are.
    except (openai.APIConnectionError, aiohttp.ClientError) as error:
        raise openai_errors.unanswered(endpoint, error) from None
    except openai.OpenAIError as error:
        raise openai_errors.unknown(endpoint, error) from None


def _error_inside(
    parsed: JSON, body: Mapping[str, JSON], endpoint: Endpoint, *, logprobs: bool
) -> ModelError | None:
    # Gateways answer 200 with an error in the body where the host behind them failed.
    if not isinstance(parsed, dict) or not parsed.get("error") or parsed.get("choices"):
        return None
    inside = parsed["error"]
    status = inside.get("code") if isinstance(inside, dict) else None
    return openai_errors.refused(
        endpoint,
        status if isinstance(status, int) else 502,
        headers={},
        body=parsed,
        asked_logprobs=logprobs,
        sent=prompt_text(body),
    )
