"""Turns across event loops, and a cache that never changes an answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from classify.adapters.models.llama_http import LlamaHTTP
from classify.adapters.models.slots import OwnSlot, Pieces, Turns
from classify.json_values import JSON

R = TypeVar("R", bound=BaseModel)


class Recorder(LlamaHTTP):
    """A server with one slot that remembers in which batches each cached token was evaluated."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:9")
        self.cached: list[tuple[int, int]] = []  # token, and how many tokens stood before its batch
        self.requests = 0

    async def post(self, path: str, body: Mapping[str, JSON], reply: type[R]) -> R:
        self.requests += 1
        prompt = body["prompt"]
        assert isinstance(prompt, list)
        kept = 0
        if body.get("cache_prompt", True):
            while kept < min(len(self.cached), len(prompt) - 1):
                if self.cached[kept][0] != prompt[kept]:
                    break
                kept += 1
        self.cached[kept:] = [(int(str(token)), kept) for token in prompt[kept:]]
        return reply.model_validate({"timings": {"cache_n": kept}})


piece = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(tuple)
prompts = st.lists(st.lists(piece, min_size=1, max_size=4).map(tuple), min_size=1, max_size=6)


@given(prompts)
def test_a_prompt_is_evaluated_in_its_pieces_whatever_came_before(asked: list[Pieces]) -> None:
    """Other batches give other numbers, so the history must not decide on the batches."""
    slot, server = OwnSlot(), Recorder()

    for pieces in asked:
        asyncio.run(slot.evaluate(server, pieces, {}))

        starts = [sum(map(len, pieces[:i])) for i in range(len(pieces))]
        assert server.cached == [
            (token, start) for tokens, start in zip(pieces, starts, strict=True) for token in tokens
        ]


def test_a_shared_beginning_is_evaluated_once() -> None:
    """The second question about a state costs one request for its last line."""
    slot, server = OwnSlot(), Recorder()
    asyncio.run(slot.evaluate(server, ((1, 2, 3), (4,)), {}))

    asyncio.run(slot.evaluate(server, ((1, 2, 3), (5,)), {}))

    assert server.requests == 3


def test_turns_go_in_the_order_of_asking() -> None:
    """Nobody waits for ever while others come and go."""

    async def scene() -> list[int]:
        turns, order = Turns(), list[int]()

        async def take(number: int) -> None:
            async with turns:
                order.append(number)
                await asyncio.sleep(0)

        await asyncio.gather(*(take(number) for number in range(5)))
        return order

    assert asyncio.run(scene()) == [0, 1, 2, 3, 4]


def test_a_turn_given_up_goes_to_the_next() -> None:
    """A cancelled question must not block the model for good, wherever it was cancelled."""

    async def scene() -> None:
        turns = Turns()
        async with turns:
            waiting = [asyncio.ensure_future(_enter(turns)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
        waiting[1].cancel()  # the turn is on its way to it
        await asyncio.gather(*waiting, return_exceptions=True)
        assert not waiting[2].cancelled()
        await _enter(turns)

    asyncio.run(scene())


def test_turns_hold_between_event_loops() -> None:
    """One engine serves the caller's loop and the package's own."""
    turns, inside, most = Turns(), 0, 0

    async def take() -> None:
        nonlocal inside, most
        async with turns:
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    async def scene() -> None:
        await asyncio.gather(*(take() for _ in range(50)))

    threads = [threading.Thread(target=asyncio.run, args=(scene(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert most == 1


async def _enter(turns: Turns) -> None:
    async with turns:
        pass
