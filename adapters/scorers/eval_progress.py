"""How far an evaluation is: the counts that `progress` is told, and a bar that shows them."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(slots=True)
class EvalProgress:
    """How far an evaluation is."""

    total: int
    """Item runs: items times trials."""
    done: int = 0
    failed: int = 0
    """Item runs in which the target, a gate or a scorer failed."""
    reused: int = 0
    """Item runs taken from an earlier evaluation's file."""

    def __str__(self) -> str:
        """Show the counts in a line."""
        reused = f", {self.reused} reused" if self.reused else ""
        return f"{self.done}/{self.total} items, {self.failed} failed{reused}"


@contextmanager
def progress_bar() -> Generator[Callable[[EvalProgress], None]]:
    """Show a bar on standard error while the block runs; yield what to give as `progress`.

    Where standard error is no terminal nothing is shown.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = BarColumn(), TextColumn("{task.description}")
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def progress(so_far: EvalProgress) -> None:
            bar.update(task, description=str(so_far), completed=so_far.done, total=so_far.total)

        yield progress
