"""Requests in flight at one endpoint, however many ask it."""

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from typing import Any

import pytest

from classify import capability_probe
from classify.adapters.scorers import (
    create_classifier_scorer,
    create_scorer,
    run_evals,
    score_traces,
)
from classify.adapters.scorers.measures import faithfulness
from classify.answers import BooleanAnswer
from classify.calls import Calls, Deadline, Limiter
from classify.classifier import Classifier
from classify.decision import DecisionRequest, DecisionResponse
from classify.errors import InvalidInput, ProviderError
from classify.evaluation import Evaluation
from classify.openai_compatible import OpenAICompatible
from classify.questions import Boolean, Choice
from classify.shared_limits import ENDPOINTS, shared_limiter
from classify.testing import Answer, LoopbackServer, Request, likely

QUESTIONS = {
    "kind": Choice(criteria={"a": None, "b": None}),
    "tone": Choice(criteria={"good": None, "bad": None}),
}
ANSWER = Answer(positions=[likely({"A": 0.8, "B": 0.2})])


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    """Serve answers that overlap where they may."""

    async def answer(_: Request) -> Answer:
        await asyncio.sleep(0.002)
        return ANSWER

    capability_probe.forget()
    with LoopbackServer(answer) as server:
        yield server


def asking(server: LoopbackServer, **options: Any) -> Classifier:
    """Return a classifier with a model object of its own."""
    return Classifier("c", OpenAICompatible("m", base_url=server.base_url), QUESTIONS, **options)


def in_flight(server: LoopbackServer, work: Callable[[], Awaitable[Any]]) -> int:
    """Return the most requests in flight at once while work is done, its probe left out."""

    async def probed() -> None:
        await asking(server).model.language_model.capabilities()  # type: ignore[attr-defined]
        await work()

    asyncio.run(probed())
    return server.most_in_flight


def test_many_classifiers_of_one_endpoint_share_its_limit(server: LoopbackServer) -> None:
    """20 classifiers of 8 requests each are 8 requests for the server, not 160."""

    async def work() -> None:
        many = [asking(server) for _ in range(20)]
        states = [f"row {n}" for n in range(3)]
        found = await asyncio.gather(*(c.evaluate_many(states, concurrency=8) for c in many))
        assert not any(isinstance(one, Exception) for outcomes in found for one in outcomes)

    assert in_flight(server, work) <= 8


@pytest.mark.parametrize(("concurrency", "most"), [(None, 8), (3, 3)])
def test_gathered_evaluations_share_a_limit(
    server: LoopbackServer, concurrency: int | None, most: int
) -> None:
    """30 states of two questions are 60 requests, but not at once."""
    classifier = asking(server)

    async def work() -> None:
        states = [f"row {n}" for n in range(30)]
        await asyncio.gather(*(classifier.evaluate(s, concurrency=concurrency) for s in states))

    assert in_flight(server, work) <= most


@pytest.mark.parametrize("concurrency", [1, 2])
def test_run_evals_bounds_the_requests_of_its_scorers(
    server: LoopbackServer, concurrency: int
) -> None:
    """Two questions in two orders are four requests for each item."""
    classifier = asking(server, orders=2)
    scorer = create_classifier_scorer(
        "s", classifier, "kind", lambda context: str(context.run.input), correct="a"
    )

    async def work() -> None:
        data = [{"input": n} for n in range(4)]
        await run_evals(_same, data, [scorer], concurrency=concurrency)
        await run_evals(_own_classifier(server), data, [scorer], concurrency=concurrency)

    assert in_flight(server, work) <= concurrency


class Pair:
    """A model that answers once two of its requests are in flight together."""

    provider, model_id, supported_question_types = "x", "pair", None

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        both = asyncio.Barrier(2)
        async with asyncio.timeout(20):
            await asyncio.gather(*(request.calls.run(both.wait) for _ in range(2)))
        return DecisionResponse({"q": {"type": "boolean", "probability": 0.5}})


def test_run_evals_asks_about_one_item_at_a_time_with_several_requests() -> None:
    """Where it is told no number: an item's requests went one by one too."""
    classifier = Classifier("c", Pair(), {"q": Boolean()})
    now, most = 0, 0

    async def target(given: str) -> float:
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        answer = (await classifier.evaluate(given)).answers["q"]
        now -= 1
        assert isinstance(answer, BooleanAnswer)
        return answer.probability

    scorer = create_scorer("s").generate_score(lambda step: step.run.output)
    report = asyncio.run(run_evals(target, [{"input": "a"}, {"input": "b"}], [scorer]))

    assert [item.output for item in report.items] == [0.5, 0.5]
    assert most == 1


async def _same(given: Any) -> Any:
    return given


def _own_classifier(server: LoopbackServer) -> Callable[[Any], Awaitable[Any]]:
    """Return a target that asks the same endpoint."""
    classifier = asking(server)

    async def target(given: Any) -> Any:
        return str((await classifier.evaluate(str(given))).answers)

    return target


def test_a_measure_s_concurrency_bounds_its_requests(server: LoopbackServer) -> None:
    """Each claim is asked about in two orders."""
    model = OpenAICompatible("m", base_url=server.base_url)
    scorer = faithfulness(Classifier("c", model, orders=2), concurrency=2)

    async def work() -> None:
        output = "Rome is in Italy. It has hills. It is old. It is big."
        await scorer.run(output=output, request_context={"context": ["Rome is in Italy."]})

    assert in_flight(server, work) <= 2


def test_score_traces_bounds_the_requests(server: LoopbackServer) -> None:
    """As many requests as traces."""
    scorer = create_classifier_scorer("s", asking(server), "kind", lambda _: "x", correct="a")
    trace = {"traceId": "t", "spans": [{"spanId": "1", "name": "a", "spanType": "agent_run"}]}

    async def work() -> None:
        await score_traces(scorer, [trace] * 6, concurrency=2)

    assert in_flight(server, work) <= 2


class Model:
    """A model object without an address."""


class At:
    """A model at an address."""

    def __init__(self, base_url: str) -> None:
        """Take the address."""
        self.base_url = base_url


def test_an_address_is_shared_and_a_model_without_one_is_its_own() -> None:
    """Two clients of one server burden the same server."""

    async def shared() -> None:
        with ExitStack() as held:
            enter = held.enter_context
            first = enter(shared_limiter(At("http://a/v1"), 2))
            assert enter(shared_limiter(At("http://a/v1"), 4)) is first
            assert enter(shared_limiter(At("http://b/v1"), 2)) is not first
            model = Model()
            own = enter(shared_limiter(model, 2))
            assert enter(shared_limiter(model, 2)) is own
            assert enter(shared_limiter(Model(), 2)) is not own

    asyncio.run(shared())


def test_the_largest_asked_for_now_is_the_bound() -> None:
    """A caller that has gone leaves no wider limit behind, and the last leaves nothing."""

    async def bounds() -> None:
        model = Model()
        with shared_limiter(model, 2) as limiter:
            with shared_limiter(model, 64), shared_limiter(model, 64):
                assert limiter.most == 64
            assert limiter.most == 2
            with shared_limiter(model, None):
                assert limiter.most == 8
        assert ENDPOINTS[asyncio.get_running_loop()] == {}

    asyncio.run(bounds())


def test_a_wider_bound_lets_those_who_wait_go_on() -> None:
    """And a narrower one holds for the next."""

    async def widened() -> None:
        model, inside, go = Model(), list[int](), asyncio.Event()

        async def request(limiter: Any, number: int) -> None:
            async with limiter:
                inside.append(number)
                await go.wait()

        with shared_limiter(model, 1) as limiter:
            async with AsyncExitStack() as tasks:
                group = await tasks.enter_async_context(asyncio.TaskGroup())
                for number in range(4):
                    group.create_task(request(limiter, number))
                await asyncio.sleep(0)
                assert inside == [0]
                with shared_limiter(model, 3):
                    await asyncio.sleep(0)
                    await asyncio.sleep(0)
                    assert inside == [0, 1, 2]
                go.set()
        assert inside == [0, 1, 2, 3]

    asyncio.run(widened())


def test_a_throttled_endpoint_is_not_opened_by_another_caller() -> None:
    """Twenty callers who come one by one would undo what the server asked for."""

    async def throttled() -> None:
        model = Model()
        with shared_limiter(model, 8) as limiter:
            calls = Calls(limiter=limiter, max_retries=0)

            async def refused() -> None:
                raise ProviderError("slow down", status=429, retryable=True)

            with pytest.raises(ProviderError):
                await calls.run(refused)
            with shared_limiter(model, 16):
                assert await _places(limiter, of=10) == 4

    asyncio.run(throttled())


async def _places(limiter: Limiter, *, of: int) -> int:
    """Return how many requests come in together."""
    inside, go = list[int](), asyncio.Event()

    async def request(number: int) -> None:
        async with limiter:
            inside.append(number)
            await go.wait()

    async with asyncio.TaskGroup() as group:
        for number in range(of):
            group.create_task(request(number))
        for _ in range(3):
            await asyncio.sleep(0)
        found = len(inside)
        go.set()
    return found


@pytest.mark.parametrize("concurrency", [0, True, "8", 1.5], ids=repr)
def test_a_bad_concurrency_is_refused_where_others_ask_already(concurrency: Any) -> None:
    """The limit of the others hides nothing."""

    async def second() -> None:
        model = Model()
        with shared_limiter(model, 8), shared_limiter(model, concurrency):
            pass

    with pytest.raises(InvalidInput, match="concurrency must be a whole number of at least 1"):
        asyncio.run(second())


def test_a_cancelled_evaluation_gives_its_place_back(server: LoopbackServer) -> None:
    """Nobody waits for ever for a place that a cancelled one held."""
    classifier = asking(server)

    async def work() -> None:
        tasks = [
            asyncio.create_task(classifier.evaluate(f"row {n}", concurrency=2)) for n in range(6)
        ]
        await asyncio.sleep(0.001)
        for task in tasks[::2]:
            task.cancel()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(one, asyncio.CancelledError) for one in found] == [True, False] * 3
        assert ENDPOINTS[asyncio.get_running_loop()] == {}

    assert in_flight(server, work) <= 2


def test_no_loop_is_kept() -> None:
    """Not even one that was closed while somebody waited for a place."""

    async def enter() -> None:
        with shared_limiter(Model(), 1):
            pass

    loop = asyncio.new_event_loop()
    abandoned = loop.create_task(_waiting_for_ever())
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    seen = weakref.ref(loop)
    abandoned._log_destroy_pending = False  # type: ignore[attr-defined]
    del loop, abandoned
    asyncio.run(enter())  # the next loop clears away what a closed one left
    gc.collect()
    assert seen() is None


async def _waiting_for_ever() -> None:
    with shared_limiter(Model(), 1) as limiter:
        await limiter.__aenter__()
        await limiter.__aenter__()  # of one place


def test_the_boolean_question_is_bounded_too(server: LoopbackServer) -> None:
    """Whatever the kind, a request takes a place."""
    classifier = Classifier(
        "c", OpenAICompatible("m", base_url=server.base_url), {"yes": Boolean()}, orders=2
    )

    async def work() -> None:
        await classifier.evaluate_many([f"row {n}" for n in range(6)], concurrency=1)

    assert in_flight(server, work) <= 1


class Nesting:
    """A model that asks a classifier at its own address while its request is being made."""

    provider, model_id, supported_question_types, base_url = "x", "m", None, "http://one-place"

    def __init__(self, inner: Classifier | None = None) -> None:
        self.inner = inner

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        async def ask() -> float:
            if self.inner is None:
                return 0.25
            answer = (await self.inner.evaluate(request.state)).answers["q"]
            assert isinstance(answer, BooleanAnswer)
            return answer.probability

        return DecisionResponse(
            {"q": {"type": "boolean", "probability": await request.calls.run(ask)}}
        )


def test_what_a_request_asks_in_turn_needs_no_place_of_its_own() -> None:
    """It would wait for ever for the one that its own request has."""
    inner = Classifier("inner", Nesting(), {"q": Boolean()})
    outer = Classifier("outer", Nesting(inner), {"q": Boolean()})

    async def work() -> list[Evaluation]:
        asked = (outer.evaluate(f"row {n}", concurrency=1) for n in range(4))
        return await asyncio.wait_for(asyncio.gather(*asked), 30.0)

    found = asyncio.run(work())

    assert [e.answers["q"].probabilities for e in found] == [{"true": 0.25, "false": 0.75}] * 4


class Busy(Nesting):
    """Counts its requests in flight; one that has a classifier inside asks it four things."""

    def __init__(self, inner: Classifier | None = None) -> None:
        super().__init__(inner)
        self.in_flight = self.most = 0

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        async def ask() -> float:
            if self.inner is not None:
                await asyncio.gather(*(self.inner.evaluate(f"part {n}") for n in range(4)))
                return 0.5
            self.in_flight += 1
            self.most = max(self.most, self.in_flight)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self.in_flight -= 1
            return 0.25

        return DecisionResponse(
            {"q": {"type": "boolean", "probability": await request.calls.run(ask)}}
        )


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("most", [1, 8, 9])
def test_what_requests_ask_in_turn_is_bounded_by_their_places(most: int, levels: int) -> None:
    """At each place one request at a time, however many each request asks, however deep."""
    model = Busy()
    inside: Classifier = Classifier("inner", model, {"q": Boolean()})
    for _ in range(levels):
        inside = Classifier("outer", Busy(inside), {"q": Boolean()})

    async def work() -> None:
        asked = (inside.evaluate(f"row {n}", concurrency=most) for n in range(20))
        await asyncio.wait_for(asyncio.gather(*asked), 30.0)

    asyncio.run(work())

    assert model.most == max(most, 8)  # what evaluate asks for where nobody says a number


def test_the_time_limit_goes_on_in_a_pause_before_a_retry_while_others_wait() -> None:
    """A pause is no wait for a place."""

    async def work() -> list[bool]:
        runs: list[bool] = []

        async def pause(_: float) -> None:
            deadline.note(waiting=1)  # another request of the same evaluation
            runs.append(deadline.clock.when() is not None)
            deadline.note(waiting=-1)

        async def throttled() -> None:
            raise ProviderError("too many", status=429, retryable=True)

        calls = Calls(max_retries=1, sleep=pause)
        async with Deadline(1000.0) as deadline:
            calls.deadline = deadline
            with pytest.raises(ProviderError):
                await calls.run(throttled)
        return runs

    assert asyncio.run(work()) == [True]


def test_the_time_limit_stands_still_while_all_requests_wait_for_a_place() -> None:
    """How many others ask the same endpoint is no reason to give up."""

    async def work() -> list[bool]:
        runs: list[bool] = []
        async with Deadline(1000.0) as deadline:
            for change in (
                {},
                {"waiting": 1},  # the first of two requests
                {"waiting": 1},
                {"waiting": -1, "working": 1},
                {"waiting": -1, "working": 1},
                {"working": -1},
                {"working": -1},  # and a pause before a retry
                {"waiting": 1},
            ):
                deadline.note(**change)
                runs.append(deadline.clock.when() is not None)
        return runs

    assert asyncio.run(work()) == [True, False, False, True, True, True, True, False]


def test_time_that_was_used_before_a_wait_is_used() -> None:
    """The limit goes on where it stood."""

    async def work() -> float:
        loop = asyncio.get_running_loop()
        now = loop.time()
        async with Deadline(1000.0) as deadline:
            loop.time = lambda: now + 400.0  # type: ignore[method-assign]
            deadline.note(waiting=1)
            loop.time = lambda: now + 5000.0  # type: ignore[method-assign]
            deadline.note(waiting=-1, working=1)
            del loop.time
            when = deadline.clock.when()
            assert when is not None
            deadline.note(waiting=1)
            return when - now - 5000.0

    assert asyncio.run(work()) == pytest.approx(600.0, abs=5.0)
