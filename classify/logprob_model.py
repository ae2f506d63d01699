"""A decision model made of a language model: read the logprobs, keep the evidence."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from classify.asking import Asking
from classify.decision import DecisionRequest, DecisionResponse, ResponseInfo
from classify.errors import CapabilityError
from classify.evidence import Evidence
from classify.json_values import writable
from classify.label_reading import gather, read_labels
from classify.labels import canonical, check_readout
from classify.language_model import LanguageModel, Usage
from classify.logspace import Floats
from classify.options import Options
from classify.orders import expectation_range
from classify.prompts import TEMPLATE
from classify.questions import Boolean, Choice, Question
from classify.reading import NoReading, Reading
from classify.sampling import read_draws
from classify.sampling_settings import draws_warning, logprobs_warning
from classify.text_reading import read_texts, spoken

_MOST_WRITTEN = 200
"""Characters of what a model wrote that are kept in place of a verdict."""


class LogprobModel:
    """Answers typed questions by reading a language model's token logprobs."""

    supported_question_types: frozenset[str] | None = None

    def __init__(self, language_model: LanguageModel, options: Options | None = None) -> None:
        """Take the language model and how it is read."""
        self.language_model = language_model
        self.options = options or Options()

    @property
    def provider(self) -> str:
        """The language model's provider."""
        return self.language_model.provider

    @property
    def model_id(self) -> str:
        """The language model's name."""
        return self.language_model.model_id

    async def decide(self, request: DecisionRequest) -> DecisionResponse:
        """Answer every question; the first error ends the others."""
        for name, question in request.questions.items():
            if self.options.readout is not None:
                check_readout(name, question, self.options.readout)
        # Mostly remembered, so it takes no place among the requests.
        capabilities = await request.calls.retry(self.language_model.capabilities)
        askings = [
            Asking(
                name=name,
                question=question,
                request=request,
                model=self.language_model,
                capabilities=capabilities,
                options=self.options,
                calls=request.calls.child(),
            )
            for name, question in request.questions.items()
        ]
        for asking in askings:
            asking.check_options()
        answers = await gather(_answer(asking) for asking in askings)
        return DecisionResponse(
            answers=dict(zip(request.questions, answers, strict=True)),
            usage=sum((asking.usage for asking in askings), Usage()),
            warnings=(*_mixed(answers), *_warnings(answers)),
            response=ResponseInfo(
                id=askings[-1].response_id,
                model_id=askings[-1].reported_model or self.model_id,
            ),
        )

    async def aclose(self) -> None:
        """Release the language model."""
        await self.language_model.aclose()


async def _answer(asking: Asking) -> Mapping[str, object]:
    reading = await _read(asking)
    evidence = _evidence(asking, reading)
    if isinstance(reading, NoReading):
        return {
            "type": "no_verdict",
            "kind": asking.question.type,
            "cause": reading.cause,
            "message": reading.message,
            "label_mass": reading.label_mass,
            "method": reading.method,
            "evidence": evidence,
        }
    p = np.exp(reading.log_p)
    common = {
        "label_mass": reading.label_mass,
        "method": reading.method,
        "bounds": _bounds(asking.question, p, reading),
        "evidence": evidence,
    }
    return {**answer_fields(asking.question, p, reading), **common}


async def _read(asking: Asking) -> Reading | NoReading:
    try:
        if asking.readout in ("words", "sequence"):
            return await read_texts(asking)
        return await read_labels(asking)
    except CapabilityError:
        if asking.options.fallback == "sample":
            return await read_draws(asking)
        raise


def answer_fields(question: Question, p: Floats, reading: Reading | None) -> dict[str, object]:
    """Return an answer's own fields from probabilities (K,) in canonical order."""
    options = spoken(question) if len(p) < len(question.options) else canonical(question)
    shares = dict(zip(options, p.tolist(), strict=True))
    if isinstance(question, Boolean):
        return {"type": "boolean", "probability": min(shares["true"], 1.0)}
    if isinstance(question, Choice):
        shares = {option: shares[option] for option in question.options}
        best = max(shares, key=shares.__getitem__)
        tie = sum(share == shares[best] for share in shares.values()) > 1
        return {"type": "choice", "choice": best, "probabilities": shares, "tie": tie}
    if len(p) < len(question.options):
        # Only the ends of the scale were asked: a position between them, no distribution.
        return {"type": "score", "score": shares[options[-1]] * (len(question.criteria) - 1)}
    fields: dict[str, object] = {"type": "score", "score": _mean(p), "probabilities": shares}
    if reading is not None and reading.lower is not None and reading.upper is not None:
        low, high = expectation_range(reading.lower, reading.upper)
        # As with bounds: where an end is the score itself, rounding puts it on the other side.
        fields["score_range"] = min(low, _mean(p)), max(high, _mean(p))
    return fields


def _mean(p: Floats) -> float:
    # Rounding must not put a score beyond its scale.
    return min(float(p @ np.arange(len(p))), float(len(p) - 1))


def _bounds(
    question: Question, p: Floats, reading: Reading
) -> dict[str, tuple[float, float]] | None:
    if reading.lower is None or reading.upper is None:
        return None
    # Where an end is the value itself, rounding must not put it on the other side.
    lower, upper = np.minimum(reading.lower, p), np.maximum(reading.upper, p)
    ends = zip(lower.tolist(), upper.tolist(), strict=True)
    return dict(zip(canonical(question), ends, strict=True))


def _evidence(asking: Asking, reading: Reading | NoReading) -> Evidence:
    read = reading if isinstance(reading, Reading) else None
    written = () if isinstance(reading, Reading) else reading.written
    options = canonical(asking.question)
    anchored = read is not None and len(read.log_p) < len(options)
    anchors = spoken(asking.question) if anchored else ()
    return Evidence(
        readout=asking.readout if reading.method != "sampled" else None,
        prompt_form=asking.form,
        template=TEMPLATE,
        state_name=asking.options.state_name if asking.readout == "words" else None,
        length_rule=read.length_rule if read else None,
        orders=reading.orders,
        flips=read.flips if read else 0,
        total_variation=read.total_variation if read else 0.0,
        unseen=tuple(options[k] for k in read.unseen) if read else (),
        unexplored=read.unexplored if read else 0.0,
        anchors=(
            dict(zip(anchors, np.exp(read.log_p).tolist(), strict=True))
            if read and anchors
            else None
        ),
        draws=dict(zip(options, read.draws, strict=True)) if read and read.draws else None,
        reason=reading.reason and writable(reading.reason),
        written=tuple(map(_shortened, written)),
        requested_model=asking.model.model_id,
        reported_model=asking.reported_model,
        system_fingerprint=asking.system_fingerprint and writable(asking.system_fingerprint),
        usage=asking.usage_seen(),
        attempts=asking.calls.attempts,
        seconds=time.perf_counter() - asking.started,
        at=asking.at,
        warnings=(*asking.warnings, *reading.warnings, *_of_settings(asking, reading)),
    )


def _of_settings(asking: Asking, reading: Reading | NoReading) -> tuple[str, ...]:
    if reading.method in ("logprobs", "tree"):
        found = logprobs_warning(asking.user_fields, reading.orders)
    else:
        found = draws_warning(asking.user_fields) if reading.method == "sampled" else ""
    return (found,) if found else ()


def _shortened(text: str) -> str:
    text = writable(text)
    return text if len(text) <= _MOST_WRITTEN else f"{text[: _MOST_WRITTEN - 1]}\u2026"


def _warnings(answers: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    kept = [answer["evidence"] for answer in answers]
    each = [w for evidence in kept if isinstance(evidence, Evidence) for w in evidence.warnings]
    return tuple(dict.fromkeys(each))


def _mixed(answers: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    methods = sorted({str(answer["method"]) for answer in answers})
    if "sampled" in methods and len(methods) > 1:
        return (f"the answers were obtained by different methods: {', '.join(methods)}",)
    return ()
