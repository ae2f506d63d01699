"""`classify explain`: how answers came about, from the prompts to the probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from classify.adapters.cli.calibrated import Abstain, Accept, Calibrators
from classify.adapters.cli.console import reported, show, show_json
from classify.adapters.cli.field_options import AsJson, Model
from classify.adapters.cli.results_input import OneQuestion, only
from classify.adapters.cli.shown_answers import (
    RowId,
    RunSpec,
    Seconds,
    ShownAnswers,
    Source,
    Wanted,
)
from classify.adapters.cli.state_options import StateFile, StateJson, StateText, given_state
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.display.explanation import Explanation


@reported
def explain(
    source: Source,
    state: StateText = None,
    state_json: StateJson = None,
    state_file: StateFile = None,
    row: RowId = None,
    question: OneQuestion = None,
    model: Model = None,
    timeout: Seconds = None,
    calibrator: Calibrators = None,
    accept: Accept = None,
    abstain: Abstain = None,
    spec: RunSpec = None,
    as_json: AsJson = False,
) -> None:
    """Show how answers came about: the messages sent, what was seen, and how it was used.

    A model is asked once about a state, or, with --id, a row of results is explained offline; a
    row without its state (--no-state) may be given it again.
    """
    wanted = Wanted(
        source=source,
        state=given_state(state, state_json, state_file),
        row=row,
        spec=spec,
        model=model,
        timeout=timeout,
        calibrators=calibrator or (),
        accept=accept or (),
        abstain=abstain,
    )
    for shown in wanted.answers():
        found = _explanations(shown, question)
        if as_json:
            _print_json(shown, found)
        else:
            _print_lines(shown, found)


def _explanations(shown: ShownAnswers, question: str | None) -> dict[str, Explanation]:
    from classify.display.explanation import explained
    from classify.display.sent_prompts import Told

    if shown.options is None:
        raise InvalidInput(
            "what was asked is not known, since there is no .run.json beside the results: name "
            "the spec of the run with --spec SPEC"
        )
    asked, answers = shown.evaluation.questions, shown.evaluation.answers
    return {
        name: explained(
            Told(name, each, shown.options, shown.state, shown.has_state), answers[name]
        )
        for name, each in only(asked, question).items()
        if name in answers
    }


def _print_json(shown: ShownAnswers, found: dict[str, Explanation]) -> None:
    from classify.adapters.cli.plain_json import plain

    show_json(
        {
            "id": shown.row,
            "model": shown.evaluation.response.model_id,
            "explanations": {name: plain(each) for name, each in found.items()},
        }
    )


def _print_lines(shown: ShownAnswers, found: dict[str, Explanation]) -> None:
    from rich.console import Group
    from rich.text import Text

    from classify.display.screen import Screen
    from classify.display.terminal import closing_lines
    from classify.display.terminal_explanation import explanation_lines

    screen = Screen.standard_output()
    lines: list[Text] = []
    for explanation in found.values():
        lines += [*explanation_lines(explanation, screen), Text("")]
    show(Group(*lines, *closing_lines(shown.evaluation, screen)))
