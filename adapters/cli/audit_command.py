"""`classify audit`: habits of a judge that have nothing to do with what is judged."""

from __future__ import annotations

from classify.adapters.cli.console import reported, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    OneQuestion,
    Results,
    Seed,
    SpecOption,
    asked_questions,
    check_results,
    only,
    print_lines,
)


@reported
def audit(
    results: Results,
    question: OneQuestion = None,
    spec: SpecOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Report the effect of option order and place, of length, and levels that are never used."""
    from classify.adapters.cli.plain_json import plain
    from classify.calibration.bias_of_results import result_bias
    from classify.calibration.result_labels import seen_questions
    from classify.labels import canonical
    from classify.results import read_results

    check_results(results)
    asked = asked_questions(results, spec)
    questions = only(seen_questions(read_results(results)) if asked is None else asked[0], question)
    found = {
        name: result_bias(read_results(results), name, each, seed=seed)
        for name, each in questions.items()
    }
    if as_json:
        show_json({name: plain(report) for name, report in found.items()})
        return
    for name, report in found.items():
        options = ", ".join(f"{k} {option}" for k, option in enumerate(canonical(questions[name])))
        print_lines(name, [f"options: {options}", *report.lines()])
