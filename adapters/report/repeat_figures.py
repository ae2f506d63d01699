"""How far the answers to a text lie apart that was judged several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from classify.calibration.bias_of_results import result_bias
from classify.calibration.read_items import read_item
from classify.errors import CalibrationError
from classify.json_values import JSON
from classify.questions import Question
from classify.results import Result


def repeat_figures(results: Sequence[Result], questions: Mapping[str, Question]) -> dict[str, JSON]:
    """Return the figures of the questions that were answered several times about some item."""
    items = len({read_item(result) for result in results})
    figures: dict[str, JSON] = {}
    if items == len(results):
        return figures
    for name, question in questions.items():
        try:
            repeats = result_bias(results, name, question).repeats
        except CalibrationError:  # no answer has a distribution, as the question's counts say
            continue
        if repeats is not None:
            figures[name] = asdict(repeats.of(items))
    return figures
