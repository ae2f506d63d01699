"""How large the page of `classify report` is, and how soon it shows, finds and opens rows.

    python benchmarks/report_page.py [--rows 50000] [--rounds 3] [--keep FOLDER]

Rows are made up in the shape of examples/support: its messages, joined at random to as many
different ones; three questions with the evidence of the words readout, every number at full
precision; labels for all. The page is opened in an installed Chromium. Times are the browser's own
(performance.now), the best of the rounds, and beside them the processor time of the page's thread
in that round, which a busy machine does not stretch. What is sought is sought by the address,
without the pause that the search field leaves for typing.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

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
    "two words": "#search=parcel+refund",
    "an answer": "#question=topic&answer=option%3Arefund",
    "disagreements, worst first": "#question=topic&agreement=disagrees"
    "&sort=disagreement%3A0&descending=true",
    "sorted by text": "#sort=text",
    "everything again": "#",
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
SCROLL = """async (steps) => {
  const grid = document.querySelector("[role=grid]");
  for (let step = 0; step < steps; step += 1) {
    grid.scrollTop = (step / steps) * grid.scrollHeight;
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
        self.times[name] = (wall / parts, (self.worked() - before) / parts)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the page of a results file.")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path, help="folder to keep results and page in")
    given = parser.parse_args()
    with _folder(given.keep) as folder:
        results, page = folder / "rows.jsonl", folder / "rows.html"
        write_results(results, given.rows)
        print(f"rows             {given.rows}")
        print(f"results          {results.stat().st_size / 1e6:.1f} MB")
        started = time.process_time()
        size = make_report(results).write(page)
        print(f"making the page  {time.process_time() - started:.1f} s of CPU")
        print(f"page             {size / 1e6:.1f} MB")
        for name, (wall, worked) in measured(page, rows=given.rows, rounds=given.rounds).items():
            print(f"{name:<28} {wall:6.0f} ms, of which {worked:6.0f} ms of work")


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


def measured(page: Path, *, rows: int, rounds: int) -> dict[str, tuple[float, float]]:
    """Open the page in a browser, and return what took how long, in milliseconds."""
    found: dict[str, tuple[float, float]] = {}
    with browser_page() as new_page:
        for _ in range(rounds):
            tab = new_page()
            for name, times in _round(tab, page, rows).items():
                found[name] = min(times, found.get(name, times))
            tab.close()
    return found


def _round(tab: Page, page: Path, rows: int) -> dict[str, tuple[float, float]]:
    clock = Clock(tab)
    tab.goto(page.as_uri(), timeout=120_000, wait_until="commit")
    tab.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
    loaded = clock.worked()
    for name, mark in (("rows on the screen", "rows"), ("texts there to search", "texts")):
        clock.times[name] = (tab.evaluate(MARKED, mark), loaded)
    for name, hash in SEARCHES.items():
        clock.time(name, SEEK, hash)
        print(f"  {name}: {tab.inner_text('.status')}", file=sys.stderr)
    clock.time("a frame of a long scroll", SCROLL, FRAMES, parts=FRAMES)
    clock.time("a row opened", OPEN, rows // 2)
    heap = tab.evaluate("performance.memory.usedJSHeapSize")
    print(f"  script's memory: {heap / 1e6:.0f} MB", file=sys.stderr)
    return clock.times


@contextmanager
def browser_page() -> Generator[Callable[[], Page]]:
    """Start an installed browser, and give a function that opens a tab in it."""
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        sys.exit(f"no browser on this machine: none of {', '.join(BROWSERS)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        yield lambda: browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


@contextmanager
def _folder(keep: Path | None) -> Generator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


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
