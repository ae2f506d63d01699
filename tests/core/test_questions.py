"""Questions of three kinds: what is accepted, what is refused and with which message."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from classify.errors import InvalidInput, LabelCollision
from classify.questions import Boolean, Choice, Score


@pytest.mark.parametrize(
    ("kind", "fields", "message"),
    [
        pytest.param(Choice, {}, "criteria must be a non-empty object", id="choice without"),
        pytest.param(
            Choice,
            {"criterai": {"a": None}},
            "unknown field 'criterai': did you mean 'criteria'",
            id="choice misspelt",
        ),
        pytest.param(
            Score,
            {"criterai": ["a", "b"]},
            "unknown field 'criterai': did you mean 'criteria'",
            id="score misspelt",
        ),
        pytest.param(Choice, {"criteria": {}}, "criteria must be a non-empty object", id="empty"),
        pytest.param(Choice, {"criteria": ["a"]}, "must be a non-empty object", id="list"),
        pytest.param(
            Choice, {"criteria": {"": None}}, "option names must be non-empty", id="blank"
        ),
        pytest.param(
            Choice, {"criteria": {1: None}}, "option names must be non-empty", id="number"
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": object()}},
            r"criteria\.a must hold .*got object",
            id="object",
        ),
        pytest.param(
            Choice, {"criteria": {"a": math.nan}}, r"criteria\.a must hold .*got nan", id="nan"
        ),
        pytest.param(
            Choice, {"criteria": {"a\ud800": None}}, "half a surrogate", id="surrogate option"
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None}, "words": {"b": "x"}},
            r"words must name every option, \['a'\], got \['b'\]",
            id="words of others",
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None}, "words": {"a": " "}},
            "words for 'a' must not be blank",
            id="blank words",
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None}, "words": {"a": []}},
            "words for 'a' must be at least one and none twice",
            id="no words",
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None}, "words": {"a": ["x", "x"]}},
            "words for 'a' must be at least one and none twice",
            id="a word twice",
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None}, "instructions": {1, 2}},
            "instructions must hold only JSON",
            id="instructions",
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None}, "criterion": "x"},
            "unknown field 'criterion': did you mean 'criteria'",
            id="typo",
        ),
        pytest.param(Choice, {"criteria": {"a": None}, "type": "score"}, "type", id="another type"),
        pytest.param(Score, {"criteria": {"0": "a"}}, "list of at least two levels", id="mapping"),
        pytest.param(Score, {"criteria": "ab"}, "list of at least two levels", id="text"),
        pytest.param(Score, {"criteria": ["a", ""]}, "criterion 1 is missing", id="empty level"),
        pytest.param(Score, {"criteria": ["a", None]}, "criterion 1 is missing", id="null level"),
        pytest.param(
            Score, {"criteria": ["a", math.inf]}, r"criteria\[1\] must hold", id="infinite level"
        ),
        pytest.param(
            Score,
            {"criteria": ["a", "b", "c", "d"], "words": ["x", "y", "z"]},
            r"every level \(4\) or the two ends",
            id="three words of four",
        ),
        pytest.param(Boolean, {"criteria": ["a"]}, "object with true and false", id="list"),
        pytest.param(Boolean, {"criteria": {"yes": "a"}}, "keys true and false", id="yes"),
        pytest.param(Boolean, {"criteria": {1: "a"}}, "keys true and false, got 1", id="one"),
        pytest.param(Boolean, {"words": {"true": "y"}}, "both true and false", id="one word"),
        pytest.param(
            Boolean, {"criteria": {"true": math.nan}}, r"criteria\.true must hold", id="nan"
        ),
        pytest.param(Boolean, {"cue": ""}, "cue", id="empty cue"),
    ],
)
def test_an_unusable_question_is_refused(kind: Any, fields: dict[str, Any], message: str) -> None:
    """The message names the field, the value and the way out."""
    with pytest.raises(InvalidInput, match=message):
        kind(**fields)


@pytest.mark.parametrize(
    ("kind", "fields", "options"),
    [
        pytest.param(Choice, {"criteria": {"a b": None, "Yes": None}}, "'a b'", id="spaces"),
        pytest.param(
            Choice,
            {"criteria": {"a": None, "b": None}, "words": {"a": "Same", "b": " same"}},
            "'a' and 'b' have the same words",
            id="given words",
        ),
        pytest.param(
            Choice,
            {"criteria": {"a": None, "b": None}, "words": {"a": ["x", "y"], "b": ["z", "Y"]}},
            "'a' and 'b' have the same words, 'Y'",
            id="one of several",
        ),
        pytest.param(
            Choice, {"criteria": {"big_bee": None, "big bee": None}}, "have the same words", id="_"
        ),
        pytest.param(
            Score, {"criteria": ["a", "b"], "words": ["x", "X"]}, "'0' and '1'", id="score"
        ),
        pytest.param(
            Boolean, {"words": {"true": "ok", "false": "OK"}}, "'true' and 'false'", id="boolean"
        ),
    ],
)
def test_words_that_cannot_be_told_apart_collide(
    kind: Any, fields: dict[str, Any], options: str
) -> None:
    """The error names both options; other options' words may be anything."""
    if options == "'a b'":
        assert kind(**fields).options == ("a b", "Yes")
        return
    with pytest.raises(LabelCollision, match=options):
        kind(**fields)


def test_a_question_is_frozen() -> None:
    """What was checked stays as it was."""
    question = Boolean()

    with pytest.raises(ValidationError, match="frozen"):
        question.cue = "x"  # pyright: ignore[reportAttributeAccessIssue]


def test_booleans_take_python_and_yaml_keys() -> None:
    """true, "true" and True are one key."""
    criteria: Any = {True: "a", "false": None}

    assert Boolean(criteria=criteria) == Boolean(criteria={"true": "a", "false": None})


def test_options_and_their_words() -> None:
    """Declared order, underscores as spaces, levels by index, true before false."""
    choice = Choice(criteria={"big_bee": "it hums", "ant": None})
    score = Score(criteria=["bad", {"en": "good"}])
    anchored = Score(criteria=["a", "b", "c"], words=["low", "high"])
    boolean = Boolean(criteria={"true": "it thanks"})

    assert choice.options == ("big_bee", "ant")
    assert (choice.spellings("big_bee"), choice.described("ant")) == (("big bee",), None)
    assert score.options == ("0", "1")
    assert (score.spellings("0"), score.spellings("1")) == (("bad",), ("1",))
    assert score.described("1") == {"en": "good"}
    assert anchored.anchored and not score.anchored
    assert (anchored.spellings("0"), anchored.spellings("2")) == (("low",), ("high",))
    assert boolean.options == ("true", "false")
    assert (boolean.spellings("true"), boolean.described("false")) == (("yes",), None)


@pytest.mark.parametrize(
    "question",
    [
        Choice(criteria={"b": {"any": ["json", 1]}, "a": None}, instructions=["x"], cue="It:"),
        Score(criteria=["bad", 2, {"en": "good"}], words=["low", "high"]),
        Boolean(criteria={"true": None}, words={"true": "ja", "false": "nein"}),
        Boolean(),
    ],
    ids=["choice", "score", "boolean", "bare"],
)
def test_a_question_survives_json(question: Choice | Score | Boolean) -> None:
    """As a spec file writes it, with the options in their order."""
    again = type(question).model_validate_json(question.model_dump_json())

    assert again == question
    assert again.options == question.options


def test_the_deepest_json_is_taken() -> None:
    """As deep as the check allows, pydantic allows too."""
    deep: Any = "x"
    for _ in range(189):
        deep = [deep]

    assert Boolean(instructions=deep).instructions == deep


def test_a_side_of_a_boolean_given_twice_is_refused() -> None:
    """One of the two descriptions would be lost in silence."""
    criteria: dict[Any, str] = {"true": "spam", True: "ham"}
    with pytest.raises(InvalidInput, match="criteria has true twice"):
        Boolean(criteria=criteria)


def test_words_that_differ_only_in_how_accents_are_encoded_are_the_same() -> None:
    """People see one word, and models have seen both for one."""
    with pytest.raises(LabelCollision, match="have the same words"):
        Choice(criteria={"caf\u00e9": None, "cafe\u0301": None})
