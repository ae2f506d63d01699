"""How many rows a second the client can ask, and what CPU that costs, against a loopback server.

    python benchmarks/throughput.py [--rows 1000] [--concurrency 64] [--latency 0] [--rounds 3]

The server runs in another process. Three clients ask it the same question of about 1.5 KB with 20
alternatives back, in turn, so that a busy machine slows all alike: compare the ratios.

    aiohttp     a bare loop: post, parse, write a line; what no client can do without
    one model   `OpenAICompatible.complete` through `Calls`, a line each
    whole       `classify.run.run`: rows, prompts, readout, evidence, checks, results to disk
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from classify.calls import Calls, Limiter
from classify.classifier import Classifier
from classify.language_model import ChatPrompt, Message, Sampling
from classify.openai_compatible import OpenAICompatible
from classify.rows import Row
from classify.run import RunSettings, run
from classify.store import Store
from classify.testing import Answer, LoopbackServer, Request, likely

CRITERIA = {
    "billing": "Charges, refunds, invoices, payment methods. " * 5,
    "delivery": "Where a parcel is, when it comes, what arrived broken. " * 4,
    "account": "Signing in, changing an address, closing an account. " * 4,
    "other": "Anything else that a shop's support is asked. " * 4,
}
STATE = "My parcel was to come on Monday and the tracking page has not moved since. " * 4
LETTERS = {letter: 0.24 for letter in "ABCD"}
ALTERNATIVES = likely({**LETTERS, **{f"word{n}": 0.04 / 16 for n in range(16)}})
GOAL = 3.0
"""CPU seconds for 1000 rows that the whole client is to stay below."""

Arm = Callable[[str, int, int, Path], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Measured:
    """What one arm took, best of its rounds."""

    name: str
    rows_per_second: float
    cpu_per_1000: float


async def bare_aiohttp(url: str, rows: int, concurrency: int, path: Path) -> None:
    """Post, parse and write, with nothing else."""
    import aiohttp

    places = asyncio.Semaphore(concurrency)
    body = {"model": "m", "messages": _messages(), "max_tokens": 1, "temperature": 1.0}
    body |= {"logprobs": True, "top_logprobs": 20}
    connector = aiohttp.TCPConnector(limit=10_000)
    async with aiohttp.ClientSession(connector=connector) as session:
        with path.open("w", encoding="utf-8") as file:

            async def one(number: int) -> None:
                async with places, session.post(f"{url}/chat/completions", json=body) as response:
                    parsed = json.loads(await response.read())
                _write(file, number, parsed["choices"][0]["message"]["content"])

            await asyncio.gather(*(one(number) for number in range(rows)))


async def one_model(url: str, rows: int, concurrency: int, path: Path) -> None:
    """Ask the language model, through the place that bounds and retries."""
    model = OpenAICompatible("m", base_url=url)
    prompt = ChatPrompt(tuple(Message("user", m["content"]) for m in _messages()))
    sampling = Sampling(max_tokens=1, top_logprobs=20)
    calls = Calls(limiter=Limiter(concurrency))
    with path.open("w", encoding="utf-8") as file:

        async def one(number: int) -> None:
            reply = await calls.run(lambda: model.complete(prompt, sampling, options={}))
            _write(file, number, reply.text)

        await asyncio.gather(*(one(number) for number in range(rows)))
    await model.aclose()


async def whole_client(url: str, rows: int, concurrency: int, path: Path) -> None:
    """Run rows into a results file, as `classify run` does."""
    question = {"type": "choice", "instructions": "What is it about?", "criteria": CRITERIA}
    model = OpenAICompatible("m", base_url=url)
    classifier = Classifier("bench", model, {"topic": question})
    with Store(path, existing="overwrite") as store:
        counts = await run(classifier, _rows(rows), store, RunSettings(concurrency=concurrency))
    await classifier.aclose()
    if counts.answered != rows:
        raise SystemExit(f"{counts.answered} of {rows} rows were answered")


ARMS: dict[str, Arm] = {
    "aiohttp": bare_aiohttp,
    "one model": one_model,
    "whole": whole_client,
}


def measure(url: str, *, rows: int, concurrency: int, rounds: int) -> list[Measured]:
    """Return each arm's best round; a first round of a few rows warms imports and connections."""
    best = {name: (float("inf"), float("inf")) for name in ARMS}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds + 1):
            for name, arm in ARMS.items():
                path = Path(folder) / f"{name}-{number}.jsonl"
                wall, cpu = time.perf_counter(), time.process_time()
                asyncio.run(_awaited(arm(url, rows if number else 20, concurrency, path)))
                took = time.perf_counter() - wall, time.process_time() - cpu
                if number:
                    best[name] = min(best[name][0], took[0]), min(best[name][1], took[1])
    return [Measured(name, rows / wall, cpu * 1000.0 / rows) for name, (wall, cpu) in best.items()]


def table(measured: Sequence[Measured]) -> str:
    """Return the figures beside their ratios to the bare loop."""
    floor = measured[0]
    lines = [f"{'client':<12}{'rows/s':>9}{'ratio':>8}{'CPU s/1000':>13}{'ratio':>8}"]
    for one in measured:
        speed, cost = (
            one.rows_per_second / floor.rows_per_second,
            one.cpu_per_1000 / floor.cpu_per_1000,
        )
        lines.append(
            f"{one.name:<12}{one.rows_per_second:>9.0f}{speed:>8.2f}"
            f"{one.cpu_per_1000:>13.2f}{cost:>8.2f}"
        )
    whole = measured[-1].cpu_per_1000
    verdict = "below" if whole < GOAL else "NOT below"
    return "\n".join([*lines, f"whole client: {whole:.2f} CPU s/1000 rows, {verdict} {GOAL:g}"])


@contextmanager
def serving(latency: float) -> Generator[str]:
    """Run the server in another process and give its address."""
    command = [sys.executable, __file__, "--serve", "--latency", str(latency)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()  # the server lives as long as its standard input


def serve(latency: float) -> None:
    """Answer until standard input ends."""

    async def answer(_: Request) -> Answer:
        if latency:
            await asyncio.sleep(latency / 1000.0)
        return Answer(positions=[ALTERNATIVES])

    with LoopbackServer(answer) as server:
        print(server.base_url, flush=True)
        sys.stdin.read()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure the client against a loopback server.")
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.0, help="milliseconds of each answer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.latency)
        return
    with serving(given.latency) as url:
        measured = measure(url, rows=given.rows, concurrency=given.concurrency, rounds=given.rounds)
    print(table(measured))


def _messages() -> list[dict[str, str]]:
    rubric = "\n".join(f"{name}: {text}" for name, text in CRITERIA.items())
    return [{"role": "system", "content": rubric}, {"role": "user", "content": STATE}]


def _rows(count: int) -> Iterator[Row]:
    for number in range(count):
        yield Row(number, f"row {number}", str(number), f"{STATE} {number}")


def _write(file: TextIO, number: int, text: str) -> None:
    file.write(json.dumps({"id": number, "answer": text}) + "\n")


async def _awaited(work: Awaitable[None]) -> None:
    await work


if __name__ == "__main__":
    main()
