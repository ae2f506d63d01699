"""The answers that `show` and `explain` show: of a model asked now, or out of results."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from classify.adapters.cli.console import FAILED, say
from classify.errors import InvalidInput

if TYPE_CHECKING:
    from classify.adapters.cli.stored_rows import Asked
    from classify.classifier import Classifier
    from classify.evaluation import Evaluation
    from classify.json_values import JSON
    from classify.options import Options
    from classify.results import Result

Source: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="SPEC|RESULTS", help="Spec file; with --id, a results file."),
]
RowId: TypeAlias = Annotated[
    str | None,
    typer.Option("--id", metavar="ROW", help="Id of a row of results: no model is asked."),
]
RunSpec: TypeAlias = Annotated[
    str | None,
    typer.Option("--spec", metavar="SPEC", help="With --id: the run's spec, if no .run.json is."),
]
Seconds: TypeAlias = Annotated[
    float | None, typer.Option("--timeout", metavar="SECONDS", help="Time for the answers.")
]


@dataclass(frozen=True, slots=True)
class ShownAnswers:
    """An evaluation and how its questions were asked."""

    evaluation: Evaluation
    options: Options | None
    """None where nothing says what the row was asked; the questions are not known either then."""
    state: JSON
    has_state: bool
    row: str | None = None
    """The row's id, where it is out of results."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks to be shown."""

    source: str
    state: tuple[JSON] | None
    row: str | None
    spec: str | None
    model: str | None
    timeout: float | None
    calibrators: Sequence[str]
    accept: Sequence[str]
    abstain: float | None

    def answers(self) -> Iterator[ShownAnswers]:
        """Yield the model's answers about the state, or those of each row with the id.

        Raises InvalidInput for what has no effect, and typer.Exit after the rows where one failed.
        """
        if self.row is None:
            yield self._asked_now()
        else:
            yield from self._stored(self.row)

    def _asked_now(self) -> ShownAnswers:
        from classify.adapters.cli.calibrated import calibrated_classifier
        from classify.adapters.cli.model_note import tell_model
        from classify.spec import load_spec

        if self.spec is not None:
            raise InvalidInput("--spec is for a row of results: name it with --id ROW")
        if not self.calibrators and (self.accept or self.abstain is not None):
            raise InvalidInput("--accept and --abstain need --calibrator FILE")
        if self.state is None:
            raise InvalidInput(
                "give a state by one of --state, --state-json and --state-file, or a row of a "
                "results file by --id"
            )
        spec = load_spec(self.source)
        classifier = calibrated_classifier(
            spec,
            self.model,
            calibrators=self.calibrators,
            accept=self.accept,
            abstain=self.abstain,
        )
        tell_model(classifier, named=self.model or spec.model)
        (state,) = self.state
        evaluation = asyncio.run(_evaluate(classifier, state, self.timeout))
        return ShownAnswers(evaluation, classifier.options, state, has_state=True)

    def _stored(self, id: str) -> Iterator[ShownAnswers]:
        from classify.adapters.cli.stored_rows import rows_with_id, what_was_asked

        self._check_offline()
        results = Path(self.source)
        rows = rows_with_id(results, id)
        asked = what_was_asked(results, self.spec)
        if len(rows) > 1:
            say(f"{len(rows)} rows have the id {id!r}")
        failed = False
        for row in rows:
            if row.error is not None:
                say(f"row {id!r} has no answers: {row.error.type}: {row.error.message}")
                failed = True
                continue
            state, has_state = self._state_of(row)
            yield ShownAnswers(
                _evaluation(row, asked),
                None if asked is None else asked.options,
                state,
                has_state,
                id,
            )
        if failed:
            raise typer.Exit(FAILED)

    def _check_offline(self) -> None:
        """Raise InvalidInput for an option of asking a model."""
        asking = {
            "--model": self.model,
            "--timeout": self.timeout,
            "--calibrator": self.calibrators or None,
            "--accept": self.accept or None,
            "--abstain": self.abstain,
        }
        for option, value in asking.items():
            if value is not None:
                raise InvalidInput(f"{option} has no effect on a row of results (--id)")

    def _state_of(self, row: Result) -> tuple[JSON, bool]:
        if self.state is None:
            return row.state, row.has_state
        if row.has_state:
            raise InvalidInput(f"row {row.id!r} has its state: leave --state out")
        return self.state[0], True


def _evaluation(row: Result, asked: Asked | None) -> Evaluation:
    if asked is None:
        return row.evaluation("")
    return row.evaluation(asked.classifier_id).with_questions(asked.questions)


async def _evaluate(classifier: Classifier, state: JSON, timeout: float | None) -> Evaluation:
    try:
        return await classifier.evaluate(state, timeout=timeout)
    finally:
        await classifier.aclose()
