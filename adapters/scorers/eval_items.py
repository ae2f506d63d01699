"""The items of an evaluation: one input, several, or turns; checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias, cast

from classify.adapters.scorers.eval_errors import EvalDefinitionError
from classify.adapters.scorers.eval_plan import (
    Planned,
    ScorerEntry,
    planned_gates,
    planned_scorers,
)
from classify.json_values import is_list, is_object
from classify.validation import unknown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation, with what is judged of it alone."""

    # Any: inputs are of the target's own choosing.
    input: Any
    """What the target is called with."""
    gates: Sequence[ScorerEntry] = ()
    """What this turn must pass."""
    scorers: Sequence[ScorerEntry] = ()
    """What measures this turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalItem:
    """One thing to evaluate: exactly one of `input`, `inputs` and `turns`.

    `inputs` and `turns` are one conversation: scorers see all its outputs and the first input.
    """

    input: Any = None
    """What the target is called with, once."""
    inputs: Sequence[Any] | None = None
    """What it is called with, turn after turn."""
    turns: Sequence[Turn] | None = None
    """The same, with scorers and gates for single turns."""
    ground_truth: Any = None
    """What the output should be."""
    expected_trajectory: Any = None
    """The steps that should be taken."""
    request_context: Mapping[str, Any] | None = None
    """What is passed along for target and scorers to read."""
    start_options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Keyword arguments for the target; they win over `target_options`."""
    id: str | None = None
    """What to call it in results; its position where none is given."""


ItemLike: TypeAlias = EvalItem | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """One call of the target, with its checked scorers."""

    input: Any
    scorers: tuple[Planned, ...] = ()
    gates: tuple[Planned, ...] = ()


@dataclass(frozen=True, slots=True)
class PlannedItem:
    """An item as it will be run."""

    index: int
    """Its position in the data, from 0."""
    item: EvalItem
    turns: tuple[PlannedTurn, ...]
    """One for `input`."""

    @property
    def name(self) -> str:
        """What to call it: its id, else its position."""
        return str(self.index if self.item.id is None else self.item.id)

    @property
    def single(self) -> bool:
        """Whether it is one call with one output, and no conversation."""
        return self.item.inputs is None and self.item.turns is None


def planned_items(data: object, *, holds_thread: bool) -> tuple[PlannedItem, ...]:
    """Return all items, checked; raises EvalDefinitionError that names the item's position.

    `holds_thread` says whether the target takes the conversation so far.
    """
    if isinstance(data, str | bytes | Mapping) or not isinstance(data, Iterable):
        raise _invalid(f"data must be a list of items, got {data!r}")
    given = cast("Iterable[object]", data)
    items = tuple(_planned_item(i, each, holds_thread) for i, each in enumerate(given))
    if not items:
        raise EvalDefinitionError(
            "data has no items: give at least one", "RUN_EXPERIMENT_FAILED_NO_DATA_PROVIDED"
        )
    return items


def _planned_item(index: int, given: object, holds_thread: bool) -> PlannedItem:
    where = f"data[{index}]"
    item = given if isinstance(given, EvalItem) else _read_item(given, where)
    forms = [name for name in ("input", "inputs", "turns") if getattr(item, name) is not None]
    if len(forms) != 1:
        got = " and ".join(forms) or "none of them"
        raise _invalid(f"{where} must have exactly one of input, inputs and turns, got {got}")
    form = forms[0]
    if form != "input" and not holds_thread:
        raise _invalid(
            f"{where}.{form} is a conversation, and the target keeps none: let it take a "
            f"parameter named thread, or give the item one input"
        )
    return PlannedItem(index, item, _planned_turns(item, form, where))


def _planned_turns(item: EvalItem, form: str, where: str) -> tuple[PlannedTurn, ...]:
    if form == "input":
        return (PlannedTurn(item.input),)
    entries: object = getattr(item, form)
    if not is_list(entries) or not entries:
        raise _invalid(f"{where}.{form} must be a list and not empty, got {entries!r}")
    if form == "inputs":
        turns = tuple(PlannedTurn(entry) for entry in entries)
    else:
        turns = tuple(_planned_turn(t, f"{where}.turns[{i}]") for i, t in enumerate(entries))
    for number, turn in enumerate(turns):
        if turn.input is None:
            raise _invalid(f"{where}.{form}[{number}] has no input")
    return turns


def _planned_turn(given: object, where: str) -> PlannedTurn:
    if isinstance(given, Turn):
        turn = given
    else:
        values: dict[str, Any] = {"input": None, **_known_fields(given, Turn, where)}
        turn = Turn(**values)
    return PlannedTurn(
        turn.input,
        planned_scorers(turn.scorers, f"{where}.scorers"),
        planned_gates(turn.gates, f"{where}.gates"),
    )


def _read_item(given: object, where: str) -> EvalItem:
    item = EvalItem(**_known_fields(given, EvalItem, where))
    for name in ("request_context", "start_options"):
        value = getattr(item, name)
        if value is not None and not is_object(value):
            raise _invalid(f"{where}.{name} must be an object, got {value!r}")
    return item


def _known_fields(given: object, kind: type[Turn | EvalItem], where: str) -> dict[str, Any]:
    names = [each.name for each in fields(kind)]
    if not is_object(given):
        raise _invalid(
            f"{where} must be an object of {', '.join(names)} (or {kind.__name__}(...)), "
            f"got {given!r}"
        )
    for name in given:
        if name not in names:
            raise _invalid(f"{where}: {unknown_name('field', name, names)}")
    return cast("dict[str, Any]", dict(given))


def _invalid(message: str) -> EvalDefinitionError:
    return EvalDefinitionError(message, "INVALID_DATA_ITEM")
