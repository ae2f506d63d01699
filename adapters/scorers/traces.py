"""Spans of a trace as a tree, and what its agent was given and said."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from classify.adapters.scorers.message_reading import as_text, plain
from classify.adapters.scorers.part_reading import first
from classify.errors import InvalidInput
from classify.json_values import is_list, is_object

_TOOL_LABEL = re.compile(r"(?:mcp )?tool: *'?(.*?)'?(?: on .*)?$")
"""How the reference names the spans of tools: tool: 'search'."""


class TraceError(InvalidInput):
    """A trace that cannot be scored, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """One thing that was done, and for how long."""

    span_id: str
    kind: str
    """"agent_run", "model_generation", "tool_call", "workflow_step" …; "generic" for others."""
    name: str = ""
    """What the tracer called it."""
    parent_id: str | None = None
    """The span that it was part of; None for a root."""
    # Any: inputs and outputs are of whatever type was traced.
    input: Any = None
    output: Any = None
    started_ms: float | None = None
    """Milliseconds since 1970."""
    ended_ms: float | None = None
    """Milliseconds since 1970; None where it did not end."""
    error: str | None = None
    """What it said where it failed."""
    entity: str | None = None
    """The tool, agent or step itself, where it is not the span's name."""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    metadata: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        """The name of what was done: the same with tracing and without."""
        if self.entity:
            return self.entity
        found = _TOOL_LABEL.match(self.name)
        return found[1] if found else self.name

    @property
    def duration_ms(self) -> float | None:
        """How long it took; None where it is not known."""
        if self.started_ms is None or self.ended_ms is None:
            return None
        return self.ended_ms - self.started_ms


@dataclass(frozen=True)
class Trace:
    """The spans of one trace: at least one, each with its parent among them.

    Raises TraceError for anything else.
    """

    trace_id: str
    spans: tuple[Span, ...]
    """As listed in the source."""

    def __post_init__(self) -> None:
        """Check that the spans are a forest."""
        if not self.spans:
            raise TraceError(f"trace {self.trace_id!r} has no spans")
        if len(self._by_id) < len(self.spans):
            raise TraceError(f"trace {self.trace_id!r} has two spans of one id")
        for span in self.spans:
            if span.parent_id is not None and span.parent_id not in self._by_id:
                raise TraceError(
                    f"span {span.span_id!r} references the parent {span.parent_id!r}, which is "
                    f"not in trace {self.trace_id!r}"
                )
        self._check_no_ring()

    @property
    def roots(self) -> tuple[Span, ...]:
        """The spans without a parent, as listed."""
        return tuple(span for span in self.spans if span.parent_id is None)

    def children(self, span_id: str) -> tuple[Span, ...]:
        """Return a span's own children by their start; those without one come last."""
        return self._children.get(span_id, ())

    def ancestors(self, span: Span) -> Iterator[Span]:
        """Yield a span's parent, its parent's parent and so on."""
        while span.parent_id is not None:
            span = self._by_id[span.parent_id]
            yield span

    def span(self, span_id: str | None = None) -> Span:
        """Return a span, without an id the first root; raises TraceError."""
        if span_id is None:
            return self.roots[0]
        if span_id not in self._by_id:
            raise TraceError(f"trace {self.trace_id!r} has no span {span_id!r}")
        return self._by_id[span_id]

    @cached_property
    def _by_id(self) -> dict[str, Span]:
        return {span.span_id: span for span in self.spans}

    @cached_property
    def _children(self) -> dict[str, tuple[Span, ...]]:
        found: dict[str, list[Span]] = {}
        for span in by_start(self.spans):
            if span.parent_id is not None:
                found.setdefault(span.parent_id, []).append(span)
        return {parent: tuple(children) for parent, children in found.items()}

    def _check_no_ring(self) -> None:
        """Raise TraceError where a span is its own ancestor: no root leads to it."""
        reached = list(self.roots)
        for span in reached:  # it grows as it is read
            reached += self.children(span.span_id)
        if len(reached) < len(self.spans):
            known = {span.span_id for span in reached}
            lost = next(span.span_id for span in self.spans if span.span_id not in known)
            raise TraceError(f"span {lost!r} is among its own parents, or below such a span")


def read_trace(value: object) -> Trace:
    """Return a trace of the reference's shape: {"traceId", "spans": [{"spanId", …}]}.

    Names may be in snake case too. Raises TraceError.
    """
    value = plain(value)
    if isinstance(value, Trace):
        return value
    if value is None:
        raise TraceError("the trace is None: give an object with traceId and spans")
    if not is_object(value):
        raise TraceError(f"a trace must be an object with spans, got {type(value).__name__}")
    trace_id = as_text(first(value, "traceId", "trace_id"))
    spans = value.get("spans")
    if not is_list(spans) or not spans:
        raise TraceError(f"trace {trace_id!r} has no spans")
    return Trace(trace_id, tuple(map(_read_span, spans)))


def _read_span(value: object) -> Span:
    value = plain(value)
    if isinstance(value, Span):
        return value
    if not is_object(value):
        raise TraceError(f"a span must be an object, got {type(value).__name__}")
    span_id = first(value, "spanId", "span_id", "id")
    kind = first(value, "spanType", "span_type", "kind", "type")
    if span_id is None or kind is None:
        raise TraceError(f"a span needs a spanId and a spanType, got {sorted(map(str, value))!r}")
    parent = first(value, "parentSpanId", "parent_span_id", "parent_id")
    entity = first(value, "entityName", "entity_name", "entityId", "entity_id")
    return Span(
        span_id=str(span_id),
        kind=str(kind),
        name=as_text(value.get("name")),
        parent_id=None if parent is None else str(parent),
        input=value.get("input"),
        output=value.get("output"),
        started_ms=_milliseconds(first(value, "startedAt", "started_at")),
        ended_ms=_milliseconds(first(value, "endedAt", "ended_at")),
        error=_error(first(value, "error", "errorInfo", "error_info")),
        entity=None if entity is None else str(entity),
        attributes=_mapping(value.get("attributes")) or {},
        metadata=_mapping(value.get("metadata")),
    )


def _milliseconds(value: object) -> float | None:
    """Return a time in milliseconds since 1970: a number is one already, as in JavaScript."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            raise TraceError(f"a span's time must be ISO 8601, got {value!r}") from None
    return value.timestamp() * 1000 if isinstance(value, datetime) else None


def _error(value: object) -> str | None:
    if value is None or value is False:
        return None
    return as_text(value.get("message", value)) if is_object(value) else as_text(value)


def _mapping(value: object) -> dict[str, Any] | None:
    return {str(key): item for key, item in value.items()} if is_object(value) else None


def _start(span: Span) -> float:
    return float("inf") if span.started_ms is None else span.started_ms


def by_start(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return spans by their start, as listed where they start together."""
    return tuple(sorted(spans, key=_start))
