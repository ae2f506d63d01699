"""The body of a request: a prompt, how to sample, and a provider's habits; no network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from classify.errors import CapabilityError, InvalidInput
from classify.json_values import JSON, check_json
from classify.language_model import ChatPrompt, Prompt, Sampling, TextPrompt
from classify.openai_shapes import Endpoint
from classify.provider_table import Provider

_NOT_FIELDS = {
    "stream": "a call asks for one whole reply",
    "n": "a call asks for one whole reply",
    "model": "evidence, stored results and calibrators name the model that the model object was "
    "made for; make another with its own model_id",
}


def request(
    prompt: Prompt,
    sampling: Sampling,
    *,
    provider: Provider,
    endpoint: Endpoint,
    label_ids: Sequence[int] = (),
) -> tuple[str, dict[str, JSON]]:
    """Return the path and the body; `label_ids` are the tokens of the sampling's labels.

    Raises CapabilityError for an assistant's turn that the provider is not known to continue.
    """
    body: dict[str, JSON] = {"model": endpoint.model_id, **provider.neutral}
    if sampling.temperature != provider.default_temperature:
        body["temperature"] = sampling.temperature
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.json_schema is not None:
        body["response_format"] = _response_format(sampling.json_schema)
    if sampling.top_logprobs:
        body |= provider.with_logprobs
    if label_ids:
        body["logprob_token_ids"] = list(label_ids)
    if isinstance(prompt, TextPrompt):
        body |= {"prompt": prompt.text, "max_tokens": sampling.max_tokens}
        if sampling.top_logprobs:
            body["logprobs"] = sampling.top_logprobs
        return "/completions", body
    body |= _conversation(prompt, provider, endpoint)
    body[provider.token_limit] = sampling.max_tokens
    if sampling.top_logprobs and provider.counted_logprobs:
        body["logprobs"] = sampling.top_logprobs
    elif sampling.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
    return "/chat/completions", body


def checked_fields(fields: Mapping[str, JSON], where: str) -> dict[str, JSON]:
    """Return a user's fields; InvalidInput for those that change the reply's shape or its model."""
    if not isinstance(fields, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"{where} must map a field to its value, got {type(fields).__name__}")
    check_json(fields, where)
    for name, why in _NOT_FIELDS.items():
        if name in fields:
            raise InvalidInput(f"{where}.{name} is not taken: {why}")
    return dict(fields)


def merged(body: Mapping[str, JSON], more: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return both, the second winning; objects are merged one level deep.

    >>> merged({"provider": {"a": 1}, "n": 1}, {"provider": {"b": 2}, "n": 2})
    {'provider': {'a': 1, 'b': 2}, 'n': 2}
    """
    both = dict(body)
    for name, value in more.items():
        before = both.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            both[name] = {**before, **value}
        else:
            both[name] = value
    return both


def prompt_text(body: Mapping[str, JSON]) -> str:
    """Return what a request says to the model, in one piece."""
    messages = body.get("messages")
    if isinstance(messages, list):
        contents = (m.get("content") for m in messages if isinstance(m, dict))
        return " ".join(content for content in contents if isinstance(content, str))
    return str(body.get("prompt", ""))


def _conversation(prompt: ChatPrompt, provider: Provider, endpoint: Endpoint) -> Mapping[str, JSON]:
    messages: list[dict[str, JSON]] = [
        {"role": message.role, "content": message.content} for message in prompt.messages
    ]
    if prompt.messages[-1].role != "assistant":
        return {"messages": messages}
    if "prefill" not in provider.forms:
        raise CapabilityError(
            f"{endpoint} is not known to continue an assistant's turn; "
            f'use prompt_form="chat", without a prefill'
        )
    messages[-1] |= provider.prefill_message
    return {"messages": messages, **provider.prefill}


def _response_format(schema: Mapping[str, JSON]) -> JSON:
    described: dict[str, JSON] = {"name": "answer", "strict": True, "schema": dict(schema)}
    return {"type": "json_schema", "json_schema": described}
