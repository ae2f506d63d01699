"""Waiting for coroutines from plain code: anywhere, from many threads, after a fork."""

from __future__ import annotations

import asyncio
import inspect
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from classify.blocking import blocking
from classify.classifier import Classifier
from classify.decision import DecisionRequest
from classify.evaluation import Evaluation
from classify.testing.scripted import RawAnswer, ScriptedModel


def yes(_: DecisionRequest) -> dict[str, RawAnswer]:
    """Answer a boolean question."""
    return {"q": {"type": "boolean", "probability": 0.8}}


def classifier() -> Classifier:
    """Return a classifier of one boolean question."""
    return Classifier("c", ScriptedModel(yes), {"q": {"type": "boolean"}})


def script(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a Python of its own."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )


def test_every_public_coroutine_has_a_blocking_twin() -> None:
    """Whoever adds one adds the other."""
    coroutines = [
        name
        for name, _ in inspect.getmembers(Classifier, inspect.iscoroutinefunction)
        if not name.startswith("_")
    ]
    built = classifier()

    streams = [
        name
        for name, _ in inspect.getmembers(Classifier, inspect.isasyncgenfunction)
        if not name.startswith("_")
    ]

    assert coroutines == ["aclose", "evaluate", "evaluate_many"]
    assert streams == ["as_completed", "stream"]
    for name in (*coroutines, *streams):
        twin = getattr(built, f"{name}_sync")
        assert inspect.signature(twin) == inspect.signature(getattr(built, name))
        assert twin.__doc__ == getattr(built, name).__doc__


def test_it_works_where_no_loop_runs() -> None:
    """A plain script."""
    built = classifier()

    assert built.evaluate_sync("text").classifier_id == "c"
    assert len(built.evaluate_many_sync(["a", "b"])) == 2
    built.aclose_sync()


def test_outcomes_come_one_by_one_to_plain_code() -> None:
    """A for loop over a stream; leaving it early asks for no more than was read ahead."""
    model = ScriptedModel(yes)
    built = Classifier("c", model, {"q": {"type": "boolean"}})

    stream = built.stream_sync((f"state {n}" for n in range(1000)), concurrency=2)
    first = next(stream)
    stream.close()

    assert isinstance(first, Evaluation)
    assert len(model.requests) < 10
    assert {0, 1, 2} == {position for position, _ in built.as_completed_sync(["a", "b", "c"])}


def test_it_works_inside_a_running_loop() -> None:
    """A notebook."""

    async def cell() -> str:
        return classifier().evaluate_sync("text").classifier_id

    assert asyncio.run(cell()) == "c"


def test_it_works_from_several_threads() -> None:
    """All of them share one loop, and each gets its own answer."""
    built = Classifier(
        "c",
        ScriptedModel(lambda r: {"q": {"type": "boolean", "probability": float(str(r.state))}}),
        {"q": {"type": "boolean"}},
    )
    states = [str(k / 64) for k in range(64)]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(built.evaluate_sync, states))

    assert [e.answers["q"].probabilities for e in found] == [
        {"true": float(s), "false": 1.0 - float(s)} for s in states
    ]


def test_threads_that_come_at_once_share_one_loop() -> None:
    """Connections belong to a loop, so a second one would open its own."""
    code = """
import threading
from classify.blocking import blocking

async def here():
    return threading.current_thread()

call, ready, found = blocking(here), threading.Barrier(16), set()

def ask():
    ready.wait()
    found.add(call())

threads = [threading.Thread(target=ask) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(found), sum(thread.name == "classify" for thread in threading.enumerate()))
"""
    for _ in range(3):
        ran = script(code)
        assert (ran.stdout.strip(), ran.stderr) == ("1 1", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_it_works_after_a_fork() -> None:
    """A forked child has the loop's object without its thread, and makes its own."""
    code = """
import os
from classify.blocking import blocking

async def one():
    return 1

call = blocking(one)
assert call() == 1
child = os.fork()
if child == 0:
    os._exit(0 if call() == 1 else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), call())
"""
    ran = script(code)

    assert (ran.stdout.strip(), ran.stderr) == ("0 1", "")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to oneself")
def test_an_interrupt_ends_the_request() -> None:
    """Ctrl-C while waiting: the coroutine is cancelled, not left behind."""
    code = """
import asyncio, os, signal, sys, threading
from classify.blocking import blocking

ended, main = threading.Event(), threading.main_thread().ident

async def forever():
    try:
        while sys._current_frames()[main].f_code.co_name != "wait":
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        ended.set()
        raise

try:
    blocking(forever)()
except KeyboardInterrupt:
    print("interrupted", ended.wait(30))
"""
    ran = script(code)

    assert (ran.stdout.strip(), ran.stderr) == ("interrupted True", "")


def test_errors_come_as_they_were_raised() -> None:
    """The same object, with its traceback into the coroutine."""
    error = ValueError("bug")

    async def fail() -> None:
        raise error

    with pytest.raises(ValueError, match="bug") as raised:
        blocking(fail)()
    assert raised.value is error


def test_waiting_on_its_own_loop_is_an_error_and_no_deadlock() -> None:
    """A transform that evaluates in turn would wait for the thread that it runs on."""

    async def one() -> int:
        return 1

    async def nested() -> int:
        return blocking(one)()

    answers: list[BaseException] = []

    def ask() -> None:
        try:
            blocking(nested)()
        except RuntimeError as error:
            answers.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(30)

    assert [str(error) for error in answers] == [
        "a blocking call from the thread that would have to answer it: await one instead"
    ]
