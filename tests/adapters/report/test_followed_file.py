"""A file that is read while it is written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.adapters.report.followed_file import FollowedFile

ALL = 1000


def texts(followed: FollowedFile, most: int = ALL) -> list[bytes]:
    """Return the next lines."""
    return [line for _, line in followed.lines(most)]


def test_only_what_is_new_is_returned_and_half_a_line_waits(tmp_path: Path) -> None:
    """The half is returned once, whole."""
    path = tmp_path / "f"
    followed = FollowedFile(path)

    assert [] == texts(followed)  # it is not there yet
    path.write_bytes(b"one\ntw")
    assert [b"one\n"] == texts(followed)
    assert [] == texts(followed)
    with path.open("ab") as file:
        file.write(b"o\nthree\n")
    assert [b"two\n", b"three\n"] == texts(followed)
    assert 0 == followed.generation


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 4))
def test_every_line_is_returned_once_in_order_however_it_is_cut(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], most: int
) -> None:
    """Bytes arrive in pieces of any size."""
    path = tmp_path_factory.mktemp("f") / "f"
    followed, found = FollowedFile(path), list[bytes]()
    content = b"".join(b"line %d\n" % n for n in range(10))

    rest = content
    with path.open("wb", buffering=0) as file:
        for cut in [*cuts, len(content)]:
            file.write(rest[:cut])
            rest = rest[cut:]
            found += texts(followed, most)
    while more := texts(followed, most):
        found += more

    assert content.splitlines(keepends=True) == found


@pytest.mark.parametrize("longer", [False, True], ids=["shorter", "as long"])
def test_a_file_that_is_cut_short_and_written_anew_is_begun_anew(
    tmp_path: Path, longer: bool
) -> None:
    """Also where it is as long again before anybody looks, as after --overwrite."""
    path = tmp_path / "f"
    path.write_bytes(b"old 1\nold 2\n")
    followed = FollowedFile(path)
    followed.lines(ALL)

    with path.open("r+b") as file:
        file.truncate(0)
        file.write(b"new 1\nnew 2\nnew 3\n" if longer else b"new 1\n")
    found = texts(followed)

    assert b"new 1\n" == found[0]
    assert 1 == followed.generation


def test_a_file_that_takes_the_place_of_another_is_begun_anew(tmp_path: Path) -> None:
    """As at the end of a run, which puts the lines into order; places are those of the new one."""
    path, new = tmp_path / "f", tmp_path / "new"
    path.write_bytes(b"b\na\n")
    followed = FollowedFile(path)
    (place, _), _ = followed.lines(ALL)

    new.write_bytes(b"a\nb\n")
    os.replace(new, path)

    assert followed.line(place) is None
    assert [b"a\n", b"b\n"] == texts(followed)
    assert 1 == followed.generation
    assert b"a\n" == followed.line((0, 2))


def test_a_file_that_is_gone_has_no_lines_and_begins_anew(tmp_path: Path) -> None:
    """Nothing fails while it is away."""
    path = tmp_path / "f"
    path.write_bytes(b"a\n")
    followed = FollowedFile(path)
    followed.lines(ALL)

    path.unlink()
    assert [] == texts(followed)
    assert followed.line((0, 2)) is None
    path.write_bytes(b"b\n")

    assert [b"b\n"] == texts(followed)
    assert 1 == followed.generation
