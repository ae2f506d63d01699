"""What is known of each OpenAI-shaped endpoint, as data: addresses, keys, limits, habits.

Every fact here saves a probe or a refused request; none is needed: what is unknown is found out
from the endpoint (`classify.capability_probe`). Sources: the providers' API references and, for
servers, their own code; limits as of 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from classify.json_values import JSON
from classify.language_model import PromptForm

_CHAT: frozenset[PromptForm] = frozenset({"chat"})
_CHAT_AND_TEXT: frozenset[PromptForm] = frozenset({"chat", "completion"})
_EVERY_FORM: frozenset[PromptForm] = frozenset({"chat", "prefill", "completion"})


def _no_fields() -> Mapping[str, JSON]:
    return {}


@dataclass(frozen=True, slots=True)
class KnownModels:
    """Models whose documented behaviour makes a probe needless."""

    pattern: str
    """Matches the whole model id."""
    top_logprobs: int
    """Alternatives they show; 0 where they refuse logprobs."""
    encoding: str | None = None
    """Their tiktoken encoding."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One endpoint, or one kind of server."""

    name: str
    base_url: str
    key_variable: str | None = None
    base_url_variable: str | None = None
    """A variable that moves the endpoint elsewhere."""
    local: bool = False
    """Whether it usually runs on this machine and needs no key."""
    alternatives: tuple[int, ...] = (20, 5)
    """Values of top_logprobs to try, the best first; a refused one costs nothing."""
    token_limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    """The field that bounds the output."""
    default_temperature: float | None = None
    """Left out of the request where it is wanted: some models refuse the field itself."""
    neutral: Mapping[str, JSON] = field(default_factory=_no_fields)
    """Sent with every request, so that no default of the server shapes the distribution."""
    with_logprobs: Mapping[str, JSON] = field(default_factory=_no_fields)
    """Sent where logprobs are asked for."""
    counted_logprobs: bool = False
    """Whether chat takes `logprobs` as the number of alternatives, without `top_logprobs`."""
    forms: frozenset[PromptForm] = _CHAT
    """The prompt forms it takes."""
    prefill: Mapping[str, JSON] = field(default_factory=_no_fields)
    """Sent where the last assistant message is to be continued."""
    prefill_message: Mapping[str, JSON] = field(default_factory=_no_fields)
    """Added to that message."""
    echo: bool | None = False
    """Whether completions echo the logprobs of their prompt; None where a probe must tell."""
    exact_labels: bool = False
    """Whether newer versions take `logprob_token_ids` and have a tokenizer; a probe tells."""
    models: tuple[KnownModels, ...] = ()
    """Those whose behaviour is documented."""

    def known(self, model_id: str) -> KnownModels | None:
        """Return what is documented of a model."""
        return next((m for m in self.models if re.fullmatch(m.pattern, model_id)), None)


COMPATIBLE = Provider(
    name="compatible",
    base_url="",
    forms=_CHAT_AND_TEXT,
    echo=None,
)
"""Any endpoint that speaks OpenAI's protocol: everything is found out."""

_OPENAI_MODELS = (
    KnownModels(
        r"(ft:)?(gpt-4o|gpt-4o-mini|gpt-4\.1|gpt-4\.1-mini|gpt-4\.1-nano|chatgpt-4o-latest)"
        r"(-\d{4}-\d\d-\d\d)?(:.*)?",
        top_logprobs=20,
        encoding="o200k_base",
    ),
    KnownModels(
        r"(ft:)?(gpt-4|gpt-4-turbo|gpt-3\.5-turbo)(-\d{4}|-\d{4}-\d\d-\d\d)?(:.*)?",
        top_logprobs=20,
        encoding="cl100k_base",
    ),
    # Models that always reason; from gpt-5.1 on reasoning can be switched off, so a probe tells.
    KnownModels(r"(o1|o3|o4)(-.*)?|gpt-5(-.*)?", top_logprobs=0, encoding="o200k_base"),
)

_VLLM_PREFILL: Mapping[str, JSON] = {
    "continue_final_message": True,
    "add_generation_prompt": False,
}

_ROWS = (
    Provider(
        name="openai",
        base_url="https://api.openai.com/v1",
        base_url_variable="OPENAI_BASE_URL",
        key_variable="OPENAI_API_KEY",
        alternatives=(20,),
        token_limit="max_completion_tokens",
        default_temperature=1.0,
        models=_OPENAI_MODELS,
    ),
    Provider(
        # Deployments are named by their owner, so their names say nothing.
        name="azure",
        base_url="",
        base_url_variable="AZURE_OPENAI_ENDPOINT",
        key_variable="AZURE_OPENAI_API_KEY",
        alternatives=(20, 5),
        token_limit="max_completion_tokens",
        default_temperature=1.0,
    ),
    Provider(
        name="openrouter",
        base_url="https://openrouter.ai/api/v1",
        base_url_variable="OPENROUTER_BASE_URL",
        key_variable="OPENROUTER_API_KEY",
        # Else it may route to a host that drops the field without a word.
        with_logprobs={"provider": {"require_parameters": True}},
    ),
    Provider(
        name="together",
        base_url="https://api.together.xyz/v1",
        base_url_variable="TOGETHER_BASE_URL",
        key_variable="TOGETHER_API_KEY",
        counted_logprobs=True,
        forms=_CHAT_AND_TEXT,
    ),
    Provider(
        name="fireworks",
        base_url="https://api.fireworks.ai/inference/v1",
        base_url_variable="FIREWORKS_BASE_URL",
        key_variable="FIREWORKS_API_KEY",
        alternatives=(5,),
        forms=_CHAT_AND_TEXT,
        echo=None,
    ),
    Provider(
        name="deepseek",
        base_url="https://api.deepseek.com",
        base_url_variable="DEEPSEEK_BASE_URL",
        key_variable="DEEPSEEK_API_KEY",
        alternatives=(20,),
        models=(
            KnownModels("deepseek-chat", top_logprobs=20),
            KnownModels("deepseek-reasoner", top_logprobs=0),
        ),
    ),
    Provider(
        name="xai",
        base_url="https://api.x.ai/v1",
        base_url_variable="XAI_BASE_URL",
        key_variable="XAI_API_KEY",
        alternatives=(8,),
        token_limit="max_completion_tokens",
    ),
    Provider(
        name="mistral",
        base_url="https://api.mistral.ai/v1",
        base_url_variable="MISTRAL_BASE_URL",
        key_variable="MISTRAL_API_KEY",
        forms=frozenset({"chat", "prefill"}),
        prefill_message={"prefix": True},
    ),
    Provider(
        name="groq",
        base_url="https://api.groq.com/openai/v1",
        base_url_variable="GROQ_BASE_URL",
        key_variable="GROQ_API_KEY",
    ),
    Provider(
        name="deepinfra",
        base_url="https://api.deepinfra.com/v1/openai",
        base_url_variable="DEEPINFRA_BASE_URL",
        key_variable="DEEPINFRA_API_KEY",
        forms=_CHAT_AND_TEXT,
    ),
    Provider(
        name="cerebras",
        base_url="https://api.cerebras.ai/v1",
        base_url_variable="CEREBRAS_BASE_URL",
        key_variable="CEREBRAS_API_KEY",
    ),
    Provider(
        # 20 unless it was started with a higher --max-logprobs. Its defaults for sampling come
        # from the model's generation_config.json.
        name="vllm",
        base_url="http://localhost:8000/v1",
        base_url_variable="VLLM_BASE_URL",
        key_variable="VLLM_API_KEY",
        local=True,
        alternatives=(100, 20, 5),
        neutral={"top_p": 1.0, "top_k": -1},
        forms=_EVERY_FORM,
        prefill=_VLLM_PREFILL,
        echo=None,
        exact_labels=True,
    ),
    Provider(
        name="sglang",
        base_url="http://localhost:30000/v1",
        base_url_variable="SGLANG_BASE_URL",
        key_variable="SGLANG_API_KEY",
        local=True,
        alternatives=(100, 20, 5),
        neutral={"top_p": 1.0, "top_k": -1},
        forms=_EVERY_FORM,
        prefill={"continue_final_message": True},
        echo=None,
    ),
    Provider(
        name="ollama",
        base_url="http://localhost:11434/v1",
        base_url_variable="OLLAMA_BASE_URL",
        key_variable="OLLAMA_API_KEY",
        local=True,
        alternatives=(20,),
        neutral={"top_p": 1.0},
        forms=_CHAT_AND_TEXT,
    ),
    Provider(
        name="lmstudio",
        base_url="http://localhost:1234/v1",
        base_url_variable="LMSTUDIO_BASE_URL",
        key_variable="LMSTUDIO_API_KEY",
        local=True,
        forms=_CHAT_AND_TEXT,
        echo=None,
    ),
)

PROVIDERS: Mapping[str, Provider] = {row.name: row for row in _ROWS}
"""Every provider, by the name that stands before the slash of a model."""


def provider_at(base_url: str) -> Provider:
    """Return the hosted provider whose address this is, or what is true of any endpoint."""
    host = urlsplit(base_url).hostname
    hosted = (row for row in _ROWS if row.base_url and not row.local)
    return next((row for row in hosted if urlsplit(row.base_url).hostname == host), COMPATIBLE)


def shown_address(base_url: str) -> str:
    """Return an address without the user, password and parameters that it may hold.

    >>> shown_address("https://me:secret@host.example:8443/v1/?key=secret")
    'https://host.example:8443/v1'
    """
    parts = urlsplit(base_url)
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path}".rstrip("/") if parts.scheme else base_url


def is_local_address(base_url: str) -> bool:
    """Say whether an address is on this machine, where no key is needed."""
    host = urlsplit(base_url).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")
