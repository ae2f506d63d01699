"""Time every fit and metric against the libraries that have it, on the same arrays, in one run.

    python benchmarks/calibration_speed.py -o docs/calibration-speed.md

Compares with whichever of scikit-learn, netcal, relplot, MAPIE and venn-abers can be imported, and
says which could. Each side is given the input that it works on (we log-probabilities, they
probabilities or logits), made beforehand. Times are CPU seconds of this process on one thread,
the least of several runs; a peer that would take more than --longest seconds, going by fewer rows,
is left out.
"""

# ruff: noqa: E402  numpy's libraries read the number of threads once, when they are imported

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import importlib.metadata
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from contests import Call, Contest, Data, rows
from contests_of_fits import fits
from contests_of_metrics import WIDTHS, metrics
from contests_of_sets import sets

LIBRARIES = ("scikit-learn", "netcal", "relplot", "mapie", "venn-abers")
SIZES = (1_000, 100_000, 1_000_000)
OPTIONS = (2, 5, 20)


@dataclass(frozen=True)
class Result:
    """What one contest took on arrays of one size."""

    contest: str
    k: int
    n: int
    ours: float
    theirs: float
    """The fastest peer's seconds; infinite where there is none."""
    peers: str

    @property
    def row(self) -> str:
        """A row of the table."""
        ratio = f"{self.times:.1f}" if np.isfinite(self.theirs) else "-"
        return (
            f"| {self.contest} | {self.k} | {self.n:,} | {shown(self.ours)} | "
            f"{self.peers or 'none has it'} | {ratio} |"
        )

    @property
    def times(self) -> float:
        """How many times as fast as the fastest peer we are."""
        return self.theirs / self.ours


class Clock:
    """Times contests; remembers what each peer took on fewer rows."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._last: dict[tuple[str, int, str], tuple[int, float]] = {}

    def time(self, contest: Contest, *, n: int, k: int) -> Result:
        """Time us and the peers in turns, so that both see the same machine."""
        before = {name: self._last.get((contest.name, k, name), (n, 0.0)) for name in contest.peers}
        calls = {
            name: call
            for name, call in contest.peers.items()
            if before[name][1] * n / before[name][0] <= self._longest
        }
        found = least_seconds({"": contest.ours, **calls}, budget=0.5)
        ours = found.pop("")
        if not isinstance(ours, float):
            raise RuntimeError(f"{contest.name} fails on {n} rows of {k} options: {ours}")
        said: list[str] = []
        seconds: dict[str, float] = {}
        for name in contest.peers:
            time_or_error = found.get(name)
            if isinstance(time_or_error, float):
                self._last[contest.name, k, name] = (n, time_or_error)
                seconds[name] = time_or_error
                said.append(f"{name} {shown(time_or_error)}")
            elif time_or_error is None:
                rows, last = before[name]
                said.append(f"{name} left out, {shown(last)} for {rows:,} rows")
            else:
                said.append(f"{name} fails ({time_or_error})")
        theirs = min(seconds.values(), default=float("inf"))
        return Result(contest.name, k, n, ours, theirs, ", ".join(said))


def least_seconds(calls: dict[str, Call], *, budget: float) -> dict[str, float | str]:
    """Return for each the least CPU time of 7 to 50 runs, fewer where they take a whole budget.

    A run is as many calls as take a millisecond. For one that fails, the name of its error.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    failed: dict[str, float | str] = {}
    for turn in range(50):
        for name, call in calls.items():
            spent = sum(times[name])
            if name in failed or spent > (budget if turn < 7 else 0.1 * budget):
                continue
            try:
                times[name].append(seconds_a_call(call, times[name]))
            except Exception as error:  # a peer that fails is a finding
                failed[name] = type(error).__name__
    return {name: failed[name] if name in failed else min(taken) for name, taken in times.items()}


def seconds_a_call(call: Call, before: list[float]) -> float:
    """Return the CPU time of a call, over as many as take a millisecond by earlier ones."""
    count = max(1, round(1e-3 / max(min(before), 1e-6))) if before else 1
    started = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - started) / count


def main() -> None:
    """Time everything and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--longest", type=float, default=60.0, help="seconds of one call (60)")
    parser.add_argument("--options", type=int, nargs="+", default=OPTIONS, help="K (2 5 20)")
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="n (1e3, 1e5, 1e6)")
    parser.add_argument("--only", default="", help="a word in the names of what is timed")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    clock, results = Clock(wanted.longest), list[Result]()
    for k in wanted.options:
        for n in wanted.rows:
            for contest in contests(rows(n, k)):
                if wanted.only in contest.name:
                    results.append(clock.time(contest, n=n, k=k))
                    print(results[-1].row, file=sys.stderr)
            # After each block, so that a run that is cut off keeps what it has.
            wanted.output.write_text(page(results), encoding="utf-8")


def contests(d: Data) -> Iterator[Contest]:
    """Return what is timed on these rows."""
    yield from fits(d)
    yield from metrics(d)
    yield from sets(d)


def page(results: list[Result]) -> str:
    """Return the page: what was timed, where a peer is faster, and the table."""
    slower: list[str] = []
    for n in SIZES:
        ahead: dict[str, list[float]] = {}
        for result in results:
            if result.n == n and result.times < 1.0:
                ahead.setdefault(result.contest, []).append(result.times)
        slower += [
            f"{contest}, {n:,} rows: {min(times):.2f} to {max(times):.2f}"
            for contest, times in ahead.items()
        ]
    few = [result for result in results if (result.contest, result.n) == (WIDTHS, SIZES[0])]
    ahead_by = max((result.ours - result.theirs for result in few), default=0.0)
    head = HEAD.format(
        versions=versions(), slower="; ".join(slower) or "nowhere", ahead=shown(ahead_by)
    )
    return "\n".join([head, *(result.row for result in results)]) + "\n"


def shown(seconds: float) -> str:
    """Return a time with a fitting unit."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def versions() -> str:
    """Say which libraries could be imported, and which could not."""
    said: list[str] = []
    for name in LIBRARIES:
        try:
            said.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            said.append(f"{name} not installed")
    return ", ".join(said)


HEAD = """# How fast calibration is

Made by `python benchmarks/calibration_speed.py -o docs/calibration-speed.md`: CPU time on one
thread, the least of up to fifty runs in turns, all in one run on the same arrays. Compared with:
{versions}.

- The last column is the fastest peer's time over ours: above 1 we are faster.
- Ours checks every input and normalises log-probabilities; that time is in it.
- Not the same work everywhere: our Platt, beta and isotonic fits have smoothed targets or pseudo
  counts, vector and matrix scaling start from a temperature and have a ridge, accuracy and kappa
  have an interval, MAPIE's RAPS fits its penalty on a fifth of the rows, and its sets go through
  an estimator that returns its input.
- relplot's binned ECE is a function of five array operations that checks nothing: no ranges, no
  labels, no exact edges. The row below it times one of the five alone, adding the gaps to their
  bins, which nobody can do without: its last column is the most by which anything on arrays could
  be faster, so ten times cannot be had. On 1,000 rows, where every call of numpy counts, relplot
  is ahead by {ahead}: ours makes more of them, for its checks.
- Where a peer is faster, with its time over ours: {slower}.

| what | options | rows | ours | peers | times as fast |
|---|---|---|---|---|---|"""


if __name__ == "__main__":
    main()
