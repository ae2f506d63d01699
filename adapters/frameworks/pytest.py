"""An assertion for test suites; no plugin, so nothing happens until it is called."""

from __future__ import annotations

from classify.adapters.frameworks.result_facts import AnyResult, explanation
from classify.adapters.scorers.measures.items import MeasureEvidence
from classify.answers import NoVerdict
from classify.errors import InvalidInput


def assert_score(
    result: AnyResult, *, at_least: float | None = None, at_most: float | None = None
) -> None:
    """Raise AssertionError unless the score lies within the bounds, ends included.

    The message has the reason and, of a measure, every item's answer. A result without a score
    fails. Raises InvalidInput where neither bound is given: the assertion could not fail.
    """
    __tracebackhide__ = True
    if at_least is None and at_most is None:
        raise InvalidInput("give at_least=..., at_most=... or both: without them nothing can fail")
    for name, bound in (("at_least", at_least), ("at_most", at_most)):
        if bound is not None and bound != bound:
            raise InvalidInput(f"{name} must be a number, got {bound!r}")
    if result.score is None:
        raise AssertionError(f"{result.scorer_id} has no score ({explanation(result)})")
    low = at_least is not None and result.score < at_least
    high = at_most is not None and result.score > at_most
    if low or high:
        wanted = f"at least {at_least:g}" if low else f"at most {at_most:g}"
        lines = [f"{result.scorer_id} scored {result.score:.6g}, wanted {wanted}"]
        raise AssertionError("\n".join([*lines, result.reason or "", *_items(result)]).strip())


def _items(result: AnyResult) -> list[str]:
    evidence = result.analyze_step_result
    if not isinstance(evidence, MeasureEvidence):
        return []
    return [
        f"  {item.question}: "
        + (
            f"no verdict ({item.answer.cause})"
            if isinstance(item.answer, NoVerdict)
            else ", ".join(f"{o} {p:.3f}" for o, p in item.shares("expected").items())
        )
        + f"  {item.text!r}"
        for item in evidence.items
    ]
