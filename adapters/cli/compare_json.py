"""A comparison as one JSON object, with every row whose answer changed."""

from __future__ import annotations

import math

from classify.adapters.cli.plain_json import plain
from classify.adapters.compare.two_runs import Run, TwoRuns
from classify.json_values import JSON


def comparison_json(runs: TwoRuns) -> dict[str, JSON]:
    """Return all that the comparison found; differences are B less A."""
    found, pairing = runs.comparison, runs.comparison.pairing
    return {
        "a": _run(runs.first),
        "b": _run(runs.second),
        "differences": None if runs.differences is None else plain(runs.differences),
        "not_compared": dict(runs.not_compared),
        "pairs": {
            "paired": pairing.n,
            "only_a": pairing.only_first,
            "only_b": pairing.only_second,
            "repeated_ids": pairing.repeated,
            "differing_states": pairing.differing,
            "unchecked_states": pairing.unchecked,
            "by_id_alone": pairing.by_id_alone,
            "asked_once": found.asked_once,
            "label_conflicts": found.label_conflicts,
            "labelled_ids_without_pair": len(found.without_pair),
        },
        "questions": {name: _question(runs, name) for name in found.questions},
        "cost": {"a": plain(found.costs[0]), "b": plain(found.costs[1])},
    }


def _run(run: Run) -> JSON:
    return {
        "results": str(run.path),
        "model": run.model,
        "fingerprint": None if run.record is None else run.record.fingerprint,
        "models_reported": plain(run.answers.summary.models),
    }


def _question(runs: TwoRuns, name: str) -> JSON:
    found, comparison = runs.comparison.questions[name], runs.comparison
    labelled = comparison.labelled.get(name)
    return {
        "type": found.question.type,
        "pairs": found.pairs,
        "n": found.n,
        "no_verdict": {
            "a": dict(found.missing.first),
            "b": dict(found.missing.second),
            "both": found.missing.both,
        },
        "changed": plain(found.changed),
        "table": plain(found.table),
        "total_variation": _movement(runs, name),
        "kappa": plain(found.kappa),
        "gwet_ac": plain(found.ac),
        "shift": plain(found.shift),
        "test": plain(found.test),
        "test_after_holm": comparison.adjusted.get(name),
        "labelled": plain(labelled),
        "labelled_after_holm": comparison.adjusted_labelled.get(name),
        "changed_rows": _changed_rows(runs, name),
        "notes": list(found.notes),
    }


def _movement(runs: TwoRuns, name: str) -> JSON:
    moved = runs.comparison.questions[name].movement
    if moved is None:
        return None
    return {"mean": plain(moved.mean), "median": moved.median, "nine_in_ten_below": moved.high}


def _changed_rows(runs: TwoRuns, name: str) -> JSON:
    """Return the rows with another most probable option, those that moved furthest first."""
    pairing, found = runs.comparison.pairing, runs.comparison.questions[name]
    a, b = runs.first.answers.answers[name], runs.second.answers.answers[name]
    options = found.question.options
    rows: list[tuple[float, dict[str, JSON]]] = []
    for place, (own, other) in enumerate(pairing.pairs):
        before, after = int(a.verdicts[own]), int(b.verdicts[other])
        if before == after or min(before, after) < 0:
            continue
        distance = math.nan if found.movement is None else float(found.movement.distances[place])
        row: dict[str, JSON] = {
            "id": runs.first.answers.ids[own],
            "a": options[before],
            "b": options[after],
            "total_variation": distance if math.isfinite(distance) else None,
        }
        rows.append((distance if math.isfinite(distance) else 0.0, row))
    return [row for _, row in sorted(rows, key=lambda each: -each[0])]
