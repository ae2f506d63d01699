"""Write a page to a file: whole or not at all, and never over what it was made of."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from classify.adapters.report.shell import MARK
from classify.errors import InvalidInput


def check_target(page: Path, *, read: Iterable[str | Path], overwrite: bool) -> None:
    """Raise InvalidInput where the page would replace a file that is read, or one not its kind."""
    if not page.exists():
        return
    for path in read:
        with suppress(OSError):  # it is not there
            if os.path.samefile(path, page):
                raise InvalidInput(f"the page would replace {str(path)!r}: name another with -o")
    if not overwrite and not (page.is_file() and _is_page(page)):
        raise InvalidInput(
            f"{str(page)!r} is there and is no page of this command: name another file with -o, "
            "or give --overwrite"
        )


def write_page(page: Path, parts: Iterable[str]) -> int:
    """Write the parts, and return the page's size in bytes; raises InvalidInput."""
    partial = page.with_name(f"{page.name}.{os.getpid()}.partial")
    try:
        # The names of files may be no text.
        with partial.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(parts)
        size = partial.stat().st_size
        partial.replace(page)
    except OSError as error:
        raise InvalidInput(f"{str(page)!r} cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            partial.unlink()
    return size


def _is_page(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return file.read(len(MARK)) == MARK
