"""`classify metrics`: what labelled results are worth, each number with its rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from classify.adapters.cli.console import reported, say, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    Labels,
    OneQuestion,
    Results,
    Seed,
    SpecOption,
    of_each,
    print_lines,
    read_answers,
    with_labels,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from classify.calibration.all_metrics import EveryMetric
    from classify.calibration.rating_errors import RatingMetrics
    from classify.calibration.result_labels import LabelledAnswers
    from classify.calibration.summary import Metrics


@reported
def metrics(
    results: Results,
    labels: Labels = None,
    question: OneQuestion = None,
    spec: SpecOption = None,
    seed: Seed = 0,
    every: Annotated[
        bool, typer.Option("--all", help="Every metric that the question's kind has.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure labelled results: losses, calibration, ranking, each with its interval or null."""
    from classify.adapters.cli.answer_methods import answer_methods, mixed_methods
    from classify.adapters.cli.plain_json import plain

    answers = read_answers(results, labels=labels, spec=spec, question=question)
    labelled = with_labels(answers)
    measure = _all if every else _headline
    found = of_each(labelled, lambda name: measure(labelled[name], seed))
    methods = answer_methods(results)
    if as_json:
        show_json(
            {
                name: {"used": labelled[name].used, "note": labelled[name].dependence}
                | {"methods": dict(methods[name])}
                | {what: plain(numbers) for what, numbers in each.items()}
                for name, each in found.items()
            }
        )
    else:
        for name, each in found.items():
            numbers = [line for part in each.values() for line in part.lines()]
            note = [] if every else [labelled[name].dependence]
            said = [labelled[name].used, *filter(None, note), *mixed_methods(methods[name])]
            print_lines(name, [*said, *numbers])
    for name in answers:
        if name not in labelled:
            say(f"{name}: {answers[name].nothing_labelled}")


def _headline(answers: LabelledAnswers, seed: int) -> Mapping[str, Metrics | RatingMetrics]:
    """Return the numbers of the labels that name an option, and of those between two levels."""
    from classify.calibration.from_results import labelled_metrics
    from classify.calibration.rating_errors import rating_metrics

    found: dict[str, Metrics | RatingMetrics] = {}
    if answers.labelled.any():
        found["metrics"] = labelled_metrics(answers, seed=seed)
    if answers.between:
        found["rating_metrics"] = rating_metrics(answers, seed=seed)
    return found


def _all(answers: LabelledAnswers, seed: int) -> Mapping[str, EveryMetric]:
    from classify.calibration.all_metrics import every_metric

    return {"every_metric": every_metric(answers, seed=seed)}
