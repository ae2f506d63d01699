"""A matplotlib figure without pyplot, and the little of it that the pictures here use.

No window, no current figure, no style is touched, and nothing has to be closed. Colours are those
of Okabe and Ito, which people with any colour vision tell apart; nothing is told by colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol

from classify.calibration.settings import of_type
from classify.display.safe_text import visible
from classify.errors import MissingExtra

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "0.45"
_LONGEST_NAME = 24

Numbers = Sequence[float]


class Axes(Protocol):
    """The little of matplotlib's axes that is used here."""

    def plot(self, x: Numbers, y: Numbers, **style: object) -> object: ...
    def errorbar(self, x: Numbers, y: Numbers, **style: object) -> object: ...
    def vlines(self, x: Numbers, low: Numbers, high: Numbers, **style: object) -> object: ...
    def bar(self, x: Numbers, height: Numbers, **style: object) -> object: ...
    def axhline(self, y: float, **style: object) -> object: ...
    def axvline(self, x: float, **style: object) -> object: ...
    def axvspan(self, low: float, high: float, **style: object) -> object: ...
    def fill_between(self, x: Numbers, low: Numbers, high: Numbers, **style: object) -> object: ...
    def imshow(self, values: Sequence[Numbers], **style: object) -> object: ...
    def text(self, x: float, y: float, words: str, **style: object) -> object: ...
    def set(self, **properties: object) -> object: ...
    def set_title(self, words: str, **style: object) -> object: ...
    def set_xlabel(self, words: str, **style: object) -> object: ...
    def set_ylabel(self, words: str, **style: object) -> object: ...
    def set_xticks(self, ticks: Numbers, labels: Sequence[str], **style: object) -> object: ...
    def set_yticks(self, ticks: Numbers, labels: Sequence[str], **style: object) -> object: ...
    def legend(self, **style: object) -> object: ...


class Figure(Protocol):
    """The little of matplotlib's figure that is used here, and savefig."""

    def add_subplot(self, rows: int, columns: int, index: int) -> Axes: ...
    def supxlabel(self, words: str, **style: object) -> object: ...
    def savefig(self, target: object, **options: object) -> None: ...


def new_figure(*, width: float, height: float = 4.8) -> Figure:
    """Return an empty figure; MissingExtra where matplotlib is not installed."""
    try:
        module = import_module("classify.calibration.notebook_figure")
    except ImportError as error:
        raise MissingExtra("matplotlib", "plots", "a calibration figure") from error
    figure: Figure = module.NotebookFigure(figsize=(width, height), layout="constrained")
    return figure


def named(axes: Axes, *, title: str, across: str, up: str) -> None:
    """Write the title and the names of the two axes."""
    of_type(title, str, name="title", what="a text")
    # Text from users is no mathematics: "$5 to $10" must not become italics.
    axes.set_title(visible(title), parse_math=False)
    axes.set_xlabel(visible(across), parse_math=False)
    axes.set_ylabel(visible(up), parse_math=False)


def key(axes: Axes, *, lines: int = 1) -> None:
    """Say what is drawn below the plot, where no data can run through the words.

    `lines` are those of a label on the axis across.
    """
    axes.legend(
        frameon=False,
        fontsize="small",
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        # In letters, so that it is the same distance however large the plot is.
        borderaxespad=3.3 + 1.3 * lines,
        ncols=2,
    )


def footnote(figure: Figure, words: str) -> None:
    """Write what the numbers rest on below the picture."""
    figure.supxlabel(words, fontsize="small", color=GREY, parse_math=False)


def short_name(name: object) -> str:
    """Return a level's or an option's name as an axis can hold it."""
    text = visible(str(name))
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
