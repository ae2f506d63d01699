"""A language model behind a llama.cpp server: `llamacpp/NAME`, and the embedded engine.

Exact logprobs of any text, whatever its rank; see next_token.py for how. The server is addressed
in tokens wherever the text is the user's, so that a state that spells "<|im_end|>" stays text.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from classify.adapters.models.continuations import continuations
from classify.adapters.models.llama_http import LlamaHTTP
from classify.adapters.models.llama_replies import Answer, Completion, Template, Token, Tokens
from classify.adapters.models.next_token import Ask, next_logprobs
from classify.adapters.models.slots import Pieces, SharedSlots, Slots
from classify.errors import InvalidInput
from classify.json_values import JSON
from classify.language_model import (
    Capabilities,
    ChatPrompt,
    LanguageModel,
    Prompt,
    Reply,
    Sampling,
    TextScores,
    Usage,
)

DEFAULT_URL = "http://127.0.0.1:8080"
_REMEMBERED = 1024
# A character has at most 4 bytes, and so at most 3 tokens after its first.
_REST_OF_CHARACTER = 3
# The server shows as many as are asked for; each costs time.
_TOP_LOGPROBS = 100
_SEED = 0
# Left out, the server's own settings would cut off unlikely tokens.
_WHOLE_DISTRIBUTION: Mapping[str, JSON] = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}
_READ = ["model", "tokens_evaluated", "tokens_predicted", "timings", "completion_probabilities"]


def from_name(model_id: str) -> LanguageModel:
    """Return the model of a llama-server at LLAMACPP_BASE_URL, with LLAMACPP_API_KEY if set."""
    hints = {
        "unreachable": "start llama-server, or set LLAMACPP_BASE_URL to where it listens",
        "key": "set LLAMACPP_API_KEY",
        "context": "start llama-server with a larger --ctx-size",
    }
    url = os.environ.get("LLAMACPP_BASE_URL") or DEFAULT_URL
    server = LlamaHTTP(url, api_key=os.environ.get("LLAMACPP_API_KEY"), hints=hints)
    return LlamaServerModel(server, model_id or "default")


class LlamaServerModel:
    """The model that a llama.cpp server has loaded."""

    def __init__(
        self,
        server: LlamaHTTP,
        model_id: str,
        *,
        provider: str = "llamacpp",
        slots: Slots | None = None,
        scored_by: Literal["local", "sequence"] = "sequence",
        fingerprint: str | None = None,
    ) -> None:
        """Take the server and the names to report.

        `slots` where the server is ours alone; `fingerprint` where more is known of the engine
        than the server says itself.
        """
        self.provider, self.model_id = provider, model_id
        self.settings: Mapping[str, JSON] = {}  # its address says which server it is
        self._server, self._slots = server, slots or SharedSlots()
        self._scored_by: Literal["local", "sequence"] = scored_by
        self._fingerprint = fingerprint
        self._lines: dict[tuple[str, bool], tuple[Token, ...]] = {}

    @property
    def base_url(self) -> str:
        """Where the server is reached."""
        return self._server.base_url

    async def capabilities(self) -> Capabilities:
        """Return what every llama.cpp server can do."""
        return capabilities_of(self._scored_by)

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Continue the prompt, drawing from the model's whole distribution.

        Where the text ends within a character the server shows no alternatives: it is asked once
        more, for the few tokens that end the character.
        """
        positions = sampling.max_tokens if sampling.top_logprobs else None
        path, body = await self._request(prompt, sampling)
        body = {**body, **self._slots.fresh, **options}
        async with self._slots.turn:
            self._slots.forget()
            answer = await self._server.post(path, body, Answer)
            usage = answer.counts
            if positions and answer.lacks_alternatives:
                body["max_tokens"] = positions + _REST_OF_CHARACTER
                answer = await self._server.post(path, body, Answer)
                usage += answer.counts
        reply = answer.reply(prefill=_prefill(prompt), positions=positions)
        return replace(
            reply, usage=usage, system_fingerprint=self._fingerprint or reply.system_fingerprint
        )

    async def score(
        self, prompt: Prompt, texts: Sequence[str], *, options: Mapping[str, JSON]
    ) -> TextScores:
        """Return the exact logprobs of each text's tokens after the prompt.

        One short request for the prompt, one for every beginning that texts share, and one for
        the prompt's lines above the last, unless the last prompt had the same. Where a text
        merges with the end of the prompt, the merged tokens count as the text's.
        """
        text, special = await self._text_of(prompt)

        async def tokenize(part: str, begin: bool) -> tuple[Token, ...]:
            return await self._tokenize(part, begin=begin, special=special)

        found = await continuations(text, texts, tokenize=tokenize)
        safe = (await self._tokenize("a", begin=False, special=False))[0].id
        reading = _Reading(self._server, self._slots, options)
        log_p: dict[tuple[int, ...], dict[int, float]] = {}
        async with self._slots.turn:
            for before, following in found.next_tokens.items():
                ask = reading.after((*found.pieces, *((token,) for token in before)))
                log_p[before] = await next_logprobs(ask, following, safe=safe)
        ids = [tuple(token.id for token in tokens) for tokens in found.texts]
        return TextScores(
            logprobs=tuple(tuple(log_p[t[:n]][t[n]] for n in range(len(t))) for t in ids),
            usage=reading.usage,
            model=reading.model or self.model_id,
            system_fingerprint=self._fingerprint,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._server.aclose()

    async def _request(self, prompt: Prompt, sampling: Sampling) -> tuple[str, dict[str, JSON]]:
        top = min(sampling.top_logprobs, _TOP_LOGPROBS)
        body: dict[str, JSON] = {
            "model": self.model_id,
            "max_tokens": sampling.max_tokens,
            "temperature": sampling.temperature,
            **_WHOLE_DISTRIBUTION,
        }
        if sampling.seed is not None:
            body["seed"] = sampling.seed
        elif top:
            # What is drawn decides where a label's place is; drawn alike, a prompt is read alike.
            body["seed"] = _SEED
        if sampling.json_schema is not None:
            body["json_schema"] = dict(sampling.json_schema)
        if isinstance(prompt, ChatPrompt):
            body["messages"] = _messages(prompt)
            return "/v1/chat/completions", body | (
                {"logprobs": True, "top_logprobs": top} if top else {}
            )
        tokens = await self._tokenize(prompt.text, begin=True, special=False)
        if not tokens:
            raise InvalidInput(f"the prompt must hold at least one token, got {prompt.text!r}")
        body["prompt"] = [token.id for token in tokens]
        return "/v1/completions", body | ({"logprobs": top} if top else {})

    async def _text_of(self, prompt: Prompt) -> tuple[str, bool]:
        """Return the text, and whether marks such as "<|im_end|>" in it are tokens."""
        if not isinstance(prompt, ChatPrompt):
            return prompt.text, False
        body: dict[str, JSON] = {"messages": _messages(prompt)}
        return (await self._server.post("/apply-template", body, Template)).prompt, True

    async def _tokenize(self, text: str, *, begin: bool, special: bool) -> tuple[Token, ...]:
        if not begin and (text, special) in self._lines:
            return self._lines[text, special]
        body: dict[str, JSON] = {
            "content": text,
            "add_special": begin,
            "parse_special": special,
            "with_pieces": True,
        }
        tokens = (await self._server.post("/tokenize", body, Tokens)).tokens
        if begin and special and len(tokens) > 1 and tokens[0] == tokens[1]:
            return tokens[1:]  # the template had written the begin-of-sequence token itself
        if not begin:
            if len(self._lines) >= _REMEMBERED:
                self._lines.clear()
            self._lines[text, special] = tokens
        return tokens


class _Reading:
    """The requests made for one score: what they cost, and who answered."""

    def __init__(self, server: LlamaHTTP, slots: Slots, options: Mapping[str, JSON]) -> None:
        self._server, self._slots, self._options = server, slots, options
        self.usage = Usage()
        self.model: str | None = None

    def after(self, pieces: Pieces) -> Ask:
        """Return a function that reads the token after these pieces."""

        async def ask(readout: Mapping[str, JSON]) -> Completion:
            body = {**self._options, **readout, "response_fields": _READ}
            reply, usage = await self._slots.evaluate(self._server, pieces, body)
            self.usage += usage
            self.model = reply.model or self.model
            return reply

        return ask


def capabilities_of(scored_by: Literal["local", "sequence"]) -> Capabilities:
    """Return what every llama.cpp server can do, and what worked best with small models."""
    return Capabilities(
        top_logprobs=_TOP_LOGPROBS,
        scores_text=True,
        forms=frozenset(("chat", "prefill", "completion")),
        form="completion",
        readouts={"choice": "words", "score": "words", "boolean": "words"},
        scored_by=scored_by,
    )


def _messages(prompt: ChatPrompt) -> list[JSON]:
    if not prompt.messages:
        raise InvalidInput("the prompt must hold at least one message, got none")
    return [{"role": message.role, "content": message.content} for message in prompt.messages]


def _prefill(prompt: Prompt) -> str:
    if isinstance(prompt, ChatPrompt) and prompt.messages[-1].role == "assistant":
        return prompt.messages[-1].content
    return ""
