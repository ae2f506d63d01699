"""What there is to say of a comparison, as pairs of a label and a text: for terminal and page.

Texts are as they came: whoever shows one makes it safe for the medium.
"""

from __future__ import annotations

from typing import TypeAlias

from classify.adapters.compare.two_runs import TwoRuns
from classify.adapters.compare.words import between, change, counts, means, p_value, share, used
from classify.calibration.label_comparison import FLOOR, LabelComparison
from classify.calibration.paired_intervals import NO_PAIR_DIFFERED
from classify.calibration.question_comparison import RESAMPLES, QuestionComparison
from classify.calibration.results_comparison import Cost
from classify.calibration.row_pairs import rows

Fact: TypeAlias = tuple[str, str]

_FURTHEST = 3
_LUCK = 0.05
"""A difference that luck alone brings more often than this is none."""
_MOST = 160
"""Characters told of a value that differs."""


def head_facts(runs: TwoRuns) -> list[Fact]:
    """Return what differs between the runs."""
    if runs.differences is None:
        return [("what differs", "unknown: a run has no .run.json beside its results")]
    if not runs.differences:
        return [("what differs", "nothing: the same model, options and questions twice")]
    return [(each.what, f"{_cut(each.first)} -> {_cut(each.second)}") for each in runs.differences]


def pair_lines(runs: TwoRuns) -> list[str]:
    """Return how many rows are compared, and what became of the other rows and questions."""
    conflicts = runs.comparison.label_conflicts
    told = [f"{conflicts} pairs have other labels in B: A's are used"] if conflicts else []
    if copied := runs.comparison.asked_once:
        told.append(
            f"{copied} {rows(copied)} asked once for both files, of which one is a copy or was "
            "resumed from one: they show no noise of the model"
        )
    if lone := runs.comparison.without_pair:
        told.append(f"labelled ids that name no pair: {len(lone)}, such as {lone[0]!r}")
    return [
        *runs.comparison.pairing.lines(),
        *told,
        *(f"not compared: {name} ({why})" for name, why in runs.not_compared.items()),
    ]


def headline(runs: TwoRuns, name: str) -> str:
    """Return in a sentence or two what a reader wants to know of a question first."""
    found, labelled = runs.comparison.questions[name], runs.comparison.labelled.get(name)
    if found.changed is None:
        return "No row has a verdict in both runs."
    told = f"{round(found.changed.value * found.n)} of {found.n} answers changed."
    if labelled is None or labelled.accuracy is None:
        return told
    a, b = labelled.accuracy.first.value, labelled.accuracy.second.value
    p = runs.comparison.adjusted_labelled[name]
    if p >= _LUCK:
        return f"{told} Which run is right more often, {labelled.n} labelled rows do not tell."
    return f"{told} {'B' if b > a else 'A'} is right more often: {a:.3f} in A, {b:.3f} in B."


def question_facts(runs: TwoRuns, name: str) -> list[Fact]:
    """Return what changed in the answers to a question."""
    found = runs.comparison.questions[name]
    facts = [("compared", f"{found.n} of {found.pairs} pairs")]
    if found.missing.first or found.missing.second:
        facts += [
            ("no verdict", f"A: {counts(found.missing.first)}"),
            ("", f"B: {counts(found.missing.second)}"),
            ("", f"in both: {found.missing.both}"),
        ]
    if found.changed is not None:
        facts.append(("changed", share(found.changed)))
    facts += [
        *_methods(runs, name),
        *_distances(runs, found),
        *_agreement(found),
        *_shift(runs, name, found),
    ]
    return [*facts, *(("note", note) for note in found.notes)]


def labelled_facts(runs: TwoRuns, name: str) -> list[Fact]:
    """Return how the answers to a question agree with labels; empty without labels."""
    found = runs.comparison.labelled.get(name)
    return [] if found is None else _labelled(runs, name, found)


def cost_facts(cost: Cost) -> list[Fact]:
    """Return what a run took, over all its rows."""
    cached = "" if not cost.cached_tokens else f" ({cost.cached_tokens} cached)"
    facts = [
        ("rows answered", f"{cost.answered} of {cost.rows}"),
        ("tokens in", f"{_known(cost.input_tokens)}{cached}"),
        ("tokens out", _known(cost.output_tokens)),
        ("requests", str(cost.requests)),
        ("seconds a row", f"median {_seconds(cost.seconds)}"),
        ("", f"nine in ten {_seconds(cost.seconds_high)}"),
    ]
    untold = [("tokens untold", f"in or out, by {cost.rows_unknown} rows")]
    return facts + (untold if cost.rows_unknown else [])


def closing(seed: int) -> str:
    """Return how the numbers are to be read."""
    return (
        "Differences are B less A. Intervals of 95%: Wilson for shares, Tango for a difference of "
        f"shares, BCa bootstrap over pairs for means ({RESAMPLES} resamples, seed {seed}), normal "
        "from 50,000 pairs; where no pair varied, what as many alike leave possible."
    )


def _methods(runs: TwoRuns, name: str) -> list[Fact]:
    """Return how answers were obtained, where that is not the same everywhere."""
    sides = [run.answers.summary.questions[name].methods for run in (runs.first, runs.second)]
    if len(sides[0].keys() | sides[1].keys()) < 2:
        return []
    return [("methods differ", f"A: {counts(sides[0])}; B: {counts(sides[1])}")]


def _distances(runs: TwoRuns, found: QuestionComparison) -> list[Fact]:
    moved = found.movement
    if moved is None:
        return []
    mean = f"mean {moved.mean.value:z.3f} ({between(moved.mean)}), {used(moved.mean)}"
    facts = [
        ("total variation", mean),
        ("", f"median {moved.median:.3f}, nine in ten below {moved.high:.3f}"),
    ]
    ids, pairs = runs.first.answers.ids, runs.comparison.pairing.pairs
    far = [
        f"{_cut(ids[pairs[int(place)][0]])} {float(moved.distances[place]):.3f}"
        for place in moved.furthest[:_FURTHEST]
    ]
    return [*facts, ("furthest", ", ".join(far))] if far else facts


def _agreement(found: QuestionComparison) -> list[Fact]:
    weighted = ", quadratic weights" if found.question.type == "score" else ""
    measures = (("Cohen's kappa", found.kappa), ("Gwet's AC", found.ac))
    alike = found.changed is not None and found.changed.value == 0.0
    why = f": {NO_PAIR_DIFFERED}" if alike else ""
    return [
        (name, f"{each.value:z.3f} ({between(each)}{why}){weighted}, {used(each)}")
        for name, each in measures
        if each is not None
    ]


def _shift(runs: TwoRuns, name: str, found: QuestionComparison) -> list[Fact]:
    if found.shift is None:
        return []
    label = "mean score" if found.question.type == "score" else "mean P(true)"
    values = f"A {found.shift.first:.3f}, B {found.shift.second:.3f}"
    difference = "" if found.shift.difference is None else f": {change(found.shift.difference)}"
    facts = [(label, values + difference)]
    if found.test is None:
        return facts
    told = p_value(found.test, runs.comparison.adjusted, name)
    if not found.test.rule.startswith("McNemar") or found.table is None:
        return [*facts, ("sign flips", told)]
    only_a, only_b = found.table.counts[0][1], found.table.counts[1][0]
    return [*facts, ("McNemar", f"true only in A {only_a:g}, only in B {only_b:g}: {told}")]


def _labelled(runs: TwoRuns, name: str, found: LabelComparison) -> list[Fact]:
    shared = "" if found.items == found.n else f", of {found.items} items"
    facts = [("labels", f"{found.n} of {found.labelled} answered by both{shared}")]
    if found.accuracy is not None:
        facts.append(("accuracy", means(found.accuracy)))
    if found.test is not None:
        rule = "McNemar" if found.test.rule.startswith("McNemar") else "sign flips"
        told = p_value(found.test, runs.comparison.adjusted_labelled, name)
        only = f"right only in A {found.only_first}, only in B {found.only_second}"
        facts.append((rule, f"{only}: {told}"))
    if found.log_loss is not None:
        facts.append(("log loss", means(found.log_loss)))
    if any(found.zeros):
        told = f"true option below {FLOOR:g} in A {found.zeros[0]}, in B {found.zeros[1]} rows"
        facts.append(("", f"{told}: counted as {FLOOR:g}"))
    return facts + ([("MAE", means(found.error))] if found.error is not None else [])


def _known(tokens: int | None) -> str:
    return "unknown" if tokens is None else str(tokens)


def _seconds(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.3g}"


def _cut(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 3]}..."
