"""Runs that are cut off: by Ctrl-C, by SIGTERM, by kill -9, by a torn line."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from classify.testing import Answer, Request

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows sends these signals in another way"
)

ROWS, HELD_AT = 30, 12


@contextmanager
def _held(desk: Desk, *more: str) -> Generator[subprocess.Popen[str]]:
    """Start a run of 30 rows, two at a time, whose endpoint holds every answer from row 12 on."""
    desk.write_rows(ROWS)
    usual = desk.answer

    def answer(request: Request) -> Answer:
        if desk.row(request) == HELD_AT - 1:
            desk.server.hold()
        return usual(request)

    desk.answer = answer
    command = [sys.executable, "-m", "classify", "run", desk.spec, desk.rows, "-o", desk.out]
    with subprocess.Popen(
        [*command, "--concurrency", "2", *more], stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            desk.server.wait_in_flight(2)
            yield process
        finally:
            desk.answer = usual
            desk.server.release()
            process.kill()


def _resumed(desk: Desk) -> str:
    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--resume")
    assert 0 == result.exit_code, result.stderr
    assert [f"r{n}" for n in range(ROWS)] == [line["id"] for line in desk.results()]
    return result.stderr


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="ctrl-c"),
        pytest.param(signal.SIGTERM, 1, id="sigterm"),
    ],
)
def test_a_stopped_run_keeps_every_answer_and_says_how_to_go_on(
    desk: Desk, number: signal.Signals, code: int
) -> None:
    """Requests in flight may end; together the two runs ask for each row once."""
    with _held(desk) as process:
        assert process.stderr is not None
        process.send_signal(number)
        said = ""
        while "stopping" not in said:
            said += process.stderr.readline()
        desk.server.release()
        said += process.stderr.read()

        assert code == process.wait()

    assert "Traceback" not in said
    assert "--resume" in said.splitlines()[-1]
    assert len(desk.results()) == len(desk.asked()) < ROWS
    _resumed(desk)
    assert Counter(range(ROWS)) == Counter(desk.asked())


def test_a_second_ctrl_c_stops_at_once(desk: Desk) -> None:
    """Without waiting for an endpoint that does not answer."""
    with _held(desk) as process:
        assert process.stderr is not None
        process.send_signal(signal.SIGINT)
        while "stopping" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)

        assert 130 == process.wait()

    _resumed(desk)


def test_a_killed_run_repeats_only_what_was_in_flight(desk: Desk) -> None:
    """What stands in the file is never asked again; the rest is asked once more at most."""
    with _held(desk) as process:
        process.kill()
        process.wait()

    kept = len(desk.results())
    assert kept >= HELD_AT - 2
    with Path(desk.out).open("r+b") as file:
        file.truncate(Path(desk.out).stat().st_size - 5)
    said = _resumed(desk)

    assert f"resumed: {kept - 1} rows reused" in said
    counts = Counter(desk.asked())
    assert all(counts[row] == 1 for row in range(kept - 1))
    assert max(counts.values()) <= 2
    assert sum(counts.values()) <= ROWS + 1 + 2 + 2


def test_two_runs_do_not_write_one_file(desk: Desk) -> None:
    """The second is refused while the first goes on, and harms nothing."""
    with _held(desk):
        result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--resume")

        assert 2 == result.exit_code
        assert "is being written by another run" in result.stderr


def test_a_closed_pipe_ends_the_program_without_a_traceback(desk: Desk) -> None:
    """As in `classify schema | head -1`."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "classify", "schema"],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)

    assert "Traceback" not in done.stderr
