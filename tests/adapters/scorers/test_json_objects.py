"""Finding the JSON in a model's text, and checking it against a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from classify.adapters.scorers.json_objects import json_texts
from classify.adapters.scorers.output_schema import last_fitting, output_schema, strict

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=4), values, min_size=1, max_size=3)
prose = st.text(st.characters(exclude_characters='{}[]"', codec="utf-8"), max_size=20)

SCORE = output_schema({"type": "object", "required": ["score"]})


class Verdict(BaseModel):
    """An answer with an object inside."""

    reason: str
    score: float


@given(objects, prose, prose, st.sampled_from([None, 2]))
def test_an_object_is_found_between_any_sentences(
    value: dict[str, Any], before: str, after: str, indent: int | None
) -> None:
    """Models like to explain, and to print prettily."""
    text = json.dumps(value, indent=indent)

    found = json_texts(f"{before} {text} {after}")

    assert [json.loads(each) for each in found] == [value]


@given(objects, objects)
def test_draft_and_final_are_both_found_in_their_order(
    draft: dict[str, Any], final: dict[str, Any]
) -> None:
    """Two objects are never glued into one."""
    text = f"Draft: {json.dumps(draft)}\nFinal:\n```json\n{json.dumps(final, indent=1)}\n```"

    assert [json.loads(each) for each in json_texts(text)] == [draft, final]


@given(objects, st.data())
def test_nothing_inside_a_cut_off_object_is_taken_for_the_answer(
    value: dict[str, Any], data: st.DataObject
) -> None:
    """Half an answer may hold a whole object that means something else."""
    text = json.dumps({"outer": value})
    cut = data.draw(st.integers(1, len(text) - 1))

    assert json_texts(text[:cut]) == []


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """A judge may say anything; what is found is JSON."""
    for each in json_texts(text):
        json.loads(each)


@pytest.mark.parametrize(
    "text",
    ["{" * 3000, "[" * 100_000, '{"a":' * 20_000, "{a} " * 10_000, '{"' * 10_000],
    ids=["braces", "brackets", "deep", "many", "strings"],
)
def test_a_degenerate_reply_holds_nothing(text: str) -> None:
    """Small models repeat themselves without end."""
    assert json_texts(text) == []


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"score": 0.2} no, {"score": 0.7}', 0.7),
        ('{"score": 0.7} as in {"example": 1}', 0.7),
        ('{"score": 0.7,} {"score": 0.3}', 0.3),
        ('I use {braces} and [lists]. {"score": 0.4}', 0.4),
        ('```json\n{\n  "score": 0.6\n}\n```', 0.6),
    ],
    ids=["last", "last that fits", "broken draft", "braces in prose", "fence"],
)
def test_the_last_object_that_fits_is_the_answer(text: str, score: float) -> None:
    """The draft comes first, and what comes after may be something else."""
    found, value = last_fitting(text, SCORE)

    assert found and value == {"score": score}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("fine", "no complete JSON"),
        ('{"score": 1', "no complete JSON"),
        ('{"score": NaN}', "no complete JSON"),
        ('{"other": 1}', "'score' is a required property"),
    ],
    ids=["prose", "cut off", "NaN", "other"],
)
def test_what_does_not_fit_says_why(text: str, problem: str) -> None:
    """The reason goes into the error."""
    found, why = last_fitting(text, SCORE)

    assert not found and problem in why


def test_a_schema_of_a_single_value_reads_the_whole_text() -> None:
    """Not every schema is of an object."""
    assert last_fitting(" 3 ", output_schema({"type": "integer"})) == (True, 3)


def test_a_pydantic_model_reads_by_the_rules_of_json() -> None:
    """A field that is missing is named."""
    schema = output_schema(Verdict)

    assert last_fitting('{"reason": "r", "score": 1}', schema) == (
        True,
        Verdict(reason="r", score=1.0),
    )
    found, why = last_fitting('{"reason": "r"}', schema)
    assert not found and why == "Verdict.score: is required and missing"


def test_a_reference_to_an_address_is_never_fetched() -> None:
    """A schema may come from someone else."""
    schema = output_schema({"$ref": "http://127.0.0.1:9/schema.json"})

    with pytest.raises(Exception, match=r"Unresolvable.*127\.0\.0\.1:9/schema"):
        last_fitting("{}", schema)


def test_a_strict_schema_keeps_names_that_look_like_keywords() -> None:
    """A property may be called "default" or "properties"."""
    schema: Any = {
        "type": "object",
        "properties": {
            "default": {"type": "integer", "default": 3},
            "properties": {"type": "object", "properties": {"a": {}}, "required": []},
        },
    }

    closed: Any = strict(schema)

    assert closed["required"] == ["default", "properties"]
    assert closed["properties"]["default"] == {"type": "integer"}
    assert closed["properties"]["properties"]["additionalProperties"] is False
    assert schema["properties"]["default"]["default"] == 3
