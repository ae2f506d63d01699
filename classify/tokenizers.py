"""The first token of a text, by tiktoken, from what is on this disk already.

tiktoken downloads an encoding's file the first time it is used, without a time limit. Here it is
asked only where the encoding is loaded, or its file is in the cache whole: nothing is fetched.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from classify.errors import LabelCollision

if TYPE_CHECKING:
    from tiktoken import Encoding

_HOST = "https://openaipublic.blob.core.windows.net/encodings"

# Encoding -> its file's name at the host, and the file's SHA-256, as tiktoken checks it.
_FILES = {
    "r50k_base": (
        "r50k_base.tiktoken",
        "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
    ),
    "p50k_base": (
        "p50k_base.tiktoken",
        "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
    ),
    "cl100k_base": (
        "cl100k_base.tiktoken",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "o200k_base.tiktoken",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}


def first_tokens(texts: Sequence[str], encoding: str | None) -> tuple[int, ...] | None:
    """Return the id of the first token of each text, none of them empty.

    None where it cannot be known: an encoding that is unknown or not on this disk, or no tiktoken.
    """
    if encoding is None:
        return None
    tokenizer = _loaded(encoding) or _from_disk(encoding, _cache_folder())
    if tokenizer is None:
        return None
    return tuple(tokenizer.encode_ordinary(text)[0] for text in texts)


@cache
def check_labels(labels: tuple[str, ...], encoding: str | None) -> None:
    """Raise LabelCollision where two labels would be read from the same first token.

    Where the tokenizer is not known here, the alphabets of `classify.labels` are trusted.
    """
    tokens = first_tokens(labels, encoding)
    seen: dict[int, str] = {}
    for label, token in zip(labels, tokens or (), strict=False):
        other = seen.setdefault(token, label)
        if other != label:
            raise LabelCollision(
                f"the labels {other!r} and {label!r} begin with the same token in {encoding}"
            )


def _loaded(encoding: str) -> Encoding | None:
    try:
        from tiktoken import registry
    except ImportError:
        return None
    return registry.ENCODINGS.get(encoding)


@cache  # also what was not found: looking once is enough for a process
def _from_disk(encoding: str, folder: Path | None) -> Encoding | None:
    if encoding not in _FILES or folder is None:
        return None
    name, sha256 = _FILES[encoding]
    # A file that is not whole would be deleted and fetched again.
    path = folder / hashlib.sha1(f"{_HOST}/{name}".encode()).hexdigest()
    try:
        whole = hashlib.sha256(path.read_bytes()).hexdigest() == sha256
        import tiktoken
    except (OSError, ImportError):
        return None
    return tiktoken.get_encoding(encoding) if whole else None


def _cache_folder() -> Path | None:
    """Return the folder where tiktoken will look; None where it is told to keep no files."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            return Path(os.environ[variable]) if os.environ[variable] else None
    return Path(tempfile.gettempdir()) / "data-gym-cache"
