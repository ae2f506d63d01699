"""Make a run smaller before it is scored: a `prepare_run` out of declared options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from classify.adapters.scorers.agent_messages import AgentInput, AgentMessage
from classify.adapters.scorers.message_reading import read_message
from classify.adapters.scorers.result import ScorerRun
from classify.errors import InvalidInput
from classify.json_values import is_list, is_object

_REMEMBERED = ("rememberedMessages", "remembered_messages")


def filter_run(
    *,
    part_types: Sequence[str] = (),
    tool_names: Sequence[str] = (),
    max_remembered_messages: int | None = None,
    max_output_messages: int | None = None,
    drop_request_context: bool = False,
    drop_expected_trajectory: bool = False,
    drop_ground_truth: bool = False,
) -> Callable[[ScorerRun[Any, Any]], ScorerRun[Any, Any]]:
    """Return a prepare_run that keeps some of the remembered and output messages.

    `part_types` and `tool_names` are beginnings: "tool-" is every tool part. A message stays where
    one of its parts fits each of the two that is given; tool names are asked of messages with tool
    parts only. Messages of one plain text stay. Then the last messages are kept, None or 0 meaning
    all. Input and system messages are never touched, and whole messages go, never parts of one.
    """
    keep = _Keep(_names("part_types", part_types), _names("tool_names", tool_names))
    remembered = _count("max_remembered_messages", max_remembered_messages)
    output = _count("max_output_messages", max_output_messages)
    drop = {
        "request_context": drop_request_context,
        "expected_trajectory": drop_expected_trajectory,
        "ground_truth": drop_ground_truth,
    }
    dropped: dict[str, Any] = {name: None for name, wanted in drop.items() if wanted}

    def prepare(run: ScorerRun[Any, Any]) -> ScorerRun[Any, Any]:
        changes: dict[str, Any] = {"input": _filtered_input(run.input, keep, remembered)}
        if is_list(run.output):
            changes["output"] = keep.last(run.output, output)
        return replace(run, **changes, **dropped)

    return prepare


class _Keep:
    """Which messages stay."""

    def __init__(self, part_types: tuple[str, ...], tool_names: tuple[str, ...]) -> None:
        self._part_types, self._tool_names = part_types, tool_names

    def last(self, messages: Sequence[Any], count: int | None) -> list[Any]:
        kept = [m for m in messages if self._stays(read_message(m, role="user"))]
        return kept[-count:] if count else kept

    def _stays(self, message: AgentMessage) -> bool:
        if not message.parts:
            return True
        # str.startswith takes a tuple of beginnings.
        if self._part_types and not any(p.type.startswith(self._part_types) for p in message.parts):
            return False
        calls = message.tool_calls
        if not self._tool_names or not calls:
            return True
        return any(call.name.startswith(self._tool_names) for call in calls)


def _filtered_input(given: Any, keep: _Keep, count: int | None) -> Any:
    if isinstance(given, AgentInput):
        kept = keep.last(given.remembered_messages, count)
        return replace(given, remembered_messages=tuple(kept))
    if is_object(given):
        changes = {
            name: keep.last(messages, count)
            for name in _REMEMBERED
            if is_list(messages := given.get(name))
        }
        return {**given, **changes} if changes else given
    return given


def _names(field: str, given: Sequence[str]) -> tuple[str, ...]:
    if (
        isinstance(given, str)
        or isinstance(given, Mapping)
        or not all(isinstance(name, str) and name for name in given)
    ):
        raise InvalidInput(f"{field} must be a list of beginnings of names, got {given!r}")
    return tuple(given)


def _count(field: str, given: int | None) -> int | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 0):
        raise InvalidInput(f"{field} must be a whole number, 0 or None for no limit, got {given!r}")
    return given
