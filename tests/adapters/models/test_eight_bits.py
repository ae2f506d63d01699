"""The weights at 8 bits are the weights at 4 bits, written down more finely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from classify.adapters.models.eight_bits import convert, fastest, to_be_made

gguf = pytest.importorskip("gguf", reason="the library that writes model files is not installed")


@pytest.fixture
def four_bits(tmp_path: Path) -> Path:
    """Write a model file with one tensor of each sort, and a field of each sort."""
    path = tmp_path / "four.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_file_type(3)
    writer.add_float32("x.number", 0.1)
    writer.add_bool("x.flag", False)
    writer.add_array("x.words", ["é", "b"])
    values = np.random.default_rng(1).normal(size=(4, 64)).astype(np.float32)
    kind = gguf.GGMLQuantizationType.Q4_1
    writer.add_tensor("coarse", gguf.quants.quantize(values, kind), raw_dtype=kind)
    writer.add_tensor("exact", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_values_are_those_of_the_source(four_bits: Path, tmp_path: Path) -> None:
    """Each value is off by at most half a step, 1/254 of its block's largest."""
    convert(four_bits, tmp_path / "eight.gguf")

    before, after = (
        {t.name: t for t in gguf.GGUFReader(path).tensors}
        for path in (four_bits, tmp_path / "eight.gguf")
    )
    old, new = (
        gguf.quants.dequantize(t.data, t.tensor_type).reshape(-1, 32)
        for t in (before["coarse"], after["coarse"])
    )
    assert after["coarse"].tensor_type == gguf.GGMLQuantizationType.Q8_0
    # the step is stored in half precision
    assert np.all(np.abs(new - old) <= np.abs(old).max(axis=1, keepdims=True) * (1 / 254 + 1e-3))
    np.testing.assert_array_equal(after["exact"].data, before["exact"].data)


def test_every_field_is_kept_but_the_file_type(four_bits: Path, tmp_path: Path) -> None:
    """The tokenizer and the chat template are fields."""
    convert(four_bits, tmp_path / "eight.gguf")

    before, after = (
        {
            name: (field.types, field.contents())
            for name, field in gguf.GGUFReader(path).fields.items()
            if name != "general.file_type"
        }
        for path in (four_bits, tmp_path / "eight.gguf")
    )
    assert after == before


def test_what_cannot_be_converted_is_used_as_it_is(
    four_bits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Speed is a bonus; the model must answer without it, and say which file did."""
    monkeypatch.setenv("CLASSIFY_CACHE", str(tmp_path))

    with pytest.warns(RuntimeWarning, match="so the slower published ones are used: .*not the pub"):
        chosen = fastest(four_bits)

    assert chosen == (four_bits, "smollm2-135m-instruct-q4_1")
    assert not list(tmp_path.glob("models/*"))


def test_people_are_told_of_the_conversion_only_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a minute without a word looks like a fault on a slow machine."""
    monkeypatch.setenv("CLASSIFY_CACHE", str(tmp_path))
    assert to_be_made()

    made = tmp_path / "models" / "SmolLM2-135M-Instruct.Q8_0.gguf"
    made.parent.mkdir()
    made.write_bytes(b"GGUF")

    assert not to_be_made()
