"""Models that say what a function tells them to, for tests without any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from classify.decision import DecisionRequest, DecisionResponse
from classify.errors import CapabilityError, InvalidInput
from classify.json_values import JSON, is_object
from classify.language_model import (
    Alternative,
    Capabilities,
    Position,
    Prompt,
    Reply,
    Sampling,
    TextScores,
)

RawAnswer: TypeAlias = Mapping[str, object]


class ScriptedModel:
    """A decision model that answers with what `answer(request)` returns or raises.

    `answer` gives a whole DecisionResponse, or question id -> plain answer. `requests` keeps
    every request.
    """

    def __init__(
        self,
        answer: Callable[[DecisionRequest], DecisionResponse | Mapping[str, RawAnswer]],
        *,
        supported_question_types: frozenset[str] | None = None,
        settings: Mapping[str, JSON] | None = None,
    ) -> None:
        """Take the function that answers, and what tells the model from other scripted ones."""
        self.provider, self.model_id = "scripted", "scripted"
        self.settings = dict(settings or {})
        self.supported_question_types = supported_question_types
        self.requests: list[DecisionRequest] = []
        self._answer = answer

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Answer with what the function says."""
        self.requests.append(request)
        answer = self._answer(request)
        return answer if isinstance(answer, DecisionResponse) else DecisionResponse(answer)


class ScriptedLanguageModel:
    """A language model whose replies and scores come from functions.

    `reply(prompt, sampling)` gives a Reply, or token -> logprob for one position; `scores(prompt,
    texts)` the logprobs of each text's tokens. `prompts` keeps every prompt.
    """

    def __init__(
        self,
        reply: Callable[[Prompt, Sampling], Reply | Mapping[str, float]] | None = None,
        *,
        scores: Callable[[Prompt, Sequence[str]], Sequence[Sequence[float]]] | None = None,
        capabilities: Capabilities | None = None,
        settings: Mapping[str, JSON] | None = None,
    ) -> None:
        """Take the functions; without capabilities, those of a chat endpoint with 20 logprobs.

        `settings` tell the model from other scripted ones, and count as sent with every request.
        """
        self.provider, self.model_id = "scripted", "scripted"
        self.settings = dict(settings or {})
        self.prompts: list[Prompt] = []
        self._reply, self._scores = reply, scores
        self._capabilities = capabilities or Capabilities(
            top_logprobs=20 if reply else 0,
            scores_text=scores is not None,
            forms=frozenset({"chat", "prefill", "completion"}),
            form="chat" if reply else "completion",
            readouts=(
                {"choice": "letters", "score": "digits", "boolean": "yes_no"}
                if reply
                else dict.fromkeys(("choice", "score", "boolean"), "words")
            ),
        )

    async def capabilities(self) -> Capabilities:
        """Say what was given at construction."""
        return self._capabilities

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Reply with what the function says."""
        if self._reply is None:
            raise CapabilityError("this scripted model was given no reply function")
        self.prompts.append(prompt)
        reply = self._reply(prompt, sampling)
        if isinstance(reply, Reply):
            return reply
        given: object = reply
        if not is_object(given):
            raise InvalidInput(
                f"reply must give a Reply or token -> logprob, got {type(reply).__name__}"
            )
        return position_reply(reply)

    async def score(
        self, prompt: Prompt, texts: Sequence[str], *, options: Mapping[str, JSON]
    ) -> TextScores:
        """Score with what the function says."""
        if self._scores is None:
            raise CapabilityError("this scripted model was given no scores function")
        self.prompts.append(prompt)
        return TextScores(tuple(tuple(tokens) for tokens in self._scores(prompt, texts)))

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""


def position_reply(logprobs: Mapping[str, float]) -> Reply:
    """Return a reply of one token: the likeliest of token -> logprob, all as alternatives."""
    ranked = sorted(logprobs, key=logprobs.__getitem__, reverse=True)
    alternatives = tuple(Alternative(token, logprobs[token]) for token in ranked)
    written = ranked[0] if ranked else ""
    positions = (Position(written, alternatives),) if ranked else ()
    return Reply(written, positions, finish_reason="length")
