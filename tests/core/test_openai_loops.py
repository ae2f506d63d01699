"""One model in several event loops, and many requests at a time."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading

import pytest

from classify.blocking import blocking
from classify.calls import Calls, Limiter
from classify.language_model import ChatPrompt, Message, Reply, Sampling
from classify.openai_compatible import OpenAICompatible
from classify.testing import Answer, LoopbackServer, likely, throttled

QUESTION = ChatPrompt((Message("user", "A or B?"),))
READ = Sampling(max_tokens=1, top_logprobs=2)
SURE = Answer(positions=[likely({"A": 0.7, "B": 0.3})])


async def ask(model: OpenAICompatible) -> Reply:
    return await model.complete(QUESTION, READ, options={})


def test_a_model_may_be_used_in_one_loop_after_another() -> None:
    """Each has connections of its own, closed with the loop: no warning is left for the end."""
    with LoopbackServer(SURE) as server:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        assert [asyncio.run(ask(model)).text for _ in range(3)] == ["A"] * 3
        assert server.connections == 3
    del model
    gc.collect()


def test_the_background_loop_and_a_users_loop_may_be_mixed() -> None:
    """A notebook waits in both ways."""
    with LoopbackServer(SURE) as server:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        wait = blocking(ask)
        assert (wait(model).text, asyncio.run(ask(model)).text, wait(model).text) == ("A",) * 3
        assert server.connections == 2
        blocking(model.aclose)()
    gc.collect()


def test_closing_reaches_the_clients_of_other_running_loops() -> None:
    """Aclose is called once, from wherever."""
    with LoopbackServer(SURE) as server:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        blocking(ask)(model)

        async def use_and_close() -> None:
            await ask(model)
            await model.aclose()

        asyncio.run(use_and_close())
        blocking(ask)(model)
        assert server.connections == 3
        blocking(model.aclose)()
    gc.collect()


def test_a_loop_run_by_hand_is_forgotten_when_it_is_closed() -> None:
    """Its client is gone with it; the model goes on."""
    with LoopbackServer(SURE) as server:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        loop = asyncio.new_event_loop()
        loop.run_until_complete(ask(model))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
        assert asyncio.run(ask(model)).text == "A"
    gc.collect()


SCRIPT = """
import asyncio, gc, os, sys
from classify.blocking import blocking
from classify.language_model import ChatPrompt, Message, Sampling
from classify.openai_compatible import OpenAICompatible
model = OpenAICompatible("m-1", base_url=sys.argv[1])
async def ask():
    question = ChatPrompt((Message("user", "A or B?"),))
    return (await model.complete(question, Sampling(), options={})).text
"""


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("print(blocking(ask)())", id="the-background-loop"),
        pytest.param("print(blocking(ask)()); del model; gc.collect()", id="collected"),
        pytest.param(
            "loop = asyncio.new_event_loop(); print(loop.run_until_complete(ask())); loop.close()",
            id="a-loop-closed-by-hand",
        ),
        pytest.param(
            "loop = asyncio.new_event_loop(); print(loop.run_until_complete(ask()))",
            id="a-loop-never-closed",
        ),
    ],
)
def test_a_script_that_closes_nothing_ends_in_silence(end: str) -> None:
    """Connections left open would be reported on the user's screen."""
    with LoopbackServer(SURE) as server:
        command = [sys.executable, "-c", SCRIPT + end, server.base_url]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("A\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system starts processes otherwise")
def test_a_forked_process_has_clients_of_its_own() -> None:
    """And leaves its parent's connections alone."""
    end = (
        "print(asyncio.run(ask()), blocking(ask)(), flush=True)\n"
        "child = os.fork()\n"
        "print(asyncio.run(ask()), blocking(ask)(), flush=True)\n"
        "if child: sys.exit(os.waitpid(child, 0)[1])\n"
    )
    with LoopbackServer(SURE) as server:
        command = [sys.executable, "-c", SCRIPT + end, server.base_url]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("A A\n" * 3, "")


def test_requests_share_connections() -> None:
    """Fault of others: a client, and so a connection, for every call."""

    async def several(model: OpenAICompatible) -> None:
        for _ in range(5):
            await ask(model)

    with LoopbackServer(SURE) as server:
        asyncio.run(several(OpenAICompatible("m-1", base_url=server.base_url)))
        assert (len(server.requests), server.connections) == (5, 1)


def test_more_than_a_hundred_requests_are_in_flight_at_once() -> None:
    """Without a number of our own aiohttp stops at 100."""

    async def all_at_once(server: LoopbackServer) -> None:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        server.hold()
        asked = [asyncio.create_task(ask(model)) for _ in range(150)]
        await asyncio.to_thread(server.wait_in_flight, 150)
        server.release()
        await asyncio.gather(*asked)

    with LoopbackServer(SURE) as server:
        asyncio.run(all_at_once(server))
        assert server.most_in_flight == 150


def test_a_limiter_bounds_what_is_in_flight() -> None:
    """Fault 42: counted where it matters, at the server."""

    async def through_calls(server: LoopbackServer) -> list[Reply]:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        calls = Calls(limiter=Limiter(3))
        return await asyncio.gather(*(calls.run(lambda: ask(model)) for _ in range(30)))

    with LoopbackServer(SURE) as server:
        assert len(asyncio.run(through_calls(server))) == 30
        assert server.most_in_flight <= 3


def test_calls_wait_as_long_as_the_server_asks() -> None:
    """Retry-After reaches the one place that retries."""
    waits: list[float] = []

    async def through_calls(server: LoopbackServer) -> Reply:
        async def note(seconds: float) -> None:
            waits.append(seconds)

        model = OpenAICompatible("m-1", base_url=server.base_url)
        return await Calls(sleep=note).run(lambda: ask(model))

    with LoopbackServer([throttled(7.0), SURE]) as server:
        assert asyncio.run(through_calls(server)).text == "A"
        assert len(server.requests) == 2
    assert len(waits) == 1
    assert 7.0 <= waits[0] <= 8.75


def test_a_cancelled_request_ends_at_once() -> None:
    """Its connection is closed, and the model goes on."""

    async def cancel(server: LoopbackServer) -> Reply:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        server.hold()
        asked = asyncio.create_task(ask(model))
        await asyncio.to_thread(server.wait_in_flight, 1)
        asked.cancel()
        assert isinstance((await asyncio.gather(asked, return_exceptions=True))[0], BaseException)
        server.release()
        return await ask(model)

    with LoopbackServer(SURE) as server:
        assert asyncio.run(cancel(server)).text == "A"


def test_threads_may_use_one_model_at_the_same_time() -> None:
    """Each with a loop of its own."""
    texts: list[str] = []
    with LoopbackServer(SURE) as server:
        model = OpenAICompatible("m-1", base_url=server.base_url)
        threads = [
            threading.Thread(target=lambda: texts.append(asyncio.run(ask(model)).text))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert texts == ["A"] * 6
