"""Limits and retries: what is in flight, in which order, how often and how long."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calls import Calls, Limiter, delay
from classify.classifier import Classifier
from classify.errors import CapabilityError, InvalidAnswer, InvalidInput, ProviderError
from classify.json_values import JSON
from classify.language_model import Prompt, Reply, Sampling
from classify.results import results_of
from classify.testing.scripted import ScriptedLanguageModel, position_reply


class Gate:
    """Requests that wait until they are let go, and the most that were in flight together."""

    def __init__(self, limiter: Limiter) -> None:
        """Take the limiter that the requests go through."""
        self.limiter, self.entered, self.most = limiter, list[int](), 0
        self.inside: dict[int, asyncio.Event] = {}

    async def request(self, name: int) -> None:
        """Be one request."""
        async with self.limiter:
            self.entered.append(name)
            self.inside[name] = asyncio.Event()
            self.most = max(self.most, len(self.inside))
            try:
                await self.inside[name].wait()
            finally:
                del self.inside[name]


async def settle() -> None:
    """Let every task that can go on go on."""
    for _ in range(50):
        await asyncio.sleep(0)


async def finish(gate: Gate, tasks: list[asyncio.Task[None]]) -> None:
    """Let requests go until all are done, however few run at a time."""
    for _ in range(10 * len(tasks) + 10):
        for event in list(gate.inside.values()):
            event.set()
        await settle()
        if all(task.done() for task in tasks):
            break
    assert all(task.done() for task in tasks), "a place was lost: some requests never run"
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "8", None], ids=repr)
def test_a_limit_is_a_whole_number_of_at_least_one(most: Any) -> None:
    """A limit of nothing would wait for ever."""
    with pytest.raises(InvalidInput, match="concurrency must be a whole number of at least 1"):
        Limiter(most)


@pytest.mark.parametrize("most", [1, 2, 8, 9, 100])
def test_it_starts_with_at_most_eight(most: int) -> None:
    """A thousand requests opened at once would spend their connect timeout in a queue."""

    async def started() -> int:
        gate = Gate(Limiter(most))
        tasks = [asyncio.create_task(gate.request(k)) for k in range(120)]
        await settle()
        inside = len(gate.inside)
        await finish(gate, tasks)
        return inside

    assert asyncio.run(started()) == min(most, 8)


def test_each_success_allows_one_more_up_to_the_bound() -> None:
    """Eight, nine, ten, and never eleven of ten."""

    async def grown() -> list[int]:
        gate, sizes = Gate(Limiter(10)), list[int]()
        tasks = [asyncio.create_task(gate.request(k)) for k in range(120)]
        await settle()
        for _ in range(4):
            gate.limiter.succeeded()
            next(iter(gate.inside.values())).set()
            await settle()
            sizes.append(len(gate.inside))
        await finish(gate, tasks)
        return sizes

    assert asyncio.run(grown()) == [9, 10, 10, 10]


@pytest.mark.parametrize(
    ("times", "allowed"), [(1, 4), (2, 2), (3, 1), (9, 1)], ids=["once", "twice", "thrice", "often"]
)
def test_throttling_halves_it_down_to_one(times: int, allowed: int) -> None:
    """A server that is asked for too much is asked for less; one is always allowed."""

    async def halved() -> int:
        limiter = Limiter(8)
        for _ in range(times):
            limiter.throttled()
        gate = Gate(limiter)
        tasks = [asyncio.create_task(gate.request(k)) for k in range(20)]
        await settle()
        inside = len(gate.inside)
        await finish(gate, tasks)
        return inside

    assert asyncio.run(halved()) == allowed


def test_throttling_in_flight_lets_nobody_in_until_there_is_room() -> None:
    """Those inside finish; the next enters when fewer than the new limit are left."""

    async def watched() -> list[int]:
        gate, sizes = Gate(Limiter(8)), list[int]()
        tasks = [asyncio.create_task(gate.request(k)) for k in range(12)]
        await settle()
        gate.limiter.throttled()
        for _ in range(6):
            next(iter(gate.inside.values())).set()
            await settle()
            sizes.append(len(gate.inside))
        await finish(gate, tasks)
        return sizes

    assert asyncio.run(watched()) == [7, 6, 5, 4, 4, 4]


def test_places_go_in_the_order_of_asking() -> None:
    """First come, first served, also for one who asks just as a place is given back."""

    async def order() -> list[int]:
        gate = Gate(Limiter(2))
        tasks = [asyncio.create_task(gate.request(k)) for k in range(6)]
        await settle()
        gate.inside[0].set()
        tasks.append(asyncio.create_task(gate.request(6)))
        await finish(gate, tasks)
        return gate.entered

    assert asyncio.run(order()) == [0, 1, 2, 3, 4, 5, 6]


def test_a_cancelled_waiter_gives_its_place_back() -> None:
    """Also one that was cancelled after it was given the place and before it took it."""

    async def cancelled() -> list[int]:
        gate = Gate(Limiter(1))
        tasks = [asyncio.create_task(gate.request(k)) for k in range(4)]
        await settle()
        gate.inside[0].set()
        await asyncio.sleep(0)  # request 0 leaves, and its place is given to request 1 ...
        tasks[1].cancel()  # ... which is stopped before it runs again
        tasks[2].cancel()
        await finish(gate, tasks)
        return gate.entered

    assert asyncio.run(cancelled()) == [0, 3]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_any_interleaving_keeps_the_bound_and_loses_no_place(seed: int, most: int) -> None:
    """Start, finish, cancel, succeed and throttle at random: all end, and never too many run."""
    chance = random.Random(seed)

    async def interleaved() -> None:
        gate, tasks = Gate(Limiter(most)), list[asyncio.Task[None]]()
        for step in range(80):
            action = chance.choice(["start", "start", "leave", "cancel", "more", "less", "turn"])
            if action == "start":
                tasks.append(asyncio.create_task(gate.request(step)))
            elif action == "leave" and gate.inside:
                chance.choice(list(gate.inside.values())).set()
            elif action == "cancel" and tasks:
                chance.choice(tasks).cancel()
            elif action == "more":
                gate.limiter.succeeded()
            elif action == "less":
                gate.limiter.throttled()
            elif action == "turn":
                await asyncio.sleep(0)
        await finish(gate, tasks)
        assert gate.most <= most
        again = Gate(gate.limiter)
        await asyncio.gather(leave(again), again.request(0))

    async def leave(again: Gate) -> None:
        await settle()
        assert 0 in again.inside, "the limiter is stuck"
        again.inside[0].set()

    asyncio.run(interleaved())


class Waits:
    """A sleep that only counts."""

    def __init__(self) -> None:
        """Start with none."""
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Note how long would have been waited."""
        self.seconds.append(seconds)


def failing(*errors: Exception) -> tuple[Callable[[], Awaitable[str]], list[int]]:
    """Return a request that fails with each error in turn and then works, and its calls."""
    calls: list[int] = []

    async def request() -> str:
        calls.append(len(calls))
        if len(calls) <= len(errors):
            raise errors[len(calls) - 1]
        return "done"

    return request, calls


def throttle(status: int, **facts: Any) -> ProviderError:
    """Return a failure that may pass."""
    return ProviderError(f"status {status}", status=status, retryable=True, **facts)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_a_failure_that_may_pass_is_tried_again(status: int) -> None:
    """Twice failed, then fine: three attempts, two waits."""
    request, made = failing(throttle(status), throttle(status))
    waits = Waits()
    calls = Calls(max_retries=2, sleep=waits)

    assert asyncio.run(calls.run(request)) == "done"
    assert (len(made), calls.attempts, len(waits.seconds)) == (3, 3, 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_failure_that_stays_is_not_tried_again(status: int) -> None:
    """One attempt, and the error says so."""
    error = ProviderError("no", status=status)
    request, made = failing(error)

    with pytest.raises(ProviderError, match="no") as raised:
        asyncio.run(Calls(max_retries=5, sleep=Waits()).run(request))
    assert raised.value is error
    assert (len(made), error.attempts) == (1, 1)


@pytest.mark.parametrize("retries", [0, 1, 2, 7])
def test_an_endless_failure_ends(retries: int) -> None:
    """At most one attempt more than retries, then the last error itself."""
    errors = [throttle(429) for _ in range(20)]
    request, made = failing(*errors)
    calls = Calls(max_retries=retries, sleep=Waits())

    with pytest.raises(ProviderError, match="status 429") as raised:
        asyncio.run(calls.run(request))
    assert raised.value is errors[retries]
    assert len(made) == calls.attempts == raised.value.attempts == retries + 1


@pytest.mark.parametrize(
    "error",
    [ValueError("bug"), KeyError("bug"), CapabilityError("bug"), InvalidAnswer("bug")],
    ids=lambda error: type(error).__name__,
)
def test_other_errors_pass_through_unchanged(error: Exception) -> None:
    """Only a provider's failure is a reason to try again."""
    request, made = failing(error)

    with pytest.raises(type(error), match="bug") as raised:
        asyncio.run(Calls(max_retries=5, sleep=Waits()).run(request))
    assert raised.value is error
    assert len(made) == 1


@pytest.mark.parametrize(
    ("attempt", "retry_after", "base"),
    [
        pytest.param(1, None, 0.5, id="first"),
        pytest.param(2, None, 1.0, id="doubled"),
        pytest.param(4, None, 4.0, id="fourth"),
        pytest.param(5, None, 8.0, id="longest"),
        pytest.param(900, None, 8.0, id="never longer"),
        pytest.param(2000, None, 8.0, id="never too large for a float"),
        pytest.param(1, 2.0, 2.0, id="as asked"),
        pytest.param(7, 0.0, 0.0, id="at once"),
        pytest.param(1, 60.0, 60.0, id="a minute"),
        pytest.param(1, 86_400.0, 60.0, id="capped"),
        pytest.param(1, float("inf"), 60.0, id="for ever is capped"),
        pytest.param(1, -5.0, 0.5, id="in the past"),
        pytest.param(1, float("nan"), 0.5, id="no number"),
    ],
)
def test_how_long_is_waited(attempt: int, retry_after: float | None, base: float) -> None:
    """What the server asks for, up to a minute; else doubling; up to a quarter more."""
    found = [delay(attempt, retry_after=retry_after) for _ in range(200)]

    assert all(base <= seconds <= 1.25 * base for seconds in found)
    assert base == 0.0 or len(set(found)) > 1


def test_what_the_server_asks_for_is_waited() -> None:
    """Retry-After of 2 s and of 86 400 s: 2 s and a minute, a little more."""
    request, _ = failing(throttle(429, retry_after=2.0), throttle(429, retry_after=86_400.0))
    waits = Waits()

    asyncio.run(Calls(max_retries=2, sleep=waits).run(request))

    assert 2.0 <= waits.seconds[0] <= 2.5
    assert 60.0 <= waits.seconds[1] <= 75.0


def test_a_place_is_given_back_while_waiting() -> None:
    """One who waits for a minute does not keep others from asking."""

    async def served() -> str:
        limiter = Limiter(1)
        resting = asyncio.Event()

        async def sleep(_: float) -> None:
            resting.set()
            await asyncio.Event().wait()

        request, _ = failing(throttle(503))
        waiter = asyncio.create_task(Calls(limiter=limiter, sleep=sleep).run(request))
        await resting.wait()
        other, _ = failing()
        found = await Calls(limiter=limiter).run(other)
        waiter.cancel()
        return found

    assert asyncio.run(served()) == "done"


def test_retries_do_not_multiply() -> None:
    """A loop within a loop: what the inner one gave up on, the outer one does not repeat."""
    request, made = failing(*(throttle(503) for _ in range(99)))
    outer = Calls(max_retries=2, sleep=Waits())

    with pytest.raises(ProviderError, match="503") as raised:
        asyncio.run(outer.retry(lambda: outer.child().run(request)))
    assert len(made) == raised.value.attempts == 3


def test_a_language_models_retries_do_not_multiply() -> None:
    """Seen from the user: three requests for max_retries=2, from the first to the last."""
    made: list[int] = []

    def reply(_: Prompt, __: Sampling) -> Reply:
        made.append(0)
        raise throttle(503, retry_after=0.0)

    classifier = Classifier("c", ScriptedLanguageModel(reply), {"q": {"type": "boolean"}})

    with pytest.raises(ProviderError, match="503") as raised:
        asyncio.run(classifier.evaluate("text", max_retries=2))
    assert len(made) == raised.value.attempts == 3


def test_attempts_count_each_request_of_an_evaluation() -> None:
    """Two questions in two orders, one of them failing once: five requests."""
    made: list[int] = []

    def reply(_: Prompt, __: Sampling) -> Reply:
        made.append(0)
        if len(made) == 1:
            raise throttle(503, retry_after=0.0)
        return position_reply({"Yes": -0.1})

    questions = {"q": {"type": "boolean"}, "r": {"type": "boolean"}}
    classifier = Classifier("c", ScriptedLanguageModel(reply), questions, orders=2)

    evaluation = asyncio.run(classifier.evaluate("text"))

    assert evaluation.attempts == len(made) == 5
    assert sorted(a.evidence.attempts for a in evaluation.answers.values() if a.evidence) == [2, 3]


class Hanging(ScriptedLanguageModel):
    """Fails once, then never comes back."""

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Wait for ever, from the second request on."""
        if self.prompts:
            self.prompts.append(prompt)
            await asyncio.Event().wait()
        return await super().complete(prompt, sampling, options=options)


def test_a_row_that_times_out_counts_its_requests_and_may_succeed_later() -> None:
    """One that failed, its second try, and the other question's: three, none of them answered."""

    def busy(_: Prompt, __: Sampling) -> Reply:
        raise throttle(503, retry_after=0.0)

    model = Hanging(busy)
    questions = {"q": {"type": "boolean"}, "r": {"type": "boolean"}}

    found = asyncio.run(Classifier("c", model, questions).evaluate_many(["text"], timeout=0.5))

    (row,) = results_of(found)
    assert len(model.prompts) == row.attempts == 3
    assert row.error is not None
    assert (row.error.type, row.error.retryable) == ("DeadlineExceeded", True)


def test_a_failed_row_counts_the_requests_of_all_its_questions() -> None:
    """One question is answered, the other refused: two requests, and not one."""
    made: list[int] = []

    def reply(_: Prompt, __: Sampling) -> Reply:
        made.append(0)
        if len(made) == 2:
            raise ProviderError("refused", status=400)
        return position_reply({"Yes": -0.1})

    questions = {"q": {"type": "boolean"}, "r": {"type": "boolean"}}
    classifier = Classifier("c", ScriptedLanguageModel(reply), questions)

    (row,) = results_of(asyncio.run(classifier.evaluate_many(["text"])))

    assert row.error is not None and row.error.status == 400
    assert len(made) == row.attempts == 2


def test_a_row_that_a_models_own_error_ended_counts_its_requests() -> None:
    """The first question was answered before the second met the bug."""
    made: list[int] = []

    def reply(_: Prompt, __: Sampling) -> Reply:
        made.append(0)
        if len(made) == 2:
            raise RuntimeError("bug")
        return position_reply({"Yes": -0.1})

    questions = {"q": {"type": "boolean"}, "r": {"type": "boolean"}}
    classifier = Classifier("c", ScriptedLanguageModel(reply), questions)

    (row,) = results_of(asyncio.run(classifier.evaluate_many(["text"])))

    assert row.error is not None and row.error.type == "UnexpectedError"
    assert len(made) == row.attempts == 2


def test_a_request_that_waits_for_its_place_is_not_made() -> None:
    """Nothing was sent, whatever the deadline says."""
    request, made = failing()

    async def waited() -> Calls:
        limiter = Limiter(1)
        calls = Calls(limiter=limiter)
        async with limiter:
            waiter = asyncio.create_task(calls.run(request))
            await asyncio.sleep(0)
            waiter.cancel()
            await asyncio.wait([waiter])
        return calls

    calls = asyncio.run(waited())
    assert (len(made), calls.attempts, calls.counts) == (0, 0, True)


def test_a_throttled_request_slows_the_whole_run() -> None:
    """The limit is shared by all states: after a 429 half as many are in flight."""

    async def inside() -> int:
        limiter = Limiter(8)
        request, _ = failing(throttle(429))
        with pytest.raises(ProviderError, match="429"):
            await Calls(max_retries=0, limiter=limiter).run(request)
        gate = Gate(limiter)
        tasks = [asyncio.create_task(gate.request(k)) for k in range(20)]
        await settle()
        count = len(gate.inside)
        await finish(gate, tasks)
        return count

    assert asyncio.run(inside()) == 4
