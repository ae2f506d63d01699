"""Find a model by its name: "provider/model", "local", or what an installed package registers.

Packages register under the entry point group "classify.models": a provider's name -> a function
of the model id ("" where none is given) that returns a LanguageModel or a DecisionModel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from typing import cast
from urllib.parse import urlsplit

from classify.api_keys import keys_set, missing_key, read_key
from classify.decision import DecisionModel
from classify.errors import InvalidInput
from classify.json_values import check_json
from classify.language_model import LanguageModel
from classify.openai_compatible import OpenAICompatible
from classify.provider_table import COMPATIBLE, PROVIDERS, Provider, is_local_address, shown_address
from classify.validation import unknown_name

GROUP = "classify.models"
DEFAULT = "local"


@dataclass(frozen=True, slots=True)
class ProviderDescription:
    """One provider, as `classify models` shows it; never the value of a key."""

    name: str
    """What stands before the slash of a model's name."""
    base_url: str
    """Where it is now; empty where it has no address, or none is set."""
    base_url_variable: str | None = None
    """The variable that moves it elsewhere."""
    key_variable: str | None = None
    """The variable its key is read from."""
    key_set: bool = False
    """Whether that variable is set."""
    local: bool = False
    """Whether it runs on this machine and needs no key."""


def resolve_model(name: str | None) -> LanguageModel | DecisionModel:
    """Return the model of that name; None is the embedded one, where no provider's key is set.

    Nothing is sent. Raises InvalidInput for an unknown provider, a missing key, and for None
    where a key is set: which model is meant then is the caller's to say.
    """
    if name is None:
        _check_unambiguous()
        name = DEFAULT
    if not isinstance(name, str) or not name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(f"model must be a name such as 'openai/gpt-4.1-mini', got {name!r}")
    check_json(name, "model")
    check_provider(name)
    provider, _, model_id = name.strip().partition("/")
    if provider in PROVIDERS:
        return _compatible(PROVIDERS[provider], model_id, name)
    entry = _registered()[provider]
    factory = cast(Callable[[str], LanguageModel | DecisionModel], entry.load())
    return factory(model_id)


def check_provider(name: str) -> None:
    """Raise InvalidInput where a model's name begins with no known provider; needs no key."""
    provider, _, model_id = name.strip().partition("/")
    if provider not in PROVIDERS and provider not in _registered():
        raise InvalidInput(_unknown(name, provider, model_id))


def describe_providers() -> tuple[ProviderDescription, ...]:
    """Return every provider that a model's name may begin with, sorted by name."""
    rows = [
        ProviderDescription(
            name=row.name,
            base_url=shown_address(_address(row)),
            base_url_variable=row.base_url_variable,
            key_variable=row.key_variable,
            key_set=bool(row.key_variable and os.environ.get(row.key_variable, "").strip()),
            local=row.local,
        )
        for row in PROVIDERS.values()
    ]
    known = [ProviderDescription(name, "") for name in _registered() if name not in PROVIDERS]
    return tuple(sorted([*rows, *known], key=lambda row: row.name))


def _check_unambiguous() -> None:
    keys = keys_set()
    if keys:
        variable, provider = next(iter(keys.items()))
        raise InvalidInput(
            f"no model is named, and {', '.join(keys)} is set: name the model to use, such as "
            f"'{provider}/…' for the key in {variable}, or 'local' for the embedded one"
        )


def _compatible(row: Provider, model_id: str, name: str) -> LanguageModel:
    if not model_id:
        raise InvalidInput(f"model {name!r} names a provider only; write '{row.name}/MODEL'")
    address = _address(row)
    if not address:
        raise InvalidInput(
            f"model {name!r} needs an address: set {row.base_url_variable} to the endpoint's URL"
        )
    if row.name == "openai" and not _is_openai(address):
        # OPENAI_BASE_URL leads to another server: of OpenAI's own models it knows nothing.
        row = replace(COMPATIBLE, name=row.name, key_variable=row.key_variable)
    needs_key = not row.local and not is_local_address(address) and not _has_azure_token(row)
    if needs_key and read_key(row, None) is None:
        raise missing_key(row)
    return OpenAICompatible(model_id, base_url=address, provider=row)


def _address(row: Provider) -> str:
    variable = row.base_url_variable
    return (os.environ.get(variable, "").strip() if variable else "") or row.base_url


def _is_openai(address: str) -> bool:
    # Also the regional hosts, such as eu.api.openai.com.
    return f".{urlsplit(address).hostname}".endswith(".api.openai.com")


def _has_azure_token(row: Provider) -> bool:
    return row.name == "azure" and bool(os.environ.get("AZURE_OPENAI_AD_TOKEN"))


def _registered() -> Mapping[str, EntryPoint]:
    # Of two with one name the first on the path is meant, as with imports.
    return {entry.name: entry for entry in reversed(tuple(entry_points(group=GROUP)))}


def _unknown(name: str, provider: str, model_id: str) -> str:
    known = sorted({*PROVIDERS, *_registered()})
    if not model_id and provider not in known:
        likely = unknown_name("provider", provider, known)
        return (
            f"model {name!r} names no provider: write 'PROVIDER/MODEL', such as "
            f"'openai/{provider}' ({likely})"
        )
    return f"model {name!r}: {unknown_name('provider', provider, known)}"
