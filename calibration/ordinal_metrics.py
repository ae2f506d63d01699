"""The headline numbers that only a score has, whose options are levels in order."""

from __future__ import annotations

from dataclasses import dataclass, replace

from classify.calibration.measurement import Measurement, of_total


@dataclass(frozen=True, slots=True)
class OrdinalMetrics:
    """What a score's distribution and mean are worth; None where one side never varies."""

    rps: Measurement
    mae: Measurement
    """Of the expected level, in units of the levels."""
    spearman: Measurement | None
    tau_b: Measurement | None

    def of(self, total: int) -> OrdinalMetrics:
        """Return the same numbers, each saying how many rows there were."""
        return replace(
            self,
            rps=replace(self.rps, total=total),
            mae=replace(self.mae, total=total),
            spearman=of_total(self.spearman, total),
            tau_b=of_total(self.tau_b, total),
        )

    def named(self) -> list[tuple[str, object]]:
        """Return names and values, to print."""
        undefined = "not defined: one side never varies"
        return [
            ("RPS", self.rps),
            ("MAE", self.mae),
            ("Spearman", self.spearman or undefined),
            ("tau-b", self.tau_b or undefined),
        ]
