"""The labelled sets of the calibration study, and what the embedded model says about them.

DATA is a folder as benchmarks/readouts.py describes it, and two files more: topicalchat_usr.jsonl
(`text` a dialogue, `response`, `label` the mean rating of the response from 1 to 5) and
qags_xsum.jsonl (`text` an article, `summary`, `label` consistent/inconsistent). The tweets also
have `hist`, how many of their raters chose each of the grades from -4 to 4.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

import numpy as np
from readouts import TASKS, Row, Task, ask, read, task

from classify.calibration.arrays import Floats, Ints, log_probabilities

ARTICLE = 800
"""The characters of an article that are read: the lead, which is what its summary is of."""


def labelled(row: Row) -> Row:
    """Return the row with its label as the name of an option."""
    return {"text": row["text"], "label": str(row["label"])}


def reply(row: Row) -> Row:
    """Return a dialogue with a reply, and the reply's mean rating rounded to a grade."""
    text = f"{row['text']}\nResponse: {row['response']}"
    return {"text": text, "label": str(round(row["label"]))}


def summary(row: Row) -> Row:
    """Return an article with a summary that may not follow from it."""
    text = f"{row['text'][:ARTICLE]}\nSummary: {row['summary']}"
    return {"text": text, "label": row["label"]}


@dataclass(frozen=True)
class LabelledSet:
    """One data set, and how its rows are put to the model."""

    task: Task
    kind: Literal["choice", "score"] = "choice"
    row: Callable[[Row], Row] = labelled
    readout: Literal["words", "letters"] = "words"

    @property
    def key(self) -> str:
        """What the file of answers knows it by."""
        return self.task.file if self.readout == "words" else f"{self.task.file}, {self.readout}"


def grades(*words: str) -> dict[str, str]:
    """Return the grades 1 to 5, read by these words."""
    return {str(grade): word for grade, word in enumerate(words, start=1)}


ASKED = {each.file: LabelledSet(each) for each in TASKS}
SENTIMENT = grades("very negative", "negative", "neutral", "positive", "very positive")
QUALITY = grades("terrible", "poor", "fair", "good", "excellent")
CHOSEN_ON = (ASKED["sst2"], ASKED["banking10"])
"""The sets that were looked at while the rules of `calibrate` were chosen."""
CONFIRMED_ON = (
    ASKED["vader_tweets"],
    ASKED["agnews"],
    ASKED["sms_spam_natural"],
    LabelledSet(
        task(
            "vader_tweets_score5",
            "tweets, 5 grades",
            state_name="Tweet",
            cue="Sentiment:",
            words=SENTIMENT,
        ),
        kind="score",
    ),
    LabelledSet(
        task(
            "topicalchat_usr",
            "replies, 5 grades",
            state_name="Dialogue",
            cue="Quality of the response:",
            words=QUALITY,
        ),
        kind="score",
        row=reply,
    ),
    LabelledSet(
        task(
            "qags_xsum",
            "summaries",
            state_name="Article",
            cue="The summary is",
            words={"consistent": "accurate", "inconsistent": "inaccurate"},
        ),
        row=summary,
    ),
)
BY_LETTERS = tuple(replace(each, readout="letters") for each in (*CONFIRMED_ON, *CHOSEN_ON))
"""The same sets, their options listed in a chat and answered by a letter."""
RATED = "vader_tweets"
"""The set whose rows carry the answers of 20 raters."""


class Kept(TypedDict):
    """What the file of answers holds for one set."""

    p: list[list[float]]
    y: list[int]
    no_verdicts: NotRequired[int]


@dataclass(frozen=True)
class Answers:
    """What the model said about one data set, and what people did."""

    of: LabelledSet
    log_p: Floats
    """(n, K), columns in canonical order."""
    y: Ints
    raters: Floats | None
    """(n, K), the shares of the raters who took a side."""


def answers(each: LabelledSet, data: Path, kept: Path | None) -> Answers:
    """Return the model's answers to a data set, from the file that keeps them if it has them."""
    key = each.key
    rows = read(data / f"{each.task.file}.jsonl")
    known: dict[str, Kept] = {}
    if kept is not None and kept.exists():
        known = json.loads(kept.read_text())
    if key not in known:
        known[key] = asked(each, rows)
        if kept is not None:
            kept.write_text(json.dumps(known))
    found = known[key]
    p, y = np.array(found["p"]), np.array(found["y"])
    if len(p) + found.get("no_verdicts", 0) != len(rows):
        raise SystemExit(f"{kept}: {key} has {len(p)} answers to {len(rows)} rows")
    raters = np.array([shares(row) for row in rows]) if key == RATED else None
    with np.errstate(divide="ignore"):
        return Answers(each, log_probabilities(np.log(p)), y, raters)


def asked(each: LabelledSet, rows: list[Row]) -> Kept:
    """Put the question to the embedded model about every row; one without a verdict is left out."""
    given = [each.row(row) for row in rows]
    form = "completion" if each.readout == "words" else "chat"
    found = ask(each.task, given, readout=each.readout, form=form, orders=1)
    if found.no_verdicts and each.key == RATED:
        raise SystemExit(f"{each.key}: {found.no_verdicts} rows have no verdict")
    return {"p": found.p.tolist(), "y": found.y.tolist(), "no_verdicts": found.no_verdicts}


def shares(row: Row) -> tuple[float, float]:
    """Return the shares (negative, positive) of the raters who took a side."""
    votes = {int(grade): int(count) for grade, count in row["hist"].items()}
    negative = sum(count for grade, count in votes.items() if grade < 0)
    positive = sum(count for grade, count in votes.items() if grade > 0)
    return negative / (negative + positive), positive / (negative + positive)
