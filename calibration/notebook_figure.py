"""matplotlib's figure as a notebook shows it; loaded only where a figure is made.

Notebooks show a figure of pyplot's by themselves, and these are none.
"""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that draws itself where a cell ends with it."""

    def _repr_png_(self) -> bytes:
        target = BytesIO()
        # Its stubs leave the options untyped.
        self.savefig(target, format="png")  # pyright: ignore[reportUnknownMemberType]
        return target.getvalue()
