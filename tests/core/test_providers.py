"""Models by name: the table, the keys, what is registered, and every way to be wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from classify.errors import InvalidInput
from classify.openai_compatible import OpenAICompatible
from classify.provider_table import COMPATIBLE, PROVIDERS, provider_at
from classify.providers import describe_providers, resolve_model

KEY = "sk-test-0123456789abcdef"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for row in PROVIDERS.values():
        for variable in (row.key_variable, row.base_url_variable, "AZURE_OPENAI_AD_TOKEN"):
            if variable:
                monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that registers "local" and "mine", as an index would see it."""
    (tmp_path / "models_of_a_test.py").write_text(
        "class Model:\n"
        "    provider, supported_question_types = 'mine', None\n"
        "    def __init__(self, model_id): self.model_id = model_id\n"
        "    async def decide(self, request): raise NotImplementedError\n"
    )
    info = tmp_path / "models_of_a_test-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: models-of-a-test\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[classify.models]\nlocal = models_of_a_test:Model\nmine = models_of_a_test:Model\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield
    sys.modules.pop("models_of_a_test", None)


def test_a_provider_and_a_model_are_told_apart_at_the_first_slash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Model ids have slashes of their own."""
    monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
    model = resolve_model("openrouter/meta-llama/llama-3.3-70b-instruct")
    assert (model.provider, model.model_id) == (
        "openrouter",
        "meta-llama/llama-3.3-70b-instruct",
    )


@pytest.mark.parametrize(
    "name", [name for name, row in PROVIDERS.items() if row.base_url and not row.local]
)
def test_every_hosted_provider_needs_its_key_and_says_which(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And how to set it."""
    variable = PROVIDERS[name].key_variable
    assert variable is not None
    with pytest.raises(InvalidInput, match=rf"{variable} is not set: set it with export"):
        resolve_model(f"{name}/m")
    monkeypatch.setenv(variable, KEY)
    model = resolve_model(f"{name}/m")
    assert isinstance(model, OpenAICompatible)
    assert model.base_url == PROVIDERS[name].base_url


@pytest.mark.parametrize("name", [name for name, row in PROVIDERS.items() if row.local])
def test_a_local_server_needs_no_key(name: str) -> None:
    """Its address may be moved by a variable."""
    model = resolve_model(f"{name}/m")
    assert isinstance(model, OpenAICompatible)
    assert model.base_url.startswith("http://localhost:")


def test_a_base_url_variable_moves_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """OPENAI_BASE_URL is honoured; on this machine no key is needed."""
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    model = resolve_model("openai/my-model")
    assert isinstance(model, OpenAICompatible)
    assert (model.provider, model.base_url) == ("openai", "http://127.0.0.1:9/v1")


def test_a_moved_endpoint_elsewhere_still_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another company's address is not this machine."""
    monkeypatch.setenv("OPENAI_BASE_URL", "https://gateway.example/v1")
    with pytest.raises(InvalidInput, match="OPENAI_API_KEY is not set"):
        resolve_model("openai/my-model")


def test_azure_needs_an_address_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every customer has another; a token of Entra ID will do for a key."""
    monkeypatch.setenv("AZURE_OPENAI_AD_TOKEN", "token")
    with pytest.raises(InvalidInput, match="set AZURE_OPENAI_ENDPOINT to the endpoint's URL"):
        resolve_model("azure/deployment")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://me.openai.azure.com")
    assert resolve_model("azure/deployment").model_id == "deployment"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("opnai/gpt-4o", r"unknown provider 'opnai': did you mean 'openai'", id="typo"),
        pytest.param("gpt-4o", r"names no provider: .*'openai/gpt-4o'", id="no-provider"),
        pytest.param("openai", r"names a provider only; write 'openai/MODEL'", id="no-model"),
        pytest.param("openai/", r"names a provider only", id="empty-model"),
        pytest.param("", r"model must be a name such as .* got ''", id="empty"),
        pytest.param(3, r"model must be a name such as .* got 3", id="a-number"),
        # How a byte of the command line that is not UTF-8 arrives.
        pytest.param("vllm/\udcff", r"model must .* surrogate", id="surrogate"),
    ],
)
def test_a_name_that_means_nothing_says_what_would(name: str, message: str) -> None:
    """With a suggestion where one is near."""
    with pytest.raises(InvalidInput, match=message):
        resolve_model(name)


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize(
    ("name", "model_id"),
    [
        pytest.param("mine/a/b", "a/b", id="with-a-model"),
        pytest.param("mine", "", id="without-a-model"),
        pytest.param("local/weights/m.gguf", "weights/m.gguf", id="a-file"),
    ],
)
def test_an_installed_package_brings_its_own_models(name: str, model_id: str) -> None:
    """The factory gets what stands after the slash."""
    assert resolve_model(name).model_id == model_id


@pytest.mark.usefixtures("registered")
def test_no_name_and_no_key_is_the_embedded_model() -> None:
    """The main job runs without either."""
    assert resolve_model(None).model_id == ""


@pytest.mark.usefixtures("registered")
def test_no_name_but_a_key_is_a_question_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever set a key probably means to use it; money is not spent on a guess."""
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    with pytest.raises(InvalidInput, match=r"DEEPSEEK_API_KEY is set: name the model.*'local'"):
        resolve_model(None)


def test_the_providers_are_described_without_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """For `classify models`: whether a key is set, never which."""
    monkeypatch.setenv("XAI_API_KEY", KEY)
    rows = describe_providers()
    assert {row.name: row.key_set for row in rows}["xai"]
    assert not {row.name: row.key_set for row in rows}["openai"]
    assert KEY not in repr(rows)
    assert [row.name for row in rows] == sorted(row.name for row in rows)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        pytest.param("https://api.deepseek.com/v1", "deepseek", id="hosted"),
        pytest.param("https://openrouter.ai/api/v1", "openrouter", id="with-a-path"),
        pytest.param("http://localhost:8000/v1", COMPATIBLE.name, id="a-port-says-nothing"),
    ],
)
def test_a_provider_is_known_by_its_host(address: str, name: str) -> None:
    """So that a model built from an address has the table's facts too."""
    assert provider_at(address).name == name


def test_every_row_has_what_it_needs() -> None:
    """Hosted: a key; every address with a scheme; the larger number of alternatives first."""
    for row in PROVIDERS.values():
        assert row.local or row.key_variable, row.name
        assert row.base_url.startswith(("http://localhost:", "https://")) or row.base_url_variable
        assert list(row.alternatives) == sorted(row.alternatives, reverse=True)
        assert "chat" in row.forms
