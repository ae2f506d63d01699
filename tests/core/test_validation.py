"""Pydantic's errors as ours: the place, the value and the way out."""

from __future__ import annotations

import difflib
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from classify.errors import InvalidInput
from classify.options import Options, OptionValues
from classify.validation import Strict, closest, unknown_name


class Sample(Strict):
    """A model for these tests."""

    count: int = Field(ge=1)
    names: list[str] = Field(default_factory=list[str])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        pytest.param({}, "Sample.count: is required and missing", id="missing"),
        pytest.param({"count": 0}, "Sample.count: input should be greater .*, got 0", id="small"),
        pytest.param({"count": "x"}, "Sample.count: .*got 'x'", id="text"),
        pytest.param({"count": 1, "names": ["a", 2]}, r"Sample.names\[1\]: .*got 2", id="place"),
        pytest.param({"count": 1, "cuont": 2}, "unknown field 'cuont': did you mean", id="typo"),
        pytest.param({"count": 1, "zzz": 2}, "known are count, names", id="unknown"),
    ],
)
def test_every_problem_has_a_place_and_a_value(values: dict[str, Any], message: str) -> None:
    """What the user sees names the field as it was written."""
    with pytest.raises(InvalidInput, match=message):
        Sample(**values)


def test_all_problems_are_listed() -> None:
    """One line each, so that one run finds them all."""
    wrong: dict[str, Any] = {"count": 0, "names": [1, 2]}

    with pytest.raises(InvalidInput, match="count") as raised:
        Sample(**wrong)
    assert len(str(raised.value).splitlines()) == 3


def test_our_errors_are_pythons_too() -> None:
    """The reference raises a TypeError, Python a ValueError."""
    assert issubclass(InvalidInput, ValueError) and issubclass(InvalidInput, TypeError)


@pytest.mark.parametrize("name", [None, 3, "colour"], ids=repr)
def test_any_name_can_be_unknown(name: object) -> None:
    """The message says what is known."""
    assert unknown_name("field", name, ["b", "a"]) == f"unknown field {name!r}: known are a, b"


def test_options_and_their_keywords_hold_the_same_names_and_types() -> None:
    """What type-checkers see of Classifier's keywords is what Options takes."""
    fields = {name: get_type_hints(Options)[name] for name in Options.model_fields}

    assert fields == get_type_hints(OptionValues)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param(
            {"readout": "letter"}, "Options.readout: .*'letters'.*got 'letter'", id="readout"
        ),
        pytest.param({"orders": 0}, "Options.orders: .*got 0", id="orders"),
        pytest.param({"orders": 256}, "Options.orders: .*got 256", id="many orders"),
        pytest.param({"min_coverage": 1.5}, "Options.min_coverage: .*got 1.5", id="coverage"),
        pytest.param({"min_coverage": float("nan")}, "Options.min_coverage: .*got nan", id="nan"),
        pytest.param({"samples": 0}, "Options.samples: .*got 0", id="samples"),
        pytest.param({"fallback": "guess"}, "Options.fallback: .*got 'guess'", id="fallback"),
        pytest.param({"prior": "uniform"}, "Options.prior: .*got 'uniform'", id="prior"),
        pytest.param({"tree_tolerance": 1.0}, "Options.tree_tolerance: .*got 1.0", id="tolerance"),
        pytest.param({"state_name": ""}, "Options.state_name: .*got ''", id="name"),
        pytest.param({"order": 2}, "unknown field 'order': did you mean 'orders'", id="typo"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, Any], message: str) -> None:
    """No option is ignored in silence."""
    with pytest.raises(InvalidInput, match=message):
        Options(**options)


@given(st.text("abc", max_size=40), st.lists(st.text("abc", max_size=6), max_size=3))
def test_a_long_text_is_compared_with_no_name_that_it_could_be_near(
    name: str, known: list[str]
) -> None:
    """What is left out for its length is what difflib finds far from all."""
    assert closest(name, known) == next(iter(difflib.get_close_matches(name, known, n=1)), None)
