"""The seam to anything that says how likely the next token is.

A language model answers two things: `complete` continues a prompt and shows the alternatives it
considered at each position; `score` gives exact logprobs of texts named in advance, where the
engine can. It knows nothing of questions, labels or answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from classify.json_values import JSON

PromptForm: TypeAlias = Literal["chat", "prefill", "completion"]
"""A conversation; one whose last assistant turn is to be continued; a plain text to continue."""

Readout: TypeAlias = Literal["letters", "digits", "yes_no", "words", "sequence"]
"""What the model is asked to answer with: a mark, or the option's own words."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class ChatPrompt:
    """A conversation; a last assistant message is a beginning that the model continues."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class TextPrompt:
    """A plain text that the model continues."""

    text: str


Prompt: TypeAlias = ChatPrompt | TextPrompt
"""What a language model continues."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One token the model could have written, with its natural-log probability."""

    token: str
    logprob: float
    """Natural logarithm of its probability."""
    bytes: bytes | None = None
    """Its bytes, where the provider tells them."""


@dataclass(frozen=True, slots=True)
class Position:
    """One generated position: the token written there and the alternatives, likeliest first."""

    token: str
    alternatives: tuple[Alternative, ...]


INCREDIBLE_USAGE = "the provider reported a number of tokens below 0, taken as unknown"
"""The warning where `Usage.credible` leaves something out."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens counted by the provider; None where it did not say."""

    input_tokens: int | None = None
    """Of the prompts, cached ones among them."""
    output_tokens: int | None = None
    """Of what was written, reasoning included."""
    cached_tokens: int | None = None
    """Input tokens that the provider had in its cache."""
    reasoning_tokens: int | None = None
    """Output tokens that were reasoning."""

    @property
    def total_tokens(self) -> int:
        """Input and output together; what was not reported counts as 0."""
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    @property
    def credible(self) -> Usage:
        """Without counts below 0: a provider that reports such a count has not said."""
        return Usage(*(_counted(getattr(self, name)) for name in self.__slots__))

    def __add__(self, other: Usage) -> Usage:
        """Add count by count; unknown plus known is known."""
        return Usage(
            _add(self.input_tokens, other.input_tokens),
            _add(self.output_tokens, other.output_tokens),
            _add(self.cached_tokens, other.cached_tokens),
            _add(self.reasoning_tokens, other.reasoning_tokens),
        )


def _counted(count: int | None) -> int | None:
    return None if count is None or count < 0 else count


def _add(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back for one prompt."""

    text: str
    """What was written."""
    positions: tuple[Position, ...] = ()
    """One per generated token where alternatives were asked for."""
    finish_reason: str | None = None
    """"stop", "length", "content_filter", … as the provider says."""
    refusal: str | None = None
    """The provider's refusal, in its own words."""
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    """The model that the provider says answered."""
    response_id: str | None = None
    """The provider's id of the response."""
    system_fingerprint: str | None = None
    """What the server says of how it is set up."""
    cost: float | None = None
    """What the provider says it charged, in its own unit; None where it says nothing."""


@dataclass(frozen=True, slots=True)
class TextScores:
    """Exact natural-log probabilities of given texts after one prompt."""

    logprobs: tuple[tuple[float, ...], ...]
    """For each text, the logprob of each of its tokens given all before it."""
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    response_id: str | None = None
    system_fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a language model can do, and what works best with it, as measured or probed."""

    top_logprobs: int
    """Alternatives it shows at a position; 0 where it shows none."""
    scores_text: bool
    """Whether `score` works."""
    forms: frozenset[PromptForm]
    """The prompt forms it takes."""
    form: PromptForm
    """The form used where the caller names none."""
    readouts: Mapping[str, Readout]
    """Question kind ("choice", "score", "boolean") -> the readout used where none is named."""
    temperature: float = 1.0
    """The sampling temperature at which its logprobs are those of the model itself."""
    scored_by: Literal["local", "sequence"] = "sequence"
    """The method to name in the evidence of an answer read through `score`."""
    tokenizer: str | None = None
    """A tiktoken encoding, where known."""
    exact_labels: bool = False
    """Whether `complete` shows the logprobs of the labels named in its sampling."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How to continue a prompt."""

    max_tokens: int = 1
    """The most tokens to write."""
    top_logprobs: int = 0
    """Alternatives wanted at each position; at most what the model's capabilities say."""
    temperature: float = 1.0
    """Of sampling; 1 is the model's own distribution."""
    seed: int | None = None
    labels: tuple[str, ...] = ()
    """Texts whose logprobs are shown instead of the likeliest; where `exact_labels` holds."""
    json_schema: Mapping[str, JSON] | None = None
    """A JSON Schema the text must follow, through the provider's own response format."""


@runtime_checkable
class LanguageModel(Protocol):
    """Anything that can say how likely the next token is.

    Every method raises ModelError and its kinds, nothing else on purpose: CapabilityError for
    what the endpoint cannot do, ProviderError with `retryable` for a failed request. Retries,
    limits and deadlines are the caller's: one call is one request (or one exact score).

    One that holds more than its names also has `settings`, a mapping of JSON values: the fields
    that go with every request, and what else tells it from others of its name (empty where nothing
    does); and `base_url` where it has an address. Both count in `Classifier.fingerprint`.
    """

    @property
    def provider(self) -> str:
        """The provider's short name, such as "openai"."""
        ...

    @property
    def model_id(self) -> str:
        """The model's name at the provider."""
        ...

    async def capabilities(self) -> Capabilities:
        """Say what the model can do; probed at most once per endpoint, model and settings."""
        ...

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, options: Mapping[str, JSON]
    ) -> Reply:
        """Continue the prompt; `options` are passed to the provider as they are."""
        ...

    async def score(
        self, prompt: Prompt, texts: Sequence[str], *, options: Mapping[str, JSON]
    ) -> TextScores:
        """Return the exact logprobs of each text as the continuation of the prompt."""
        ...

    async def aclose(self) -> None:
        """Release connections and processes; the model is not used afterwards."""
        ...
