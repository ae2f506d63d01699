"""What counts as JSON: the check says where a value is not, and survives hostile ones."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.errors import InvalidInput
from classify.json_values import check_json


def nested(depth: int, inside: Any = "x") -> Any:
    """Return a list in a list in a list …."""
    value = inside
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -1.5,
        "text",
        "\U0001f600",
        [],
        {},
        (1, "a"),
        {"a": [None, {"b": False}]},
        MappingProxyType({"a": 1}),
        2**4000,
    ],
    ids=lambda value: repr(value)[:20],
)
def test_json_is_accepted(value: Any) -> None:
    """Everything that JSON can hold, in Python's types for it."""
    check_json(value, "state")


class Point:
    """Something that is no JSON."""


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param(math.nan, "state must hold only JSON-compatible values, got nan", id="nan"),
        pytest.param({"a": [1, math.inf]}, r"state\.a\[1\] must hold .*, got inf", id="infinity"),
        pytest.param({"a": Point()}, r"state\.a must hold .*, got Point", id="instance"),
        pytest.param([len], r"state\[0\] must hold .*, got builtin_function", id="function"),
        pytest.param(datetime.now(UTC), "state must hold .*, got datetime", id="date"),
        pytest.param({1, 2}, "state must hold .*, got set", id="set"),
        pytest.param(b"x", "state must hold .*, got bytes", id="bytes"),
        pytest.param({1: "x"}, "state must hold .*: keys are strings, got 1", id="key"),
        pytest.param({"a": "x\ud800"}, r"state\.a must hold .*half a surrogate", id="surrogate"),
        pytest.param({"\udfff": 1}, "state must hold .*half a surrogate", id="surrogate key"),
        pytest.param(nested(191), "nested more than 190 levels deep", id="deep"),
        pytest.param(nested(100_000), "nested more than 190 levels deep", id="very deep"),
        pytest.param(
            10**5000, "state must hold .*whole number of more than 4000 digits", id="huge number"
        ),
    ],
)
def test_what_is_no_json_is_named_with_its_place(value: Any, message: str) -> None:
    """The error says where, what, and that only JSON can be sent."""
    with pytest.raises(InvalidInput, match=message):
        check_json(value, "state")


def test_a_value_that_contains_itself_is_refused() -> None:
    """Directly or round a corner."""
    loop: list[Any] = []
    loop.append(loop)
    round_trip: dict[str, Any] = {"a": {"b": []}}
    round_trip["a"]["b"].append(round_trip)

    for value in (loop, round_trip):
        with pytest.raises(InvalidInput, match="circular references"):
            check_json(value, "state")


def test_a_shared_part_is_fine() -> None:
    """The same object twice is no circle."""
    shared = {"x": [1]}

    check_json({"a": shared, "b": [shared, shared]}, "state")


def test_two_hundred_levels_are_enough_for_anyone() -> None:
    """Deep, and accepted."""
    check_json(nested(190), "state")


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=20,
    )
)
def test_any_json_passes(value: Any) -> None:
    """The check has no opinion on content."""
    check_json(value, "state")
