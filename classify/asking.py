"""One question about one state, put to one language model: requests and their count."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from classify.calls import Calls
from classify.decision import DecisionRequest
from classify.errors import CapabilityError, InvalidInput
from classify.evidence import UsageSeen
from classify.json_values import JSON
from classify.labels import DIGITS
from classify.language_model import (
    INCREDIBLE_USAGE,
    Capabilities,
    LanguageModel,
    Prompt,
    PromptForm,
    Readout,
    Reply,
    Sampling,
    TextScores,
    Usage,
)
from classify.options import Options
from classify.questions import Question


@dataclass(slots=True)
class Asking:
    """What is asked, with what, and what it has taken so far."""

    name: str
    question: Question
    request: DecisionRequest
    model: LanguageModel
    capabilities: Capabilities
    options: Options
    calls: Calls
    usage: Usage = field(default_factory=Usage)
    incredible: bool = False
    """Whether the provider reported a count below 0."""
    reported_model: str | None = None
    system_fingerprint: str | None = None
    response_id: str | None = None
    started: float = field(default_factory=time.perf_counter)
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def readout(self) -> Readout:
        """The readout of the options, else what suits the model; letters for want of digits."""
        found = self.options.readout or self.capabilities.readouts[self.question.type]
        return "letters" if found == "digits" and self._beyond_digits else found

    @property
    def _beyond_digits(self) -> bool:
        return len(self.question.options) > len(DIGITS)

    @property
    def form(self) -> PromptForm:
        """The prompt form named in the options, else what suits the model."""
        form = self.options.prompt_form or self.capabilities.form
        if form not in self.capabilities.forms:
            raise CapabilityError(
                f"{self.where} does not take prompts of the form {form!r}; it takes "
                f"{', '.join(sorted(self.capabilities.forms))}"
            )
        return form

    def check_options(self) -> None:
        """Raise InvalidInput where an option would have no effect on this question."""
        if self.options.reasoning and self.readout in ("words", "sequence"):
            raise InvalidInput(
                f"question {self.name!r}: reasoning=True needs an answer by label, and the readout "
                f'is {self.readout}: add readout="letters", or leave reasoning out'
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the options ask for and the readout cannot do, and tokens that cannot be."""
        found = list[str]()
        if self.options.orders > 1 and self.readout == "words":
            found.append(
                f"question {self.name!r}: the words readout lists no options, so there is one "
                f"order, not orders={self.options.orders}"
            )
        if self.options.readout == "digits" and self._beyond_digits:
            found.append(
                f"question {self.name!r}: the digits readout has {len(DIGITS)} labels, so the "
                f"{len(self.question.options)} options got letters"
            )
        if self.incredible:
            found.append(f"question {self.name!r}: {INCREDIBLE_USAGE}")
        return tuple(found)

    @property
    def where(self) -> str:
        """The model and its address, where it has one, for messages."""
        address = getattr(self.model, "base_url", "")
        name = f"{self.model.provider}/{self.model.model_id}"
        return f"{name} at {address}" if address else name

    @property
    def user_fields(self) -> dict[str, JSON]:
        """What the user adds to every request: the model's settings, then the call's options."""
        settings: Mapping[str, JSON] = getattr(self.model, "settings", {})
        return {**settings, **self.request.provider_options}

    async def complete(
        self, prompt: Prompt, sampling: Sampling, *, fields: Mapping[str, JSON] | None = None
    ) -> Reply:
        """Continue a prompt; `fields` are sent in place of the user's of the same names."""
        options = {**self.request.provider_options, **(fields or {})}
        reply = await self.calls.run(lambda: self.model.complete(prompt, sampling, options=options))
        self._count(reply)
        return reply

    async def score(self, prompt: Prompt, texts: Sequence[str]) -> TextScores:
        """Score given continuations exactly."""
        options = self.request.provider_options
        scores = await self.calls.run(lambda: self.model.score(prompt, texts, options=options))
        self._count(scores)
        return scores

    def usage_seen(self) -> UsageSeen:
        """Return the tokens so far, as kept in the evidence."""
        return UsageSeen(
            input_tokens=self.usage.input_tokens,
            output_tokens=self.usage.output_tokens,
            cached_tokens=self.usage.cached_tokens,
            reasoning_tokens=self.usage.reasoning_tokens,
        )

    def _count(self, reply: Reply | TextScores) -> None:
        self.usage = self.usage + reply.usage.credible
        self.incredible = self.incredible or reply.usage != reply.usage.credible
        self.reported_model = reply.model or self.reported_model
        self.system_fingerprint = reply.system_fingerprint or self.system_fingerprint
        self.response_id = reply.response_id or self.response_id
