"""Measure the embedded model's readouts and priors on labelled text, as a markdown table.

    python benchmarks/readouts.py DATA -o docs/readouts.md

DATA is a folder with sst2.jsonl, agnews.jsonl, banking10.jsonl, vader_tweets.jsonl,
sms_spam_natural.jsonl and vader_tweets_score5.jsonl: one object per line with `text` and `label`
(and in the last `mean`, the mean of human ratings). They are other people's data and no part of
this project.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from classify import Choice, Classifier, Evaluation, NoVerdict, Score, ScoreAnswer
from classify.calibration.calibration_error import expected_calibration_error
from classify.calibration.intervals import wilson
from classify.calibration.proper_scores import log_loss
from classify.calibration.rank_correlation import spearman
from classify.language_model import PromptForm, Readout
from classify.prior import BLANKS, divided

Floats = NDArray[np.float64]
Row = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """One data set, and how the model is asked about it."""

    file: str
    name: str
    state_name: str
    question: Choice


@dataclass(frozen=True)
class Asked:
    """The answers to one data set by one readout, and to states without content."""

    p: Floats
    """(n, K) in canonical order."""
    y: NDArray[np.int64]
    blank: Floats
    """(K,) the mean answer to states without content."""
    label_mass: float
    flips: str
    no_verdicts: int


def task(file: str, name: str, *, state_name: str, cue: str, words: dict[str, str]) -> Task:
    """Return a task whose options are read by these words."""
    question = Choice(criteria=dict.fromkeys(words), cue=cue, words=words)
    return Task(file, name, state_name, question)


def named(*options: str) -> dict[str, str]:
    """Return options that are their own words."""
    return {option: option.replace("_", " ") for option in options}


INTENTS = named(
    *("age_limit", "card_arrival", "change_pin", "exchange_rate", "lost_or_stolen_card"),
    *("request_refund", "terminate_account", "top_up_failed", "transaction_charged_twice"),
    "verify_my_identity",
)
FEELING = named("positive", "negative")
TASKS = (
    task("sst2", "SST-2", state_name="Review", cue="Sentiment:", words=FEELING),
    task("vader_tweets", "tweets", state_name="Tweet", cue="Sentiment:", words=FEELING),
    task(
        "agnews",
        "AG News",
        state_name="Article",
        cue="Topic:",
        words={**named("World", "Sports", "Business"), "Sci/Tech": "Technology"},
    ),
    task("banking10", "banking, 10 intents", state_name="Customer", cue="Topic:", words=INTENTS),
    task(
        "sms_spam_natural",
        "SMS spam",
        state_name="Message",
        cue="Type:",
        words={"ham": "personal", "spam": "spam"},
    ),
)


def main() -> None:
    """Measure every task and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--rows", type=int, help="rows of each data set (all)")
    parser.add_argument("--letter-rows", type=int, default=40, help="rows asked by letters (40)")
    wanted = parser.parse_args()
    lines = [HEAD]
    for each in TASKS:
        rows = read(wanted.data / f"{each.file}.jsonl")
        lines += measured(each, rows[: wanted.rows], readout="words", form="completion", orders=1)
        spread = rows[:: max(1, len(rows) // wanted.letter_rows)][: wanted.letter_rows]
        lines += measured(each, spread, readout="letters", form="chat", orders=2)
    lines.append(SCORES_HEAD)
    for file in ("vader_tweets", "vader_tweets_score5"):
        lines += scores(file, read(wanted.data / f"{file}.jsonl")[: wanted.rows])
    wanted.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read(path: Path) -> list[Row]:
    """Return the rows of a JSONL file."""
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measured(
    each: Task, rows: Sequence[Row], *, readout: Readout, form: PromptForm, orders: int
) -> list[str]:
    """Return the table's rows for one data set and readout, one per prior."""
    started = time.perf_counter()
    asked = ask(each, rows, readout=readout, form=form, orders=orders)
    seconds = (time.perf_counter() - started) / len(rows)
    print(f"{each.name}, {readout}: {len(rows)} rows, {seconds:.2f} s a row", file=sys.stderr)
    batch, blank = divided(asked.p, asked.p.mean(axis=0)), divided(asked.p, asked.blank)
    named_priors = (("none", asked.p), ("batch", batch), ("content-free", blank))
    return [line(each, readout, prior, p, asked) for prior, p in named_priors]


def ask(
    each: Task, rows: Sequence[Row], *, readout: Readout, form: PromptForm, orders: int
) -> Asked:
    """Put the question to the embedded model about every row and every blank state."""
    classifier = Classifier(
        each.file,
        "local",
        {"q": each.question},
        readout=readout,
        prompt_form=form,
        orders=orders,
        min_coverage=0.0,
        state_name=each.state_name,
    )
    states = [row["text"] for row in rows] + list(BLANKS)
    outcomes = classifier.evaluate_many_sync(states, concurrency=2)
    answers = [checked(outcome) for outcome in outcomes]
    options = sorted(each.question.options)
    found = [
        (row, a) for row, a in zip(rows, answers, strict=False) if not isinstance(a, NoVerdict)
    ]
    p = np.array([[a.probabilities[o] for o in options] for _, a in found])  # type: ignore[index]
    blanks = [a for a in answers[len(rows) :] if not isinstance(a, NoVerdict)]
    evidence = [a.evidence for _, a in found if a.evidence is not None]
    flips = f"{np.mean([e.flips > 0 for e in evidence]):.2f}" if orders > 1 else "one order"
    return Asked(
        p=p,
        y=np.array([options.index(row["label"]) for row, _ in found]),
        blank=np.mean([[a.probabilities[o] for o in options] for a in blanks], axis=0),  # type: ignore[index]
        label_mass=float(np.mean([a.label_mass for _, a in found])),
        flips=flips,
        no_verdicts=len(rows) - len(found),
    )


def checked(outcome: object) -> Any:
    """Return the answer of one evaluation; a failure ends the benchmark."""
    if not isinstance(outcome, Evaluation):
        raise SystemExit(f"a row failed: {outcome}")
    return outcome.answers["q"]


def line(each: Task, readout: str, prior: str, p: Floats, asked: Asked) -> str:
    """Return one row of the table."""
    top = p.argmax(axis=1)
    right = int((top == asked.y).sum())
    share = wilson(right, len(p))
    with np.errstate(divide="ignore"):
        loss = log_loss(np.log(p), asked.y)
    error = expected_calibration_error(p.max(axis=1), top == asked.y, seed=0)
    cells = (
        each.name,
        str(len(p)),
        readout,
        prior,
        f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}]",
        f"{loss.value:.3f}",
        f"{error.value:.3f} (null {error.null_mean:.3f})",
        f"{asked.label_mass:.2g}",
        asked.flips,
        str(asked.no_verdicts),
    )
    return "| " + " | ".join(cells) + " |"


def scores(file: str, rows: Sequence[Row]) -> list[str]:
    """Return what a score question with two anchor words gives against the mean of people."""
    question = Score(
        criteria=["very negative", "negative", "neutral", "positive", "very positive"],
        cue="Sentiment:",
        words=["negative", "positive"],
    )
    levels = Score(criteria=question.criteria)
    people = np.array([row["mean"] for row in rows])
    lines: list[str] = []
    for name, asked, readout, form in (
        ("two anchor words", question, "words", "completion"),
        ("digits 0 to 4", levels, "digits", "chat"),
    ):
        kept = slice(None) if readout == "words" else slice(None, None, 3)
        classifier = Classifier(
            "tweets",
            "local",
            {"q": asked},
            readout=readout,  # type: ignore[arg-type]
            prompt_form=form,  # type: ignore[arg-type]
            min_coverage=0.0,
            state_name="Review",
        )
        outcomes = classifier.evaluate_many_sync([r["text"] for r in rows[kept]], concurrency=2)
        answers = [checked(outcome) for outcome in outcomes]
        pairs = zip(answers, people[kept], strict=True)
        got = [(a.score, y) for a, y in pairs if isinstance(a, ScoreAnswer)]
        x, y = np.array(got).T
        ranks = spearman(x, y).value
        lines.append(
            f"| {file} | {name} | {len(x)} | {np.corrcoef(x, y)[0, 1]:.3f} | {ranks:.3f} |"
        )
    return lines


HEAD = """# What the embedded model can do, measured

Made by `python benchmarks/readouts.py DATA -o docs/readouts.md`, with SmolLM2-135M-Instruct at
8 bits.

- `words` compares the options' own words as the continuation of a plain text; `letters` lists
  the options in a chat and reads a letter, in two orders.
- `none`, `batch` and `content-free` are the prior corrections; `batch` assumes that the options
  are about equally frequent, which holds for all sets here but SMS spam (13 % spam).
- Accuracy has its 95 % Wilson interval. The calibration error is over equal-mass bins, beside
  its null: what a perfectly calibrated model would show with as many rows.
- A log loss is infinite where the truth was an option that was among none of the alternatives.
- Label mass is the model's probability of the options' words or letters; flips are the share of
  rows whose answer changes with the order.

| data | rows | readout | prior | accuracy | log loss | calibration error | label mass | flips | no verdict |
|---|---|---|---|---|---|---|---|---|---|"""  # noqa: E501  a row of a table is one line

SCORES_HEAD = """
## Scores

Human-rated tweets (at least 20 raters each, from -4 to 4): the correlation of the score with the
raters' mean.

| data | readout | rows | Pearson | Spearman |
|---|---|---|---|---|"""


if __name__ == "__main__":
    main()
