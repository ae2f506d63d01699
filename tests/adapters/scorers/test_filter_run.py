"""Table 2D of the reference: runs made smaller before they are scored."""

from __future__ import annotations

from typing import Any

import pytest

from classify.adapters.scorers.agent_messages import AgentInput, AgentMessage
from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.filter_run import filter_run
from classify.adapters.scorers.result import ScorerRun
from classify.errors import InvalidInput

TEXT = {"role": "assistant", "content": {"format": 2, "parts": [{"type": "text", "text": "Hi"}]}}
PLAIN = {"role": "assistant", "content": "Hi"}


def tool(name: str, *more: dict[str, Any]) -> dict[str, Any]:
    """Return a message with one call of a tool, and further parts."""
    call = {"state": "result", "toolCallId": name, "toolName": name, "result": 1}
    part = {"type": "tool-invocation", "toolInvocation": call}
    return {"role": "assistant", "content": {"format": 2, "parts": [part, *more]}}


def run(input: object = None, output: object = None, **fields: Any) -> ScorerRun[Any, Any]:
    """Return a run."""
    return ScorerRun(run_id="r", input=input, output=output, **fields)


@pytest.mark.parametrize(
    ("count", "kept"),
    [
        pytest.param(2, ["3", "4"], id="97 the last two"),
        pytest.param(0, ["0", "1", "2", "3", "4"], id="97 zero is no limit"),
        pytest.param(None, ["0", "1", "2", "3", "4"], id="none is no limit"),
        pytest.param(9, ["0", "1", "2", "3", "4"], id="more than there are"),
    ],
)
@pytest.mark.parametrize("key", ["rememberedMessages", "remembered_messages"])
def test_the_last_remembered_messages_are_kept(key: str, count: int, kept: list[str]) -> None:
    """What was said last matters most; what is asked now is never cut."""
    given = {"inputMessages": ["now"], key: [str(i) for i in range(5)]}
    changed = filter_run(max_remembered_messages=count)(run(given))
    assert changed.input == {"inputMessages": ["now"], key: kept}


def test_the_typed_input_is_cut_as_well() -> None:
    """Traces give it."""
    messages = tuple(AgentMessage(role="user", content=str(i)) for i in range(3))
    given = AgentInput(input_messages=messages[:1], remembered_messages=messages)
    changed = filter_run(max_remembered_messages=1)(run(given))
    assert changed.input == AgentInput(
        input_messages=messages[:1], remembered_messages=messages[2:]
    )


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        pytest.param({}, [0, 1, 2, 3, 4], id="nothing asked"),
        pytest.param({"part_types": ["tool-"]}, [1, 2, 3, 4], id="99 text is dropped, 100 not"),
        pytest.param({"part_types": ["text"]}, [0, 1, 4], id="text parts"),
        pytest.param({"part_types": ["reasoning"]}, [1], id="no part of this kind"),
        pytest.param({"tool_names": ["sea"]}, [0, 1, 2, 4], id="tool names begin with"),
        pytest.param({"tool_names": ["search"], "part_types": ["text"]}, [0, 1, 4], id="both"),
        pytest.param({"tool_names": ["none"], "part_types": ["tool-"]}, [1], id="neither"),
        pytest.param({"max_output_messages": 2}, [3, 4], id="the last two"),
        pytest.param({"tool_names": ["sea"], "max_output_messages": 2}, [2, 4], id="then cut"),
    ],
)
def test_output_messages_are_kept_by_their_parts(options: dict[str, Any], kept: list[int]) -> None:
    """Messages with string content have no parts to ask (row 100), and stay."""
    said = {"type": "text", "text": "so"}
    output = [TEXT, PLAIN, tool("search"), tool("delete"), tool("search", said)]
    changed = filter_run(**options)(run(output=output))
    assert changed.output == [output[index] for index in kept]


@pytest.mark.parametrize("input", [{"inputMessages": ["now"]}, "text", None], ids=repr)
def test_row_101_other_shapes_are_left_alone(input: object) -> None:
    """A workflow's input and output have no messages."""
    given = run(input, {"text": "Hi"})
    prepare = filter_run(max_remembered_messages=1, max_output_messages=1, part_types=["tool-"])
    assert prepare(given) == given


def test_row_102_fields_are_dropped_from_a_copy() -> None:
    """The run as it was given is what the caller keeps."""
    given = run("i", "o", request_context={"a": 1}, expected_trajectory=["s"], ground_truth="g")
    changed = filter_run(
        drop_request_context=True, drop_expected_trajectory=True, drop_ground_truth=True
    )(given)
    assert (changed.request_context, changed.expected_trajectory, changed.ground_truth) == (
        None,
        None,
        None,
    )
    assert (given.request_context, given.expected_trajectory, given.ground_truth) == (
        {"a": 1},
        ["s"],
        "g",
    )


def test_it_is_a_prepare_run() -> None:
    """Which is what it is for."""
    scorer = create_scorer("count", prepare_run=filter_run(max_output_messages=1))
    counted = scorer.generate_score(lambda context: float(len(context.run.output) == 1))
    assert counted.run_sync(output=[PLAIN, PLAIN]).score == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"part_types": "tool-"}, "part_types must be a list", id="one string"),
        pytest.param({"tool_names": [""]}, "tool_names must be a list", id="empty beginning"),
        pytest.param({"max_output_messages": -1}, "whole number, 0 or None", id="negative"),
        pytest.param({"max_remembered_messages": 1.5}, "max_remembered_messages", id="fraction"),
        pytest.param({"max_remembered_messages": True}, "got True", id="boolean"),
    ],
)
def test_unusable_options_are_refused(options: dict[str, Any], message: str) -> None:
    """An empty beginning would fit every name."""
    with pytest.raises(InvalidInput, match=message):
        filter_run(**options)
