"""Table 2E of the reference, its traces: what an agent was given and what it said."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from classify.adapters.scorers.agent_run import agent_run
from classify.adapters.scorers.agent_text import assistant_text, tool_calls, user_texts
from classify.adapters.scorers.traces import Span, Trace, TraceError, read_trace

SYSTEM = {"role": "system", "content": "You are kind"}


def agent(id: str = "agent", parent: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return an agent's span in the reference's shape."""
    return {
        "traceId": "t",
        "spanId": id,
        "parentSpanId": parent,
        "name": f"agent run: '{id}'",
        "spanType": "agent_run",
        "startedAt": "2025-01-01T00:00:00Z",
        "input": [{"role": "user", "content": "now"}],
        "output": {"text": "fine"},
    } | fields


def model(*messages: dict[str, Any], parent: str = "agent", id: str = "llm") -> dict[str, Any]:
    """Return a model's span."""
    return {
        "spanId": id,
        "parentSpanId": parent,
        "name": f"llm: '{id}'",
        "spanType": "model_generation",
        "startedAt": "2025-01-01T00:01:00Z",
        "input": {"messages": list(messages)},
        "output": {"text": "fine"},
    }


def tool(called: str, minute: int = 2, *, parent: str = "agent", **fields: Any) -> dict[str, Any]:
    """Return a tool's span."""
    return {
        "spanId": f"tool-{called}",
        "parentSpanId": parent,
        "name": f"tool: '{called}'",
        "spanType": "tool_call",
        "startedAt": f"2025-01-01T00:{minute:02}:00Z",
        "input": {"q": called},
        "output": {"hits": minute},
    } | fields


def trace(*spans: dict[str, Any]) -> Trace:
    """Return a trace of the reference's shape, read."""
    return read_trace({"traceId": "t", "spans": list(spans)})


def user(text: str) -> dict[str, Any]:
    """Return a message of the user."""
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    """Return a message of the assistant."""
    return {"role": "assistant", "content": text}


def test_row_104_what_was_said_before_is_remembered() -> None:
    """History user, assistant, user: the first two are history, the third is asked now."""
    run = agent_run(trace(agent(), model(SYSTEM, user("then"), said("so"), user("now"))))
    assert [m.text for m in run.input.input_messages] == ["now"]
    assert [(m.role, m.text) for m in run.input.remembered_messages] == [
        ("user", "then"),
        ("assistant", "so"),
    ]
    assert [m.text for m in run.input.system_messages] == ["You are kind"]
    assert run.input.tagged_system_messages == {}


@pytest.mark.parametrize(
    "input",
    [
        pytest.param("now", id="105 string"),
        pytest.param([user("now")], id="list"),
        pytest.param({"messages": [user("now")]}, id="messages"),
    ],
)
def test_an_agents_input_is_one_user_message(input: object) -> None:
    """Three ways in which agents are called."""
    run = agent_run(trace(agent(input=input), model(user("now"))))
    assert user_texts(run.input) == ("now",)
    assert run.input.remembered_messages == ()


def test_row_106_tools_come_before_the_text_by_their_start() -> None:
    """In one message of the assistant, results included."""
    run = agent_run(trace(agent(), tool("late", 9), tool("early", 2), model(user("now"))))
    (message,) = run.output
    assert [part.type for part in message.parts] == ["tool-invocation", "tool-invocation", "text"]
    assert (message.role, assistant_text(run.output)) == ("assistant", "fine")
    assert [(c.name, c.arguments, c.result, c.state) for c in tool_calls(run.output)] == [
        ("early", {"q": "early"}, {"hits": 2}, "result"),
        ("late", {"q": "late"}, {"hits": 9}, "result"),
    ]


def test_a_tool_without_input_and_output_has_empty_ones() -> None:
    """As in the reference, so that scorers need not ask for None."""
    run = agent_run(trace(agent(), model(user("now")), tool("ping", input=None, output=None)))
    assert [(c.arguments, c.result) for c in tool_calls(run.output)] == [({}, {})]


def test_a_tool_that_was_thrown_is_no_result() -> None:
    """Row 23460: the reference calls every tool's span a result."""
    failing = tool("ping", output=None, error={"message": "boom"})
    (call,) = tool_calls(agent_run(trace(agent(), model(user("now")), failing)).output)
    assert (call.state, call.error) == ("error", "boom")


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        pytest.param({"entityName": "save_result"}, "save_result", id="entity"),
        pytest.param({"name": "tool: 'save_result'"}, "save_result", id="label"),
        pytest.param({"name": "mcp tool: 'save_result' on 'server'"}, "save_result", id="mcp"),
        pytest.param({"name": "save_result"}, "save_result", id="plain"),
    ],
)
def test_row_23462_a_tool_has_one_name_however_it_was_traced(
    fields: dict[str, Any], name: str
) -> None:
    """Expectations name tools, and spans have labels."""
    run = agent_run(trace(agent(), model(user("now")), tool("save_result", **fields)))
    assert [call.name for call in tool_calls(run.output)] == [name]


def test_a_blank_text_is_no_part() -> None:
    """An agent may answer with a call of a tool alone."""
    run = agent_run(trace(agent(output={"text": "  "}), model(user("now")), tool("ping")))
    assert [part.type for part in run.output[0].parts] == ["tool-invocation"]


def test_tools_inside_model_calls_are_found_and_those_of_other_agents_are_not() -> None:
    """Frameworks differ in where they put a tool; a called agent's work is its own."""
    run = agent_run(
        trace(
            agent(),
            model(user("now")),
            tool("inside", 3, parent="llm"),
            agent("helper", "agent", startedAt="2025-01-01T00:05:00Z"),
            tool("other", 6, parent="helper"),
        )
    )
    assert [call.name for call in tool_calls(run.output)] == ["inside"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(None, "the trace is None", id="107 null"),
        pytest.param({"traceId": "t", "spans": []}, "trace 't' has no spans", id="107 no spans"),
        pytest.param({"traceId": "t"}, "trace 't' has no spans", id="107 spans absent"),
        pytest.param(
            {"traceId": "t", "spans": [model(parent="gone")]},
            "span 'llm' references the parent 'gone', which is not in trace 't'",
            id="107 missing parent",
        ),
        pytest.param({"traceId": "t", "spans": [3]}, "a span must be an object", id="no span"),
        pytest.param({"spans": [{"name": "x"}]}, "needs a spanId and a spanType", id="no id"),
        pytest.param(
            {"traceId": "t", "spans": [agent(), agent()]}, "two spans of one id", id="twice"
        ),
        pytest.param(
            {"spans": [agent("a", "b"), agent("b", "a")]}, "among its own parents", id="a ring"
        ),
        pytest.param({"spans": [agent(startedAt="noon")]}, "must be ISO 8601", id="time"),
        pytest.param("t", "must be an object with spans, got str", id="text"),
    ],
)
def test_each_broken_trace_has_its_own_error(value: object, message: str) -> None:
    """Exports are cut off in many ways, and each has its own remedy."""
    with pytest.raises(TraceError, match=message):
        read_trace(value)


@pytest.mark.parametrize(
    ("spans", "span_id", "message"),
    [
        pytest.param([agent()], None, "no model_generation span was found", id="107 no model"),
        pytest.param(
            [agent(), agent("sub", "agent"), model(user("now"), parent="sub")],
            None,
            "no model_generation span was found in agent span 'agent'",
            id="only another agent's model",
        ),
        pytest.param(
            [tool("ping", parent="x") | {"parentSpanId": None}], None, "no agent_run", id="none"
        ),
        pytest.param([agent() | {"output": None}], None, "has no output", id="no output"),
        pytest.param([agent(), model()], "llm", "is a model_generation, and no", id="not agent"),
        pytest.param([agent()], "x", "has no span 'x'", id="unknown span"),
        pytest.param(
            [
                agent("flow") | {"spanType": "workflow_run"},
                agent("a", "flow"),
                agent("b", "flow"),
            ],
            None,
            r"several agent_run spans \(a, b\): name one",
            id="several",
        ),
    ],
)
def test_each_trace_without_an_agents_run_has_its_own_error(
    spans: list[dict[str, Any]], span_id: str | None, message: str
) -> None:
    """The message says which span to look at."""
    with pytest.raises(TraceError, match=message):
        agent_run(trace(*spans), span_id)


def test_row_109_only_the_last_message_of_the_same_text_is_asked_now() -> None:
    """The reference drops every message of that text; one said before is history here."""
    run = agent_run(trace(agent(input="again"), model(user("again"), said("hm"), user("again"))))
    assert [m.text for m in run.input.remembered_messages] == ["again", "hm"]


def test_history_that_lacks_the_question_is_kept_whole() -> None:
    """A model's call may have been given a rewritten question."""
    run = agent_run(trace(agent(input="now"), model(user("then"), said("so"))))
    assert [m.text for m in run.input.remembered_messages] == ["then", "so"]


def test_an_agent_inside_a_workflow_is_found() -> None:
    """The reference wants it as a root; as the only one it is meant."""
    flow = agent("flow", spanType="workflow_run")
    run = agent_run(trace(flow, agent("a", "flow"), model(user("now"), parent="a")))
    assert run.span.span_id == "a"


def test_the_systems_messages_are_listed_once() -> None:
    """The agent's span and the model's both have them."""
    run = agent_run(trace(agent(input=[SYSTEM, user("now")]), model(SYSTEM, user("now"))))
    assert [m.text for m in run.input.system_messages] == ["You are kind"]


def test_children_come_by_their_start_and_those_without_one_last() -> None:
    """Exporters write spans when they end."""
    read = trace(agent(), tool("b", 5), tool("none", startedAt=None), tool("a", 1))
    assert [span.span_id for span in read.children("agent")] == ["tool-a", "tool-b", "tool-none"]


@pytest.mark.parametrize(
    "started",
    [
        pytest.param("1970-01-01T00:00:01Z", id="text"),
        pytest.param(1000, id="milliseconds"),
        pytest.param(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), id="datetime"),
    ],
)
def test_times_are_read_from_text_numbers_and_dates(started: object) -> None:
    """JSON has text, JavaScript has milliseconds, Python has dates."""
    span = trace(agent(startedAt=started, endedAt=4000)).spans[0]
    assert (span.started_ms, span.duration_ms) == (1000.0, 3000.0)


def test_snake_case_and_ready_spans_are_read_too() -> None:
    """A trace made in Python has Python's names."""
    span = Span(span_id="a", kind="agent_run")
    child = {"span_id": "b", "span_type": "tool_call", "parent_span_id": "a", "name": "x"}
    read = read_trace({"trace_id": "t", "spans": [span, child]})
    assert (read.trace_id, read.spans[0], read.spans[1].parent_id) == ("t", span, "a")
    assert read_trace(read) is read
