"""One measured number: its value, the rule that made it, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

from classify.display.notebook import Shown


@dataclass(frozen=True, slots=True)
class Measurement(Shown):
    """A value with its rule and, where they exist, its interval and what chance would give."""

    value: float
    rule: str
    """The definition, with the choices that change the number, such as the bins."""
    n: int
    """How many rows counted: those with a weight above zero."""
    low: float | None = None
    """Lower end of its interval, where there is one."""
    high: float | None = None
    """Upper end."""
    null_mean: float | None = None
    """What a perfectly calibrated model would show on average on these rows."""
    p_value: float | None = None
    """How often chance alone gives a value at least as large (for signed values, as far out)."""
    total: int | None = None
    """How many rows there were, where that is known; the others lacked an answer or a label."""

    def __str__(self) -> str:
        """Show the value, its interval, its null value and its rule on one line."""
        text = f"{self.value:z.4f}"
        if self.low is not None and self.high is not None:
            text += f" [{self.low:z.4f}, {self.high:z.4f}]"
        if self.null_mean is not None:
            text += f", by chance {self.null_mean:z.4f}"
        if self.p_value is not None:
            text += f", p {self.p_value:.3g}"
        return f"{text}  ({self.rule}, {rows_used(self.n, self.total)})"


def of_total(number: Measurement | None, total: int) -> Measurement | None:
    """Return the number with how many rows there were; None for none."""
    return None if number is None else replace(number, total=total)


def rows_used(n: int, total: int | None) -> str:
    """Say how many rows a number stands on, and of how many where that is known."""
    return f"n={n}" if total is None else f"{n} used of {total}"
