"""`classify show`: the answers about one state, and what they rest on."""

from __future__ import annotations

from pydantic_core import from_json, to_json

from classify.adapters.cli.calibrated import Abstain, Accept, Calibrators
from classify.adapters.cli.console import reported, show, show_json
from classify.adapters.cli.field_options import AsJson, Model
from classify.adapters.cli.shown_answers import RowId, RunSpec, Seconds, Source, Wanted
from classify.adapters.cli.state_options import StateFile, StateJson, StateText, given_state


@reported
def show_state(
    source: Source,
    state: StateText = None,
    state_json: StateJson = None,
    state_file: StateFile = None,
    row: RowId = None,
    model: Model = None,
    timeout: Seconds = None,
    calibrator: Calibrators = None,
    accept: Accept = None,
    abstain: Abstain = None,
    spec: RunSpec = None,
    as_json: AsJson = False,
) -> None:
    """Judge one state, or take a row of results, and show every option's probability."""
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
        if as_json:
            show_json(from_json(to_json(shown.evaluation, exclude_none=True)))
        else:
            show(shown.evaluation)
