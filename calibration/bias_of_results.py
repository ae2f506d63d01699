"""A bias report out of the results of a run: the readings in each order, lengths, labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from classify.answers import Answer, NoVerdict
from classify.calibrating import log_distribution
from classify.calibration.arrays import Floats, same_probabilities
from classify.calibration.audit_items import state_length
from classify.calibration.bias_reports import BiasReport, bias_report
from classify.calibration.read_items import ReadItem, read_item
from classify.calibration.repeat_noise import repeat_noise
from classify.calibration.result_labels import (
    check_question,
    checked_results,
    no_distribution,
    unusable,
)
from classify.calibration.settings import of_type, whole_number
from classify.errors import CalibrationError
from classify.evidence import Evidence, OrderSeen
from classify.labels import canonical
from classify.logspace import safe_log
from classify.questions import Boolean, Choice, Question
from classify.results import Result


@dataclass(slots=True)
class _Readings:
    """Single readings of the model: one item in one listing of the options."""

    log_p: list[Floats] = field(default_factory=list[Floats])
    item: list[int] = field(default_factory=list[int])
    order: list[str] = field(default_factory=list[str])
    position: list[list[int]] = field(default_factory=list[list[int]])
    length: list[float] = field(default_factory=list[float])

    def add(
        self,
        item: int,
        log_p: Floats,
        *,
        length: float,
        listing: Sequence[str],
        options: Sequence[str],
    ) -> None:
        self.item.append(item)
        self.log_p.append(log_p)
        self.length.append(length)
        self.order.append("|".join(listing))
        if listing:
            self.position.append([listing.index(option) for option in options])


def result_bias(
    results: Iterable[Result], name: str, question: Question, *, seed: int = 0
) -> BiasReport:
    """Return what the answers to one question show of noise, order, place, length, unused levels.

    Readings are as the model gave them, before any prior or calibrator; repeats compare the
    answers as they were given out. Rows whose state was not kept have no length. A row that a
    resumed run gave the answer of another is left out and counted. Raises CalibrationError where
    no answer has a distribution.
    """
    check_question(question)
    of_type(name, str, name="name", what="the id of a question")
    whole_number(seed, name="seed")
    readings, options = _Readings(), canonical(question)
    given, of_item = list[Floats](), list[int]()
    left_out = Counter[str]()
    items: dict[ReadItem, int] = {}
    asked, copies = set[tuple[ReadItem, object]](), 0
    for result in checked_results(results):
        answer = result.answers.get(name)
        if answer is None or isinstance(answer, NoVerdict) or answer.probabilities is None:
            left_out[unusable(answer)] += 1
            continue
        # A state that is there twice is one item that was read again: it shows the noise.
        item = items.setdefault(read_item(result), len(items))
        if result.asking is not None:
            asking = read_item(result), result.asking
            copies += asking in asked
            if asking in asked:
                continue
            asked.add(asking)
        given.append(log_distribution(answer))
        of_item.append(item)
        length = state_length(result)
        seen = _orders(answer, options)
        for listing in seen:
            p = np.array([listing.probabilities[option] for option in options])
            named = tuple(listing.labels.values())
            readings.add(item, safe_log(p), length=length, listing=named, options=options)
        if not seen:
            readings.add(item, given[-1], length=length, listing=(), options=options)
    if not readings.log_p:
        raise CalibrationError(f"no answer has a distribution ({no_distribution(left_out)})")
    several = len(set(zip(readings.item, readings.order, strict=True))) > len(set(readings.item))
    placed = several and len(readings.position) == len(readings.item)
    levels = _levels(question)
    no_length = _no_length(readings, levels)
    found = bias_report(
        np.array(readings.log_p),
        seed=seed,
        item=readings.item,
        order=readings.order if several else None,
        position=readings.position if placed else None,
        length=None if no_length else readings.length,
        levels=levels,
    )
    repeated = len(items) < len(given)
    repeats = repeat_noise(np.array(given), item=of_item, seed=seed) if repeated else None
    return replace(found, repeats=repeats, no_length=no_length, copies=copies)


def _orders(answer: Answer, options: Sequence[str]) -> list[OrderSeen]:
    """Return the listings that showed every option; trees show groups."""
    seen = (answer.evidence or Evidence()).orders
    return [o for o in seen if set(o.labels.values()) == set(options) == set(o.probabilities)]


def _levels(question: Question) -> list[float] | None:
    if isinstance(question, Choice):
        return None
    if isinstance(question, Boolean):
        return [1.0, 0.0]
    return [float(option) for option in question.options]


def _no_length(readings: _Readings, levels: list[float] | None) -> str:
    """Return why scores cannot be compared with lengths, "" where they can."""
    if levels is None:
        return "a choice has no order"
    if np.isnan(readings.length).any():
        return "the states of some rows were not kept"
    scores = same_probabilities(np.exp(np.array(readings.log_p)) @ np.array(levels))
    if np.ptp(scores) == 0.0:
        return "all answers are the same"
    return "" if np.ptp(readings.length) > 0.0 else "all states have the same length"
