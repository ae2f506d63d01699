"""How the answers of a results file were obtained, and what to say where that differs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from classify.json_values import JSON


def answer_methods(results: Path) -> defaultdict[str, Counter[str]]:
    """Return question id -> method -> how many of its answers; those without a verdict not."""
    from classify.answers import NoVerdict
    from classify.results import read_results

    found = defaultdict[str, Counter[str]](Counter)
    for result in read_results(results):
        for name, answer in result.answers.items():
            if not isinstance(answer, NoVerdict):
                found[name][answer.method] += 1
    return found


def mixed_methods(methods: Mapping[str, int]) -> list[str]:
    """Return the line that warns of answers obtained in several ways; none for one way."""
    from classify.display.summary_views import counts

    if len(methods) < 2:
        return []
    most_first = dict(Counter(methods).most_common())
    return [f"answers by different methods: {counts(most_first)}; they are not comparable"]


def with_methods(report: object, methods: Mapping[str, int]) -> JSON:
    """Return a report's JSON with how its answers were obtained."""
    from classify.adapters.cli.plain_json import plain

    return {"methods": dict(methods), **cast("dict[str, Any]", plain(report))}
