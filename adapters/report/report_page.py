"""Make the page of a results file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from classify.adapters.report.gathered import Gathered
from classify.adapters.report.labelled_figures import labelled_figures
from classify.adapters.report.overview import Origin, Prices, overview
from classify.adapters.report.page_file import write_page
from classify.adapters.report.repeat_figures import repeat_figures
from classify.adapters.report.shell import (
    PAGE,
    STYLES,
    Payload,
    Shell,
    html_page,
    packed_payload,
    plain_payload,
)
from classify.calibration.given_labels import without_row
from classify.calibration.label_file import RowLabels, read_label_file
from classify.calibration.result_labels import labelled_results, seen_questions
from classify.errors import CalibrationError
from classify.json_values import JSON
from classify.questions import Question
from classify.results import read_results
from classify.run_record import read_record
from classify.run_summary import RunSummary, summarize


@dataclass(frozen=True, slots=True)
class Report:
    """What results came to, and the parts of their page."""

    title: str
    summary: RunSummary
    payloads: tuple[Payload, ...]
    """What the page needs before it shows anything."""
    later: tuple[Payload, ...]
    """What it needs when a row is sought or opened."""

    def write(self, target: Path) -> int:
        """Write the page, whole or not at all; return its bytes."""
        shell = Shell(self.title, PAGE / "report.js", STYLES)
        return write_page(target, html_page(shell, self.payloads, later=self.later))


def make_report(
    results: Path,
    *,
    questions: Mapping[str, Question] | None = None,
    labels: str | None = None,
    prices: Prices | None = None,
) -> Report:
    """Read results and make their page.

    Questions are those of the run's record unless they are given; without either they are taken
    from the answers. `labels` is a file of labels in place of the results' own.
    """
    record = read_record(results)
    if questions is None:
        questions = record.questions if record else seen_questions(read_results(results))
    given = None if labels is None else read_label_file(labels, questions)
    gathered = Gathered(questions, given)
    summary = summarize(gathered.passing(read_results(results)), questions)
    origin = Origin(
        name=results.name,
        record=record,
        torn=_is_torn(results),
        label_file=labels and Path(labels).name,
    )
    figures, problems = _figures(gathered, given)
    whole = overview(
        origin,
        summary,
        gathered,
        labelled=figures,
        repeats=repeat_figures(gathered.plain, questions),
        prices=prices,
        problems=problems,
    )
    return Report(
        results.name,
        summary,
        (plain_payload("overview", whole), packed_payload("columns", gathered.columns.columns())),
        (packed_payload("texts", gathered.columns.texts()), *gathered.chunks),
    )


def _figures(
    gathered: Gathered, labels: Mapping[str, Sequence[RowLabels]] | None
) -> tuple[dict[str, JSON], list[str]]:
    """Return the figures of the questions that have labels, and why some could not be made."""
    figures: dict[str, JSON] = {}
    problems: list[str] = []
    arrived = {result.id for result in gathered.plain}
    if waiting := without_row(labels or {}, arrived):
        problems.append(f"Labelled ids that name no row: {len(waiting)}, such as {waiting[0]!r}.")
    answers = labelled_results(gathered.plain, gathered.questions, labels=labels)
    for name, each in answers.items():
        try:
            if each.labelled.any():
                figures[name] = labelled_figures(each)
        except CalibrationError as error:
            problems.append(f"The labels of {name!r} could not be measured: {error}.")
    return figures, problems


def _is_torn(results: Path) -> bool:
    with results.open("rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
