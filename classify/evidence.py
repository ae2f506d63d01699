"""What was sent and seen on the way to an answer, so that it can be audited or read again.

Never headers, keys, response bodies or the text that was judged.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from classify.language_model import PromptForm, Readout

Method: TypeAlias = Literal["logprobs", "tree", "sequence", "sampled", "decision", "local"]
"""The slot's alternatives; several slots; the logprobs of whole texts at an endpoint; draws; a
decision model's own answer; exact scores by an engine on this machine."""

Probability: TypeAlias = Annotated[float, Field(ge=-1e-9, le=1.0 + 1e-9, allow_inf_nan=False)]
"""A number in [0, 1] up to rounding: lines that someone has edited may hold any other."""


class _Record(BaseModel):
    # What is not finite would be written as null, and a line with null in it not be read again.
    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class SeenToken(_Record):
    """An alternative at the slot."""

    token: str
    """Its text."""
    logprob: float | None = None
    """None where the token has no probability at all; lines of results leave it out then."""
    label: str | None = None
    """The label it was counted for."""


class OrderSeen(_Record):
    """One listing of the options, and what the model made of it."""

    labels: dict[str, str]
    """Label -> option, in the order listed."""
    probabilities: dict[str, Probability]
    """Option -> probability, normalised over the options."""
    label_mass: float
    """The probability of all labels together, in [0, 1]."""
    position: int | None = None
    """The index of the generated token that carried the label."""
    alternatives: tuple[SeenToken, ...] = ()
    """What the model might have written at the slot, likeliest first."""
    token_logprobs: dict[str, tuple[float | None, ...]] | None = None
    """Word or words -> the logprobs of their tokens, where whole texts were scored; None for a
    token that has no probability at all."""
    path: tuple[str, ...] = ()
    """The labels of the groups above, where a tree was asked."""
    prompt_hash: str
    """SHA-256 of the prompt as sent."""
    response_id: str | None = None
    """The provider's id of the response."""

    @model_validator(mode="after")
    def _parts_fit(self) -> Self:
        if set(self.labels.values()) != self.probabilities.keys():
            raise ValueError("the labels' options are not those that have a probability")
        if not self.labels.keys() >= (self.token_logprobs or {}).keys():
            raise ValueError("token_logprobs hold a text that is none of the labels")
        return self


class UsageSeen(_Record):
    """Tokens used for this answer; None where the provider did not say."""

    input_tokens: int | None = None
    """Of the prompts, cached ones among them."""
    output_tokens: int | None = None
    """Of what was written, reasoning included."""
    cached_tokens: int | None = None
    """Input tokens that the provider had in its cache."""
    reasoning_tokens: int | None = None
    """Output tokens that were reasoning."""


class Evidence(_Record):
    """All that was seen on the way to one answer."""

    readout: Readout | None = None
    """What the model was asked to answer with; None where it was not asked so."""
    prompt_form: PromptForm | None = None
    """How it was asked."""
    template: str | None = None
    """The version of the prompt templates."""
    state_name: str | None = None
    """What a state without field names of its own is called, where the words readout asked."""
    length_rule: Literal["sum", "mean"] | None = None
    """How the logprobs of several tokens became one number, where whole texts were scored."""
    orders: tuple[OrderSeen, ...] = ()
    """One for each listing; in a tree, one for each slot that was read."""
    flips: int = 0
    """Orders whose most probable option differs from the first order's."""
    total_variation: float = 0.0
    """Mean total variation distance between the orders' distributions, in [0, 1]."""
    unseen: tuple[str, ...] = ()
    """Options that were among no returned alternatives: bounded, not measured."""
    unexplored: float = 0.0
    """Probability of groups that a tree did not open."""
    anchors: dict[str, float] | None = None
    """Probabilities of the words at the two ends of a scale, where only those were asked."""
    draws: dict[str, int] | None = None
    """Option -> how often it was drawn, where the distribution was sampled."""
    reason: str | None = None
    """What the model wrote before it answered, where it was asked to reason."""
    written: tuple[str, ...] = ()
    """What the model wrote where there is no verdict, each at most 200 characters: its reply, its
    refusal, or the commonest draws that were no label, at most five."""
    prior: dict[str, float] | None = None
    """Option -> the prior that was divided out."""
    prior_method: Literal["batch", "content-free"] | None = None
    """Where that prior came from."""
    calibrator: str | None = None
    """The fingerprint of the calibrator that was applied."""
    requested_model: str | None = None
    """The model's name in the request."""
    reported_model: str | None = None
    """The model's name in the response."""
    system_fingerprint: str | None = None
    """What the server says of how it is set up."""
    usage: UsageSeen | None = None
    """Tokens of this answer."""
    attempts: int = 0
    """Requests made for this answer, failed ones included."""
    seconds: float = 0.0
    """For this answer, with waits and retries."""
    at: datetime | None = None
    """When it was asked."""
    warnings: tuple[str, ...] = ()
    """What the options ask for and the readout cannot do, and what else was odd."""

    @property
    def order_count(self) -> int:
        """How many orders were asked: a tree asks several slots in each."""
        return sum(not seen.path for seen in self.orders)
