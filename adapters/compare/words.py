"""Numbers of a comparison in words that fit a line."""

from __future__ import annotations

from collections.abc import Mapping

from classify.calibration.comparison import PairedTest
from classify.calibration.estimate import Estimate
from classify.calibration.label_comparison import PairedMeans
from classify.calibration.measurement import Measurement, rows_used
from classify.calibration.paired_intervals import NO_PAIR_DIFFERED, UNVARIED


def share(found: Measurement) -> str:
    """Write "0.234 (95% 0.190 to 0.285), 70 of 299; 299 used of 310"."""
    count = f"{round(found.value * found.n)} of {found.n}"
    return f"{found.value:z.3f} ({between(found)}), {count}; {used(found)}"


def used(found: Measurement | Estimate | PairedTest) -> str:
    """Write "299 used of 310"."""
    return rows_used(found.n, found.total)


def between(found: Measurement | Estimate, *, signed: bool = False) -> str:
    """Write "95% 0.190 to 0.285", why it is wide where nothing varied, or that there is none."""
    if found.low is None or found.high is None:
        return "no interval"
    low, high = (f"{end:+z.3f}" if signed else f"{end:z.3f}" for end in (found.low, found.high))
    return f"95% {low} to {high}" + _alike(found)


def _alike(found: Measurement | Estimate) -> str:
    """Say that no pair differed, or that all did so alike: a wide interval looks like a fault."""
    if NO_PAIR_DIFFERED in found.rule or (UNVARIED in found.rule and found.value == 0.0):
        return f": {NO_PAIR_DIFFERED}"
    return ": all pairs differ alike" if UNVARIED in found.rule else ""


def change(found: Measurement | Estimate) -> str:
    """Write "+0.038 (95% -0.005 to +0.082), 299 used of 310"."""
    return f"{found.value:+z.3f} ({between(found, signed=True)}), {used(found)}"


def means(found: PairedMeans) -> str:
    """Write "A 0.604, B 0.642: +0.038 (95% -0.005 to +0.082), 299 used of 310"."""
    values = f"A {found.first.value:z.3f}, B {found.second.value:z.3f}"
    return f"{values}: {change(found.difference)}"


def p_value(test: PairedTest, adjusted: Mapping[str, float], name: str) -> str:
    """Write "p 0.0255, 299 used of 310", and what is left of it where several were tested."""
    told = f"p {test.p_value:.3g}, {used(test)}"
    if len(adjusted) > 1:
        told += f"; {adjusted[name]:.3g} after Holm over {len(adjusted)} questions"
    return told


def counts(numbers: Mapping[str, int]) -> str:
    """Write "failed 3, no verdict, refusal 2"."""
    return ", ".join(f"{why} {count}" for why, count in numbers.items()) or "none"
