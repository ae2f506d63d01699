"""Compare ready-made measures with human ratings: `python examples/agreement.py DATA`.

DATA is a folder with qags_xsum.jsonl (text, summary, label consistent/inconsistent; QAGS, Wang et
al. 2020) and topicalchat_usr.jsonl (text, response, context, scores; USR, Mehri and Eskenazi
2020). Rows are taken evenly over each file. Articles are shortened to the sentences closest to
each claim. A row that fails or has no score is counted and never scored; the intervals are 95 %
percentile bootstraps over rows. A small model's agreement is low: this prints how low.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from classify import Classifier
from classify.adapters.scorers import ScorerRunError
from classify.adapters.scorers.measures import (
    answer_relevancy,
    faithfulness,
    hallucination,
    multi_turn_judge,
    rubric,
)
from classify.adapters.scorers.measures.measure import MeasureScorer
from classify.calibration import auroc, spearman
from classify.errors import CalibrationError

Row = Mapping[str, Any]
Statistic = Callable[[Sequence[float], Sequence[float]], float]


@dataclass(frozen=True)
class Comparison:
    """One measure, what it is given of a row, and the human's word on the same row."""

    file: str
    scorer: MeasureScorer
    run: Callable[[Row], dict[str, Any]]
    human: Callable[[Row], float]
    humans_said: str
    statistic: str


def area(scores: Sequence[float], labels: Sequence[float]) -> float:
    """Return the AUROC: .5 is chance."""
    return auroc(list(scores), [int(label) for label in labels]).value


def rank_correlation(scores: Sequence[float], ratings: Sequence[float]) -> float:
    """Return Spearman's correlation: 0 is chance."""
    return spearman(list(scores), list(ratings)).value


STATISTICS: Mapping[str, Statistic] = {"AUROC": area, "Spearman": rank_correlation}


def comparisons(model: str, characters: int) -> list[Comparison]:
    """Return what is compared; every measure is asked of the same classifier."""
    judge, limit = Classifier("agreement", model), characters
    told = "The summary states only what the article says"
    pleasant = "The last reply fits the conversation and is interesting"
    summary, chat = "qags_xsum.jsonl", "topicalchat_usr.jsonl"
    return [
        Comparison(
            summary,
            faithfulness(judge, max_characters=limit),
            lambda row: {"output": row["summary"], "additional_context": {"context": row["text"]}},
            consistent,
            "consistent",
            "AUROC",
        ),
        Comparison(
            summary,
            hallucination(judge, max_characters=limit),
            lambda row: {"output": row["summary"], "additional_context": {"context": row["text"]}},
            lambda row: 1.0 - consistent(row),
            "inconsistent",
            "AUROC",
        ),
        Comparison(
            summary,
            rubric(judge, criteria=[told]),
            lambda row: {"input": row["text"][:limit], "output": row["summary"]},
            consistent,
            "consistent",
            "AUROC",
        ),
        Comparison(
            chat,
            answer_relevancy(judge, max_characters=limit),
            lambda row: {"input": row["text"], "output": row["response"]},
            lambda row: float(row["scores"]["coherence"]),
            "coherence, mean of raters",
            "Spearman",
        ),
        Comparison(
            chat,
            faithfulness(judge, max_characters=limit),
            lambda row: {
                "output": row["response"],
                "additional_context": {"context": row["context"]},
            },
            lambda row: float(row["scores"]["groundedness"]),
            "groundedness, mean of raters",
            "Spearman",
        ),
        Comparison(
            chat,
            multi_turn_judge(judge, criterion=pleasant, max_characters=limit),
            lambda row: {"input": row["text"], "output": row["response"]},
            lambda row: float(row["label"]),
            "overall, mean of raters",
            "Spearman",
        ),
    ]


def consistent(row: Row) -> float:
    """Return 1 where the humans found the summary consistent."""
    return float(row["label"] == "consistent")


def evenly(path: Path, count: int) -> list[Row]:
    """Return so many rows, spread over the file."""
    with path.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    places = np.unique(np.linspace(0, len(rows) - 1, min(count, len(rows))).astype(int))
    return [rows[place] for place in places]


async def compare(comparison: Comparison, rows: Sequence[Row]) -> str:
    """Score the rows and return a line of the table."""
    scores, humans, failures, items, used = [], [], list[str](), 0, 0
    for number, row in enumerate(rows, start=1):
        print(f"\r{comparison.scorer.id} {number}/{len(rows)}  ", end="", file=sys.stderr)
        try:
            result = await comparison.scorer.run(**comparison.run(row))
        except ScorerRunError as error:
            failures.append(type(error.cause).__name__)
            continue
        evidence = result.analyze_step_result
        items, used = (
            items + (evidence.of if evidence else 0),
            used + (evidence.used if evidence else 0),
        )
        if result.score is not None:
            scores.append(result.score)
            humans.append(comparison.human(row))
    cells = [
        comparison.scorer.id,
        comparison.file,
        comparison.humans_said,
        described(comparison.statistic, scores, humans),
        f"{len(scores)} of {len(rows)}",
        f"{used} of {items}",
        f"{len(failures)} {sorted(set(failures))}" if failures else "0",
    ]
    return "| " + " | ".join(cells) + " |"


def described(name: str, scores: Sequence[float], humans: Sequence[float]) -> str:
    """Return a statistic with its bootstrap interval, or why there is none."""
    statistic = STATISTICS[name]
    try:
        value = statistic(scores, humans)
    except CalibrationError as error:
        return f"{name} not defined: {error}"
    draws = np.random.default_rng(0).integers(len(scores), size=(1000, len(scores)))
    resampled = list[float]()
    for draw in draws:
        try:
            resampled.append(statistic([scores[i] for i in draw], [humans[i] for i in draw]))
        except CalibrationError:
            continue  # a resample of one class only has no value
    low, high = np.quantile(resampled, (0.025, 0.975))
    return f"{name} {value:.2f} [{low:.2f}, {high:.2f}]"


async def main(arguments: argparse.Namespace) -> None:
    """Print the table."""
    started = time.perf_counter()
    print("| measure | rows of | humans said | agreement | rows used | items used | failed |")
    print("|---|---|---|---|---|---|---|")
    for comparison in comparisons(arguments.model, arguments.characters):
        rows = evenly(arguments.data / comparison.file, arguments.rows)
        print(await compare(comparison, rows), flush=True)
    print(
        f"\n{arguments.model}, {arguments.rows} rows per file, long texts to "
        f"{arguments.characters} characters, {time.perf_counter() - started:.0f} s"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path, metavar="DATA", help="the folder of the two files")
    parser.add_argument("--rows", type=int, default=20, help="rows per file (20)")
    parser.add_argument("--model", default="local", help="what answers (local)")
    parser.add_argument(
        "--characters", type=int, default=800, help="longest text that is shown (800)"
    )
    asyncio.run(main(parser.parse_args()))
