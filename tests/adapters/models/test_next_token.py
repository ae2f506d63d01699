"""Logprobs of unlikely tokens, worked out from what a llama.cpp server lists of the likely ones."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import TypeAdapter

from classify.adapters.models.llama_replies import Completion, Listed, Sampled, Token
from classify.adapters.models.next_token import next_logprobs
from classify.errors import CapabilityError
from classify.json_values import JSON

SIZE = 400
SAFE = 0
HALF = {1, 2, 3}  # these spell the first half of a character
Floats = NDArray[np.float64]
_Pairs = TypeAdapter(list[tuple[int, float]])


class Vocabulary:
    """The sampler of a llama.cpp server, in its own single precision."""

    def __init__(self, logits: Floats) -> None:
        self.log_p = logits - np.logaddexp.reduce(logits)
        self.asked = 0

    async def ask(self, body: Mapping[str, JSON]) -> Completion:
        self.asked += 1
        biased = self.log_p.copy()
        for token, by in _Pairs.validate_python(body["logit_bias"]):
            biased[token] += by
        p = np.exp(biased - biased.max()).astype(np.float32)
        p /= p.sum(dtype=np.float32)
        sampled = int(np.argmax(p))
        if sampled in HALF:
            return Completion()
        listed, after = int(str(body["n_probs"])), bool(body.get("post_sampling_probs"))
        values = p if after else self.log_p
        top = [self._entry(i, values, after=after) for i in np.argsort(-values)[:listed]]
        entry = self._entry(sampled, values, after=after)
        place = entry.model_dump() | {"top_probs" if after else "top_logprobs": top}
        return Completion(completion_probabilities=(Sampled.model_validate(place),))

    def _entry(self, token: int | np.intp, values: NDArray[np.floating], *, after: bool) -> Listed:
        spelled = (240, 159) if token in HALF else (97,)
        value = float(values[token])
        if after:
            return Listed(id=int(token), bytes=spelled, prob=value)
        return Listed(id=int(token), bytes=spelled, logprob=value)


def tokens(*ids: int) -> list[Token]:
    return [Token(id=i, piece=(240, 159) if i in HALF else "a") for i in ids]


def logits(seed: int, scale: float) -> Floats:
    return np.random.default_rng(seed).normal(0.0, scale, SIZE)


@given(
    st.integers(0, 2**32 - 1),
    st.floats(0.0, 12.0),
    st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=30, unique=True),
)
def test_every_wanted_token_gets_its_own_logprob(seed: int, scale: float, ids: list[int]) -> None:
    """Listed or not, whole or half a character, the sampled one or the least likely of all."""
    vocabulary = Vocabulary(logits(seed, scale))

    found = asyncio.run(next_logprobs(vocabulary.ask, tokens(*ids), safe=SAFE))

    # exp(6) times the rounding of single precision, twice over
    np.testing.assert_allclose([found[i] for i in ids], vocabulary.log_p[ids], atol=5e-4)


def test_likely_tokens_take_one_request() -> None:
    """The speed of every answer: a request costs as much as a few tokens of the prompt."""
    vocabulary = Vocabulary(logits(1, 1.0))

    asyncio.run(next_logprobs(vocabulary.ask, tokens(10, 20, 30), safe=SAFE))

    assert vocabulary.asked == 1


def test_a_certain_token_does_not_hide_the_rest() -> None:
    """Behind a chat prompt a label may take all the mass but a millionth."""
    certain = np.zeros(SIZE)
    certain[10] = 20.0
    vocabulary = Vocabulary(certain)

    found = asyncio.run(next_logprobs(vocabulary.ask, tokens(10, 20), safe=SAFE))

    assert found[10] == pytest.approx(vocabulary.log_p[10], abs=1e-6)
    assert found[20] == pytest.approx(vocabulary.log_p[20], abs=1e-3)


def test_an_impossible_token_gets_minus_infinity() -> None:
    """Single precision cannot tell it from impossible; a made-up floor would be a lie."""
    hopeless = np.zeros(SIZE)
    hopeless[10] = -200.0

    found = asyncio.run(next_logprobs(Vocabulary(hopeless).ask, tokens(10, 20), safe=SAFE))

    assert found[10] == -math.inf
    assert found[20] == pytest.approx(-math.log(SIZE - 1), abs=1e-4)


def test_a_server_that_lists_nothing_is_named_as_such() -> None:
    """Without n_probs there is no probability to read, and no guess takes its place."""

    async def silent(body: Mapping[str, JSON]) -> Completion:
        return Completion(model="mute")

    with pytest.raises(CapabilityError, match="'mute' does not list the probabilities"):
        asyncio.run(next_logprobs(silent, tokens(10), safe=SAFE))
