"""A judge over real HTTP: the number of requests is that of table 2C, whatever the server does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from classify.adapters.scorers import (
    Cost,
    Judge,
    JudgeExecution,
    PromptStep,
    RetryProcessor,
    Scorer,
    ScorerResult,
    ScorerRunError,
    create_scorer,
)
from classify.errors import MalformedResponse, ProviderError
from classify.json_values import JSON
from classify.language_model import Capabilities, Prompt, Reply, Sampling, TextScores, Usage
from classify.openai_compatible import OpenAICompatible
from classify.provider_table import PROVIDERS
from classify.testing import Answer, LoopbackServer, error, throttled

AnyScorer = Scorer[Any, Any, Any, Any]

GOOD = Answer(
    '{"score": 1}',
    usage={
        "prompt_tokens": 10,
        "completion_tokens": 20,
        "total_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 8},
    },
)
TOO_LONG = error(400, "This model's maximum context length is 8 tokens", code="context_length")


class Waits:
    """A sleep that only notes how long it would have been."""

    def __init__(self) -> None:
        """Begin with none."""
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        """Note it."""
        self.seconds.append(seconds)


def judged(
    server: LoopbackServer, retries: RetryProcessor | None = None, **settings: Any
) -> AnyScorer:
    """Return a scorer whose judge is at the server."""
    judge = Judge(
        model=OpenAICompatible("judge-1", base_url=server.base_url),
        instructions="Judge.",
        error_processors=None if retries is None else [retries],
        **settings,
    )
    return create_scorer("s", judge=judge).generate_score(
        PromptStep("Score", lambda c: f"Score {c.run.output}")
    )


def execution(result: ScorerResult[Any, Any, Any, Any] | None) -> JudgeExecution:
    """Return the record of generate_score."""
    assert result is not None
    return result.judge["generate_score"].executions[0]


def failure(scorer: AnyScorer) -> ScorerRunError:
    """Return the error of a run."""
    with pytest.raises(ScorerRunError, match="failed at generate_score") as caught:
        scorer.run_sync(output="x")
    return caught.value


def test_the_record_of_a_judge_over_http() -> None:
    """Model, provider and every count of tokens come from the response; a cost is never made up."""
    with LoopbackServer(GOOD) as server:
        result = judged(server).run_sync(output="x")

    record = execution(result)
    assert result.score == 1.0 and len(server.requests) == 1
    assert record.usage == Usage(10, 20, cached_tokens=4, reasoning_tokens=8)
    assert (record.model, record.status, record.cost) == ("judge-1", "success", None)
    assert record.prompt == "Score x"


def test_a_reported_cost_is_summed_over_the_attempts() -> None:
    """The attempt without an object was charged too."""
    first = Answer("no json", usage={"prompt_tokens": 8, "completion_tokens": 1, "cost": 0.25})
    second = Answer('{"score": 1}', usage={"prompt_tokens": 8, "completion_tokens": 1, "cost": 0.5})
    with LoopbackServer([first, second]) as server:
        record = execution(judged(server).run_sync(output="x"))

    assert record.cost == Cost(amount=0.75, source="compatible")
    assert record.attempt_count == 2


def test_the_schema_goes_through_the_response_format() -> None:
    """In the strict form that providers ask for: all properties required and no others."""

    class Inner(BaseModel):
        note: str = "none"

    class Found(BaseModel):
        inner: Inner
        places: list[int] = []

    with LoopbackServer(Answer('{"inner": {"note": "n"}, "places": [1]}')) as server:
        judge = Judge(model=OpenAICompatible("m", base_url=server.base_url), instructions="J")
        result = (
            create_scorer("s", judge=judge)
            .analyze(PromptStep("F", lambda c: "F", output_schema=Found))
            .generate_score(lambda c: c.results.analyze_step_result.places[0])
            .run_sync(output="x")
        )

    asked: Any = server.requests[0].body["response_format"]
    schema = asked["json_schema"]["schema"]
    assert result.score == 1.0 and asked["type"] == "json_schema"
    assert schema["required"] == ["inner", "places"] and schema["additionalProperties"] is False
    assert schema["$defs"]["Inner"]["required"] == ["note"]


@pytest.mark.parametrize(
    ("temperature", "sent"), [(None, None), (0.42, 0.42)], ids=["absent", "given"]
)
def test_2c_79_a_temperature_that_is_not_set_is_not_sent(
    temperature: float | None, sent: float | None
) -> None:
    """Some models refuse the field itself."""
    settings: dict[str, JSON] = {} if temperature is None else {"temperature": temperature}
    with LoopbackServer(GOOD) as server:
        model = OpenAICompatible(
            "m", base_url=server.base_url, provider=PROVIDERS["openai"], api_key="k"
        )
        judge = Judge(model=model, instructions="J", model_settings={**settings, "user": "u"})
        create_scorer("s", judge=judge).generate_score(PromptStep("S", lambda c: "S")).run_sync(
            output="x"
        )

    body = server.requests[0].body
    assert body.get("temperature") == sent and body["user"] == "u"


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_2c_81_a_transient_failure_is_retried(status: int) -> None:
    """One failure and one success are two requests."""
    waits = Waits()
    with LoopbackServer([error(status, "later"), GOOD]) as server:
        result = judged(server, RetryProcessor(sleep=waits)).run_sync(output="x")

    assert result.score == 1.0 and len(server.requests) == 2 and len(waits.seconds) == 1
    assert execution(result).retry_count == 1


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_without_a_processor_nothing_is_retried(status: int) -> None:
    """The SDK's own retries are off, and the judge adds none by itself."""
    with LoopbackServer([error(status, "later"), GOOD]) as server:
        failed = failure(judged(server))

    assert len(server.requests) == 1 and isinstance(failed.cause, ProviderError)


def test_2c_82_the_processors_own_limit_counts_where_no_cap_is_given() -> None:
    """Two failures and a success are three requests."""
    with LoopbackServer([throttled(), throttled(), GOOD]) as server:
        result = judged(server, RetryProcessor(max_retries=2, sleep=Waits())).run_sync(output="x")

    assert result.score == 1.0 and len(server.requests) == 3


def test_a_processor_without_an_end_is_stopped_after_ten_retries() -> None:
    """The judge's own cap holds where a processor has none."""

    class Always:
        def process_error(self, error: Exception, /, *, retry_count: int) -> bool:
            return True

    with LoopbackServer(throttled()) as server:
        judge = Judge(
            model=OpenAICompatible("m", base_url=server.base_url),
            instructions="J",
            error_processors=[Always()],
        )
        failure(create_scorer("s", judge=judge).generate_score(PromptStep("S", lambda c: "S")))

    assert len(server.requests) == 11


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(error(401, "no such key", code="invalid_api_key"), id="401"),
        pytest.param(error(400, "unknown field"), id="400"),
        pytest.param(error(403, "not allowed"), id="403"),
        pytest.param(error(422, "cannot read"), id="422"),
        pytest.param(TOO_LONG, id="context length"),
        pytest.param(error(429, "quota", code="insufficient_quota"), id="quota"),
    ],
)
def test_2c_84_what_no_retry_can_help_fails_at_once(answer: Answer) -> None:
    """One request, although three would be allowed; and no fallback after an error."""
    waits = Waits()
    with LoopbackServer(answer) as server:
        failed = failure(judged(server, RetryProcessor(max_retries=2, sleep=waits)))

    assert len(server.requests) == 1 and waits.seconds == []
    assert isinstance(failed.cause, ProviderError) and failed.cause.attempts == 1
    assert execution(failed.result).attempt_count == 1


class Resets:
    """A model whose connection breaks once, as a client of one's own may show it."""

    provider, model_id = "own", "own"

    def __init__(self) -> None:
        """Begin before the break."""
        self.calls = 0

    async def complete(self, prompt: Prompt, sampling: Sampling, *, options: Any) -> Reply:
        """Break first, answer then."""
        self.calls += 1
        if self.calls == 1:
            raise RuntimeError("request failed") from ConnectionResetError("ECONNRESET")
        return Reply('{"score": 1}')

    async def capabilities(self) -> Capabilities:
        """Not asked by a judge."""
        raise NotImplementedError

    async def score(self, prompt: Prompt, texts: Sequence[str], *, options: Any) -> TextScores:
        """Not asked by a judge."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Release nothing."""


def is_reset(error: BaseException) -> bool:
    """Match a broken connection."""
    return isinstance(error, ConnectionResetError)


def is_missing(error: BaseException) -> bool:
    """Match something else."""
    return isinstance(error, KeyError)


@pytest.mark.parametrize(
    ("matchers", "unknown", "calls"),
    [
        ([is_reset], False, 2),
        ([], True, 2),
        ([], False, 1),
        ([is_missing], False, 1),
    ],
    ids=["matcher on the cause", "unknown retried", "unknown not retried", "other matcher"],
)
def test_2c_85_matchers_look_through_the_causes(
    matchers: list[Callable[[BaseException], bool]], unknown: bool, calls: int
) -> None:
    """An error that is not a provider's is retried only for those who say so."""
    model = Resets()
    retries = RetryProcessor(matchers=matchers, retry_unknown_errors=unknown, sleep=Waits())
    judge = Judge(model=model, instructions="J", error_processors=[retries])
    scorer = create_scorer("s", judge=judge).generate_score(PromptStep("S", lambda c: "S"))

    if calls == 1:
        assert "request failed" in str(failure(scorer))
    else:
        assert scorer.run_sync(output="x").score == 1.0
    assert model.calls == calls


def test_2c_86_three_failures_with_caps_of_two() -> None:
    """The last error is the provider's own; its headers are never kept, its facts are."""
    answer = error(503, "overloaded", headers={"x-request-id": "req-7", "x-secret": "token"})
    with LoopbackServer(answer) as server:
        retries = RetryProcessor(max_retries=2, sleep=Waits())
        failed = failure(judged(server, retries, max_processor_retries=2))

    cause = failed.cause
    assert len(server.requests) == 3 and isinstance(cause, ProviderError)
    assert (cause.status, cause.request_id, cause.attempts) == (503, "req-7", 3)
    assert "token" not in repr(vars(cause)) + str(failed)
    record = execution(failed.result)
    assert (record.attempt_count, record.retry_count, record.model_call_count) == (1, 2, 0)


@pytest.mark.parametrize(
    ("own", "cap", "requests"), [(5, 1, 2), (1, 5, 2), (0, 5, 1), (5, 0, 1)], ids=str
)
def test_the_smaller_of_the_two_caps_counts(own: int, cap: int, requests: int) -> None:
    """Attempts never multiply."""
    with LoopbackServer(throttled()) as server:
        retries = RetryProcessor(max_retries=own, sleep=Waits())
        failure(judged(server, retries, max_processor_retries=cap))

    assert len(server.requests) == requests


def test_2c_87_a_completed_step_is_not_asked_again() -> None:
    """The reason fails once and is repeated; the score is not."""
    with LoopbackServer([GOOD, throttled(), Answer("because")]) as server:
        scorer = judged(server, RetryProcessor(max_retries=2, sleep=Waits())).generate_reason(
            PromptStep("Why", lambda c: "Why?")
        )
        result = scorer.run_sync(output="x")

    sent: list[Any] = [request.body["messages"] for request in server.requests]
    assert [messages[-1]["content"] for messages in sent] == ["Score x", "Why?", "Why?"]
    assert (result.score, result.reason) == (1.0, "because")


def test_each_step_has_a_budget_of_its_own() -> None:
    """One retry allowed: the score uses it up, and the reason has one again."""
    with LoopbackServer([throttled(), GOOD, throttled(), Answer("because")]) as server:
        scorer = judged(server, RetryProcessor(max_retries=1, sleep=Waits())).generate_reason(
            PromptStep("Why", lambda c: "Why?")
        )
        result = scorer.run_sync(output="x")

    assert result.reason == "because" and len(server.requests) == 4


def test_the_fallback_shares_the_budget_of_its_request() -> None:
    """One retry before the fallback leaves none for it: at most one budget for a step."""
    with LoopbackServer([throttled(), Answer("no json"), throttled(), GOOD]) as server:
        failed = failure(judged(server, RetryProcessor(max_retries=1, sleep=Waits())))

    record = execution(failed.result)
    assert len(server.requests) == 3
    assert (record.attempt_count, record.retry_count, record.model_call_count) == (2, 1, 1)
    assert (record.raw_output, record.finish_reason) == ("no json", "error")


@pytest.mark.parametrize(
    ("after", "cap", "waited"),
    [(7.0, 30.0, 7.0), (90.0, 30.0, 30.0), (90.0, 100.0, 90.0), (0.0, 30.0, 0.0)],
    ids=["honoured", "capped", "other cap", "at once"],
)
def test_retry_after_is_honoured_and_capped(after: float, cap: float, waited: float) -> None:
    """The server knows best when to come back, within reason."""
    waits = Waits()
    with LoopbackServer([throttled(after), GOOD]) as server:
        retries = RetryProcessor(max_retry_after=cap, delay=1.0, sleep=waits)
        judged(server, retries).run_sync(output="x")

    assert waits.seconds == [waited]


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(Answer(body=b"<html>busy</html>"), id="no JSON at all"),
        pytest.param(Answer(body=b'{"choices": '), id="half a response"),
    ],
)
def test_a_response_that_breaks_the_protocol_is_one_request(answer: Answer) -> None:
    """It is an error of the provider, and those do not fall back."""
    with LoopbackServer(answer) as server:
        failed = failure(judged(server, RetryProcessor(max_retries=2, sleep=Waits())))

    assert len(server.requests) == 1 and isinstance(failed.cause, MalformedResponse)


@pytest.mark.parametrize("ending", ["truncated", "dropped"])
def test_a_connection_that_breaks_is_retried(ending: Any) -> None:
    """Half a body, or none: another request may get a whole one."""
    with LoopbackServer([Answer('{"score": 1}', ending=ending), GOOD]) as server:
        result = judged(server, RetryProcessor(sleep=Waits())).run_sync(output="x")

    assert result.score == 1.0 and len(server.requests) == 2


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("good", id="prose"),
        pytest.param('{"score": 0.5', id="cut off"),
        pytest.param('{"score": "high"}', id="another type"),
        pytest.param("", id="nothing"),
    ],
)
def test_2c_72_malformed_json_is_asked_for_once_more(text: str) -> None:
    """Two requests, with or without error processors: no failure of the provider has happened."""
    with LoopbackServer([Answer(text, finish_reason="length"), GOOD]) as server:
        result = judged(server).run_sync(output="x")

    first, second = server.requests
    assert result.score == 1.0
    assert "response_format" in first.body and "response_format" not in second.body


def test_2c_74_malformed_json_twice_is_two_requests() -> None:
    """There is one fallback, and it is not retried."""
    with LoopbackServer(Answer("good", usage=GOOD.usage)) as server:
        failed = failure(judged(server, RetryProcessor(max_retries=5, sleep=Waits())))

    assert len(server.requests) == 2 and type(failed.cause).__name__ == "NoStructuredOutput"
    assert execution(failed.result).raw_output == "good"


def test_2c_80_error_processors_of_a_step_replace_the_scorers() -> None:
    """An empty list switches retries off for that step."""
    with LoopbackServer([throttled(), GOOD]) as server:
        judge = Judge(
            model=OpenAICompatible("m", base_url=server.base_url),
            instructions="J",
            error_processors=[RetryProcessor(sleep=Waits())],
        )
        step = PromptStep[Any, Any, None, None](
            "S", lambda c: "S", judge=Judge(error_processors=())
        )
        failure(create_scorer("s", judge=judge).generate_score(step))

    assert len(server.requests) == 1


def test_a_judge_named_by_its_provider_is_looked_up_when_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A scorer can be imported where no key is set; its model is closed with it."""
    with LoopbackServer(GOOD) as server:
        scorer = create_scorer(
            "s", judge=Judge(model="openai/judge-1", instructions="J")
        ).generate_score(PromptStep("S", lambda c: "S"))
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)

        first, second = scorer.run_sync(output="x"), scorer.run_sync(output="x")
        scorer.aclose_sync()

    assert (first.score, second.score) == (1.0, 1.0) and server.connections == 1
    assert execution(first).provider == "openai"


def test_a_judge_that_cannot_be_found_is_a_failure_without_a_record() -> None:
    """Nobody was asked."""
    scorer = create_scorer("s", judge=Judge(model="opnai/x", instructions="J")).generate_score(
        PromptStep("S", lambda c: "S")
    )

    failed = failure(scorer)

    assert "did you mean 'openai'" in str(failed)
    assert failed.result is not None and failed.result.judge == {}
    assert failed.result.prompts == {"generate_score": "S"}
