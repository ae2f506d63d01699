"""`classify audit`: habits of a judge that have nothing to do with what is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from classify.adapters.cli.console import reported, show_json
from classify.adapters.cli.field_options import AsJson
from classify.adapters.cli.results_input import (
    Labels,
    OneQuestion,
    Results,
    Seed,
    SpecOption,
    asked_questions,
    check_some,
    of_each,
    only,
    print_lines,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from classify.calibration.audits import Audit
    from classify.questions import Question


@reported
def audit(
    results: Results,
    labels: Labels = None,
    group: Annotated[
        str,
        typer.Option(
            metavar="FIELD",
            help="Field of the labels, or else of the state, that says which group an item is of.",
        ),
    ] = "group",
    question: OneQuestion = None,
    spec: SpecOption = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Report noise, the effect of option order, place, length and group, and unused levels."""
    from classify.adapters.cli.answer_methods import answer_methods, mixed_methods, with_methods
    from classify.calibration.audit_items import audited_items
    from classify.calibration.audits import audit as audited
    from classify.calibration.bias_of_results import result_bias
    from classify.calibration.label_file import read_label_file
    from classify.calibration.result_labels import seen_questions
    from classify.results import read_results

    check_some(results)
    asked = asked_questions(results, spec)
    questions = only(seen_questions(read_results(results)) if asked is None else asked[0], question)
    given = None if labels is None else read_label_file(labels, questions, group=group)

    def audit_of(name: str) -> Audit:
        asked = questions[name]
        items = audited_items(read_results(results), name, asked, labels=given, group=group)
        return audited(asked, items, result_bias(read_results(results), name, asked, seed=seed))

    found = of_each(questions, audit_of)
    methods = answer_methods(results)
    if as_json:
        show_json({n: with_methods(report, methods[n]) for n, report in found.items()})
        return
    for name, report in found.items():
        options = enumerate(_options(questions[name]))
        said = ", ".join(f"{number} {option}" for number, option in options)
        print_lines(name, [f"options: {said}", *mixed_methods(methods[name]), *report.lines()])


def _options(question: Question) -> Sequence[str]:
    """Return what the numbers of the options stand for: of a score the levels' descriptions."""
    from classify.labels import canonical
    from classify.questions import Score

    if isinstance(question, Score):
        return [str(description) for description in question.criteria]
    return canonical(question)
