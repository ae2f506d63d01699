"""OpenTelemetry's GenAI spans become the same spans, whichever way they were exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from classify.adapters.scorers.agent_run import agent_run
from classify.adapters.scorers.agent_text import assistant_text, tool_calls
from classify.adapters.scorers.otel_traces import read_otel
from classify.adapters.scorers.traces import TraceError
from classify.adapters.scorers.trajectory_extraction import extract_trajectory_from_trace

CALL = {"type": "tool_call", "id": "call_1", "name": "get_weather", "arguments": {"city": "Paris"}}
RESPONSE = {"type": "tool_call_response", "id": "call_1", "response": "rainy, 57°F"}


def text(role: str, said: str) -> dict[str, Any]:
    """Return a message of the conventions from 1.37 on."""
    return {"role": role, "parts": [{"type": "text", "content": said}]}


ASKED = [text("user", "Weather in Paris?")]
CALLED = [{"role": "assistant", "parts": [CALL], "finish_reason": "tool_call"}]
ANSWERED = [text("assistant", "It rains in Paris.") | {"finish_reason": "stop"}]
ALL = [*ASKED, *CALLED, {"role": "tool", "parts": [RESPONSE]}]


def value(of: object) -> dict[str, Any]:
    """Return OTLP's typed value."""
    if isinstance(of, bool):
        return {"boolValue": of}
    if isinstance(of, int):
        return {"intValue": str(of)}
    if isinstance(of, float):
        return {"doubleValue": of}
    if isinstance(of, list):
        return {"arrayValue": {"values": [value(item) for item in of]}}  # pyright: ignore
    if isinstance(of, dict):
        return {"kvlistValue": {"values": pairs(of)}}  # pyright: ignore
    return {"stringValue": of}


def pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    """Return OTLP's list of attributes."""
    return [{"key": key, "value": value(of)} for key, of in attributes.items()]


def span(id: str, parent: str, start: int, operation: str | None, **more: Any) -> dict[str, Any]:
    """Return an OTLP span of one millisecond."""
    attributes = dict(more.pop("attributes", {}))
    if operation is not None:
        attributes["gen_ai.operation.name"] = operation
    return {
        "traceId": "5b8efff798038103d269b633813fc60c",
        "spanId": id,
        "parentSpanId": parent,
        "name": f"{operation} something",
        "startTimeUnixNano": str(start * 1_000_000),
        "endTimeUnixNano": str((start + 1) * 1_000_000),
        "attributes": pairs(attributes),
    } | more


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    """Return an OTLP export of one scope."""
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


def weather(*, structured: bool, on_agent: bool, on_tool: bool) -> dict[str, Any]:
    """Return the run of an agent: a model's call, a tool's, a model's."""

    def held(of: object) -> object:
        return of if structured else json.dumps(of)

    def chat(given: object, gave: object) -> dict[str, Any]:
        return {
            "gen_ai.request.model": "small",
            "gen_ai.system_instructions": held([{"type": "text", "content": "Be brief"}]),
            "gen_ai.input.messages": held(given),
            "gen_ai.output.messages": held(gave),
            "gen_ai.usage.input_tokens": 40,
            "gen_ai.usage.output_tokens": 2,
        }

    agent = {"gen_ai.agent.name": "Weather"}
    if on_agent:
        agent |= {"gen_ai.input.messages": held(ASKED), "gen_ai.output.messages": held(ANSWERED)}  # type: ignore[dict-item]
    tool = {"gen_ai.tool.name": "get_weather", "gen_ai.tool.call.id": "call_1"}
    if on_tool:
        tool |= {
            "gen_ai.tool.call.arguments": held({"city": "Paris"}),  # type: ignore[dict-item]
            "gen_ai.tool.call.result": "rainy, 57°F",
        }
    return export(
        span("c2", "a1", 30, "chat", attributes=chat(ALL, ANSWERED)),
        span("t1", "a1", 20, "execute_tool", attributes=tool),
        span("c1", "a1", 10, "chat", attributes=chat(ASKED, CALLED)),
        span("h1", "elsewhere", 0, None, name="POST /ask"),
        span("a1", "h1", 1, "invoke_agent", attributes=agent),
    )


@pytest.mark.parametrize("structured", [True, False], ids=["structured", "JSON text"])
@pytest.mark.parametrize("on_agent", [True, False], ids=["agent's own content", "model's only"])
@pytest.mark.parametrize("on_tool", [True, False], ids=["tool's own content", "messages' only"])
@pytest.mark.parametrize("encoded", [True, False], ids=["bytes", "objects"])
def test_an_agents_run_is_read_wherever_its_content_was_recorded(
    structured: bool, on_agent: bool, on_tool: bool, encoded: bool
) -> None:
    """Content is opt-in, and instrumentations differ in where they put it."""
    document: Any = weather(structured=structured, on_agent=on_agent, on_tool=on_tool)
    (trace,) = read_otel(json.dumps(document).encode() if encoded else document)
    run = agent_run(trace)
    assert [m.text for m in run.input.input_messages] == ["Weather in Paris?"]
    assert [m.text for m in run.input.system_messages] == ["Be brief"]
    assert run.input.remembered_messages == ()
    assert assistant_text(run.output) == "It rains in Paris."
    assert [(c.name, c.id, c.arguments, c.result, c.state) for c in tool_calls(run.output)] == [
        ("get_weather", "call_1", {"city": "Paris"}, "rainy, 57°F", "result")
    ]


def test_the_steps_of_a_trace_are_those_of_the_agent() -> None:
    """The request around it is another service's business."""
    (trace,) = read_otel(weather(structured=True, on_agent=True, on_tool=True))
    trajectory = extract_trajectory_from_trace(trace)
    assert [(step.name, step.step_type) for step in trajectory.steps] == [
        ("small", "model_generation"),
        ("get_weather", "tool_call"),
        ("small", "model_generation"),
    ]
    assert trajectory.steps[0].details["prompt_tokens"] == 40
    assert trajectory.steps[1].success is True
    assert trajectory.total_duration_ms == 1.0


def test_what_was_said_before_is_remembered() -> None:
    """A conversation's earlier turns are in every model call."""
    history = [text("user", "Hi"), text("assistant", "Hello"), *ASKED]
    chat = {
        "gen_ai.input.messages": json.dumps(history),
        "gen_ai.output.messages": json.dumps(ANSWERED),
    }
    (trace,) = read_otel(
        export(span("a", "", 0, "invoke_agent"), span("c", "a", 1, "chat", attributes=chat))
    )
    run = agent_run(trace)
    assert [m.text for m in run.input.input_messages] == ["Weather in Paris?"]
    assert [m.text for m in run.input.remembered_messages] == ["Hi", "Hello"]


def test_content_in_the_details_event_is_read() -> None:
    """Where attributes must be short, an event has the messages."""
    details = {
        "name": "gen_ai.client.inference.operation.details",
        "attributes": pairs({"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED}),
    }
    (trace,) = read_otel(
        export(span("a", "", 0, "invoke_agent"), span("c", "a", 1, "chat", events=[details]))
    )
    run = agent_run(trace)
    assert (run.input.input_messages[0].text, assistant_text(run.output)) == (
        "Weather in Paris?",
        "It rains in Paris.",
    )


def test_the_older_events_are_read() -> None:
    """Until 1.36 every message was an event of its own."""
    events = [
        {"name": "gen_ai.system.message", "attributes": pairs({"content": "Be brief"})},
        {"name": "gen_ai.user.message", "attributes": pairs({"content": "Weather in Paris?"})},
        {
            "name": "gen_ai.choice",
            "attributes": pairs({"index": 0, "message": json.dumps({"content": "It rains."})}),
        },
    ]
    (trace,) = read_otel(
        export(span("a", "", 0, "invoke_agent"), span("c", "a", 1, "chat", events=events))
    )
    run = agent_run(trace)
    assert [m.text for m in run.input.system_messages] == ["Be brief"]
    assert run.input.input_messages[0].text == "Weather in Paris?"
    assert assistant_text(run.output) == "It rains."


@pytest.mark.parametrize("held", ["Be brief", [{"type": "text", "content": "Be brief"}]], ids=repr)
def test_instructions_are_the_systems_first_message(held: object) -> None:
    """The conventions want parts, and some instrumentations give text."""
    chat = {"gen_ai.system_instructions": held, "gen_ai.input.messages": ASKED}
    attributes = {"gen_ai.output.messages": ANSWERED, **chat}
    (trace,) = read_otel(
        export(span("a", "", 0, "invoke_agent"), span("c", "a", 1, "chat", attributes=attributes))
    )
    assert [m.text for m in agent_run(trace).input.messages] == ["Be brief", "Weather in Paris?"]


def test_an_agent_that_was_called_keeps_its_model_calls_to_itself() -> None:
    """Its answer is not its caller's."""
    inner = {"gen_ai.input.messages": ASKED, "gen_ai.output.messages": ANSWERED}
    outer = inner | {"gen_ai.output.messages": [text("assistant", "Done.")]}
    (trace,) = read_otel(
        export(
            span("a", "", 0, "invoke_agent"),
            span("c1", "a", 1, "chat", attributes=outer),
            span("b", "a", 2, "invoke_agent"),
            span("c2", "b", 3, "chat", attributes=inner),
        )
    )
    assert assistant_text(agent_run(trace).output) == "Done."
    assert assistant_text(agent_run(trace, "b").output) == "It rains in Paris."


@pytest.mark.parametrize(
    ("more", "error"),
    [
        pytest.param({"status": {"code": 2, "message": "boom"}}, "boom", id="message"),
        pytest.param(
            {"status": {"code": "STATUS_CODE_ERROR"}, "attributes": {"error.type": "timeout"}},
            "timeout",
            id="error.type",
        ),
        pytest.param(
            {
                "status": {"code": 2},
                "events": [
                    {"name": "exception", "attributes": pairs({"exception.message": "boom"})}
                ],
            },
            "boom",
            id="exception",
        ),
        pytest.param({"status": {"code": 1}}, None, id="fine"),
        pytest.param({}, None, id="unset"),
    ],
)
def test_a_failed_tool_says_why(more: dict[str, Any], error: str | None) -> None:
    """Row 23460: a failure must not look like a result."""
    (trace,) = read_otel(export(span("t", "", 0, "execute_tool", **more)))
    assert trace.spans[0].error == error


def test_lines_of_exports_are_gathered_by_trace() -> None:
    """The collector's file exporter writes a line per batch."""
    one = export(span("a", "", 0, "invoke_agent"))
    two = export(span("b", "a", 1, "chat"), span("x", "", 2, "chat") | {"traceId": "other"})
    lines = f"{json.dumps(one)}\n{json.dumps(two)}\n"
    for document in (lines, [one, two]):
        first, second = read_otel(document)
        assert ([s.span_id for s in first.spans], second.trace_id) == (["a", "b"], "other")


def test_the_python_sdks_own_json_is_read() -> None:
    """Its console exporter writes one indented object after the other."""
    spans: list[dict[str, Any]] = [
        {
            "name": "execute_tool ping",
            "context": {"trace_id": "0xaa", "span_id": "0x02", "trace_state": "[]"},
            "parent_id": "0x01",
            "start_time": "2025-01-01T00:00:01.000000Z",
            "end_time": "2025-01-01T00:00:02.500000Z",
            "status": {"status_code": "ERROR", "description": "boom"},
            "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "ping"},
            "events": [],
        },
        {
            "name": "invoke_agent",
            "context": {"trace_id": "0xaa", "span_id": "0x01"},
            "parent_id": None,
            "start_time": "2025-01-01T00:00:00Z",
            "end_time": None,
            "status": {"status_code": "UNSET"},
            "attributes": {"gen_ai.operation.name": "invoke_agent"},
        },
    ]
    (trace,) = read_otel("\n".join(json.dumps(one, indent=4) for one in spans))
    tool, agent = trace.spans
    assert (tool.kind, tool.label, tool.parent_id, tool.error) == (
        "tool_call",
        "ping",
        "01",
        "boom",
    )
    assert (tool.duration_ms, agent.parent_id, agent.kind) == (1500.0, None, "agent_run")


def test_every_typed_value_is_decoded() -> None:
    """64-bit integers are text in OTLP's JSON."""
    held = {"n": 7, "f": 0.5, "b": True, "s": "x", "l": [1, "a"], "o": {"k": [False]}}
    (trace,) = read_otel(export(span("a", "", 0, "chat", attributes=held)))
    assert {name: trace.spans[0].attributes[name] for name in held} == held


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param("no json", "the export is no JSON", id="text"),
        pytest.param(b"\xff", "the export is no JSON", id="bytes"),
        pytest.param({"spans": []}, "no export of OpenTelemetry spans", id="other object"),
        pytest.param({"resourceSpans": []}, "the export has no spans", id="empty"),
        pytest.param("", "the export has no spans", id="nothing"),
    ],
)
def test_what_is_no_export_is_refused(document: object, message: str) -> None:
    """Zero traces without a word would look like zero failures."""
    with pytest.raises(TraceError, match=message):
        read_otel(document)


@pytest.mark.parametrize("encoding", ["otlp", "sdk"])
def test_a_real_instrumentations_trace_is_read(encoding: str) -> None:
    """Recorded with pydantic-ai 2.68.0, its TestModel and the OpenTelemetry SDK 1.45.2.

    Its agent's span holds no messages under the conventions' names: they come from the calls.
    """
    file = Path(__file__).parents[2] / "references" / f"trace_pydantic_ai_{encoding}.json"
    (trace,) = read_otel(file.read_bytes())
    run = agent_run(trace)
    assert [m.text for m in run.input.messages] == ["Be brief", "Weather in Paris?"]
    assert assistant_text(run.output) == '{"get_weather":"rain"}'
    (call,) = tool_calls(run.output)
    assert (call.name, call.arguments, call.result) == ("get_weather", {"city": "a"}, "rain")
    steps = extract_trajectory_from_trace(trace).steps
    assert [(step.name, step.step_type) for step in steps] == [
        ("test", "model_generation"),
        ("get_weather", "tool_call"),
        ("test", "model_generation"),
    ]
    assert [step.details.get("prompt_tokens") for step in steps] == [55, None, 56]
