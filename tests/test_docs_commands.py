"""Every `classify` command that a page shows is one that the program takes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import pytest
import typer

from classify.adapters.cli.main import app
from tests.markdown_pages import blocks, name, pages, text_of, without_blocks

_CALL = re.compile(r"^\s*(?:- run: )?(?:\S*/)?classify (.*)$")
_INLINE = re.compile(r"`classify ([^`]+)`")
_OPTION = re.compile(r"--[a-z][a-z-]*")


class _Command(Protocol):
    def make_context(self, info_name: str, args: list[str]) -> object: ...
    def get_params(self, ctx: object) -> list[_Parameter]: ...


class _Parameter(Protocol):
    opts: list[str]


def _shown(page: Path) -> Iterator[list[str]]:
    """Yield the arguments of each command in the page's blocks."""
    for block in blocks(text_of(page), "sh", "bash", "yaml"):
        joined = block.replace("\\\n", " ")
        for line in re.split(r"\n|&&", joined):
            found = _CALL.search(re.sub(r"^#.*|\s#.*", "", line))
            if found and "…" not in found[1]:
                yield _arguments(re.split(r"[|>;]", found[1])[0])


def _arguments(text: str) -> list[str]:
    return shlex.split(text)


def _command(arguments: list[str]) -> tuple[_Command, list[str]]:
    """Return the innermost command that is named, and what is left for it."""
    command = cast("_Command", typer.main.get_command(app))
    while arguments and arguments[0] in (inner := _inner(command)):
        command, arguments = inner[arguments[0]], arguments[1:]
    return command, arguments


def _inner(command: _Command) -> dict[str, _Command]:
    return cast("dict[str, _Command]", getattr(command, "commands", {}))


PAGES = [page for page in pages() if "classify " in text_of(page)]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_program_takes_the_arguments_of_each_command_shown(page: Path) -> None:
    """It is parsed as it is written; nothing is run."""
    for arguments in _shown(page):
        if arguments == ["--version"]:
            continue
        command, left = _command(arguments)

        assert not (_inner(command) and left), f"there is no command {' '.join(arguments)!r}"
        command.make_context(" ".join(arguments), left)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_commands_in_sentences_and_their_options_exist(page: Path) -> None:
    """`classify COMMAND --option` in a sentence is a promise too."""
    unknown: list[str] = []
    for text in _INLINE.findall(without_blocks(text_of(page))):
        words = text.split()
        command, left = _command(words)
        known = {option for parameter in _parameters(command) for option in parameter.opts}
        if left == words and words[0].islower() and words[0].isalpha():
            unknown.append(text)
        unknown += [f"{text}: {o}" for o in _OPTION.findall(text) if o not in {*known, "--help"}]

    assert unknown == []


def _parameters(command: _Command) -> list[_Parameter]:
    return cast("list[_Parameter]", getattr(command, "params"))  # noqa: B009  # typer's own class
