"""An audit of one question's answers: habits of the judge, and bias against groups of items."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from classify.calibration.audit_items import AuditedItems
from classify.calibration.bias_reports import BiasReport, length_bias
from classify.calibration.given_labels import told_of_no_row
from classify.calibration.group_bias import GroupBias, subgroup_bias
from classify.calibration.measurement import Measurement
from classify.calibration.result_labels import check_question
from classify.calibration.settings import of_type
from classify.display.notebook import Shown
from classify.errors import CalibrationError
from classify.questions import Choice, Question

MOST_GROUPS = 50
"""More are no groups but names: each would hold an item or two."""


@dataclass(frozen=True, slots=True)
class Audit(Shown):
    """What was found; what could not be looked at says so in `notes`."""

    used: str
    """How many answers of how many rows, and why not the others."""
    habits: BiasReport
    labelled: int
    """Items with an answer and a label."""
    total: int
    """Items of the results."""
    equal_length: Measurement | None
    """Correlation of score and length among items that people scored alike."""
    groups: tuple[GroupBias, ...]
    """Judge less people; of a choice the share of right answers."""
    notes: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the audit as lines to print, each number with "n used of N"."""
        found = [self.used, *self.habits.lines()]
        found.append(f"labelled items: {self.labelled} used of {self.total}")
        if self.equal_length is not None:
            found.append(f"length for equal labels: {self.equal_length}")
        if self.groups:
            found += ["groups:", *(f"  {group}" for group in self.groups)]
        return [*found, *self.notes]


def audit(question: Question, items: AuditedItems, habits: BiasReport) -> Audit:
    """Bring together what an audit of these answers shows."""
    check_question(question)
    of_type(items, AuditedItems, name="items", what="what audited_items() returns")
    of_type(habits, BiasReport, name="habits", what="what result_bias() returns")
    labelled = ~np.isnan(items.judge) & ~np.isnan(items.people)
    notes: list[str] = []
    if items.of_no_row:
        notes.append(told_of_no_row(items.of_no_row))
    if items.weighted:
        notes.append("weights of labels count within an item and not between items")
    return Audit(
        used=items.used,
        habits=habits.of(items.judge.size),
        labelled=int(labelled.sum()),
        total=items.judge.size,
        equal_length=_equal_length(question, items, notes),
        groups=_groups(question, items, notes),
        notes=tuple(notes),
    )


def _equal_length(question: Question, items: AuditedItems, notes: list[str]) -> Measurement | None:
    if isinstance(question, Choice):
        notes.append("length for equal labels: not looked at, a choice has no order")
        return None
    known = ~np.isnan(items.judge) & ~np.isnan(items.people) & ~np.isnan(items.lengths)
    if known.sum() < 6:
        notes.append(
            f"length for equal labels: not looked at, {known.sum()} of {known.size} items have a "
            "label and a length, and 6 are needed"
        )
        return None
    try:
        found = length_bias(items.judge[known], items.lengths[known], actual=items.people[known])
    except CalibrationError as error:
        notes.append(f"length for equal labels: not defined: {error}")
        return None
    return replace(found, total=known.size)


def _groups(question: Question, items: AuditedItems, notes: list[str]) -> tuple[GroupBias, ...]:
    names = np.array(items.groups)
    rated = ~np.isnan(items.judge) & ~np.isnan(items.people)
    inside = np.isin(names, names[rated & (names != "")])
    found = sorted({*names[inside].tolist()})
    if not found:
        notes.append(
            f"groups: not looked at, no labelled item has a field {items.group_field!r}, in its "
            "label or its state: give it in a file of labels"
        )
        return ()
    if len(found) > MOST_GROUPS:
        notes.append(f"groups: not looked at, {len(found)} are too many, at most {MOST_GROUPS}")
        return ()
    unrated = sorted({*names[(names != "") & ~inside].tolist()})
    if unrated:
        notes.append(f"groups without a labelled item: {', '.join(unrated)}")
    span = 1.0 if isinstance(question, Choice) else len(question.options) - 1.0
    order = np.argsort(names[inside], kind="stable")
    judge, people = items.judge[inside][order], items.people[inside][order]
    if isinstance(question, Choice):
        shares = subgroup_bias(judge, 0.0 * people, names[inside][order].tolist(), span=span)
        return tuple(replace(g, bias=replace(g.bias, rule=_right(g.bias.rule))) for g in shares)
    return subgroup_bias(judge, people, names[inside][order].tolist(), span=span)


def _right(rule: str) -> str:
    return rule.replace("judge - human", "share of right answers")
