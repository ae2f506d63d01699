"""matplotlib's figure as a notebook shows it; loaded only where a figure is made.

Notebooks show a figure of pyplot's by themselves, and these are none.
"""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class NotebookFigure(Figure):
    """A figure that draws itself where a cell ends with it."""

    def _repr_png_(self) -> tuple[bytes, dict[str, str]]:
        """Return the picture, with what it shows in words for those who do not see it."""
        target = BytesIO()
        # Its stubs leave the options untyped.
        self.savefig(target, format="png")  # pyright: ignore[reportUnknownMemberType]
        return target.getvalue(), {"alt": self.told()}

    def told(self) -> str:
        """Say what is drawn: titles, axes, and the line below the picture."""
        panels = [
            f"{axes.get_title()}: {axes.get_ylabel()} by {axes.get_xlabel()}"
            if axes.get_xlabel()
            else f"{axes.get_title()}: {axes.get_ylabel()}"
            for axes in self.axes
        ]
        return ". ".join([*panels, self.get_supxlabel()]).replace("\n", "; ").strip(" .")
