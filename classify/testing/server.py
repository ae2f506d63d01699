"""A server on 127.0.0.1 that speaks OpenAI's chat completions and completions, for tests.

It needs nothing but the standard library and runs in a thread of its own, so that synchronous
and asynchronous tests, and several event loops, can use it.

    with LoopbackServer(Answer(positions=[likely({"A": 0.7, "B": 0.3})])) as server:
        model = OpenAICompatible("any", base_url=server.base_url)
"""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Self, TypeAlias

from classify.testing.server_answers import Answer, Request, render

Answerer: TypeAlias = Callable[[Request], Answer | Awaitable[Answer]]

_SECONDS_TO_ARRIVE = 30.0


class LoopbackServer:
    """An OpenAI-shaped server that lives as long as its `with` block.

    An answer may be one for all requests, a sequence used in turn (the last one again and again),
    or a function of the request, which may be asynchronous and runs in the server's own loop.
    An exception raised in that function is raised again where the `with` block ends.
    """

    def __init__(self, answer: Answer | Sequence[Answer] | Answerer) -> None:
        """Take the answer; the server starts where the `with` block does."""
        self._answer: Answer | Sequence[Answer] | Answerer = answer
        self.requests: list[Request] = []
        """Every request so far, in order of arrival."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.connections = 0
        """Connections opened so far: keep-alive makes them fewer than the requests."""
        self._changed = threading.Condition()
        self._handlers: set[asyncio.Task[None]] = set()
        self._failures: list[Exception] = []
        self._port = 0

    @property
    def base_url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._port}/v1"

    def hold(self) -> None:
        """Let requests arrive and wait, until `release`."""
        self._loop.call_soon_threadsafe(self._gate.clear)

    def release(self) -> None:
        """Answer all that wait, and all that come."""
        self._loop.call_soon_threadsafe(self._gate.set)

    def wait_in_flight(self, count: int) -> None:
        """Block until that many requests are waiting; raises TimeoutError after half a minute.

        In asynchronous code: `await asyncio.to_thread(server.wait_in_flight, count)`.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self.in_flight >= count, _SECONDS_TO_ARRIVE):
                raise TimeoutError(f"{self.in_flight} requests in flight, waited for {count}")

    def __enter__(self) -> Self:
        """Start to listen."""
        self._loop = asyncio.new_event_loop()
        self._gate = asyncio.Event()
        self._gate.set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(self, *exception: object) -> None:
        """Hang up and stop."""
        asyncio.run_coroutine_threadsafe(self._hang_up(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        if self._failures and exception[0] is None:
            raise self._failures[0]

    async def __aenter__(self) -> Self:
        """Start to listen."""
        return self.__enter__()

    async def __aexit__(self, *exception: object) -> None:
        """Hang up and stop."""
        self.__exit__(*exception)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _hang_up(self) -> None:
        self._server.close()
        handlers = list(self._handlers)
        for handler in handlers:
            handler.cancel()
        await asyncio.gather(*handlers, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handler = asyncio.current_task()
        assert handler is not None
        self._handlers.add(handler)
        self.connections += 1
        try:
            while await self._one_request(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client, or the end of the test, hung up
        finally:
            self._handlers.discard(handler)
            writer.close()

    async def _one_request(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; False where the connection ends with it."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.rstrip("\r\n").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        request = Request(
            number=len(self.requests),
            path=start.split(" ")[1],
            headers=headers,
            body=json.loads(body or b"{}"),
        )
        answers = await self._wait_and_answer(request)
        return await _send(writer, answers[0], render(request, answers))

    async def _wait_and_answer(self, request: Request) -> list[Answer]:
        with self._changed:
            self.requests.append(request)
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            self._changed.notify_all()
        try:
            await self._gate.wait()
            return [await self._answered(part) for part in _prompts(request)]
        except Exception as failure:
            self._failures.append(failure)
            return [Answer(status=500, body=repr(failure).encode())]
        finally:
            with self._changed:
                self.in_flight -= 1

    async def _answered(self, request: Request) -> Answer:
        if isinstance(self._answer, Answer):
            return self._answer
        if callable(self._answer):
            answer = self._answer(request)
            return await answer if inspect.isawaitable(answer) else answer
        return self._answer[min(request.number, len(self._answer) - 1)]


def _prompts(request: Request) -> list[Request]:
    # A completion may hold several prompts; each is answered as if it had been asked alone.
    prompt = request.body.get("prompt")
    if not isinstance(prompt, list):
        return [request]
    return [replace(request, body={**request.body, "prompt": one}) for one in prompt]


async def _send(writer: asyncio.StreamWriter, answer: Answer, body: bytes) -> bool:
    if answer.ending == "dropped":
        return False
    reason = HTTPStatus(answer.status).phrase if answer.status in _STATUSES else "Status"
    headers = {"Content-Type": "application/json", **answer.headers, "Content-Length": len(body)}
    head = f"HTTP/1.1 {answer.status} {reason}\r\n" + "".join(
        f"{name}: {value}\r\n" for name, value in headers.items()
    )
    sent = body[: len(body) // 2] if answer.ending == "truncated" else body
    writer.write(head.encode("latin-1") + b"\r\n" + sent)
    await writer.drain()
    return answer.ending == "whole"


_STATUSES = {status.value for status in HTTPStatus}
