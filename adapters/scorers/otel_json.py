"""OpenTelemetry spans out of JSON: OTLP, and what the Python SDK's span.to_json() writes.

It knows the encodings and no conventions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from classify.adapters.scorers.part_reading import first
from classify.adapters.scorers.traces import TraceError
from classify.json_values import is_list, is_object

_NO_SPACE = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class OtelEvent:
    """An event of a span."""

    name: str
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtelSpan:
    """A span as it was exported, its attributes as plain values."""

    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    started_ms: float | None
    ended_ms: float | None
    attributes: Mapping[str, Any]
    events: tuple[OtelEvent, ...]
    error: str | None


def otel_spans(document: object) -> Iterator[OtelSpan]:
    """Yield the spans of JSON, of lines of JSON, or of parsed objects; raises TraceError."""
    if isinstance(document, bytes | str):
        for value in _parsed(document):
            yield from otel_spans(value)
    elif is_list(document):
        for value in document:
            yield from otel_spans(value)
    elif is_object(document) and is_list(
        batches := first(document, "resourceSpans", "resource_spans", "batches")
    ):
        for batch in batches:
            yield from _batch(batch)
    elif is_object(document) and is_object(document.get("context")):
        yield _sdk_span(document, document["context"])
    else:
        raise TraceError(
            "no export of OpenTelemetry spans: expected an object with resourceSpans, or spans as "
            f"span.to_json() writes them, got {type(document).__name__}"
        )


def _parsed(text: bytes | str) -> Iterator[object]:
    """Yield the JSON values of a text, one after the other: one document, lines, or a log."""
    try:
        rest = text if isinstance(text, str) else text.decode()
        read, at = json.JSONDecoder(), 0
        while (at := _next(rest, at)) < len(rest):
            value, at = read.raw_decode(rest, at)
            yield value
    except ValueError as error:  # UnicodeDecodeError is one too
        raise TraceError(f"the export is no JSON: {error}") from None


def _next(text: str, at: int) -> int:
    """Return the place of the next character that is no space."""
    found = _NO_SPACE.search(text, at)
    return len(text) if found is None else found.start()


def _batch(batch: object) -> Iterator[OtelSpan]:
    scopes = first(batch, "scopeSpans", "scope_spans") if is_object(batch) else None
    for scope in scopes if is_list(scopes) else ():
        spans = scope.get("spans") if is_object(scope) else None
        for span in spans if is_list(spans) else ():
            if is_object(span):
                yield _otlp_span(span)


def _otlp_span(span: Mapping[object, object]) -> OtelSpan:
    attributes = _attributes(span.get("attributes"))
    events = tuple(
        OtelEvent(str(event.get("name")), _attributes(event.get("attributes")))
        for event in _objects(span.get("events"))
    )
    status = _plain(span.get("status"))
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return OtelSpan(
        trace_id=str(first(span, "traceId", "trace_id")),
        span_id=str(first(span, "spanId", "span_id")),
        parent_id=str(first(span, "parentSpanId", "parent_span_id") or "") or None,
        name=str(span.get("name") or ""),
        started_ms=_from_nanoseconds(first(span, "startTimeUnixNano", "start_time_unix_nano")),
        ended_ms=_from_nanoseconds(first(span, "endTimeUnixNano", "end_time_unix_nano")),
        attributes=attributes,
        events=events,
        error=_said(status.get("message"), attributes, events) if failed else None,
    )


def _sdk_span(span: Mapping[object, object], context: object) -> OtelSpan:
    ids = _plain(context)
    attributes = _plain(span.get("attributes"))
    events = tuple(
        OtelEvent(str(event.get("name")), _plain(event.get("attributes")))
        for event in _objects(span.get("events"))
    )
    status = _plain(span.get("status"))
    failed = status.get("status_code") == "ERROR"
    return OtelSpan(
        trace_id=_hex(ids.get("trace_id")),
        span_id=_hex(ids.get("span_id")),
        parent_id=_hex(span.get("parent_id")) or None,
        name=str(span.get("name") or ""),
        started_ms=_from_text(span.get("start_time")),
        ended_ms=_from_text(span.get("end_time")),
        attributes=attributes,
        events=events,
        error=_said(status.get("description"), attributes, events) if failed else None,
    )


def _said(message: object, attributes: Mapping[str, Any], events: Sequence[OtelEvent]) -> str:
    """Return what a failed span says of its failure."""
    for event in events:
        message = message or event.attributes.get("exception.message")
    return str(message or attributes.get("error.type") or "error")


def _attributes(listed: object) -> dict[str, Any]:
    return {str(pair.get("key")): _value(pair.get("value")) for pair in _objects(listed)}


def _value(value: object) -> object:
    """Return what OTLP's typed value holds; its 64-bit integers come as text."""
    if not is_object(value):
        return value
    for kind, held in value.items():
        if kind in ("intValue", "int_value"):
            return int(str(held))
        if kind in ("arrayValue", "array_value"):
            values = held.get("values") if is_object(held) else None
            return [_value(item) for item in values] if is_list(values) else []
        if kind in ("kvlistValue", "kvlist_value"):
            return _attributes(held.get("values") if is_object(held) else None)
        return held
    return None


def _objects(listed: object) -> Iterator[Mapping[object, object]]:
    return (item for item in listed if is_object(item)) if is_list(listed) else iter(())


def _plain(value: object) -> dict[str, Any]:
    return {str(key): item for key, item in value.items()} if is_object(value) else {}


def _hex(value: object) -> str:
    return "" if value is None else str(value).removeprefix("0x")


def _from_nanoseconds(value: object) -> float | None:
    return None if value is None else int(str(value)) / 1e6


def _from_text(value: object) -> float | None:
    return datetime.fromisoformat(value).timestamp() * 1000 if isinstance(value, str) else None
