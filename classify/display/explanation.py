"""How an answer came about, step by step: prompts, what each showed, how they became one answer.

Made from an answer and its evidence, so it is the same for an answer of now and a stored one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from classify.answers import Answer, NoVerdict, check_asked
from classify.display.sent_prompts import SentPrompt, Told, sent_prompts, sent_reason_prompt
from classify.display.views import AnswerView, Bar, answer_view, distribution_bars, option_name
from classify.errors import InvalidInput
from classify.evidence import Evidence, OrderSeen
from classify.labels import canonical
from classify.prior import BLANKS, divided
from classify.questions import Question


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt, and what the model's answer to it showed."""

    place: str
    """Which order it was, and below which groups of a tree."""
    sent: SentPrompt
    seen: OrderSeen
    bars: tuple[Bar, ...]
    """Its own distribution, over the options or groups that it offered."""


@dataclass(frozen=True, slots=True)
class Step:
    """A distribution on the way from what was seen to the answer."""

    name: str
    rule: str
    """How it was computed."""
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """All there is to say of how one question was answered."""

    answer: AnswerView
    reasons: SentPrompt | None
    """The prompt that asked for reasons before the answer, where one did."""
    asked: tuple[Asked, ...]
    reading: str
    """How probabilities were read at each prompt."""
    steps: tuple[Step, ...]


def explained(told: Told, answer: Answer | NoVerdict) -> Explanation:
    """Return how the answer to a question came about.

    Raises InvalidInput where the answer is to another question.
    """
    check_asked(told.name, answer, {told.name: told.question})
    evidence = answer.evidence or Evidence()
    return Explanation(
        answer=answer_view(told.name, answer, told.question),
        reasons=sent_reason_prompt(told, evidence),
        asked=_asked(told, evidence),
        reading=_reading(answer, evidence, told.question),
        steps=tuple(_steps(told, answer, evidence)),
    )


def _asked(told: Told, evidence: Evidence) -> tuple[Asked, ...]:
    orders = evidence.order_count
    found: list[Asked] = []
    order = 0
    for seen, sent in zip(evidence.orders, sent_prompts(told, evidence), strict=True):
        order += not seen.path
        below = f", group {' > '.join(seen.path)}" if seen.path else ""
        place = f"order {order} of {orders}{below}" if len(evidence.orders) > 1 else "asked"
        found.append(Asked(place, sent, seen, _label_bars(seen, told.question)))
    return tuple(found)


def _label_bars(seen: OrderSeen, question: Question) -> tuple[Bar, ...]:
    """Return the bars in the order listed, each named with its label."""
    if seen.token_logprobs is not None:
        return distribution_bars(seen.probabilities, question)
    labels = {option: label for label, option in seen.labels.items()}
    bars = distribution_bars(seen.probabilities, question)
    return tuple(replace(bar, name=f"{labels[bar.option]} = {bar.name}") for bar in bars)


def _reading(answer: Answer | NoVerdict, evidence: Evidence, question: Question) -> str:
    if answer.method == "decision":
        return "a decision model was given the state and the question, and answered itself"
    score = "; a score is the mean level, each weighted by its probability"
    return _rule(evidence, question) + (score if question.type == "score" else "")


def _rule(evidence: Evidence, question: Question) -> str:
    if evidence.draws is not None:
        counts = ", ".join(
            f"{option_name(option, question)} {count}" for option, count in evidence.draws.items()
        )
        return (
            f"labels were drawn at temperature 1 and counted ({counts}); half a count is added "
            "to each option, and bounds are 95 % Wilson intervals"
        )
    if evidence.length_rule is not None:
        return (
            f"a word's logprob is the {evidence.length_rule} of its tokens' logprobs; the words "
            "of an option are added up; probabilities are shares among the options"
        )
    return (
        "the spellings of a label are added up; probabilities are shares of the label mass, "
        "which is all the labels' probability together"
    )


def _steps(told: Told, answer: Answer | NoVerdict, evidence: Evidence) -> list[Step]:
    if not answer.probabilities:
        return _anchored(told.question, evidence)
    first = _as_read(answer, evidence)
    rules = _combination(told, evidence)
    steps: list[Step] = []
    if first is not None and (rules or _corrected(evidence)):
        bounds = None if isinstance(answer, NoVerdict) else answer.bounds
        bars = distribution_bars(first, told.question, bounds=bounds)
        name = "combined" if rules else "as read"
        steps.append(Step(name, rules or "before any correction", bars))
    if evidence.prior is not None:
        steps += _prior(told.question, first, evidence.prior, evidence)
    if evidence.calibrator is not None:
        rule = f"by the calibrator with the fingerprint {evidence.calibrator}"
        bars = distribution_bars(answer.probabilities, told.question)
        steps.append(Step("calibrated", rule, bars))
    return steps


def _as_read(answer: Answer | NoVerdict, evidence: Evidence) -> Mapping[str, float] | None:
    """Return the distribution before any correction, None where it was not kept."""
    if answer.raw_probabilities is not None:
        return answer.raw_probabilities
    return None if _corrected(evidence) else answer.probabilities


def _corrected(evidence: Evidence) -> bool:
    return evidence.prior is not None or evidence.calibrator is not None


def _combination(told: Told, evidence: Evidence) -> str:
    rules: list[str] = []
    if any(seen.path for seen in evidence.orders):
        rules.append(
            "an option's probability is the product along its path; groups were opened, "
            f"likeliest first, until at most {told.options.tree_tolerance:g} was left in the "
            f"others (tree_tolerance): {evidence.unexplored:.3g} is"
        )
    if evidence.order_count > 1:
        rules.append(
            f"the normalised geometric mean of {evidence.order_count} orders, which is the mean "
            "of the log-probabilities; what one order gave no probability at all has none (the "
            "plain mean stands in where that is so of every option)"
        )
    return "; ".join(rules)


def _prior(
    question: Question,
    raw: Mapping[str, float] | None,
    prior: Mapping[str, float],
    evidence: Evidence,
) -> list[Step]:
    if set(prior) != set(question.options):
        raise InvalidInput(
            f"the prior is over {list(prior)!r}, and the question has the options "
            f"{list(question.options)!r}: it was another question's"
        )
    listed = {option: prior[option] for option in question.options}
    steps = [Step("prior", _prior_rule(evidence), distribution_bars(listed, question))]
    if raw is not None:
        names = canonical(question)
        p, q = (np.array([each[name] for name in names]) for each in (raw, prior))
        after = dict(zip(names, divided(p[None, :], q)[0].tolist(), strict=True))
        rule = "each probability divided by its prior, normalised"
        bars = distribution_bars({option: after[option] for option in raw}, question)
        steps.append(Step("prior divided out", rule, bars))
    return steps


def _prior_rule(evidence: Evidence) -> str:
    if evidence.prior_method == "content-free":
        blanks = ", ".join(f'"{blank}"' for blank in BLANKS)
        return f"the mean answer where every text of the state is one of {blanks}"
    return "the mean distribution over the batch"


def _anchored(question: Question, evidence: Evidence) -> list[Step]:
    if evidence.anchors is None:
        return []
    rule = (
        "only the words at the two ends were asked: the score is the share of the upper end "
        f"times {len(question.options) - 1}"
    )
    return [Step("ends of the scale", rule, distribution_bars(evidence.anchors, question))]
