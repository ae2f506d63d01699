"""Find out once what an endpoint can do, and remember it for the life of the process.

A probe is a question of one token; the values of top_logprobs that an endpoint refuses cost
nothing. Callers that come at the same time, from whatever thread or event loop, share one probe.

The neutral temperature needs no request: at 1 the logprobs after temperature are those before it,
so whichever of the two a server returns, it returns the model's own.
"""

from __future__ import annotations

import asyncio
import copy
import os
import threading
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future

from classify.errors import CapabilityError, ClassifyError, ProviderError
from classify.labels import LETTERS
from classify.language_model import (
    Capabilities,
    ChatPrompt,
    Message,
    Prompt,
    PromptForm,
    Readout,
    Reply,
    Sampling,
    TextPrompt,
    TextScores,
)
from classify.provider_table import Provider

NEUTRAL_TEMPERATURE = 1.0

_LEAST_LIMIT = 5

_READOUTS: Mapping[str, Readout] = {"choice": "letters", "score": "digits", "boolean": "yes_no"}
_WORDS: Mapping[str, Readout] = {"choice": "words", "score": "words", "boolean": "words"}

_QUESTION = ChatPrompt((Message("user", "Answer with one letter, A or B."),))
_BEGINNING = TextPrompt("The first letter of the alphabet is")

Complete = Callable[[Prompt, Sampling], Awaitable[Reply]]
Score = Callable[[TextPrompt, Sequence[str]], Awaitable[TextScores]]

_known: dict[Hashable, Capabilities] = {}
_under_way: dict[Hashable, Future[None]] = {}
_lock = threading.Lock()


def _after_fork() -> None:
    # Nobody in the child finishes the parent's probes, or gives back a lock that was held.
    global _lock
    _lock = threading.Lock()
    _under_way.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def known(key: Hashable) -> Capabilities | None:
    """Return what an earlier probe found."""
    return _known.get(key)


def forget() -> None:
    """Forget every probe, so that the next call makes its own."""
    with _lock:
        _known.clear()


async def remembered(key: Hashable, probe: Callable[[], Awaitable[Capabilities]]) -> Capabilities:
    """Return what is known under the key, or probe; those who wait share the one probe's error.

    Errors are not remembered: an endpoint that was down may come up.
    """
    while (found := _known.get(key)) is None:
        mine, others = _join(key)
        if mine is not None:
            return await _probe_for_all(key, probe, mine)
        try:
            await asyncio.wrap_future(others)
        except ClassifyError as error:
            # A copy: how often a request was tried is counted on the error of each who asked.
            raise _unused(error) from None
    return found


def _join(key: Hashable) -> tuple[Future[None] | None, Future[None]]:
    """Return the future of the probe under way, first as one's own where there was none."""
    with _lock:
        if key in _under_way:
            return None, _under_way[key]
        mine: Future[None] = Future()
        mine.set_running_or_notify_cancel()  # so that one who waits cannot cancel it
        _under_way[key] = mine
        return mine, mine


async def _probe_for_all(
    key: Hashable, probe: Callable[[], Awaitable[Capabilities]], mine: Future[None]
) -> Capabilities:
    failure: ClassifyError | None = None
    try:
        found = await probe()
        with _lock:
            _known[key] = found
        return found
    except ClassifyError as error:
        failure = _unused(error)
        raise
    finally:
        with _lock:
            del _under_way[key]
        # Without a failure those who wait look again: they find the result, or, where this
        # caller was cancelled, probe themselves.
        mine.set_exception(failure) if failure else mine.set_result(None)


def _unused(error: ClassifyError) -> ClassifyError:
    fresh = copy.copy(error)
    fresh.__traceback__ = None
    return fresh


async def probe(
    provider: Provider, model_id: str, *, complete: Complete, score: Score
) -> Capabilities:
    """Ask the endpoint what the table does not tell.

    An endpoint that shows no logprobs is reported with `top_logprobs` 0, so that it can still be
    sampled; only a failed request raises (ProviderError).
    """
    documented = provider.known(model_id)
    forms: frozenset[PromptForm] = provider.forms
    form: PromptForm = "chat"
    if documented is not None:
        top_logprobs = documented.top_logprobs
    else:
        form, top_logprobs = await _form_and_alternatives(provider, complete)
        forms = forms if form == "chat" else frozenset({form})
    scores_text = await _scores_text(provider, score) if top_logprobs else False
    # Where all letters fit among the likeliest tokens there is nothing to gain.
    may_gain = provider.exact_labels and 0 < top_logprobs < len(LETTERS)
    exact = await _exact_labels(form, complete) if may_gain else False
    return Capabilities(
        top_logprobs=top_logprobs,
        scores_text=scores_text,
        forms=forms,
        form=form,
        # A model that only continues text was not taught to answer with a letter.
        readouts=_WORDS if form == "completion" and scores_text else _READOUTS,
        temperature=NEUTRAL_TEMPERATURE,
        tokenizer=documented.encoding if documented else None,
        exact_labels=exact,
    )


async def _form_and_alternatives(provider: Provider, complete: Complete) -> tuple[PromptForm, int]:
    """Return the form that the model takes and the alternatives it shows.

    A model without a chat template refuses every conversation and still continues text.
    """
    try:
        return "chat", await _most_alternatives(_QUESTION, provider.alternatives, complete)
    except ProviderError as refused:
        if refused.status not in (400, 404, 405, 422) or "completion" not in provider.forms:
            raise
        try:
            most = await _most_alternatives(_BEGINNING, provider.alternatives, complete)
        except ProviderError:
            raise refused from None
        return "completion", most


async def _most_alternatives(prompt: Prompt, tries: Sequence[int], complete: Complete) -> int:
    unclear: ProviderError | None = None
    for wanted in tries:
        try:
            reply = await complete(prompt, Sampling(max_tokens=1, top_logprobs=wanted))
        except CapabilityError:
            continue
        except ProviderError as error:
            if error.status not in (400, 422):
                raise
            unclear = error  # it may be the number, though the message does not say so
            continue
        if not reply.positions:  # refused or filtered: nothing is known against it
            return wanted
        shown = len(reply.positions[0].alternatives)
        # Some servers show fewer than they were asked for, without a word, but none stops below
        # 5: one that shows fewer still has no more to show (a constrained or a scripted one).
        return shown if _LEAST_LIMIT <= shown < wanted else wanted
    if unclear is not None:
        raise unclear
    return 0


async def _exact_labels(form: PromptForm, complete: Complete) -> bool:
    """Ask for one alternative and every letter: a server that ignores them shows no letters."""
    prompt = _BEGINNING if form == "completion" else _QUESTION
    sampling = Sampling(max_tokens=1, top_logprobs=1, labels=LETTERS)
    try:
        reply = await complete(prompt, sampling)
    except CapabilityError:
        return False
    except ProviderError as error:
        # No tokenizer, a field that the server does not take, or letters that it did not show.
        if error.retryable:
            raise
        return False
    return bool(reply.positions)


async def _scores_text(provider: Provider, score: Score) -> bool:
    if provider.echo is not None:
        return provider.echo
    try:
        await score(TextPrompt("One, two,"), [" three"])
    except CapabilityError:
        return False
    except ProviderError as error:
        # A path or a field that the server does not know; what may pass is not an answer.
        if error.retryable:
            raise
        return False
    return True
