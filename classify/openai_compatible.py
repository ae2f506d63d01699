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
from classify.errors import CapabilityError, InvalidInput
from classify.json_values import JSON, check_json
from classify.language_model import (
    Capabilities,
    ChatPrompt,
    Prompt,
    Reply,
    Sampling,
    TextPrompt,
    TextScores,
)
from classify.loop_clients import LoopClients
from classify.openai_shapes import (
    Endpoint,
    chat_messages,
    is_prefill,
    read_reply,
    response_format,
)
from classify.provider_table import Provider, provider_at

if TYPE_CHECKING:
    import httpx2
    from openai import AsyncOpenAI

_MOST_CONNECTIONS = 100_000
"""Requests in flight are bounded elsewhere; without a number aiohttp stops at 100."""

_CONNECT_SECONDS = 60.0
"""A busy loop that opens many connections at once takes longer than the SDK's 5 seconds."""

_AZURE_API_VERSION = "2024-10-21"

_NOT_OPTIONS = ("stream", "n")


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
                f"base_url must begin with http:// or https://, got {address!r}; "
                f'for a server on this machine "http://localhost:8000/v1"'
            )
        self._row = provider or provider_at(address)
        self._model_id = model_id
        self._endpoint = Endpoint(model_id, address.rstrip("/"))
        self._settings = _checked_fields(settings or {}, "settings")
        self._key, self._timeout = read_key(self._row, api_key), timeout
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

        Raises CapabilityError where logprobs are asked for and the response has none, or where
        an earlier probe has found so: then nothing is sent.
        """
        found = capability_probe.known(self._probe_key())
        if sampling.top_logprobs and found is not None and not found.top_logprobs:
            raise self._endpoint.no_logprobs("as it has said before; nothing was sent")
        path, body = self._request(prompt, sampling)
        parsed = await self._post(path, body, options, logprobs=sampling.top_logprobs > 0)
        return read_reply(parsed, sampling, self._endpoint)

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

    def _request(self, prompt: Prompt, sampling: Sampling) -> tuple[str, dict[str, JSON]]:
        """Return the path and the body."""
        row = self._row
        body: dict[str, JSON] = {"model": self._model_id, **row.neutral}
        if sampling.temperature != row.default_temperature:
            body["temperature"] = sampling.temperature
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        if sampling.json_schema is not None:
            body["response_format"] = response_format(sampling.json_schema)
        if sampling.top_logprobs:
            body |= row.with_logprobs
        if isinstance(prompt, TextPrompt):
            body |= {"prompt": prompt.text, "max_tokens": sampling.max_tokens}
            if sampling.top_logprobs:
                body["logprobs"] = sampling.top_logprobs
            return "/completions", body
        body |= {"messages": self._messages(prompt), row.token_limit: sampling.max_tokens}
        if sampling.top_logprobs and row.counted_logprobs:
            body["logprobs"] = sampling.top_logprobs
        elif sampling.top_logprobs:
            body |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
        if is_prefill(prompt):
            body |= row.prefill
        return "/chat/completions", body

    def _messages(self, prompt: ChatPrompt) -> list[JSON]:
        messages = chat_messages(prompt)
        if is_prefill(prompt):
            if "prefill" not in self._row.forms:
                raise CapabilityError(
                    f"{self._endpoint} is not known to continue an assistant's turn; "
                    f'use prompt_form="chat"'
                )
            last = prompt.messages[-1]
            opened = {"role": last.role, "content": last.content, **self._row.prefill_message}
            messages[-1] = opened
        return messages

    async def _post(
        self, path: str, body: dict[str, JSON], options: Mapping[str, JSON], *, logprobs: bool
    ) -> JSON:
        import httpx2
        import jiter

        whole = _merged(body, self._settings)
        if options:
            whole = _merged(whole, _checked_fields(options, "provider_options"))
        client = await self._clients.get()
        with self._errors(whole, logprobs):
            response = await client.post(path, cast_to=httpx2.Response, body=whole)
        try:
            parsed: JSON = jiter.from_json(response.content)
        except ValueError:
            kind = response.headers.get("content-type", "without a type")
            raise self._endpoint.malformed(f"the response is not JSON ({kind})") from None
        self._raise_error_inside(parsed, whole, logprobs)
        return parsed

    @contextmanager
    def _errors(self, body: Mapping[str, JSON], logprobs: bool) -> Generator[None]:
        """Turn the SDK's errors into ours; programmers' errors pass through."""
        import aiohttp
        import openai

        try:
            yield
        except openai.APIStatusError as error:
            raise openai_errors.refused(
                self._endpoint,
                error.status_code,
                headers=error.response.headers,
                body=error.body if error.body is not None else error.response.text,
                asked_logprobs=logprobs,
                sent=_prompt_text(body),
            ) from None
        except openai.APIResponseValidationError:
            raise self._endpoint.malformed("the SDK cannot read the response") from None
        except openai.APIConnectionError as error:
            raise openai_errors.unanswered(self._endpoint, error) from None
        # What aiohttp raises and the SDK's transport does not know of.
        except (openai.OpenAIError, aiohttp.ClientError) as error:
            raise openai_errors.unknown(self._endpoint, error) from None

    def _raise_error_inside(self, parsed: JSON, body: Mapping[str, JSON], logprobs: bool) -> None:
        # Gateways answer 200 with an error in the body where the host behind them failed.
        if not isinstance(parsed, dict) or not parsed.get("error") or parsed.get("choices"):
            return
        inside = parsed["error"]
        status = inside.get("code") if isinstance(inside, dict) else None
        raise openai_errors.refused(
            self._endpoint,
            status if isinstance(status, int) else 502,
            headers={},
            body=parsed,
            asked_logprobs=logprobs,
            sent=_prompt_text(body),
        )

    def _new_client(self) -> AsyncOpenAI:
        import httpx2
        import openai

        most = httpx2.Limits(
            max_connections=_MOST_CONNECTIONS, max_keepalive_connections=_MOST_CONNECTIONS
        )
        waits = httpx2.Timeout(self._timeout, connect=_CONNECT_SECONDS)
        http = openai.DefaultAioHttpClient(limits=most, timeout=waits)
        if self._row.name == "azure":
            return _azure_client(self.base_url, self._key, http)
        client = openai.AsyncOpenAI(
            api_key=self._key or "none", base_url=self.base_url, max_retries=0, http_client=http
        )
        if self._row.name != "openai":
            # Read from the environment by the SDK; other companies have no use for them.
            client.organization = client.project = None
        return client


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


def _checked_fields(fields: Mapping[str, JSON], where: str) -> dict[str, JSON]:
    """Return fields for the body; raises InvalidInput for those that would change the reply."""
    if not isinstance(fields, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"{where} must map a field to its value, got {type(fields).__name__}")
    check_json(fields, where)
    for name in _NOT_OPTIONS:
        if name in fields:
            raise InvalidInput(f"{where}.{name} is not taken: a call asks for one whole reply")
    return dict(fields)


def _merged(body: Mapping[str, JSON], more: Mapping[str, JSON]) -> dict[str, JSON]:
    # Objects are merged one level deep, so that a user's routing keeps ours beside it.
    merged = dict(body)
    for name, value in more.items():
        before = merged.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            merged[name] = {**before, **value}
        else:
            merged[name] = value
    return merged


def _prompt_text(body: Mapping[str, JSON]) -> str:
    messages = body.get("messages")
    if isinstance(messages, list):
        contents = (m.get("content") for m in messages if isinstance(m, dict))
        return " ".join(content for content in contents if isinstance(content, str))
    return str(body.get("prompt", ""))
