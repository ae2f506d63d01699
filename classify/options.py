"""How a language model is read: every choice that can change an answer."""

from __future__ import annotations

from typing import Literal, TypedDict

from pydantic import Field

from classify.language_model import PromptForm, Readout
from classify.validation import Strict


class Options(Strict):
    """Choices about reading a language model; a decision model that is none ignores them."""

    readout: Readout | None = None
    """What the model answers with; None for what was measured to suit it, kind by kind."""
    prompt_form: PromptForm | None = None
    """How it is asked; None for what suits the model and the readout."""
    orders: int = Field(default=1, ge=1, le=255)
    """Listings of the options to ask and combine (at most one per option, two for scores and
    booleans). Readouts that list no options have only one."""
    min_coverage: float | None = Field(default=None, ge=0.0, le=1.0)
    """Label mass below which there is no verdict; None for 0.5 where the prompt asks for a
    label, and no floor for the words and sequence readouts."""
    fallback: Literal["error", "sample"] = "error"
    """What to do where an endpoint shows no logprobs: raise, or count draws."""
    samples: int = Field(default=20, ge=1, le=1000)
    """Draws per question where the distribution is sampled."""
    reasoning: bool = False
    """Whether the model writes its reasons before it answers."""
    prior: Literal["batch", "content-free"] | None = None
    """A correction of the labels' own popularity: divide by the mean distribution over a batch of
    at least 32 states, or over empty states. Both assume that the options are about as frequent
    as one another."""
    length: Literal["sum", "mean"] | None = None
    """How the logprobs of an option's tokens become one number in the words and sequence
    readouts; None for the sum where every option is one token, the mean otherwise."""
    state_name: str = Field(default="Text", min_length=1)
    """For the words readout: the name before a state that has no field names of its own."""
    tree_tolerance: float = Field(default=0.01, ge=0.0, lt=1.0)
    """The probability that may stay in unopened groups where a tree is asked."""


class OptionValues(TypedDict, total=False):
    """The same as keyword arguments; a test holds the two together."""

    readout: Readout | None
    prompt_form: PromptForm | None
    orders: int
    min_coverage: float | None
    fallback: Literal["error", "sample"]
    samples: int
    reasoning: bool
    prior: Literal["batch", "content-free"] | None
    length: Literal["sum", "mean"] | None
    state_name: str
    tree_tolerance: float
