"""Read a distribution from the exact logprobs of the options' own words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from classify.asking import Asking
from classify.errors import CapabilityError, LabelCollision, MalformedResponse
from classify.evidence import OrderSeen
from classify.label_reading import gather
from classify.labels import Listing, canonical, listings
from classify.language_model import Prompt, TextScores
from classify.logspace import Floats, log_normalize, log_sum
from classify.orders import combine
from classify.prompts import option_prompt, prompt_hash, words_prompt
from classify.questions import Question, Score
from classify.reading import NoReading, Reading
from classify.readout import check_logprob, kept_logprob

_SERVER_NOISE = 0.02
"""How far a token's logprob may move from one request of a batch to the next."""


async def read_texts(asking: Asking) -> Reading | NoReading:
    """Score each option's words as the continuation of a prompt.

    The words readout writes the state as a plain text and lists no options, so there is one
    order; the sequence readout lists them, in as many orders as wanted.
    """
    if not asking.capabilities.scores_text:
        raise CapabilityError(
            f"{asking.where} cannot score given text, which the readout {asking.readout!r} needs; "
            'use readout="letters", "digits" or "yes_no"'
        )
    options = spoken(asking.question)
    prompts = _prompts(asking)
    spelled = [(k, word) for k, o in enumerate(options) for word in asking.question.spellings(o)]
    _check_told_apart(asking, spelled)
    texts = [f" {word}" for _, word in spelled]
    scored = await gather(asking.score(prompt, texts) for prompt in prompts)
    for scores in scored:
        _check_scores(asking, texts, scores)
    rule = asking.options.length or _length_rule(scored)
    owners = np.array([k for k, _ in spelled])
    begun = _begun(texts)
    logs = np.array([_by_option(_text_logs(scores, rule, begun), owners) for scores in scored])
    mass = [float(np.exp(log_sum(_text_logs(scores, "sum", begun)))) for scores in scored]
    if np.isneginf(logs).all(axis=1).any():
        return NoReading(
            "no_label", "no option's words have any probability", asking.capabilities.scored_by
        )
    log_p = log_normalize(logs)
    floor = asking.options.min_coverage
    seen = tuple(
        _seen(options, prompt, scores, p=p, label_mass=min(whole, 1.0), spelled=spelled)
        for prompt, scores, p, whole in zip(prompts, scored, np.exp(log_p), mass, strict=True)
    )
    label_mass = min(float(np.mean(mass)), 1.0)
    if floor is not None and label_mass < floor:
        return NoReading(
            "low_label_mass",
            f"the options' words got a probability of {label_mass:.3g} together, below the floor "
            f"of {floor:g} (min_coverage)",
            asking.capabilities.scored_by,
            label_mass=label_mass,
            orders=seen,
        )
    p = np.exp(log_p)
    together = combine(p, p, p)
    return Reading(
        log_p=together.log_p,
        method=asking.capabilities.scored_by,
        label_mass=label_mass,
        orders=seen,
        flips=together.flips,
        total_variation=together.total_variation,
        length_rule=rule,
    )


def spoken(question: Question) -> Listing:
    """Return the options that have words: all, or the two ends of an anchored scale."""
    options = canonical(question)
    if isinstance(question, Score) and question.anchored:
        return (options[0], options[-1])
    return options


def _check_told_apart(asking: Asking, spelled: list[tuple[int, str]]) -> None:
    # Levels may be described alike where they are asked for by number.
    owners: dict[str, int] = {}
    for k, word in spelled:
        if owners.setdefault(word, k) != k:
            raise LabelCollision(
                f"question {asking.name!r}: two levels have the same words, {word!r}: give them "
                f'different words, or use readout="digits"'
            )


def _check_scores(asking: Asking, texts: list[str], scores: TextScores) -> None:
    if len(scores.logprobs) != len(texts) or not all(scores.logprobs):
        counts = [len(tokens) for tokens in scores.logprobs]
        raise MalformedResponse(
            f"{asking.where} must score each of {len(texts)} texts by at least one token, "
            f"got {counts!r} tokens"
        )


def _prompts(asking: Asking) -> list[Prompt]:
    state = asking.request.state
    if asking.readout == "words":
        return [
            words_prompt(
                asking.name,
                asking.question,
                state=state,
                state_name=asking.options.state_name,
                form=asking.form,
            )
        ]
    return [
        option_prompt(asking.name, asking.question, options=listing, state=state, form=asking.form)
        for listing in listings(asking.question, asking.options.orders)
    ]


def _length_rule(scored: list[TextScores]) -> Literal["sum", "mean"]:
    single = all(len(tokens) == 1 for scores in scored for tokens in scores.logprobs)
    return "sum" if single else "mean"


def _begun(texts: list[str]) -> list[tuple[int, int]]:
    """Return the texts that begin a longer one, as " 1" begins " 10" and " A" " A+", each with it.

    Of longer ones that begin another in turn it is the shortest, which has that one's share too.
    """
    pairs: list[tuple[int, int]] = []
    above: list[int] = []
    for k in sorted(range(len(texts)), key=texts.__getitem__):
        while above and not texts[k].startswith(texts[above[-1]]):
            above.pop()
        if above:
            pairs.append((above[-1], k))
        above.append(k)
    return pairs


def _text_logs(
    scores: TextScores, rule: Literal["sum", "mean"], begun: list[tuple[int, int]]
) -> Floats:
    """Return each text's log-probability (texts,), or the mean of its tokens'.

    A text whose tokens begin a longer one's has the probability of both: the longer one's is
    taken from it, since whoever writes 10 does not write 1.
    """
    tokens = [
        [check_logprob(logprob, "a scored token") for logprob in logprobs]
        for logprobs in scores.logprobs
    ]
    whole = [sum(logprobs) for logprobs in tokens]
    alone = list(whole)
    for short, long in begun:
        if _begin(tokens[short], tokens[long]):
            # Not whole[long], whose first tokens a server rounds otherwise.
            rest = sum(tokens[long][len(tokens[short]) :])
            alone[short] = _less(alone[short], whole[short] + rest)
    if rule == "sum":
        return np.array(alone)
    return np.array([log_p / len(own) for log_p, own in zip(alone, tokens, strict=True)])


def _begin(short: Sequence[float], long: Sequence[float]) -> bool:
    """Whether the tokens of one text are the first of another's, by their logprobs."""
    first = long[: len(short)]
    return len(long) > len(short) and all(
        a == b or abs(a - b) <= _SERVER_NOISE for a, b in zip(short, first, strict=True)
    )


def _less(log_p: float, log_part: float) -> float:
    """Return log(p - part), -inf where nothing is left but rounding."""
    if log_part >= log_p:
        return -math.inf
    return log_p + math.log(-math.expm1(log_part - log_p))


def _by_option(logs: Floats, owners: NDArray[np.int64]) -> Floats:
    """Add up the alternatives of each option: (texts,) -> (options,)."""
    return np.array([log_sum(logs[owners == k]) for k in range(int(owners[-1]) + 1)])


def _seen(
    options: Listing,
    prompt: Prompt,
    scores: TextScores,
    *,
    p: Floats,
    label_mass: float,
    spelled: list[tuple[int, str]],
) -> OrderSeen:
    words = [word for _, word in spelled]
    return OrderSeen(
        labels={word: options[k] for k, word in spelled},
        probabilities=dict(zip(options, p.tolist(), strict=True)),
        label_mass=label_mass,
        token_logprobs={
            word: tuple(map(kept_logprob, logprobs))
            for word, logprobs in zip(words, scores.logprobs, strict=True)
        },
        prompt_hash=prompt_hash(prompt),
        response_id=scores.response_id,
    )
