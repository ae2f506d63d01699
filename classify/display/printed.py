"""What `print` shows of a result: bars, in place of the fields that `repr` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


class Printed:
    """An evaluation, a result or an answer: text for `print`, in colour on a console of rich.

    What lays it out is imported when something is printed.
    """

    def __str__(self) -> str:
        """Return bars as wide as the terminal, 80 columns where standard output is none."""
        from classify.display.screen import Screen
        from classify.display.terminal import lines

        return "\n".join(line.plain.rstrip() for line in lines(self, Screen.standard_output()))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the same with colours, as wide as the console."""
        from classify.display.screen import Screen
        from classify.display.terminal import lines

        yield from lines(self, Screen(options.max_width, options.encoding))
