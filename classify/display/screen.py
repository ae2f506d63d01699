"""Where text is shown: how wide it is, and which characters it can show."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass

from rich.cells import cell_len, chop_cells, set_cell_size

from classify.display.safe_text import isolated, isolated_lines, visible

_PLAIN_WIDTH = 80
_NARROWEST = 34
"""Below it nothing fits: lines are then longer than the terminal, which folds them."""


@dataclass(frozen=True, slots=True)
class Screen:
    """What text is laid out for."""

    width: int = _PLAIN_WIDTH
    """In cells: a wide character takes two."""
    encoding: str = "utf-8"

    def __post_init__(self) -> None:
        """Keep a width that something fits into."""
        object.__setattr__(self, "width", max(self.width, _NARROWEST))

    @classmethod
    def standard_output(cls) -> Screen:
        """Return what `print` writes to: the terminal's width, 80 columns where it is none."""
        out = sys.stdout
        wide = out is not None and out.isatty()
        width = shutil.get_terminal_size().columns if wide else _PLAIN_WIDTH
        # A stream in memory takes any text, and says so by having no encoding.
        return cls(width, getattr(out, "encoding", None) or "utf-8")

    def can_show(self, text: str) -> bool:
        """Return whether every character can be written here."""
        try:
            text.encode(self.encoding)
        except UnicodeEncodeError:
            return False
        return True

    def safe(self, text: str, *, keep: str = "") -> str:
        """Return the text with everything as an escape that steers or that cannot be shown here."""
        shown = visible(text, keep=keep)
        if self.can_show(shown):
            turned = isolated(shown)
            return turned if self.can_show(turned) else shown
        return shown.encode(self.encoding, "backslashreplace").decode(self.encoding)

    def fitted(self, text: str, width: int) -> str:
        """Return safe text in exactly `width` cells, cut with an ellipsis where it is too wide."""
        if cell_len(text) > width:
            mark = "…" if self.can_show("…") else "..."
            text = set_cell_size(text, width - cell_len(mark)).rstrip() + mark
        (text,) = isolated_lines([text])
        return text + " " * (width - cell_len(text))

    def folded(self, text: str, width: int, *, most: int | None = None) -> list[str]:
        """Return safe text in lines of at most `width` cells, at spaces where it can be.

        Beyond `most` lines the last one ends with an ellipsis.
        """
        lines = [line for paragraph in text.split("\n") for line in _folded(paragraph, width)]
        if most is not None and len(lines) > most:
            rest = " ".join(lines[most - 1 :])
            lines = [*lines[: most - 1], self.fitted(rest, width).rstrip()]
        return isolated_lines(lines)


def _folded(text: str, width: int) -> list[str]:
    lines: list[str] = []
    line: str | None = None
    for word in text.split(" "):
        longer = word if line is None else f"{line} {word}"
        if cell_len(longer) <= width:
            line = longer
            continue
        # A word that no line can hold, as a whole sentence is in Chinese, begins beside the others.
        if line is not None and (cell_len(word) <= width or cell_len(line) > width - 3):
            lines.append(line)
            longer = word
        *full, line = chop_cells(longer, width) or [""]
        lines += full
    return [*lines, line or ""]
