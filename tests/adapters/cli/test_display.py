"""What people see of a run: its pace, and input from a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from classify.adapters.cli.progress import Pace, duration
from classify.adapters.cli.standard_input import from_thread
from classify.run import RunCounts


def test_the_pace_counts_only_rows_that_were_asked() -> None:
    """Rows of an earlier run take no time; the estimate is for the rest."""
    now = [0.0]
    pace = Pace(100, clock=lambda: now[0])
    assert "0/100 rows, 0 failed" == pace.line()

    now[0] = 10.0
    pace.counts = RunCounts(rows=60, answered=18, failed=2, bad=1, reused=39)

    assert "60/100 rows, 2 rows/s, 0:20 left, 3 failed, 39 reused" == pace.line()


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        pytest.param(0.0, "0:00", id="none"),
        pytest.param(65.4, "1:05", id="minutes"),
        pytest.param(7389.0, "2:03:09", id="hours"),
        pytest.param(-1.0, "0:00", id="late"),
    ],
)
def test_durations_read_as_people_say_them(seconds: float, expected: str) -> None:
    """Hours only where there are any."""
    assert expected == duration(seconds)


def _collected(items: Iterator[int], stop_after: int | None = None) -> list[int]:
    async def collecting() -> list[int]:
        stop, found = asyncio.Event(), list[int]()
        async for item in from_thread(items, stop):
            found.append(item)
            if len(found) == stop_after:
                stop.set()
        return found

    return asyncio.run(collecting())


def test_a_thread_hands_over_everything_in_order() -> None:
    """More than it reads ahead."""
    assert list(range(500)) == _collected(iter(range(500)))


def test_an_error_while_reading_comes_through() -> None:
    """After what was read before it."""

    def items() -> Iterator[int]:
        yield 1
        raise ValueError("broken source")

    with pytest.raises(ValueError, match="broken source"):
        _collected(items())


def test_a_source_that_blocks_does_not_keep_a_run_from_stopping() -> None:
    """As standard input does, when nobody writes to it."""
    release = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        release.wait()

    assert [1] == _collected(items(), stop_after=1)
    release.set()
