"""What can be hoped for from a threshold, said before any threshold is tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from classify.calibration.estimate import wilson_ends
from classify.calibration.risk_tests import fewest_rows
from classify.calibration.settings import (
    finite_number,
    in_percent,
    one_of,
    open_unit,
    shown,
    whole_number,
)
from classify.display.notebook import Shown
from classify.errors import CalibrationError

RiskName = Literal["joint", "selective"]


@dataclass(frozen=True, slots=True)
class Outlook(Shown):
    """The bounds that no method can beat on these rows."""

    risk: RiskName
    alpha: float
    """The most the risk may be."""
    n: int
    """Labelled rows."""
    error: float
    """The mean loss when everything is decided alone."""
    low: float
    """Lower end of its 95 % interval (Wilson)."""
    high: float
    """Upper end of the same interval."""
    least_handed_over: float
    """The share that any method must hand over, were `error` the true one."""
    rows_needed: int
    """Rows without an error before a test can pass."""

    @property
    def possible(self) -> bool:
        """Whether there are enough rows for any promise at all."""
        return self.n >= self.rows_needed

    def __str__(self) -> str:
        """Say the error now, what must be handed over, and the rows a promise needs."""
        text = (
            f"deciding all {self.n} rows alone has an error of {self.error:.1%} "
            f"[{self.low:.1%}, {self.high:.1%}]"
        )
        if self.least_handed_over > 0.0:
            text += (
                f"; for {in_percent(self.alpha, decimals=1)} any method must hand over at least "
                f"{self.least_handed_over:.1%}"
            )
        if not self.possible:
            text += f"; a promise needs at least {self.rows_needed} labelled rows"
        return text


def least_handed_over(error: float, *, alpha: float, risk: RiskName = "selective") -> float:
    """Return the smallest share that any method must hand over to reach a risk of alpha.

    Even one that hands over only errors: (error - alpha) / (1 - alpha) for the selective risk
    (arXiv 2606.29054), error - alpha for the joint one, 0 where the error is small enough.
    """
    open_unit(alpha, name="alpha")
    one_of(risk, get_args(RiskName), name="risk")
    if not 0.0 <= finite_number(error, name="error") <= 1.0:
        raise CalibrationError(f"error must be between 0 and 1, got {shown(error)}")
    excess = max(0.0, error - alpha)
    return excess / (1.0 - alpha) if risk == "selective" else excess


def look_ahead(
    n: int, *, loss: float, alpha: float, delta: float | None = 0.1, risk: RiskName = "selective"
) -> Outlook:
    """Return what n labelled rows with this sum of losses allow to hope for.

    delta: the chance that the promise may fail; None for one that holds on average, which
    needs 1/alpha - 1 rows.
    """
    whole_number(n, name="n", least=1)
    if not 0.0 <= finite_number(loss, name="loss") <= n:
        raise CalibrationError(
            f"loss must be a sum of n losses, got {shown(loss)} for n={shown(n)}"
        )
    # Of losses between 0 and 1 the 0-or-1 ones vary most, so Wilson's interval is wide enough.
    low, high = wilson_ends(loss, n, confidence=0.95)
    if delta is None:
        needed = fewest_rows_on_average(alpha)
    else:
        needed = fewest_rows(alpha=alpha, delta=delta)
    return Outlook(
        risk=risk,
        alpha=alpha,
        n=n,
        error=loss / n,
        low=low,
        high=high,
        least_handed_over=least_handed_over(loss / n, alpha=alpha, risk=risk),
        rows_needed=needed,
    )


def fewest_rows_on_average(alpha: float) -> int:
    """Return the fewest rows with which an average over calibration sets can be at most alpha."""
    ratio = 1.0 / open_unit(alpha, name="alpha") - 1.0
    return max(1, round(ratio) if abs(ratio - round(ratio)) < 1e-9 else int(ratio) + 1)
