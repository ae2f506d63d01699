"""What there is to see of an answer, whatever it is shown on; knows nothing of media.

Texts are as they came: whoever shows one makes it safe for the medium.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from classify.answers import Answer, BooleanAnswer, ChoiceAnswer, NoVerdict
from classify.evidence import Evidence, UsageSeen
from classify.questions import Question
from classify.row_labels import Label

FlagName: TypeAlias = Literal[
    "tie", "low mass", "order-sensitive", "truncated", "handed over", "no probabilities"
]

LOW_LABEL_MASS = 0.5
"""Below it, a model that was asked for a label mostly said something else."""

_SHOWN = 5e-4
"""Intervals narrower than what is shown of a number count as exact."""
_LABEL_READOUTS = ("letters", "digits", "yes_no")


@dataclass(frozen=True, slots=True)
class Bar:
    """One option's probability."""

    option: str
    """The option, or a level's index as text."""
    name: str
    """What a person reads: the option, or a level's index with its description."""
    probability: float
    low: float
    high: float
    """The interval that the probability is known to lie in; both equal to it where exact."""
    best: bool
    """Whether no option is more probable."""
    raw: float | None = None
    """The probability before a calibrator or a prior correction; None where nothing changed it."""

    @property
    def exact(self) -> bool:
        """Whether the interval is too narrow to be worth showing."""
        return self.high - self.low < _SHOWN


@dataclass(frozen=True, slots=True)
class Flag:
    """Something about an answer that a person should notice."""

    name: FlagName
    told: str
    """The same in words, with its numbers."""


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One answer, or the lack of one."""

    question: str
    """The question's id."""
    kind: Literal["choice", "score", "boolean"]
    verdict: str
    """The option chosen, the score, P(true), or "no verdict"."""
    message: str | None
    """Why there is no verdict; None where there is one."""
    bars: tuple[Bar, ...]
    """In the order of the options; empty where there are no probabilities."""
    flags: tuple[Flag, ...]
    facts: tuple[str, ...]
    """What the numbers rest on: label mass, method, readout, orders, what was written instead of
    an answer, corrections, warnings."""
    reason: str | None
    """What the model wrote before it answered."""


def answer_views(
    answers: Mapping[str, Answer | NoVerdict], questions: Mapping[str, Question] | None = None
) -> tuple[AnswerView, ...]:
    """Return a view of each answer; levels have their descriptions where questions are given."""
    asked = questions or {}
    return tuple(answer_view(name, answer, asked.get(name)) for name, answer in answers.items())


def answer_view(
    name: str, answer: Answer | NoVerdict, question: Question | None = None
) -> AnswerView:
    """Return the view of one answer."""
    kind = answer.kind if isinstance(answer, NoVerdict) else answer.type
    return AnswerView(
        question=name,
        kind=kind,
        verdict=verdict(answer),
        message=answer.message if isinstance(answer, NoVerdict) else None,
        bars=_bars(answer, question),
        flags=answer_flags(answer),
        facts=tuple(_facts(answer)),
        reason=None if answer.evidence is None else answer.evidence.reason,
    )


def verdict(answer: Answer | NoVerdict) -> str:
    """Return in a few words what was answered."""
    if isinstance(answer, NoVerdict):
        return f"no verdict ({answer.cause})"
    if isinstance(answer, ChoiceAnswer):
        return answer.choice
    if isinstance(answer, BooleanAnswer):
        return f"P(true) = {answer.probability:.3f}"
    low, high = answer.score_range or (answer.score, answer.score)
    known = "" if high - low < _SHOWN else f" (known to lie in {low:.3f} to {high:.3f})"
    return f"{answer.score:.3f}{known}"


def option_name(option: str, question: Question | None) -> str:
    """Return what a person reads for an option: a level's index has its description beside it."""
    if question is None or question.type != "score" or option not in question.options:
        return option
    described = question.described(option)
    text = described if isinstance(described, str) else json.dumps(described, ensure_ascii=False)
    return f"{option} {text}"


def label_text(label: Label) -> str:
    """Return a person's label as it is written in rows."""
    if isinstance(label, bool):
        return str(label).lower()
    return label if isinstance(label, str) else f"{label:g}"


def tokens_text(usage: UsageSeen) -> str:
    """Return how many tokens answers took."""
    if usage.input_tokens is None and usage.output_tokens is None:
        return "tokens unknown"
    cached = f" ({usage.cached_tokens} of them cached)" if usage.cached_tokens else ""
    reasoning = f" ({usage.reasoning_tokens} of them reasoning)" if usage.reasoning_tokens else ""
    told, out = tokens_known(usage.input_tokens, "tokens in"), tokens_known(usage.output_tokens)
    return f"{told}{cached}, {out}{reasoning}"


def tokens_known(count: int | None, which: str = "out") -> str:
    """Return a number of tokens in words; what nobody reported is unknown, never 0."""
    return f"{which} unknown" if count is None else f"{count} {which}"


def distribution_bars(
    probabilities: Mapping[str, float],
    question: Question | None,
    *,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    raw: Mapping[str, float] | None = None,
) -> tuple[Bar, ...]:
    """Return a bar for each option, in the order given."""
    most = max(probabilities.values(), default=0.0)
    return tuple(
        Bar(
            option=option,
            name=option_name(option, question),
            probability=p,
            low=(bounds or {}).get(option, (p, p))[0],
            high=(bounds or {}).get(option, (p, p))[1],
            best=p == most,
            raw=(raw or {}).get(option),
        )
        for option, p in probabilities.items()
    )


def answer_flags(answer: Answer | NoVerdict) -> tuple[Flag, ...]:
    """Return what a person should notice of an answer."""
    flags: list[Flag] = []
    if isinstance(answer, NoVerdict):
        if answer.cause == "uncertain":
            flags.append(Flag("handed over", "an abstention policy left this to a person"))
        if answer.cause == "truncated":
            flags.append(Flag("truncated", "the output ended before a label"))
    elif answer.probabilities is None:
        flags.append(Flag("no probabilities", "the model gave its answer without probabilities"))
    if isinstance(answer, ChoiceAnswer) and answer.tie:
        flags.append(Flag("tie", "another option is exactly as probable"))
    evidence = answer.evidence
    if evidence is None:
        return tuple(flags)
    if _low_mass(answer.label_mass, evidence):
        flags.append(Flag("low mass", f"only {answer.label_mass:.3g} of the probability on labels"))
    if evidence.flips:
        told = f"{evidence.flips} of {evidence.order_count} orders lead to another option"
        flags.append(Flag("order-sensitive", told))
    if evidence.unseen:
        flags.append(Flag("truncated", _unseen(evidence)))
    return tuple(flags)


def _bars(answer: Answer | NoVerdict, question: Question | None) -> tuple[Bar, ...]:
    return distribution_bars(
        answer.probabilities or {},
        question,
        bounds=None if isinstance(answer, NoVerdict) else answer.bounds,
        raw=answer.raw_probabilities,
    )


def _unseen(evidence: Evidence) -> str:
    several = "options were" if len(evidence.unseen) > 1 else "option was"
    beyond = (
        "the alternatives shown, or in groups not opened"
        if _tree(evidence)
        else ("the alternatives shown")
    )
    return f"{len(evidence.unseen)} {several} beyond {beyond}: bounded, not measured"


def _tree(evidence: Evidence) -> bool:
    return any(order.path for order in evidence.orders)


def _low_mass(label_mass: float | None, evidence: Evidence) -> bool:
    # A text that is continued has other ways to go on: there a small mass says little.
    asked_for_label = evidence.readout in _LABEL_READOUTS
    return asked_for_label and label_mass is not None and label_mass < LOW_LABEL_MASS


def _facts(answer: Answer | NoVerdict) -> list[str]:
    facts = [] if answer.label_mass is None else [f"label mass {answer.label_mass:.3g}"]
    facts.append(f"method {answer.method}")
    evidence = answer.evidence
    if evidence is None:
        return facts
    facts += [f"readout {evidence.readout}"] if evidence.readout else []
    facts += [f"prompt {evidence.prompt_form}"] if evidence.prompt_form else []
    if _tree(evidence):
        facts.append(f"{len(evidence.orders)} slots of a tree")
    if evidence.order_count > 1:
        flips = f"{evidence.flips} flip" + ("" if evidence.flips == 1 else "s")
        facts.append(
            f"{evidence.order_count} orders, {flips}, "
            f"total variation {evidence.total_variation:.3f}"
        )
    if evidence.unexplored:
        facts.append(f"{evidence.unexplored:.3g} in groups not opened")
    if evidence.draws:
        facts.append(f"{sum(evidence.draws.values())} draws")
    facts += [f"wrote {text!r}" for text in evidence.written]
    facts += [f"prior divided out ({evidence.prior_method})"] if evidence.prior_method else []
    facts += [f"calibrated ({evidence.calibrator[:12]})"] if evidence.calibrator else []
    return [*facts, *evidence.warnings]
