"""The replies of a llama.cpp server, as far as they are read.

Both completions endpoints of the server answer `logprobs` in the shape of chat completions.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from classify.errors import CapabilityError, MalformedResponse
from classify.language_model import Alternative, Position, Reply, Usage

_HIGHEST_LOGPROB = 1e-3
_NO_CHARACTER = "\ufffd"


class _Read(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False)


class Tokens(_Read):
    """What /tokenize answers with pieces."""

    tokens: tuple[Token, ...]


class Token(_Read):
    """A token and what it spells."""

    id: int
    piece: str | tuple[int, ...]
    """Its bytes, where they are no whole UTF-8 text."""


class Template(_Read):
    """What /apply-template answers."""

    prompt: str


class Listed(_Read):
    """A token in a list of alternatives: `prob` after the samplers, or the raw `logprob`."""

    id: int
    bytes: tuple[int, ...] = ()
    prob: float | None = None
    logprob: float | None = None


class Sampled(Listed):
    """The token that was sampled, and the alternatives to it."""

    top_probs: tuple[Listed, ...] = ()
    top_logprobs: tuple[Listed, ...] = ()


class Timings(_Read):
    """How much of the prompt came from the cache."""

    cache_n: int | None = None


class Completion(_Read):
    """What /completion answers."""

    model: str | None = None
    tokens_evaluated: int | None = None
    tokens_predicted: int | None = None
    timings: Timings = Timings()
    completion_probabilities: tuple[Sampled, ...] = ()

    @property
    def usage(self) -> Usage:
        """The tokens of this one request."""
        return Usage(self.tokens_evaluated, self.tokens_predicted, self.timings.cache_n)


class _Top(_Read):
    token: str
    bytes: tuple[int, ...] | None = None
    logprob: float


class _Place(_Read):
    token: str
    top_logprobs: tuple[_Top, ...] = ()


class _Logprobs(_Read):
    content: tuple[_Place, ...] | None = None


class _Message(_Read):
    content: str | None = None


class _Choice(_Read):
    message: _Message | None = None
    text: str | None = None
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Cached(_Read):
    cached_tokens: int | None = None


class _Counts(_Read):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Cached | None = None


class Answer(_Read):
    """What /v1/chat/completions and /v1/completions answer."""

    id: str | None = None
    model: str | None = None
    system_fingerprint: str | None = None
    choices: tuple[_Choice, ...]
    usage: _Counts = _Counts()

    @property
    def lacks_alternatives(self) -> bool:
        """Whether no position is described, as when the text ends within a character."""
        return not (self._choice.logprobs and self._choice.logprobs.content)

    @property
    def counts(self) -> Usage:
        """The tokens of this one request."""
        details = self.usage.prompt_tokens_details
        return Usage(
            self.usage.prompt_tokens,
            self.usage.completion_tokens,
            details.cached_tokens if details else None,
        )

    def reply(self, *, prefill: str, positions: int | None) -> Reply:
        """Return the reply without the beginning it repeats; at most so many positions.

        `positions` None: none were asked for. Raises CapabilityError where they are missing.
        """
        choice = self._choice
        return Reply(
            text=self._text.removeprefix(prefill),
            positions=() if positions is None else self._positions(positions),
            finish_reason=choice.finish_reason,
            usage=self.counts,
            model=self.model,
            response_id=self.id,
            system_fingerprint=self.system_fingerprint,
        )

    @property
    def _choice(self) -> _Choice:
        if not self.choices:
            raise MalformedResponse("the llama.cpp server answered no choices")
        return self.choices[0]

    @property
    def _text(self) -> str:
        choice = self._choice
        return (choice.text if choice.message is None else choice.message.content) or ""

    def _positions(self, most: int) -> tuple[Position, ...]:
        logprobs = self._choice.logprobs
        if logprobs is None or not logprobs.content:
            if _NO_CHARACTER in self._text:
                raise MalformedResponse(
                    "the text ends within a character, where the server shows no alternatives",
                    retryable=True,
                )
            raise CapabilityError(
                f"model {self.model!r} answered without alternatives (logprobs), which were asked "
                f"for; ask for its words instead: readout='words'"
            )
        return tuple(_position(place) for place in logprobs.content[:most])


def _position(place: _Place) -> Position:
    tops = sorted(place.top_logprobs, key=lambda top: -top.logprob)
    if tops and tops[0].logprob > _HIGHEST_LOGPROB:
        raise MalformedResponse(f"a logprob above 0: {tops[0].logprob!r} for {tops[0].token!r}")
    return Position(
        token=place.token,
        alternatives=tuple(
            Alternative(
                token=top.token,
                logprob=min(top.logprob, 0.0),
                bytes=None if top.bytes is None else bytes(top.bytes),
            )
            for top in tops
        ),
    )
