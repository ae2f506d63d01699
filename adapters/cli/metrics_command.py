"""`classify metrics`: what labelled results are worth, each number with its rule."""

from __future__ import annotations

from classify.adapters.cli.console import reported, say, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    Labels,
    OneQuestion,
    Results,
    Seed,
    SpecOption,
    print_lines,
    read_answers,
)


@reported
def metrics(
    results: Results,
    labels: Labels = None,
    question: OneQuestion = None,
    spec: SpecOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Measure labelled results: losses, calibration, ranking, each with its interval or null."""
    from classify.adapters.cli.plain_json import plain
    from classify.calibration.from_results import labelled_metrics
    from classify.errors import CalibrationError

    answers = read_answers(results, labels=labels, spec=spec, question=question)
    labelled = {name: each for name, each in answers.items() if each.labelled.any()}
    if not labelled:
        rows = "; ".join(f"{name}: {each.used}" for name, each in answers.items())
        raise CalibrationError(f"no answer has a label ({rows}): give --labels FILE")
    found = {name: labelled_metrics(each, seed=seed) for name, each in labelled.items()}
    if as_json:
        show_json(
            {
                name: {"used": labelled[name].used, "metrics": plain(each)}
                for name, each in found.items()
            }
        )
    else:
        for name, each in found.items():
            print_lines(name, [labelled[name].used, *each.lines()])
    for name in answers.keys() - labelled.keys():
        say(f"{name}: no labels")
