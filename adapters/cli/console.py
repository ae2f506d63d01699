"""Where the command line writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from io import TextIOWrapper
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.text import Text

from classify.display.safe_text import visible
from classify.display.screen import Screen
from classify.errors import ClassifyError, InvalidInput, MissingExtra
from classify.json_values import JSON

P = ParamSpec("P")
T = TypeVar("T")

FAILED = 1
"""Exit code: the command ran, and something did not work."""
UNUSABLE = 2
"""Exit code: what was given cannot be used."""
INTERRUPTED = 130
"""Exit code: stopped by Ctrl-C."""
_UNWRITABLE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


def say(message: str, *, style: str = "") -> None:
    """Write a message for people to standard error."""
    messages().print(Text(visible(message, keep="\n"), style=style))


def messages() -> Console:
    """Return the console on standard error; markup in what is printed stays text."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def show(renderable: RenderableType) -> None:
    """Write a table or a chart to standard output; 80 columns where it is no terminal."""
    width = Screen.standard_output().width
    # A height too: without one, rich takes 80 columns for the width of a dumb terminal.
    Console(highlight=False, markup=False, emoji=False, width=width, height=25).print(renderable)


def show_json(value: JSON) -> None:
    """Write one JSON object to standard output."""
    text = json.dumps(value, ensure_ascii=False)
    # The escapes that the stream itself would write in its place are none of JSON.
    print(text if Screen.standard_output().can_show(text) else json.dumps(value))


def tolerate_any_encoding() -> None:
    """Let text that the terminal's encoding lacks be written as escapes, not end the program."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def whole_output() -> Generator[None]:
    """Say in one line that output cannot be written, and nothing if its reader has gone."""
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:
                # Else Python would do it at its end, and fail there in many lines.
                sys.stdout.flush()
    except OSError as error:
        if error.filename is not None or error.errno not in _UNWRITABLE:
            raise
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno != errno.EPIPE:
            say(f"error: output cannot be written: {error.strerror}", style="red")
        raise SystemExit(FAILED) from None


def reported(command: Callable[P, T]) -> Callable[P, T]:
    """Turn this package's errors into one message on standard error and an exit code."""

    @wraps(command)
    def reporting(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except ClassifyError as error:
            say(f"error: {error}", style="red")
            unusable = isinstance(error, InvalidInput | MissingExtra)
            raise typer.Exit(UNUSABLE if unusable else FAILED) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None

    return reporting
