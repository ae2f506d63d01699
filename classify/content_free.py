"""Ask a classifier's questions about states without content, and divide the answers out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from classify.answers import Answer, NoVerdict
from classify.decision import DecisionRequest, DecisionResponse
from classify.language_model import Usage
from classify.logspace import Floats
from classify.prior import BLANKS, blanked, divided, raw_distribution, with_prior
from classify.questions import Question

Answers: TypeAlias = dict[str, Answer | NoVerdict]
Decide: TypeAlias = Callable[[DecisionRequest], Awaitable[tuple[DecisionResponse, Answers]]]


class ContentFreePriors:
    """The priors found so far, one per question, shape of state and options for the provider."""

    def __init__(self) -> None:
        """Start with none."""
        self._found: dict[tuple[str, str, str], Floats | None] = {}
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    async def divide_out(
        self, answers: Answers, request: DecisionRequest, decide: Decide
    ) -> tuple[Answers, Usage]:
        """Return the answers divided by the mean answer to states without content.

        Also the tokens that asking about those took, none where they were known. An answer
        without a distribution stays as it is, and so does one whose blank states got no verdict
        or never showed one of the options: dividing by a bound would favour it.
        """
        usage = Usage()
        shape = json.dumps(blanked(request.state, ""), sort_keys=True)
        sent_along = json.dumps(dict(request.provider_options), sort_keys=True)
        keys = {
            name: (question.model_dump_json(), shape, sent_along)
            for name, question in request.questions.items()
        }
        # One at a time, so that states evaluated together do not all ask.
        lock = self._locks.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with lock:
            missing = {n: q for n, q in request.questions.items() if keys[n] not in self._found}
            if missing:
                priors, usage = await _ask_blanks(replace(request, questions=missing), decide)
                self._found.update({keys[name]: priors[name] for name in missing})
        corrected = {
            name: _corrected(answers[name], question, self._found[keys[name]])
            for name, question in request.questions.items()
        }
        return corrected, usage


async def _ask_blanks(
    request: DecisionRequest, decide: Decide
) -> tuple[Mapping[str, Floats | None], Usage]:
    states = [blanked(request.state, blank) for blank in BLANKS]
    answered = [await decide(replace(request, state=state)) for state in states]
    priors = {
        name: _mean([raw_distribution(answers[name], question) for _, answers in answered])
        for name, question in request.questions.items()
    }
    return priors, sum((response.usage or Usage() for response, _ in answered), Usage())


def _mean(distributions: list[list[float] | None]) -> Floats | None:
    known = [p for p in distributions if p is not None]
    mean: Floats | None = np.mean(known, axis=0) if known else None
    return mean


def _corrected(
    answer: Answer | NoVerdict, question: Question, prior: Floats | None
) -> Answer | NoVerdict:
    raw = raw_distribution(answer, question)
    if isinstance(answer, NoVerdict) or raw is None or prior is None or not prior.all():
        return answer
    p = divided(np.array([raw]), prior)[0]
    return with_prior(answer, question, p, prior, method="content-free")
