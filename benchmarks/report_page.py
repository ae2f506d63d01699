"""How large the page of `classify report` is, and how soon it shows, finds and opens rows.

    python benchmarks/report_page.py [-o docs/report-page.md] [--rows 50000] [--rounds 3]

Rows are made up in the shape of examples/support: its messages, joined at random to as many
different ones; three questions with the evidence of the words readout, every number at full
precision; labels for all. The page is opened in an installed Chromium. What is sought is sought by
the address, without the pause that the search field leaves for typing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from classify.adapters.report.report_page import make_report
from classify.json_values import JSON
from classify.run_record import RunRecord, write_record
from classify.spec import load_spec

SUPPORT = Path(__file__).resolve().parents[1] / "examples" / "support"
WORDS = {
    "topic": {
        "delivery": ["delivery", "shipping"],
        "refund": ["refund", "return"],
        "payment": ["payment", "billing"],
        "account": ["account", "login"],
        "product": ["product", "item"],
    },
    "satisfaction": {"0": ["angry"], "1": ["neutral"], "2": ["happy"]},
    "urgent": {"true": ["urgent"], "false": ["standard"]},
}
SEARCHES = {
    "rows with two words": "#search=parcel+refund",
    "rows with an answer": "#question=topic&answer=option%3Arefund",
    "disagreements, worst first": "#question=topic&agreement=disagrees"
    "&sort=disagreement%3A0&descending=true",
    "all rows, sorted by text": "#sort=text",
    "all rows again": "#",
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

MARKED = """(name) => performance.getEntriesByName(name)[0].startTime"""
SEEK = """async (hash) => {
  location.hash = hash;
  await new Promise((done) => addEventListener("hashchange", done, { once: true }));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""
OPEN = """async (row) => {
  location.hash = `#row=${row}`;
  while (!document.querySelector("dialog .answer-bars")) await new Promise(requestAnimationFrame);
}"""
SCROLL = """async ([frames, far]) => {
  const grid = document.querySelector("[role=grid]");
  for (let frame = 0; frame < frames; frame += 1) {
    grid.scrollTop = far ? (frame / frames) * grid.scrollHeight : frame * 38;
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
}"""
FRAMES = 50


class Clock:
    """Times of one tab: what passed on the wall, and what its thread worked."""

    def __init__(self, tab: Page) -> None:
        self.tab = tab
        self.session = tab.context.new_cdp_session(tab)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.times: dict[str, tuple[float, float]] = {}

    def worked(self) -> float:
        """Return the milliseconds that the thread has worked so far."""
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        return next(each["value"] for each in metrics if each["name"] == "TaskDuration") * 1000

    def time(self, name: str, script: str, argument: object, *, parts: int = 1) -> None:
        """Note what a script took, divided by the parts that it has."""
        before, started = self.worked(), time.perf_counter()
        self.tab.evaluate(script, argument)
        wall = (time.perf_counter() - started) * 1000
        self.times[name] = ((self.worked() - before) / parts, wall / parts)


MARK = "<!-- measured -->\n"
"""In the page of the documentation, what this program writes follows it."""
FOUND = """
{rows} rows of three questions, with evidence and labels, in Chromium {browser}, the best of
{rounds} rounds. *Work* is the processor time of the page's thread, which a busy machine stretches
less than *until seen*, what passed on the clock (two cores without a GPU{load}).

| results | page | making it | memory of its script |
|---|---|---|---|
| {results_mb:.1f} MB | {page_mb:.1f} MB | {making:.0f} s of processor time | {heap:.0f} MB |

| | work, ms | until seen, ms |
|---|---|---|
{times}
"""


def main() -> None:
    """Measure, and print what was found or write it into the page of the documentation."""
    parser = argparse.ArgumentParser(description="Measure the page of a results file.")
    parser.add_argument("-o", "--output", type=Path, help="page of the documentation to fill in")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    # A page that is not there is found out before minutes are spent.
    before = given.output and given.output.read_text(encoding="utf-8").partition(MARK)[0]
    with tempfile.TemporaryDirectory() as folder:
        told = documented(Path(folder), rows=given.rows, rounds=given.rounds)
    if given.output is None:
        print(told)
    else:
        given.output.write_text(before + MARK + told, encoding="utf-8")


def documented(folder: Path, *, rows: int, rounds: int) -> str:
    """Make results and their page in a folder, and return what was measured."""
    results, page = folder / "rows.jsonl", folder / "rows.html"
    write_results(results, rows)
    started = time.process_time()
    size = make_report(results).write(page)
    making = time.process_time() - started
    found = measured(page, rows=rows, rounds=rounds)
    lines = [f"| {name} | {work:.0f} | {wall:.0f} |" for name, (work, wall) in found.times.items()]
    busy = os.getloadavg()[0]
    return FOUND.format(
        rows=f"{rows:,}",
        browser=found.browser,
        rounds=rounds,
        load=f", {busy:.0f} other processes waiting for them" if busy > 2 else "",
        results_mb=results.stat().st_size / 1e6,
        page_mb=size / 1e6,
        making=making,
        heap=found.heap_mb,
        times="\n".join(lines),
    )


def write_results(path: Path, count: int) -> None:
    """Write made-up results, and the record of the run that they would be of."""
    chance = random.Random(0)
    lines = (SUPPORT / "messages.jsonl").read_text(encoding="utf-8").split("\n")
    texts = [text for line in filter(None, lines) if (text := json.loads(line)["message"].strip())]
    spec = load_spec(str(SUPPORT / "spec.yaml"))
    with path.open("w", encoding="utf-8") as file:
        for index in range(count):
            text = " ".join(chance.sample(texts, 2))[: chance.randrange(40, 400)]
            file.write(json.dumps(_line(index, text, chance), ensure_ascii=False) + "\n")
    write_record(path, RunRecord.of(spec.classifier()))


@dataclass(slots=True)
class Measured:
    """What was found in a browser."""

    browser: str
    heap_mb: float = 0.0
    times: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    """What was done -> work and wall-clock time in milliseconds, of the round of least work."""


def measured(page: Path, *, rows: int, rounds: int) -> Measured:
    """Open the page in a browser, and return what took how long."""
    with started_browser() as browser:
        found = Measured(browser.version)
        for _ in range(rounds):
            tab = browser.new_page(viewport={"width": 1280, "height": 900})
            for name, times in _round(tab, page, rows).items():
                found.times[name] = min(times, found.times.get(name, times))
            heap = float(tab.evaluate("performance.memory.usedJSHeapSize"))
            found.heap_mb = max(found.heap_mb, heap / 1e6)
            tab.close()
    return found


def _round(tab: Page, page: Path, rows: int) -> dict[str, tuple[float, float]]:
    clock = Clock(tab)
    tab.goto(page.as_uri(), timeout=120_000, wait_until="commit")
    tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    loaded = clock.worked()
    clock.times["from nothing to a table of all rows"] = (loaded, tab.evaluate(MARKED, "rows"))
    for name, hash in SEARCHES.items():
        clock.time(name, SEEK, hash)
    clock.time("a frame of scrolling, row by row", SCROLL, [FRAMES, False], parts=FRAMES)
    clock.time("a frame of scrolling, by 1,000 rows", SCROLL, [FRAMES, True], parts=FRAMES)
    clock.time("a row opened, with its evidence", OPEN, rows // 2)
    return clock.times


@contextmanager
def started_browser() -> Generator[Browser]:
    """Start an installed browser."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"no browser on this machine: none of {', '.join(BROWSERS)}")
    flags = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


def _line(index: int, text: str, chance: random.Random) -> JSON:
    answers = {name: _answer(name, chance) for name in WORDS}
    labels: dict[str, JSON] = {
        "topic": chance.choice(list(WORDS["topic"])),
        "satisfaction": float(chance.randrange(3)),
        "urgent": chance.random() < 0.3,
    }
    return {
        "id": f"m{index:05}",
        "index": index,
        "key": _hex(chance),
        "state": text,
        "answers": answers,
        "error": None,
        "labels": labels,
        "label_problems": {},
        "usage": {
            "input_tokens": 277,
            "output_tokens": 7,
            "cached_tokens": 185,
            "total_tokens": 284,
        },
        "response": {
            "id": None,
            "timestamp": _time(index),
            "model_id": "smollm2-135m-instruct-q8_0",
        },
        "warnings": [],
        "attempts": 3,
        "seconds": chance.random(),
    }


def _answer(name: str, chance: random.Random) -> JSON:
    logs = {word: [chance.gauss(-7.0, 1.5)] for words in WORDS[name].values() for word in words}
    masses = {
        option: sum(math.exp(logs[word][0]) for word in words)
        for option, words in WORDS[name].items()
    }
    mass = sum(masses.values())
    p: dict[str, JSON] = {option: each / mass for option, each in masses.items()}
    return {
        **_read(name, masses, p),
        "label_mass": mass,
        "method": "local",
        "evidence": _evidence(name, mass, p, logs, chance),
    }


def _read(name: str, masses: dict[str, float], p: dict[str, JSON]) -> dict[str, JSON]:
    mass = sum(masses.values())
    if name == "topic":
        best = max(masses, key=masses.__getitem__)
        return {"type": "choice", "choice": best, "probabilities": p, "tie": False}
    if name == "urgent":
        return {"type": "boolean", "probability": masses["true"] / mass, "probabilities": p}
    score = sum(int(level) * each for level, each in masses.items()) / mass
    return {"type": "score", "score": score, "probabilities": p}


def _evidence(name: str, mass: float, p: JSON, logs: JSON, chance: random.Random) -> JSON:
    labels = {word: option for option, words in WORDS[name].items() for word in words}
    order: dict[str, JSON] = {
        "labels": labels,
        "probabilities": p,
        "label_mass": mass,
        "alternatives": [],
        "token_logprobs": logs,
        "path": [],
        "prompt_hash": _hex(chance),
    }
    return {
        "readout": "words",
        "prompt_form": "completion",
        "template": "1",
        "length_rule": "sum",
        "orders": [order],
        "requested_model": "smollm2-135m-instruct",
        "reported_model": "smollm2-135m-instruct-q8_0",
        "usage": {"input_tokens": 78, "output_tokens": 2, "cached_tokens": 37},
        "attempts": 1,
        "seconds": chance.random(),
        "at": _time(chance.randrange(50_000)),
    }


def _hex(chance: random.Random) -> str:
    return f"{chance.getrandbits(256):064x}"


def _time(second: int) -> str:
    return f"2026-01-01T{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.250000Z"


if __name__ == "__main__":
    main()
