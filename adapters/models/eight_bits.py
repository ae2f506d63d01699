"""Store the embedded model's weights at 8 bits: twice as fast on most processors, as accurate.

The published file is at 4 bits in a format (Q4_1) without a fast kernel on x86. Made once, in the
user's cache.
"""

from __future__ import annotations

import os
import warnings
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from classify.adapters.models.weights import MODEL, cache_folder, is_published

if TYPE_CHECKING:
    from gguf import GGUFReader, GGUFWriter, ReaderField

_FILE_TYPE = "general.file_type"
_MOSTLY_8_BITS = 7


def to_be_made() -> bool:
    """Return whether `fastest` would have to make the 8-bit file, which takes some seconds."""
    return not _made().is_file() and find_spec("gguf") is not None


def fastest(published: Path) -> tuple[Path, str]:
    """Return the file to run and the name of the model in it.

    That is the 8-bit file, made now if need be; the published one where the library `gguf` is not
    installed, and, with a warning, where the conversion fails.
    """
    made = _made()
    as_published = (published, f"{MODEL}-q4_1")
    if not made.is_file():
        if find_spec("gguf") is None:
            return as_published
        try:
            _make(published, made)
        except Exception as error:  # a bonus that fails must not take the model away
            warnings.warn(
                f"could not make the 8-bit weights {str(made)!r}, so the slower published ones "
                f"are used: {error or type(error).__name__}",
                RuntimeWarning,
                stacklevel=2,
            )
            return as_published
    return made, f"{MODEL}-q8_0"


def _made() -> Path:
    return cache_folder() / "models" / "SmolLM2-135M-Instruct.Q8_0.gguf"


def _make(published: Path, made: Path) -> None:
    if not is_published(published):
        raise ValueError(f"{str(published)!r} is not the published file")
    made.parent.mkdir(parents=True, exist_ok=True)
    part = NamedTemporaryFile(dir=made.parent, suffix=".part", delete=False)
    part.close()
    try:
        convert(published, Path(part.name))
        os.replace(part.name, made)  # whole or not at all, even with two processes at it
    except BaseException:
        os.unlink(part.name)
        raise


def convert(source: Path, target: Path) -> None:
    """Write a GGUF file's block-quantised tensors at 8 bits (Q8_0); all else stays as it is."""
    from gguf import GGUFReader, GGUFWriter

    reader = GGUFReader(source)
    architecture = str(reader.fields["general.architecture"].contents())
    writer = GGUFWriter(target, architecture)
    try:
        for field in reader.fields.values():
            _copy_field(field, writer)
        _copy_tensors(reader, writer)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
    finally:
        writer.close()


def _copy_field(field: ReaderField, writer: GGUFWriter) -> None:
    # The writer writes the header and the architecture itself.
    if field.name.startswith("GGUF.") or field.name == "general.architecture":
        return
    value = _MOSTLY_8_BITS if field.name == _FILE_TYPE else field.contents()
    inner = field.types[-1] if len(field.types) > 1 else None
    writer.add_key_value(field.name, value, field.types[0], sub_type=inner)


def _copy_tensors(reader: GGUFReader, writer: GGUFWriter) -> None:
    from gguf import GGMLQuantizationType as Kind
    from gguf.quants import dequantize, quantize

    for tensor in reader.tensors:
        kind, data = tensor.tensor_type, tensor.data
        if kind not in (Kind.F32, Kind.F16, Kind.BF16, Kind.Q8_0):
            kind, data = Kind.Q8_0, quantize(dequantize(data, kind), Kind.Q8_0)
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
