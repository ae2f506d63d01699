"""Items of an async generator in plain code: interrupted, dropped, after a fork, at the end."""

from __future__ import annotations

import os

import pytest

from tests.core.test_blocking import script

COUNTING = """
import asyncio, gc, os, signal, sys, threading
from classify.blocking import background_loop, blocking, blocking_iterator

closed = threading.Event()

async def count():
    try:
        for number in range(3):
            yield number
            await asyncio.sleep(0)
    finally:
        await asyncio.sleep(0)
        closed.set()

numbers = blocking_iterator(count)()
print(next(numbers), flush=True)
"""


def printed(code: str) -> str:
    """Return what a program prints that has taken the first item; it must end, without a word."""
    ran = script(COUNTING + code)
    assert ran.stderr == ""
    return ran.stdout.replace("\n", " ").strip()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT to send to oneself")
def test_an_interrupt_closes_the_generator_and_is_what_is_raised() -> None:
    """The interrupted step may still run when the generator is closed."""
    code = """
main = threading.main_thread().ident

async def forever():
    try:
        while sys._current_frames()[main].f_code.co_name != "wait":
            await asyncio.sleep(0)
        os.kill(os.getpid(), signal.SIGINT)
        yield await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        print("closed")

try:
    next(blocking_iterator(forever)())
except KeyboardInterrupt:
    print("interrupted")
"""

    assert printed(code) == "0 closed interrupted"


def test_a_generator_collected_in_the_loops_own_thread_is_closed() -> None:
    """The collector runs in whatever thread it likes; there, waiting would never end."""
    code = """
gc.disable()
cycle = [numbers]
cycle.append(cycle)
del cycle, numbers

async def collect():
    gc.collect()

blocking(collect)()
print(closed.wait(30))
"""

    assert printed(code) == "0 True"


def test_a_program_ends_with_a_generator_half_read() -> None:
    """By then the loop's thread is gone, and nobody would answer."""
    assert printed("kept = numbers") == "0"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_cannot_go_on_with_its_parents_generator() -> None:
    """The child says so, may drop it, and ends; the parent reads on."""
    code = """
child = os.fork()
if child == 0:
    try:
        next(numbers)
    except RuntimeError as error:
        print(error, flush=True)
    del numbers
    os._exit(0)
os.waitpid(child, 0)
print(list(numbers))
"""

    assert printed(code) == "0 count was begun before a fork: begin it anew [1, 2]"


def test_an_exit_raised_by_a_model_reaches_who_waits_and_stops_no_later_call() -> None:
    """The loop raises it too, and its thread answers everybody."""
    code = """
async def leave():
    sys.exit("out")

async def one():
    return 1

try:
    blocking(leave)()
except SystemExit as error:
    print(error)
print(blocking(one)(), list(numbers))
"""

    assert printed(code) == "0 out 1 [1, 2]"
