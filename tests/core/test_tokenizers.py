"""First tokens from tiktoken's files on this disk, and never from the network."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiktoken
from tiktoken import registry

from classify import LabelCollision
from classify.tokenizers import check_labels, first_tokens

TINY = tiktoken.Encoding(
    name="tiny_of_a_test",
    pat_str=r" ?\w+|\W",
    mergeable_ranks={**{bytes([i]): i for i in range(256)}, b"Ye": 256, b"Yes": 257, b" N": 258},
    special_tokens={},
)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a tokenizer must not use the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def loaded() -> Iterator[None]:
    """Have an encoding of our own loaded."""
    registry.ENCODINGS[TINY.name] = TINY
    yield
    del registry.ENCODINGS[TINY.name]


@pytest.mark.usefixtures("loaded")
def test_a_loaded_encoding_gives_the_first_token_of_each_text() -> None:
    """By its own merges: "Yes" is one token, " No" begins with " N"."""
    assert first_tokens(["Yes", " No", "AB"], TINY.name) == (257, 258, ord("A"))


@pytest.mark.usefixtures("loaded")
def test_labels_that_begin_with_one_token_are_refused() -> None:
    """The slot would show the same token for both."""
    check_labels(("Yes", "No"), TINY.name)
    with pytest.raises(LabelCollision, match="'AB' and 'AC' begin with the same token"):
        check_labels(("AB", "AC"), TINY.name)


@pytest.mark.parametrize("encoding", [None, "no_such_encoding", "o200k_base"])
def test_what_is_not_on_this_disk_is_unknown(
    encoding: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None, and nothing is fetched."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delitem(registry.ENCODINGS, "o200k_base", raising=False)
    assert first_tokens(["Yes"], encoding) is None


def test_a_file_that_is_not_whole_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiktoken would delete it and fetch it again."""
    half = tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790"
    half.write_bytes(b"IQ== 0\n")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delitem(registry.ENCODINGS, "o200k_base", raising=False)
    assert first_tokens(["Yes"], "o200k_base") is None
    assert half.read_bytes() == b"IQ== 0\n"


def test_a_cache_switched_off_is_no_place_to_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty variable tells tiktoken to fetch every time."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.delitem(registry.ENCODINGS, "cl100k_base", raising=False)
    assert first_tokens(["Yes"], "cl100k_base") is None


def test_without_tiktoken_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for only where it is there."""
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    assert first_tokens(["Yes"], "p50k_base") is None
