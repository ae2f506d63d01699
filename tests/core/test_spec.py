"""Spec files: what they may hold, and errors with file, line, field and way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from classify.errors import InvalidInput
from classify.questions import Boolean, Choice, Score
from classify.spec import Spec, load_spec
from classify.spec_schema import spec_schema
from classify.testing.scripted import ScriptedModel

YAML = """\
id: support
model: local
questions:
  topic:
    type: choice
    criteria: {refund: money back, no: ~, 2024-01-01: a day, 7: a number}
  mood:
    type: score
    criteria: [bad, 1, 0.5, yes]
  urgent:
    type: boolean
    criteria:
      yes: now
      no: later
options:
  orders: 3
state: {review: text}
labels: {topic: label}
id_field: key
"""

WRONG = {
    "field": (("model:", "modle:"), r":2: unknown field 'modle'.*'model'"),
    "type": (("type: choice", "type: chioce"), r":4: questions\.topic: .*'choice'"),
    "option": (("orders: 3", "orders: 0"), r":16: options\.orders: .*got 0"),
    "option's name": (("orders", "ordres"), r":16: options: unknown field 'ordres'"),
    "level": (("bad, 1", "bad, ~"), r":7: questions\.mood: criterion 1 is missing"),
    "levels": (("[bad, 1, 0.5, yes]", "x"), r":9: questions\.mood: criteria must be"),
    "label": (("topic: label", "tpoic: label"), r"labels: unknown question 'tpoic'"),
    "state": (("{review: text}", "[1]"), r":17: state: must be a field's name"),
    "empty id": (("id: support", "id: ''"), r":1: id: string should have at least 1"),
    "no id": (("id: support\n", ""), r":1: id: is required and missing"),
    "nan": (("0.5", ".nan"), r":9: \.nan is no JSON value"),
    "side": (("yes: now", "perhaps: now"), r"urgent: criteria may only have the keys"),
    "twice": (("model: local", "id: b"), r":2: the key 'id' appears twice.*line 1"),
    "merge key": (("model: local", "<<: {}"), r":2: merge keys"),
    "key": (("model: local", "? [a]\n: b"), r":2: a key must be plain text"),
    "tag": (("local", "!x local"), r":2: the tag '!x' is not read"),
    "cycle": (("local", "&a [*a]"), r":2: an alias .* inside what it names"),
    "syntax": (("local", "'unclosed"), r"invalid YAML"),
    "control character": (("local", "a\x00b"), r":2: invalid YAML"),
}


def _spec(folder: Path, content: str | bytes, name: str = "spec.yaml") -> Spec:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return load_spec(path)


def test_a_yaml_spec_is_read_as_written(tmp_path: Path) -> None:
    """Options called `no`, dates and numbers keep their names; yes and no are a boolean's sides."""
    spec = _spec(tmp_path, YAML)

    assert ("support", "local", 3) == (spec.id, spec.model, spec.options.orders)
    topic, mood, urgent = spec.questions.values()
    assert isinstance(topic, Choice)
    assert ("refund", "no", "2024-01-01", "7") == topic.options
    assert isinstance(mood, Score)
    assert ["bad", 1, 0.5, "yes"] == mood.criteria
    assert isinstance(urgent, Boolean)
    assert {"true": "now", "false": "later"} == urgent.criteria
    assert {"review": "text"} == spec.fields.state
    assert ({"topic": "label"}, "key") == (spec.fields.labels, spec.fields.id)


@pytest.mark.parametrize("indent", [None, 2, "\t"], ids=["one line", "spaces", "tabs"])
def test_the_same_spec_in_json_is_the_same(tmp_path: Path, indent: int | str | None) -> None:
    """JSON is read by JSON's own rules, tabs, escapes and all."""
    question = {"type": "choice", "criteria": {"a/\u00e9\U0001f600": "x", "b": None}}
    content = {"id": "s", "questions": {"q": question}}

    spec = _spec(tmp_path, "\ufeff" + json.dumps(content, indent=indent), "spec.json")

    assert Spec(id="s", questions={"q": Choice(criteria={"a/é😀": "x", "b": None})}) == spec


def test_a_spec_builds_its_classifier(tmp_path: Path) -> None:
    """With the spec's options, and another model where one is given."""
    model = ScriptedModel(lambda request: {})

    classifier = _spec(tmp_path, YAML).classifier(model)

    assert ("support", 3) == (classifier.id, classifier.options.orders)
    assert classifier.model is model


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param("text", "text", id="name"),
        pytest.param("[text]", "text", id="list of one"),
        pytest.param("[a, b]", {"a": "a", "b": "b"}, id="list"),
        pytest.param("~", None, id="none"),
    ],
)
def test_state_names_fields_in_three_forms(tmp_path: Path, state: str, expected: object) -> None:
    """A list is an object of fields under their own names."""
    spec = _spec(tmp_path, f"id: s\nquestions: {{q: {{type: boolean}}}}\nstate: {state}\n")

    assert expected == spec.fields.state


@pytest.mark.parametrize(
    ("change", "message"),
    WRONG.values(),
    ids=WRONG,
)
def test_a_wrong_spec_is_refused_with_its_line(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    """The file, the line, the field, the value and the way out."""
    with pytest.raises(InvalidInput, match=r"spec\.yaml.*" + message):
        _spec(tmp_path, YAML.replace(*change, 1))


def test_every_wrong_question_is_named(tmp_path: Path) -> None:
    """Mending one at a time would take as many tries."""
    content = YAML.replace("type: score", "type: skore").replace("type: boolean", "type: bolean")

    with pytest.raises(InvalidInput, match=r"(?s):7: questions\.mood.*:10: questions\.urgent"):
        _spec(tmp_path, content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("s.yaml", b"", "is empty", id="empty"),
        pytest.param("s.yaml", b"# nothing\n", "holds only comments", id="comments"),
        pytest.param("s.yaml", b"- a\n", "must hold the fields of a spec", id="list"),
        pytest.param("s.yaml", b"id: s\nmodel: \xff", ":2: not UTF-8", id="bad bytes"),
        pytest.param("s.yaml", b"#" * 2_000_000, "larger than 1 MiB", id="large"),
        pytest.param("s.yaml", b"a: " + b"[" * 5000, "nested too deeply", id="deep"),
        pytest.param(
            "s.json", b'{"id": "s",\n "id": "t"}', ":2: the key 'id'", id="json key twice"
        ),
        pytest.param("s.json", b'{"id": "s",\n x}', ":2: invalid JSON", id="json syntax"),
        pytest.param("s.json", b'{"id": NaN}', "NaN is no JSON value", id="json nan"),
        pytest.param(
            "s.json",
            b'{"id": "s",\n"questions": {"q":\n {"type": "score", "criteria": [1]}}}',
            r":3: questions\.q: criteria",
            id="json field",
        ),
    ],
)
def test_a_file_that_is_no_spec_is_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """Whatever the file holds, the message says what is wrong with it."""
    with pytest.raises(InvalidInput, match=message):
        _spec(tmp_path, content, name)


@pytest.mark.parametrize("name", ["absent.yaml", "."], ids=["absent", "directory"])
def test_what_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    """A directory is no spec either."""
    with pytest.raises(InvalidInput, match="cannot be read"):
        load_spec(tmp_path / name)


def test_aliases_that_multiply_are_cut_off(tmp_path: Path) -> None:
    """Nine lines can stand for a thousand million values."""
    lines = ["a0: &a0 x"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]

    with pytest.raises(InvalidInput, match="too many values"):
        _spec(tmp_path, "\n".join(lines))


def test_the_schema_describes_every_field_and_refuses_others() -> None:
    """It is made from the same models that read the files."""
    schema = spec_schema()

    assert set(Spec.model_fields) == set(schema["properties"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert ["id", "questions"] == schema["required"]
    assert schema["additionalProperties"] is False
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    for kind in ("Boolean", "Choice", "Score"):
        definition = definitions[kind]
        assert isinstance(definition, dict)
        assert definition["additionalProperties"] is False
        assert "type" in definition["required"]  # pyright: ignore[reportOperatorIssue]
