"""Table 2C of the reference's behaviour, the rows with a scripted judge; ids are its numbers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pytest
from pydantic import BaseModel

from classify.adapters.scorers import (
    IncompleteReply,
    Judge,
    JudgeExecution,
    LengthLimit,
    NoStructuredOutput,
    NotScorable,
    PromptStep,
    Redact,
    RetryProcessor,
    Scorer,
    ScorerDefinitionError,
    ScorerResult,
    ScorerRunError,
    Shorten,
    StepContext,
    create_scorer,
    not_scorable,
)
from classify.errors import CapabilityError, ProviderError
from classify.json_values import JSON
from classify.language_model import ChatPrompt, Prompt, Reply, Sampling, Usage
from classify.testing import ScriptedLanguageModel, ScriptedModel

AnyScorer = Scorer[Any, Any, Any, Any]
Said = str | Reply | Exception


class Claims(BaseModel):
    """What the judge is asked for."""

    claims: list[str]


class Recorder(ScriptedLanguageModel):
    """A model that says its lines in turn, and keeps how it was asked."""

    def __init__(self, *lines: Said) -> None:
        """Take the lines."""
        super().__init__(self._next)
        self._lines = list(lines)
        self.asked: list[tuple[Sampling, Mapping[str, JSON]]] = []

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Say the next line."""
        self.asked.append((sampling, options))
        return await super().complete(prompt, sampling, options=options)

    def _next(self, prompt: Prompt, sampling: Sampling) -> Reply:
        line = self._lines.pop(0)
        if isinstance(line, Exception):
            raise line
        return Reply(line, usage=Usage(10, 20)) if isinstance(line, str) else line

    def messages(self, number: int) -> dict[str, str]:
        """Return one prompt as role -> text."""
        prompt = self.prompts[number]
        assert isinstance(prompt, ChatPrompt)
        return {message.role: message.content for message in prompt.messages}


def scored(model: Recorder, **settings: Any) -> AnyScorer:
    """Return a scorer that asks the model for a score."""
    judge = Judge(model=model, instructions="Judge.", **settings)
    return create_scorer("s", judge=judge).generate_score(
        PromptStep("Score it", lambda c: f"Score: {c.run.output}")
    )


def execution(result: ScorerResult[Any, Any, Any, Any] | None, step: Any) -> JudgeExecution:
    """Return the one record of a step."""
    assert result is not None
    (only,) = result.judge[step].executions
    return only


def failure(scorer: AnyScorer) -> ScorerRunError:
    """Return the error of a run."""
    with pytest.raises(ScorerRunError, match="failed at") as caught:
        scorer.run_sync(output="x")
    return caught.value


def test_2c_64_prompt_steps_leave_their_records() -> None:
    """A function step in between leaves none."""
    model = Recorder('{"claims": ["a"]}', '{"claims": ["b", "c"]}', "two of them")
    scorer = (
        create_scorer("s", judge=Judge(model=model, instructions="Judge."))
        .preprocess(PromptStep("Extract", lambda c: f"Of {c.run.output}", output_schema=Claims))
        .analyze(
            PromptStep(
                "Check",
                lambda c: f"Check {c.results.preprocess_step_result.claims}",
                output_schema=Claims,
            )
        )
        .generate_score(lambda c: len(c.results.analyze_step_result.claims) / 2)
        .generate_reason(PromptStep("Why", lambda c: f"Why {c.score}?"))
    )

    result = scorer.run_sync(output="x")

    assert list(result.judge) == ["preprocess", "analyze", "generate_reason"]
    assert result.preprocess_step_result == Claims(claims=["a"])
    assert (result.score, result.reason) == (1.0, "two of them")
    assert result.prompts == {
        "preprocess": "Of x",
        "analyze": "Check ['a']",
        "generate_reason": "Why 1.0?",
    }
    assert execution(result, "analyze").output == {"claims": ["b", "c"]}
    assert execution(result, "generate_reason").output == "two of them"
    assert json.dumps([asdict(record) for record in result.judge.values()])


def test_2c_65_create_prompt_may_be_asynchronous() -> None:
    """A prompt may need something that is fetched."""

    async def fetched(context: StepContext[Any, Any, Any, Any]) -> str:
        await asyncio.sleep(0)
        return f"Fetched for {context.run.output}"

    model = Recorder('{"claims": []}', '{"score": 1}', "fine")
    scorer = (
        create_scorer("s", judge=Judge(model=model, instructions="Judge."))
        .analyze(PromptStep("Extract", fetched, output_schema=Claims))
        .generate_score(PromptStep("Score", fetched))
        .generate_reason(PromptStep("Why", fetched))
    )

    result = scorer.run_sync(output="x")

    assert set(result.prompts.values()) == {"Fetched for x"} and len(result.prompts) == 3
    assert execution(result, "generate_score").prompt == "Fetched for x"


@pytest.mark.parametrize(
    ("judge", "missing"),
    [
        (None, "no model and no instructions"),
        (Judge(instructions="Judge."), "no model"),
        (Judge(model="openai/any"), "no instructions"),
    ],
    ids=["neither", "model", "instructions"],
)
def test_2c_66_a_prompt_step_needs_a_model_and_instructions(
    judge: Judge | None, missing: str
) -> None:
    """The error names the step; ours comes as the step is added, as nothing later can help."""
    builder = create_scorer("s", judge=judge)

    with pytest.raises(ScorerDefinitionError, match=f"step generate_score .* has {missing};"):
        builder.generate_score(PromptStep("Score", lambda c: "Score"))


def test_2c_71_an_error_of_the_provider_is_one_attempt_and_no_call() -> None:
    """Nothing came back, so nothing is said about it; the error passes straight through."""
    refused = ProviderError("the key is wrong", status=401, code="invalid_api_key")

    error = failure(scored(Recorder(refused)))

    record = execution(error.result, "generate_score")
    assert error.cause is refused and refused.attempts == 1
    assert (record.status, record.attempt_count, record.model_call_count) == ("failed", 1, 0)
    assert (record.usage, record.output, record.raw_output) == (None, None, None)
    assert record.finish_reason == "error"
    assert record.error == {
        "name": "ProviderError",
        "message": "the key is wrong",
        "code": "invalid_api_key",
    }


def test_2c_72_no_json_at_first_is_asked_for_once_more() -> None:
    """The second attempt shows the schema; the usage of both counts."""
    replies: list[Reply] = []
    model = Recorder("I would say good.", '{"score": 1}')

    result = scored(model, on_finish=replies.append).run_sync(output="x")

    record = execution(result, "generate_score")
    assert result.score == 1.0 and record.output == 1.0
    assert (record.attempt_count, record.model_call_count, len(replies)) == (2, 2, 2)
    assert record.usage == Usage(20, 40)
    assert Usage(20, 40).total_tokens == 60
    assert (record.raw_output, record.finish_reason, record.error) == (None, None, None)
    assert model.asked[0][0].json_schema is not None and model.asked[1][0].json_schema is None
    assert "JSON Schema" not in model.messages(0)["system"]
    assert '"score"' in model.messages(1)["system"]


def test_2c_74_no_json_twice_fails_with_what_was_said() -> None:
    """Whoever looks into it finds the last text in the process, not in the error."""
    error = failure(scored(Recorder("good", Reply("very good", finish_reason="stop"))))

    record = execution(error.result, "generate_score")
    assert (record.attempt_count, record.model_call_count) == (2, 2)
    assert (record.raw_output, record.finish_reason) == ("very good", "stop")
    assert record.output is None and "very good" not in str(error)
    assert type(error.cause).__name__ == "NoStructuredOutput"


def test_2c_74_the_usage_of_two_failures_is_summed() -> None:
    """Failed calls are paid for too."""
    error = failure(scored(Recorder("good", "very good")))

    assert execution(error.result, "generate_score").usage == Usage(20, 40)


@pytest.mark.parametrize("kind", ["pydantic", "JSON Schema"])
def test_an_answer_of_another_shape_is_not_repeated_in_the_error(kind: str) -> None:
    """Errors are logged, and the answer may repeat what was judged; the record keeps it."""
    schema: Any = Claims if kind == "pydantic" else Claims.model_json_schema()
    judge = Judge(model=Recorder(*['{"claims": "private"}'] * 2), instructions="J")
    scorer = create_scorer("s", judge=judge).analyze(
        PromptStep("C", lambda c: "C?", output_schema=schema)
    )

    with pytest.raises(ScorerRunError, match=r"claims: .*(list|array)") as caught:
        scorer.generate_score(lambda c: 1.0).run_sync(output="x")

    record = execution(caught.value.result, "analyze")
    assert record.raw_output == '{"claims": "private"}'
    assert "private" not in f"{caught.value}{record.error}"


def test_2c_75_one_invocation_is_one_completed_call() -> None:
    """The reference's judge may use tools and call its model several times; ours has none.

    What is left of the row: requests that failed and were repeated count as neither.
    """
    model = Recorder(ProviderError("busy", status=503, retryable=True), '{"score": 1}')
    retries = RetryProcessor(max_retries=1, sleep=at_once)

    record = execution(
        scored(model, error_processors=[retries]).run_sync(output="x"), "generate_score"
    )

    assert (record.attempt_count, record.model_call_count, record.retry_count) == (1, 1, 1)


async def at_once(seconds: float) -> None:
    """Wait for nothing."""


def test_2c_76_a_failing_on_finish_fails_the_step_and_keeps_the_record() -> None:
    """The score was given and paid for; the record says so though the run has failed."""

    async def broken(reply: Reply) -> None:
        raise RuntimeError("the hook broke")

    error = failure(scored(Recorder('{"score": 1}'), on_finish=broken))

    record = execution(error.result, "generate_score")
    assert (record.status, record.output, record.usage) == ("failed", 1.0, Usage(10, 20))
    assert error.result is not None and error.result.score is None


@pytest.mark.parametrize(
    ("scorer_level", "step_level", "shown", "native"),
    [
        (None, None, None, True),
        ("auto", None, None, True),
        (True, None, "system", False),
        ("system", None, "system", False),
        ("inline", None, "user", False),
        (False, None, None, True),
        (True, False, None, True),
        (False, "inline", "user", False),
    ],
    ids=["default", "auto", "true", "system", "inline", "false", "step false", "step inline"],
)
def test_2c_77_where_the_schema_is_shown(
    scorer_level: Any, step_level: Any, shown: str | None, native: bool
) -> None:
    """The response format by default; True and a place put it into the messages instead."""
    model = Recorder('{"score": 1}')
    judge = Judge(model=model, instructions="Judge.", json_prompt_injection=scorer_level)
    scorer = create_scorer("s", judge=judge).generate_score(
        PromptStep("Score", lambda c: "Score", judge=Judge(json_prompt_injection=step_level))
    )

    scorer.run_sync(output="x")

    messages = model.messages(0)
    assert [role for role, text in messages.items() if "JSON Schema" in text] == (
        [shown] if shown else []
    )
    assert (model.asked[0][0].json_schema is not None) is native


@pytest.mark.parametrize(
    ("way", "forced"), [(False, "system"), ("inline", "user"), (True, "system")], ids=repr
)
def test_the_fallback_always_shows_the_schema(way: Any, forced: str) -> None:
    """An explicit place is kept."""
    model = Recorder("no", '{"score": 1}')

    scored(model, json_prompt_injection=way).run_sync(output="x")

    assert "JSON Schema" in model.messages(1)[forced]
    assert model.asked[1][0].json_schema is None


def test_auto_shows_the_schema_to_a_model_that_has_no_response_format() -> None:
    """It says so without a request; after that it is not asked again."""

    def reply(prompt: Prompt, sampling: Sampling) -> Reply:
        if sampling.json_schema is not None:
            raise CapabilityError("no response format")
        return Reply('{"score": 1}')

    model = ScriptedLanguageModel(reply)
    scorer = create_scorer("s", judge=Judge(model=model, instructions="J")).generate_score(
        PromptStep("Score", lambda c: "Score")
    )

    first, second = scorer.run_sync(output="x"), scorer.run_sync(output="x")

    assert execution(first, "generate_score").attempt_count == 1
    assert execution(second, "generate_score").model_call_count == 1
    assert len(model.prompts) == 3


@pytest.mark.parametrize(
    ("scorer_level", "step_level", "temperature"),
    [(0.42, None, 0.42), (0.42, 0.9, 0.9), (None, 0.9, 0.9), (None, None, 1.0)],
    ids=["scorer", "step", "step only", "none"],
)
def test_2c_79_model_settings(
    scorer_level: float | None, step_level: float | None, temperature: float
) -> None:
    """A step's replace the scorer's; a temperature of 1 is each provider's own default."""

    def settings(value: float | None) -> dict[str, JSON] | None:
        return None if value is None else {"temperature": value}

    model = Recorder('{"score": 1}')
    judge = Judge(model=model, instructions="J", model_settings=settings(scorer_level))
    scorer = create_scorer("s", judge=judge).generate_score(
        PromptStep("S", lambda c: "S", judge=Judge(model_settings=settings(step_level)))
    )

    scorer.run_sync(output="x")

    assert model.asked[0][0].temperature == temperature


def test_2c_89_a_judge_has_no_memory() -> None:
    """The reference merges settings of a store of conversations; here no run sees another.

    A score that depends on what was scored before it could not be repeated.
    """
    model = Recorder('{"score": 0}', '{"score": 1}')
    scorer = scored(model)

    scorer.run_sync(output="first")
    scorer.run_sync(output="second")

    assert model.messages(1) == {"system": "Judge.", "user": "Score: second"}
    assert len(model.prompts) == 2


def test_settings_that_are_not_ours_go_to_the_provider() -> None:
    """Known ones say how to sample; any other is a field of the request."""
    model = Recorder('{"score": 1}')
    settings: dict[str, JSON] = {"max_tokens": 50, "seed": 7, "reasoning_effort": "low"}

    scored(model, model_settings=settings).run_sync(output="x")

    sampling, options = model.asked[0]
    assert (sampling.max_tokens, sampling.seed) == (50, 7)
    assert options == {"reasoning_effort": "low"}


def test_step_settings_override_one_by_one() -> None:
    """A step may have its own model and keep the scorer's instructions."""
    general, special = Recorder('{"score": 1}'), Recorder('{"claims": []}')
    scorer = (
        create_scorer("s", judge=Judge(model=general, instructions="Judge."))
        .analyze(PromptStep("A", lambda c: "A", output_schema=Claims, judge=Judge(model=special)))
        .generate_score(PromptStep("S", lambda c: "S", judge=Judge(instructions="Score.")))
    )

    scorer.run_sync(output="x")

    assert special.messages(0)["system"] == "Judge."
    assert general.messages(0)["system"] == "Score."


def test_lists_of_processors_replace_and_do_not_merge() -> None:
    """An empty one switches the scorer's off; () is a setting, None is none."""
    model = Recorder('{"score": 1}', "ann@example.org is right", "ann@example.org is right")
    judge = Judge(
        model=model,
        instructions="J",
        input_processors=[Redact()],
        output_processors=[Redact({"name": "ann"})],
    )
    scorer = create_scorer("s", judge=judge).generate_score(
        PromptStep("S", lambda c: "ann@example.org")
    )
    bare = scorer.generate_reason(
        PromptStep("R", lambda c: "ann@example.org", judge=Judge(input_processors=()))
    )

    result = bare.run_sync(output="x")

    assert model.messages(0)["user"] == "[email]"
    assert model.messages(1)["user"] == "ann@example.org"
    assert result.reason == "[name]@example.org is right"
    assert execution(result, "generate_score").prompt == "[email]"
    assert result.prompts["generate_score"] == "ann@example.org"


def test_processors_may_be_asynchronous_and_see_no_schema() -> None:
    """They judge what the user wrote; the schema is ours."""

    class Upper:
        async def process_input(self, messages: Sequence[Any], /) -> Sequence[Any]:
            assert all("JSON Schema" not in message.content for message in messages)
            return messages

        async def process_output(self, text: str, /) -> str:
            return text.replace("SCORE", "score")

    model = Recorder('{"SCORE": 1}')
    upper = Upper()

    result = scored(
        model, json_prompt_injection=True, input_processors=[upper], output_processors=[upper]
    ).run_sync(output="x")

    assert result.score == 1.0


def test_length_limits_refuse_or_cut_visibly() -> None:
    """A prompt that is too long fails before it is sent; one that is cut says how much."""
    refusing = Recorder('{"score": 1}')
    error = failure(scored(refusing, input_processors=[LengthLimit(5)]))
    assert "the judge's system message has 6 characters" in str(error)
    assert refusing.prompts == []
    assert execution(error.result, "generate_score").attempt_count == 0

    cutting = Recorder('{"score": 1}')
    scored(cutting, input_processors=[Shorten(4)]).run_sync(output="xyz")
    assert cutting.messages(0)["user"] == "Sc\n[6 characters left out]\nyz"


def test_a_cut_off_answer_is_named() -> None:
    """More tokens are the way out, and nothing of a half object is believed."""
    half = Reply('{"reason": {"score": 1}, "sc', finish_reason="length")

    error = failure(scored(Recorder(half, half)))

    assert "cut off at max_tokens" in str(error)
    assert execution(error.result, "generate_score").finish_reason == "length"


STOPPED = [
    pytest.param(
        Reply('Draft {"score": 0.3}. Final: {"score": 0.', finish_reason="length"),
        "cut off at max_tokens",
        id="cut off after a draft",
    ),
    pytest.param(
        Reply('{"score": 0.9}', refusal="I will not judge this"),
        "it refused: I will not judge this",
        id="refused",
    ),
    pytest.param(
        Reply('{"score": 0.9}', finish_reason="content_filter"), "content filter", id="filtered"
    ),
]


@pytest.mark.parametrize(("reply", "why"), STOPPED)
def test_what_was_stopped_is_no_score(reply: Reply, why: str) -> None:
    """JSON in a reply that is not whole is no answer; where the fallback's is whole, it counts."""
    error = failure(scored(Recorder(reply, reply)))
    again = scored(Recorder(reply, '{"score": 0.5}')).run_sync(output="x")

    assert type(error.cause) is NoStructuredOutput and why in str(error)
    record = execution(error.result, "generate_score")
    assert (record.status, record.output, record.raw_output) == ("failed", None, reply.text)
    assert again.score == 0.5


@pytest.mark.parametrize(("reply", "why"), STOPPED)
def test_what_was_stopped_is_no_reason(reply: Reply, why: str) -> None:
    """A fragment is not why: the run fails, and its record keeps the fragment."""
    judge = Judge(model=Recorder(reply), instructions="Judge.")
    scorer = (
        create_scorer("s", judge=judge)
        .generate_score(lambda c: 0.5)
        .generate_reason(PromptStep("Why", lambda c: "Why?"))
    )

    error = failure(scorer)

    assert type(error.cause) is IncompleteReply and why in str(error)
    record = execution(error.result, "generate_reason")
    assert (record.status, record.output, record.raw_output) == ("failed", None, reply.text)
    assert record.finish_reason == reply.finish_reason


def test_a_refusal_is_named() -> None:
    """It is no answer of nought."""
    refusal = Reply("", refusal="I will not judge this")

    error = failure(scored(Recorder(refusal, refusal)))

    assert "I will not judge this" in str(error)


@pytest.mark.parametrize("score", ["true", '"0.5"', "null", "NaN", "[1]"], ids=repr)
def test_only_a_number_is_a_score(score: str) -> None:
    """A string of digits may be anything; it is asked for once more, then it fails."""
    error = failure(scored(Recorder(*[f'{{"score": {score}}}'] * 2)))

    assert execution(error.result, "generate_score").attempt_count == 2


def test_a_score_out_of_bounds_fails_with_a_good_record() -> None:
    """The judge did as it was asked; the scale was not said."""
    error = failure(scored(Recorder('{"score": 7}')))

    record = execution(error.result, "generate_score")
    assert "from 0 to 1, got 7.0" in str(error)
    assert (record.status, record.output) == ("success", 7.0)


@pytest.mark.parametrize("kind", ["pydantic", "JSON Schema"])
@pytest.mark.parametrize("way", ["sync", "async"])
def test_a_schema_with_calculate_score_converts(kind: str, way: str) -> None:
    """The judge finds; the number is computed, and may see the run."""

    def share(found: Any, context: StepContext[Any, Any, Any, Any]) -> float:
        claims = found.claims if kind == "pydantic" else found["claims"]
        return len(claims) / len(context.run.output)

    async def later(found: Any, context: StepContext[Any, Any, Any, Any]) -> float:
        return share(found, context)

    step: Any = PromptStep(
        "Claims",
        lambda c: "Claims?",
        output_schema=Claims if kind == "pydantic" else Claims.model_json_schema(),
        calculate_score=share if way == "sync" else later,
    )
    judge = Judge(model=Recorder('{"claims": ["a"]}'), instructions="J")

    result = create_scorer("s", judge=judge).generate_score(step).run_sync(output="abcd")

    assert result.score == 0.25
    assert execution(result, "generate_score").output == {"claims": ["a"]}


def test_calculate_score_may_find_nothing_to_score() -> None:
    """No claims at all is no claim refuted."""

    def share(found: Claims, context: StepContext[Any, Any, Any, Any]) -> float | NotScorable:
        return 1.0 if found.claims else not_scorable("no claims")

    judge = Judge(model=Recorder('{"claims": []}'), instructions="J")
    scorer = create_scorer("s", judge=judge).generate_score(
        PromptStep("C", lambda c: "C?", output_schema=Claims, calculate_score=share)
    )

    result = scorer.run_sync(output="x")

    assert result.score is None and result.not_scorable == NotScorable("no claims")


def _step(**settings: Any) -> Any:
    """Return a step whose wrong settings type checkers do not see."""
    step: Any = PromptStep
    return step("d", str, **settings)


def _share(found: Any, context: Any) -> float:
    return 1.0


WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    ("score, schema alone", "generate_score", {"output_schema": Claims}, "together, or neither"),
    ("score, function alone", "generate_score", {"calculate_score": _share}, "together, or neith"),
    ("analyze without schema", "analyze", {}, "analyze as a prompt needs an output_schema"),
    (
        "analyze with function",
        "analyze",
        {"output_schema": Claims, "calculate_score": _share},
        "analyze takes no calculate_score",
    ),
    ("schema of another kind", "analyze", {"output_schema": dict}, "pydantic model or a JSON Sch"),
    ("broken schema", "analyze", {"output_schema": {"type": "thing"}}, "no valid JSON Schema"),
]


@pytest.mark.parametrize(
    ("name", "settings", "match"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG]
)
def test_unusable_prompt_steps_are_refused_as_they_are_built(
    name: str, settings: dict[str, Any], match: str
) -> None:
    """A schema without a way to a number would be found at the first run only."""
    builder = create_scorer("s", judge=Judge(model="openai/any", instructions="J"))

    with pytest.raises(ScorerDefinitionError, match=match):
        getattr(builder, name)(_step(**settings))


def test_a_reason_takes_no_schema() -> None:
    """It is the judge's text."""
    scorer = create_scorer("s", judge=Judge(model="openai/any", instructions="J")).generate_score(
        lambda c: 1.0
    )

    with pytest.raises(ScorerDefinitionError, match="generate_reason takes no output_schema"):
        scorer.generate_reason(_step(output_schema=Claims))


JUDGES: list[tuple[dict[str, Any], str]] = [
    ({"model": ScriptedModel(lambda _: {})}, "must be a name or a LanguageModel"),
    ({"instructions": ["a"]}, "instructions must be a string"),
    ({"json_prompt_injection": "sytem"}, "json_prompt_injection must be True, False, 'system'"),
    ({"json_prompt_injection": 1}, "'inline' or 'auto', got 1"),
    ({"input_processors": [Judge()]}, "objects that each have process_input"),
    ({"error_processors": Redact()}, "objects that each have process_error"),
    ({"max_processor_retries": -1}, "max_processor_retries must be a non-negative integer"),
    ({"model_settings": {"temperature": "low"}}, r"model_settings\.temperature must be a number"),
    ({"model_settings": {"stream": True}}, "one whole reply .* got {'stream'"),
    ({"model_settings": {"max_tokens": -5}}, "one whole reply .* got {'max_tokens'"),
]


@pytest.mark.parametrize(
    ("settings", "match"),
    JUDGES,
    ids=[next(iter(settings)) + str(i) for i, (settings, _) in enumerate(JUDGES)],
)
def test_unusable_judges_are_refused(settings: dict[str, Any], match: str) -> None:
    """They are found where they are written."""
    with pytest.raises(ScorerDefinitionError, match=match):
        Judge(**settings)


def _asks(_: StepContext[Any, Any, Any, Any]) -> str:
    return "p"


def test_retries_that_nothing_would_make_are_refused() -> None:
    """The number alone retries nothing; a step may switch off what the scorer's judge has."""

    def score(step: Judge | None = None, **settings: Any) -> AnyScorer:
        judge = Judge(model=Recorder('{"score": 1}'), instructions="J", **settings)
        return create_scorer("s", judge=judge).generate_score(PromptStep("S", _asks, judge=step))

    with pytest.raises(ScorerDefinitionError, match=r"=5 and .*RetryProcessor"):
        score(max_processor_retries=5)
    with pytest.raises(ScorerDefinitionError, match="max_processor_retries=5"):
        score(Judge(max_processor_retries=5))
    score(Judge(max_processor_retries=5), error_processors=[RetryProcessor()])
    score(Judge(error_processors=()), max_processor_retries=5, error_processors=[RetryProcessor()])
    score(max_processor_retries=0)


def test_a_prompt_that_is_no_text_is_named() -> None:
    """A forgotten return gives None."""

    def forgetful(context: StepContext[Any, Any, Any, Any]) -> Any:
        return None

    judge = Judge(model=Recorder('{"score": 1}'), instructions="J")
    scorer = create_scorer("s", judge=judge).generate_score(PromptStep("S", forgetful))

    with pytest.raises(ScorerRunError, match="create_prompt of generate_score must return a strin"):
        scorer.run_sync(output="x")


def test_2c_96_not_scorable_before_the_judge_asks_nothing() -> None:
    """Nothing is spent on what has no score."""

    def nothing(context: StepContext[Any, Any, None, None]) -> str | NotScorable:
        return not_scorable("x")

    model = Recorder('{"score": 1}')
    judge = Judge(model=model, instructions="J")
    scorer = (
        create_scorer("s", judge=judge)
        .preprocess(nothing)
        .generate_score(PromptStep("S", lambda c: "S"))
    )

    result = scorer.run_sync(output="x")

    assert result.not_scorable == NotScorable("x") and model.prompts == [] and result.judge == {}
