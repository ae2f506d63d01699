"""Show how far a run is, on standard error: a bar on a terminal, now and then a line elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeAlias

from rich.progress import BarColumn, Progress, ProgressColumn, Task
from rich.table import Column
from rich.text import Text

from classify.adapters.cli.console import messages
from classify.run import RunCounts

Report: TypeAlias = Callable[[RunCounts], None]

LINE_SECONDS = 5.0


class Pace:
    """Rows answered per second, and the time that the rest will take.

    Rows that an earlier run answered take no time, so they count for neither.
    """

    def __init__(self, total: int | None, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self._clock = clock
        self._started = clock()
        self.counts = RunCounts()

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._started

    @property
    def rate(self) -> float:
        """Rows asked per second; 0 before the first."""
        asked = self.counts.answered + self.counts.failed
        return asked / self.elapsed if asked and self.elapsed > 0.0 else 0.0

    def line(self) -> str:
        """Return the state of the run in one line."""
        counts = self.counts
        of = f"/{self.total}" if self.total else ""
        parts = [f"{counts.rows}{of} rows"]
        if self.rate:
            parts.append(f"{self.rate:.3g} rows/s")
        if self.rate and self.total:
            parts.append(f"{duration((self.total - counts.rows) / self.rate)} left")
        failures = counts.failed + counts.bad
        parts.append(f"{failures} failed")
        if counts.reused:
            parts.append(f"{counts.reused} reused")
        return ", ".join(parts)


def duration(seconds: float) -> str:
    """Return a time as people say it, such as 1:05 or 2:03:09."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


@contextmanager
def shown_progress(total: int | None) -> Generator[Report]:
    """Show progress while the block runs; yield what is to be told of every result."""
    console = messages()
    pace = Pace(total)
    if not console.is_terminal:
        yield _lines(pace)
        return
    bar = Progress(
        BarColumn(bar_width=None, table_column=Column(ratio=1)),  # what the numbers leave
        _PaceColumn(pace),
        console=console,
        expand=True,
        refresh_per_second=4,
    )
    with bar:
        task = bar.add_task("classify", total=total)

        def report(counts: RunCounts) -> None:
            pace.counts = counts
            bar.update(task, completed=counts.rows)

        yield report


class _PaceColumn(ProgressColumn):
    def __init__(self, pace: Pace) -> None:
        super().__init__(table_column=Column(no_wrap=True))
        self._pace = pace

    def render(self, task: Task) -> Text:
        return Text(self._pace.line(), no_wrap=True)


def _lines(pace: Pace) -> Report:
    console = messages()
    last = pace.elapsed

    def report(counts: RunCounts) -> None:
        nonlocal last
        pace.counts = counts
        if pace.elapsed - last >= LINE_SECONDS:
            last = pace.elapsed
            console.print(pace.line())

    return report
