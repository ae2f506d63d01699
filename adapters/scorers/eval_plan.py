"""Which scorers score what in an evaluation, checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from classify.adapters.scorers.builder import ScorerBuilder
from classify.adapters.scorers.eval_errors import EvalDefinitionError
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.adapters.scorers.thresholds import Threshold, WithThreshold, bounds_of, threshold_of
from classify.json_values import is_list, is_object
from classify.validation import unknown_name

Place: TypeAlias = Literal["whole", "step", "trajectory"]
ScorerEntry: TypeAlias = ScorerLike | WithThreshold | Mapping[str, object]
"""A scorer, or one with a threshold: WithThreshold(scorer, 0.7), or the reference's
{"scorer": scorer, "threshold": 0.7}."""
Scorers: TypeAlias = Sequence[ScorerEntry] | Mapping[str, object]
"""Scorers of the whole, or {"agent" or "workflow": […], "steps": {step: […]},
"trajectory": […]}."""

_CONFIG = ("agent", "workflow", "steps", "trajectory")


@dataclass(frozen=True, slots=True)
class Planned:
    """One scorer and what it is given."""

    scorer: ScorerLike
    place: Place = "whole"
    step: str | None = None
    threshold: Threshold | None = None

    @property
    def key(self) -> str:
        """What its scores are filed under: its id, with "steps.<step>." or "trajectory." before."""
        if self.place == "step":
            return f"steps.{self.step}.{self.scorer.id}"
        return self.scorer.id

    @property
    def wants_trajectory(self) -> bool:
        """Whether its output is the trajectory."""
        return self.place == "trajectory" or self.scorer.type == "trajectory"


def planned_scorers(given: Scorers, where: str = "scorers") -> tuple[Planned, ...]:
    """Return the scorers of an evaluation or of a turn; raises EvalDefinitionError."""
    if is_object(given):
        plan = list(_configured(given, where))
    else:
        plan = [_planned(entry, where) for entry in _entries(given, where)]
    _check_unique(plan, where)
    return tuple(plan)


def planned_gates(given: Sequence[ScorerEntry], where: str = "gates") -> tuple[Planned, ...]:
    """Return the gates of an evaluation or of a turn; raises EvalDefinitionError."""
    plan = [_planned(entry, where) for entry in _entries(given, where)]
    for gate in plan:
        if gate.threshold is None and bounds_of(gate.scorer) is None:
            raise EvalDefinitionError(
                f"{where}: {gate.scorer.id!r} has no bounds, so there are no full marks; "
                f"say with WithThreshold what every score must reach",
                "INVALID_SCORER_THRESHOLD",
            )
    _check_unique(plan, where)
    return tuple(plan)


def _configured(config: Mapping[object, object], where: str) -> Iterable[Planned]:
    for name, entries in config.items():
        if name not in _CONFIG:
            raise _invalid(f"{where}: {unknown_name('group of scorers', name, _CONFIG)}")
        if name == "steps":
            if not is_object(entries):
                raise _invalid(f"{where}.steps must be step -> scorers, got {entries!r}")
            for step, of_step in entries.items():
                for entry in _entries(of_step, f"{where}.steps.{step}"):
                    yield _planned(entry, f"{where}.steps.{step}", "step", str(step))
        else:
            place: Place = "trajectory" if name == "trajectory" else "whole"
            for entry in _entries(entries, f"{where}.{name}"):
                yield _planned(entry, f"{where}.{name}", place)


def _entries(given: object, where: str) -> Iterable[object]:
    if is_list(given):
        return given
    raise _invalid(f"{where} must be a list of scorers, got {type(given).__name__}")


def _planned(entry: object, where: str, place: Place = "whole", step: str | None = None) -> Planned:
    scorer, threshold = _parted(entry, where)
    if not isinstance(scorer, ScorerLike) or isinstance(scorer, ScorerBuilder):
        raise _invalid(
            f"{where} must hold scorers, got {scorer!r}; what create_scorer gives is one once it "
            f"has .generate_score(...)"
        )
    checked = None if threshold is None else threshold_of(threshold, scorer)
    return Planned(scorer, place, step, checked)


def _parted(entry: object, where: str) -> tuple[object, object]:
    """Return a scorer and its threshold, None where it has none."""
    if isinstance(entry, WithThreshold):
        return entry.scorer, entry.threshold
    if not is_object(entry):
        return entry, None
    if set(entry) != {"scorer", "threshold"}:
        raise _invalid(
            f"{where}: an entry of two has scorer and threshold, got {sorted(map(str, entry))}"
        )
    return entry["scorer"], entry["threshold"]


def _check_unique(plan: Iterable[Planned], where: str) -> None:
    seen: set[str] = set()
    for planned in plan:
        if planned.key in seen:
            raise _invalid(
                f"{where} has two scorers with the id {planned.key!r}, whose scores would be "
                f"mixed: give one another id"
            )
        seen.add(planned.key)


def _invalid(message: str) -> EvalDefinitionError:
    return EvalDefinitionError(message, "INVALID_AGENT_SCORERS")
