"""Read a distribution from label tokens: per listing order one slot, or a tree of slots."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from classify.asking import Asking
from classify.errors import CapabilityError
from classify.labels import Listing, canonical, listings, slate
from classify.language_model import Reply, Sampling
from classify.logspace import Floats
from classify.orders import combine
from classify.prompts import reason_prompt
from classify.reading import NoReading, Reading
from classify.slot_reading import (
    ALTERNATIVES,
    Slot,
    coverage_floor,
    nothing_read,
    read_slot,
    resolution,
    stopped,
)

T = TypeVar("T")
_REASON_TOKENS = 512


async def read_labels(asking: Asking) -> Reading | NoReading:
    """Ask for a label in each listing order and combine what was read."""
    if asking.capabilities.top_logprobs < 1:
        raise CapabilityError(f"{asking.where} shows no logprobs; {ALTERNATIVES}")
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    if asking.options.reasoning:
        written = await write_reason(asking)
        reason = written.text.strip()
        if stopped(written) or not reason:
            return nothing_read(written, wanted="a reason")
        if written.finish_reason == "length":
            warnings = (f"question {asking.name!r}: the reason was cut off",)
    orders = await gather(
        _read_order(asking, listing, reason)
        for listing in listings(asking.question, asking.options.orders)
    )
    read = [order for order in orders if isinstance(order, _Tree)]
    for order in orders:
        if isinstance(order, NoReading):
            seen = tuple(slot.seen for tree in read for slot in tree.slots)
            seen = (*seen, *order.orders)
            return replace(order, reason=reason, orders=seen, warnings=warnings)
    return replace(_combined(asking, read), reason=reason, warnings=warnings)


async def write_reason(asking: Asking) -> Reply:
    """Let the model write its reasons, before any answer."""
    shown = slate(
        asking.question,
        canonical(asking.question),
        readout=asking.readout,
        resolution=resolution(asking.capabilities),
    )
    prompt = reason_prompt(
        asking.name,
        asking.question,
        slate=shown,
        state=asking.request.state,
        form=asking.form,
    )
    sampling = Sampling(_REASON_TOKENS, temperature=asking.capabilities.temperature)
    return await asking.complete(prompt, sampling)


async def gather(coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run coroutines together, in order; the first error ends the others and is raised itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


@dataclass(frozen=True, slots=True)
class _Branch:
    """Options that a slot has put together, and the probability of getting there."""

    options: Listing
    path: tuple[str, ...] = ()
    p: float = 1.0
    lower: float = 1.0
    upper: float = 1.0


@dataclass(slots=True)
class _Tree:
    """One listing's slots, opened likeliest first, and the options they have reached."""

    closed: list[_Branch]
    lost: list[tuple[_Branch, NoReading]] = field(default_factory=list[tuple[_Branch, NoReading]])
    """Groups that gave no reading: their options stay bounded, like those of unopened groups."""
    slots: list[Slot] = field(default_factory=list[Slot])
    reached: dict[str, _Branch] = field(default_factory=dict[str, _Branch])

    @property
    def unexplored(self) -> float:
        return float(sum(branch.p for branch in self._unread()))

    def _unread(self) -> list[_Branch]:
        return [*self.closed, *(branch for branch, _ in self.lost)]

    def open(self, slot: Slot, above: _Branch) -> None:
        self.slots.append(slot)
        for k, options in enumerate(slot.slate.members):
            branch = _Branch(
                options,
                (*above.path, slot.slate.labels[k]),
                above.p * float(slot.p[k]),
                above.lower * float(slot.lower[k]),
                above.upper * float(slot.upper[k]),
            )
            if len(options) > 1:
                self.closed.append(branch)
            else:
                self.reached.update({option: branch for option in options})

    def distribution(self, names: Listing) -> tuple[Floats, Floats, Floats]:
        """Return p, lower and upper; an option in a closed group has 0 and its group's bound."""
        closed = {
            name: _Branch((name,), branch.path, 0.0, 0.0, branch.upper)
            for branch in self._unread()
            for name in branch.options
        }
        found = [self.reached.get(name) or closed[name] for name in names]
        p = np.array([branch.p for branch in found])
        p = p / p.sum()
        lower = np.minimum([branch.lower for branch in found], p)
        upper = np.maximum([branch.upper for branch in found], p)
        return p, lower, upper


async def _read_order(asking: Asking, listing: Listing, reason: str | None) -> _Tree | NoReading:
    tree = _Tree([_Branch(listing)])
    while tree.closed and sum(b.p for b in tree.closed) > asking.options.tree_tolerance:
        tree.closed.sort(key=lambda branch: branch.p)
        branch = tree.closed.pop()
        shown = slate(
            asking.question,
            branch.options,
            readout=asking.readout,
            resolution=resolution(asking.capabilities),
        )
        slot = await read_slot(asking, shown, reason=reason, path=branch.path)
        if isinstance(slot, NoReading):
            tree.lost.append((branch, slot))
        else:
            tree.open(slot, branch)
    reached = sum(branch.p for branch in tree.reached.values())
    if tree.lost and (reached <= 0.0 or reached < coverage_floor(asking.options)):
        _, failed = max(tree.lost, key=lambda lost: lost[0].p)
        return replace(failed, orders=(*(s.seen for s in tree.slots), *failed.orders))
    return tree


def _combined(asking: Asking, trees: list[_Tree]) -> Reading:
    names = canonical(asking.question)
    p, lower, upper = zip(*(tree.distribution(names) for tree in trees), strict=True)
    together = combine(np.array(p), np.array(lower), np.array(upper))
    return Reading(
        log_p=together.log_p,
        method="tree" if any(len(tree.slots) > 1 for tree in trees) else "logprobs",
        label_mass=float(np.mean([tree.slots[0].seen.label_mass for tree in trees])),
        orders=tuple(slot.seen for tree in trees for slot in tree.slots),
        lower=together.lower,
        upper=together.upper,
        unseen=tuple(int(k) for k in np.flatnonzero((np.array(p) <= 0.0).all(axis=0))),
        unexplored=float(np.mean([tree.unexplored for tree in trees])),
        flips=together.flips,
        total_variation=together.total_variation,
    )
