"""Ask the judge once: one request, its retries, and one fallback where no object came back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel

from classify.adapters.scorers.judge import Judge, JudgeModels
from classify.adapters.scorers.judge_messages import Injected, injected, sampling_of
from classify.adapters.scorers.judge_records import Cost, JudgeExecution
from classify.adapters.scorers.output_schema import OutputSchema, ScoreAnswer, last_fitting
from classify.adapters.scorers.settling import settled
from classify.errors import CapabilityError, ModelError
from classify.language_model import ChatPrompt, LanguageModel, Message, Reply, Usage


class NoStructuredOutput(ModelError):
    """The judge gave no object of the schema, also when the schema was put before it."""


class IncompleteReply(ModelError):
    """The judge refused to write a text, or it was filtered or cut off."""


class JudgeRequest:
    """One logical execution of a judge, with all that is to be recorded of it."""

    def __init__(
        self, prompt: str, judge: Judge, *, schema: OutputSchema | None, models: JudgeModels
    ) -> None:
        """Look the model up; raises InvalidInput where its name leads to none."""
        assert judge.model is not None
        self._judge, self._schema, self._models = judge, schema, models
        self._model: LanguageModel = models.get(judge.model)
        self._prompt = prompt
        self._began = time.monotonic()
        self._attempts = self._calls = self._retries = 0
        self._usage = Usage()
        self._cost: float | None = None
        self._output: Any = None
        self._text: str | None = None
        self._finish_reason: str | None = None

    async def run(self) -> Any:
        """Return the validated object, or the text where no schema is asked for.

        What was refused, filtered or cut off is neither. Raises what the model raised, once its
        retries are used up; NoStructuredOutput where also the fallback gave no object;
        IncompleteReply for a text that is not whole; and what processors and on_finish raised.
        """
        messages = await self._messages()
        self._prompt = messages[-1].content
        if self._schema is None:
            found, problem = await self._invoke(messages, None, None)
            if not found:
                raise IncompleteReply(f"model {self._model.model_id!r} gave no text: {problem}")
            return self._output
        first = self._first_way()
        found, problem = await self._invoke(messages, self._schema, first)
        if not found:
            forced: Injected = first or "system"
            found, problem = await self._invoke(messages, self._schema, forced)
        if not found:
            raise NoStructuredOutput(self._without_object(problem))
        return self._output

    def record(self, error: Exception | None = None) -> JudgeExecution:
        """Return what happened."""
        output = self._output
        if isinstance(output, ScoreAnswer):
            output = output.score
        return JudgeExecution(
            status="success" if error is None else "failed",
            prompt=self._prompt,
            model=self._model.model_id,
            provider=self._model.provider,
            output=output.model_dump(mode="json") if isinstance(output, BaseModel) else output,
            usage=None if self._usage == Usage() else self._usage,
            attempt_count=self._attempts,
            retry_count=self._retries,
            model_call_count=self._calls,
            duration_ms=round((time.monotonic() - self._began) * 1000),
            cost=None
            if self._cost is None
            else Cost(amount=self._cost, source=self._model.provider),
            raw_output=None if error is None else self._text,
            finish_reason=None if error is None else self._finish_reason,
            error=None if error is None else error_json(error),
        )

    def _first_way(self) -> Injected | None:
        """Return where the schema is shown at first; None for the provider's own format."""
        way = self._judge.json_prompt_injection
        if way == "inline":
            return "inline"
        if way is True or way == "system":
            return "system"
        return None if way is False or self._models.has_format(self._model) else "system"

    async def _messages(self) -> Sequence[Message]:
        messages: Sequence[Message] = (
            Message("system", self._judge.instructions or ""),
            Message("user", self._prompt),
        )
        for processor in self._judge.input_processors or ():
            messages = await settled(processor.process_input(messages))
        return messages

    async def _invoke(
        self, messages: Sequence[Message], schema: OutputSchema | None, way: Injected | None
    ) -> tuple[bool, str]:
        """Ask once; return whether there is an output, and why not."""
        self._attempts += 1
        reply = await self._reply(messages, schema, way)
        self._calls += 1
        self._usage += reply.usage.credible
        if reply.cost is not None:
            self._cost = (self._cost or 0.0) + reply.cost
        self._finish_reason = reply.finish_reason
        text = reply.text
        for processor in self._judge.output_processors or ():
            text = await settled(processor.process_output(text))
        self._text = text
        problem = _incomplete(reply)
        found, value = (True, text) if schema is None else last_fitting(text, schema)
        # A draft in what is not whole may fit the schema, and is not what the judge came to.
        found = found and not problem
        if found:
            self._output = value
        if self._judge.on_finish is not None:
            await settled(self._judge.on_finish(reply))
        return found, "" if found else problem or str(value)

    async def _reply(
        self, messages: Sequence[Message], schema: OutputSchema | None, way: Injected | None
    ) -> Reply:
        if schema is None:
            return await self._request(messages, None)
        if way is not None:
            return await self._request(injected(messages, schema, way), None)
        try:
            return await self._request(messages, schema)
        except CapabilityError:
            if self._judge.json_prompt_injection is False:
                raise
            self._models.lacks_format(self._model)
        return await self._request(injected(messages, schema, "system"), None)

    async def _request(self, messages: Sequence[Message], native: OutputSchema | None) -> Reply:
        """Make one request, and again while an error processor says so and the budget lasts."""
        sampling, options = sampling_of(self._judge.model_settings or {}, native)
        while True:
            try:
                return await self._model.complete(
                    ChatPrompt(tuple(messages)), sampling, options=options
                )
            except Exception as error:
                self._finish_reason = "error"
                if not await self._goes_on(error):
                    if isinstance(error, ModelError) and error.attempts is None:
                        error.attempts = self._attempts + self._retries
                    raise
                self._retries += 1

    async def _goes_on(self, error: Exception) -> bool:
        if self._retries >= self._judge.retries:
            return False
        for processor in self._judge.error_processors or ():
            if await settled(processor.process_error(error, retry_count=self._retries)):
                return True
        return False

    def _without_object(self, problem: str) -> str:
        return (
            f"model {self._model.model_id!r} gave no object of the output schema in "
            f"{self._attempts} attempts: {problem}"
        )


def _incomplete(reply: Reply) -> str:
    """Return why a reply is not what the judge had to say; "" where it is."""
    if reply.refusal:
        return f"it refused: {reply.refusal}"
    if reply.finish_reason == "content_filter":
        return "the provider's content filter stopped the answer"
    if reply.finish_reason == "length":
        return "the answer was cut off at max_tokens, give model_settings more of them"
    return ""


def error_json(error: BaseException) -> dict[str, str]:
    """Return an error's name and message, and its code where it has one; never headers."""
    facts = {"name": type(error).__name__, "message": str(error)}
    code = getattr(error, "code", None)
    return {**facts, "code": code} if isinstance(code, str) else facts
