"""Measure what 20 to 200 labels buy on the embedded model's answers to real text.

    python benchmarks/calibration_study.py DATA -o docs/calibration-study.md

DATA is a folder with sst2.jsonl, vader_tweets.jsonl, agnews.jsonl and banking10.jsonl, as
benchmarks/readouts.py describes them; the tweets also have `hist`, how many of their raters chose
each of the grades from -4 to 4. Writes the table, and a picture beside it (.svg). The model is
asked once: with --answers FILE its answers are kept there, and read from there the next time.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from readouts import TASKS, Row, Task, ask, read

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.auto import calibrate
from classify.calibration.calibration_error import debiased_calibration_error
from classify.calibration.fitted import CalibrationWarning
from classify.calibration.proper_scores import log_loss
from classify.calibration.reliability import ReliabilityDiagram, reliability_diagram
from classify.calibration.svg import before_after_svg

FILES = ("sst2", "vader_tweets", "agnews", "banking10")
RATED = "vader_tweets"
"""The set whose rows carry the answers of 20 raters."""
SIZES = (20, 50, 100, 200)
SEEDS = 20
DRAWN_LABELS = 100
"""How many labels the picture was made with."""


@dataclass(frozen=True)
class Answers:
    """What the model said about one data set, and what people did."""

    task: Task
    log_p: Floats
    """(n, K), columns in canonical order."""
    y: Ints
    raters: Floats | None
    """(n, K), the shares of the raters who took a side."""


@dataclass(frozen=True)
class Trial:
    """One draw of labels: before and after on the rows that were not labelled."""

    method: str
    loss: tuple[float, float]
    error: tuple[float, float]
    null: tuple[float, float]
    rater_loss: tuple[float, float] | None
    """The cross-entropy of the raters' own distribution."""
    rater_gap: tuple[float, float] | None
    """The mean distance of P(positive) to the share of raters."""


def main() -> None:
    """Read or ask the answers, draw labels, and write table and picture."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--answers", type=Path, help="file that keeps the model's answers")
    wanted = parser.parse_args()
    sets = [each for each in TASKS if each.file in FILES]
    found = [answers(each, wanted.data, wanted.answers) for each in sets]
    picture = wanted.output.with_suffix(".svg")
    lines, rated, worse = [HEAD.format(picture=picture.name)], [RATERS_HEAD], 0
    for each in found:
        for size in SIZES:
            if size > len(each.y) // 2:
                continue
            trials = [trial(each, size, seed) for seed in range(SEEDS)]
            lines.append(row(each, size, trials))
            rated += rater_rows(size, trials)
            worse += mean_of([t.loss for t in trials])[1] > mean_of([t.loss for t in trials])[0]
            print(lines[-1], file=sys.stderr)
    wanted.output.write_text("\n".join([*lines, *rated]) + "\n", encoding="utf-8")
    picture.write_text(drawn(found), encoding="utf-8")
    if worse:
        raise SystemExit(f"calibrated answers are worse than raw ones in {worse} cells")


def answers(each: Task, data: Path, kept: Path | None) -> Answers:
    """Return the model's answers to a data set, from the file that keeps them if it has them."""
    rows = read(data / f"{each.file}.jsonl")
    known = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    if each.file not in known:
        asked = ask(each, rows, readout="words", form="completion", orders=1)
        if asked.no_verdicts:
            raise SystemExit(f"{each.file}: {asked.no_verdicts} rows have no verdict")
        known[each.file] = {"p": asked.p.tolist(), "y": asked.y.tolist()}
        if kept is not None:
            kept.write_text(json.dumps(known))
    p, y = np.array(known[each.file]["p"]), np.array(known[each.file]["y"])
    if len(p) != len(rows):
        raise SystemExit(f"{kept}: {each.file} has {len(p)} answers to {len(rows)} rows")
    raters = np.array([shares(row) for row in rows]) if each.file == RATED else None
    with np.errstate(divide="ignore"):
        return Answers(each, log_probabilities(np.log(p)), y, raters)


def shares(row: Row) -> tuple[float, float]:
    """Return the shares (negative, positive) of the raters who took a side."""
    votes = {int(grade): int(count) for grade, count in row["hist"].items()}
    negative = sum(count for grade, count in votes.items() if grade < 0)
    positive = sum(count for grade, count in votes.items() if grade > 0)
    return negative / (negative + positive), positive / (negative + positive)


def trial(each: Answers, size: int, seed: int) -> Trial:
    """Label `size` rows drawn at random, calibrate on them, and measure the others."""
    order = np.random.default_rng(seed).permutation(len(each.y))
    used, rest = order[:size], order[size:]
    after, method = calibrated(each, used, rest)
    raw, y = each.log_p[rest], each.y[rest]
    errors = [calibration_error(log_p, y) for log_p in (raw, after)]
    pair = (raw, after)
    people = None if each.raters is None else each.raters[rest]
    return Trial(
        method=method,
        loss=(log_loss(raw, y).value, log_loss(after, y).value),
        error=(errors[0][0], errors[1][0]),
        null=(errors[0][1], errors[1][1]),
        rater_loss=None if people is None else both(pair, lambda x: -(people * x).sum(1).mean()),
        rater_gap=None
        if people is None
        else both(pair, lambda x: np.abs(np.exp(x) - people)[:, 1].mean()),
    )


def calibrated(each: Answers, used: Ints, rest: Ints) -> tuple[Floats, str]:
    """Return the rest calibrated by the labels of `used`, and by which method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        found = calibrate(each.log_p[used], each.y[used])
    return found.calibrator.apply(each.log_p[rest]), found.report.chosen


def both(pair: tuple[Floats, Floats], measure: object) -> tuple[float, float]:
    """Return a measure before and after."""
    assert callable(measure)
    return float(measure(pair[0])), float(measure(pair[1]))


def calibration_error(log_p: Floats, y: Ints) -> tuple[float, float]:
    """Return the debiased calibration error of the confidence, and its null value."""
    confidence, right = np.exp(log_p.max(axis=1)), log_p.argmax(axis=1) == y
    found = debiased_calibration_error(np.minimum(confidence, 1.0), right, seed=0, draws=200)
    return found.value, found.null_mean or 0.0


def row(each: Answers, size: int, trials: list[Trial]) -> str:
    """Return one row of the table."""
    loss, error = mean_of([t.loss for t in trials]), mean_of([t.error for t in trials])
    gains = np.array([t.loss[0] - t.loss[1] for t in trials])
    chosen = Counter(t.method for t in trials).most_common()
    cells = (
        each.task.name,
        str(size),
        str(len(each.y) - size),
        f"{loss[0]:.3f}",
        f"{loss[1]:.3f}",
        f"{gains.min():+.3f} … {gains.max():+.3f}",
        f"{error[0]:.3f}",
        f"{error[1]:.3f}",
        f"{mean_of([t.null for t in trials])[1]:.3f}",
        ", ".join(f"{method} {count}" for method, count in chosen),
    )
    return "| " + " | ".join(cells) + " |"


def rater_rows(size: int, trials: list[Trial]) -> list[str]:
    """Return the row of the table about raters, where the set has raters."""
    losses = [t.rater_loss for t in trials if t.rater_loss is not None]
    gaps = [t.rater_gap for t in trials if t.rater_gap is not None]
    if not losses:
        return []
    loss, gap = mean_of(losses), mean_of(gaps)
    return [f"| {size} | {loss[0]:.3f} | {loss[1]:.3f} | {gap[0]:.3f} | {gap[1]:.3f} |"]


def mean_of(pairs: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the means of both sides."""
    before, after = np.mean(pairs, axis=0)
    return float(before), float(after)


def drawn(found: list[Answers]) -> str:
    """Return the picture: all sets together, each with 100 labels, before and after."""
    raw: list[Floats] = []
    after: list[Floats] = []
    truths: list[Ints] = []
    for each in found:
        order = np.random.default_rng(0).permutation(len(each.y))
        used, rest = order[:DRAWN_LABELS], order[DRAWN_LABELS:]
        for side, log_p in ((raw, each.log_p[rest]), (after, calibrated(each, used, rest)[0])):
            side.append(np.exp(log_p.max(axis=1)))
            truths.append(log_p.argmax(axis=1) == each.y[rest])
    before = diagram(raw, truths[::2])
    return before_after_svg(
        before, diagram(after, truths[1::2]), title="The embedded model before and after 100 labels"
    )


def diagram(confidences: list[Floats], right: list[Ints]) -> ReliabilityDiagram:
    """Return the reliability of confidences of several sets."""
    return reliability_diagram(
        np.minimum(np.concatenate(confidences), 1.0), np.concatenate(right), seed=0
    )


HEAD = """# What labels buy: the embedded model on real text

Made by `python benchmarks/calibration_study.py DATA -o docs/calibration-study.md`, with
SmolLM2-135M-Instruct at 8 bits, options read by their own words, no prior correction.

Each row: so many labels drawn at random, 20 times with other seeds; `calibrate(method="auto")`
fits on them, and all other rows measure. `before` are the raw answers to the same rows.

- Log loss in nats. The range is of its gain over the 20 draws: below 0 a draw was worse than raw.
- Calibration error: debiased L2 over equal-mass bins, of the confidence in the answer; its null is
  what a perfectly calibrated model would show on as many rows.
- The last column counts the methods that were chosen; identity means that the raw answers were
  kept, because nothing was better on labelled rows left out of the fit.

![Reliability before and after 100 labels, all four sets together]({picture})

| data | labels | test rows | log loss before | after | gain, least … most | error before | after | null | methods chosen |
|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  a row of a table is one line

RATERS_HEAD = """
## Against the raters' own distribution

Each tweet was graded by 20 people. The target is not one label but the share of raters who found
it positive, among those who took a side; the labels that calibrate are the usual ones. Log loss is
the cross-entropy with the raters' shares; the distance is the mean of |P(positive) - share|.

| labels | log loss before | after | distance before | after |
|---|---|---|---|---|"""


if __name__ == "__main__":
    main()
