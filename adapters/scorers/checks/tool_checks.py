"""Checks of the tools that an agent called: 1 where it holds, else 0; more is better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from classify.adapters.scorers.agent_text import tool_calls
from classify.adapters.scorers.checks.finding import Check, Finding, check, passed, required_text
from classify.adapters.scorers.result import ScorerRun
from classify.errors import InvalidInput


def called_tool(name: str, *, times: int = 1, id: str = "called-tool") -> Check:
    """Check that a tool was called, at least so many times."""
    required_text(name, "name")
    _count(times, "times", least=1)

    def look(run: ScorerRun[Any, Any]) -> Finding:
        count = called(run).count(name)
        return passed(count >= times, f"{name!r} was called {count} times.", calls=called(run))

    return check(id, f"1 where {name!r} was called at least {times} times, else 0.", look)


def did_not_call(name: str, *, id: str = "did-not-call") -> Check:
    """Check that a tool was never called."""
    required_text(name, "name")

    def look(run: ScorerRun[Any, Any]) -> Finding:
        count = called(run).count(name)
        return passed(count == 0, f"{name!r} was called {count} times.", calls=called(run))

    return check(id, f"1 where {name!r} was not called, else 0.", look)


def tool_order(expected: Sequence[str], *, id: str = "tool-order") -> Check:
    """Check that tools were called in an order; others may stand between them."""
    wanted = _names(expected, "expected")

    def look(run: ScorerRun[Any, Any]) -> Finding:
        calls = called(run)
        holds = in_order(wanted, calls)
        return passed(holds, f"The calls were {_listed(calls)}.", calls=calls)

    return check(id, f"1 where the calls hold {_listed(wanted)} in this order, else 0.", look)


def max_tool_calls(most: int, *, id: str = "max-tool-calls") -> Check:
    """Check that tools were not called more than so many times in all."""
    _count(most, "most", least=0)

    def look(run: ScorerRun[Any, Any]) -> Finding:
        calls = called(run)
        return passed(len(calls) <= most, f"Tools were called {len(calls)} times.", calls=calls)

    return check(id, f"1 where tools were called at most {most} times, else 0.", look)


def used_no_tools(*, id: str = "used-no-tools") -> Check:
    """Check that no tool was called."""
    return max_tool_calls(0, id=id)


def no_tool_errors(*, id: str = "no-tool-errors") -> Check:
    """Check that every call of a tool ended well; without calls there is nothing to go wrong.

    A call that was thrown, is flagged as an error, names an error in its result or never ended
    did not.
    """

    def look(run: ScorerRun[Any, Any]) -> Finding:
        bad = [call.name for call in tool_calls(run.output) if not call.succeeded]
        reason = f"Calls that did not end well: {_listed(bad)}." if bad else "No call failed."
        return passed(not bad, reason, failed=bad)

    return check(id, "1 where every call of a tool ended well, else 0.", look)


def tool_call_accuracy(
    expected_tool: str | None = None,
    *,
    expected_order: Sequence[str] | None = None,
    strict: bool = False,
    id: str = "tool-call-accuracy",
) -> Check:
    """Check the calls against one expected tool, or against an order of several.

    A tool: 1 where it was called; strict: where it was called once and nothing else was. An
    order: 1 where the calls hold it with others between; strict: where they are it. Else 0.
    """
    if (expected_tool is None) == (expected_order is None):
        raise InvalidInput(
            "tool_call_accuracy needs either expected_tool or expected_order, "
            f"got {expected_tool!r} and {expected_order!r}"
        )
    wanted = (
        _names(expected_order, "expected_order")
        if expected_order is not None
        else [required_text(expected_tool, "expected_tool")]
    )

    def look(run: ScorerRun[Any, Any]) -> Finding:
        calls = called(run)
        holds = calls == wanted if strict else in_order(wanted, calls)
        return passed(holds, f"The calls were {_listed(calls)}.", calls=calls)

    how = "are exactly" if strict else "hold, in this order,"
    return check(id, f"1 where the calls {how} {_listed(wanted)}, else 0.", look)


def called(run: ScorerRun[Any, Any]) -> list[str]:
    """Return the names of the tools called, in order."""
    return [call.name for call in tool_calls(run.output)]


def in_order(wanted: Sequence[str], calls: Sequence[str]) -> bool:
    """Whether the calls hold the wanted ones in their order, others between them.

    >>> in_order(["a", "c"], ["a", "b", "c"])
    True
    """
    rest = iter(calls)
    return all(name in rest for name in wanted)


def _names(names: Sequence[str], where: str) -> list[str]:
    if isinstance(names, str) or not names:
        raise InvalidInput(f"{where} must be a list of tools' names, got {names!r}")
    return [required_text(name, f"each name of {where}") for name in names]


def _count(number: object, where: str, *, least: int) -> None:
    if not isinstance(number, int) or isinstance(number, bool) or number < least:
        raise InvalidInput(f"{where} must be a whole number of at least {least}, got {number!r}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
