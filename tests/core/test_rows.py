"""Rows: every format, and what is said of rows that cannot be read."""

from __future__ import annotations

import gzip
import json
import os
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.errors import InvalidInput
from classify.json_rows import read_json_array
from classify.questions import Boolean, Choice, Question, Score
from classify.records import Record
from classify.row_labels import read_label
from classify.row_sources import count_records
from classify.rows import BadRow, FieldMap, Row, read_rows

QUESTIONS: Mapping[str, Question] = {
    "topic": Choice(criteria={"refund": None, "delivery": None}),
    "urgent": Boolean(),
    "mood": Score(criteria=["bad", "fine", "good"]),
}


def _written(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return str(path)


def _read(
    source: str, fields: FieldMap | None = None, *, limit: int | None = None
) -> tuple[list[Row | BadRow], list[str]]:
    notes: list[str] = []
    rows = read_rows(source, fields or FieldMap(), QUESTIONS, limit=limit, note=notes.append)
    return list(rows), notes


def _states(rows: list[Row | BadRow]) -> list[object]:
    return [row.state if isinstance(row, Row) else f"{row.place}: {row.message}" for row in rows]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("r.jsonl", '{"text": "a"}\n{"text": "b"}', id="lines"),
        pytest.param("r.ndjson", '\ufeff{"text": "a"}\r\n\r\n \n{"text": "b"}\r\n', id="crlf"),
        pytest.param("r.json", '[{"text": "a"}, {"text": "b"}]\n', id="array"),
        pytest.param("r.json", '\ufeff\n [\n{"text": "a"}\n,\n{"text": "b"}]', id="array, bom"),
        pytest.param("r.json", '{"text": "a"}\n{"text": "b"}\n', id="lines named json"),
        pytest.param("r.csv", "\ufefftext,n\r\na,1\r\n\r\nb,2\r\n", id="csv, bom, crlf"),
        pytest.param("r.csv", '\ufefftext;n\r\n"a";"1,5"\r\nb;2\r\n', id="csv, semicolons"),
        pytest.param("r.csv", "text\tn\na\t1\nb\t2\n", id="csv, tabs"),
        pytest.param("r.csv", "text,n;m\na,1\nb,2\n", id="csv, a semicolon in a name"),
        pytest.param("r.tsv", "n\ttext\n1\ta\n2\tb", id="tsv"),
        pytest.param("r.csv.gz", gzip.compress(b"text\na\nb\n"), id="gzip"),
        pytest.param("R.JSONL", '{"text": "a"}\n{"text": "b"}\n', id="upper case ending"),
    ],
)
def test_every_format_gives_the_same_rows(tmp_path: Path, name: str, content: str | bytes) -> None:
    """The format is the file's business, not the classifier's."""
    rows, _ = _read(_written(tmp_path, name, content))

    assert ["a", "b"] == _states(rows)
    assert [0, 1] == [row.index for row in rows]


def test_parquet_is_read_with_its_own_types(tmp_path: Path) -> None:
    """Dates become text and NaN becomes null, because JSON has neither."""
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "r.parquet"
    days = [date(2024, 5, 1)] * 600
    table = pa.table({"day": days, "x": [float("nan")] * 600, "tags": [["a", "b"]] * 600})
    parquet.write_table(table, path)

    rows, _ = _read(str(path))

    assert 600 == len(rows) == count_records(str(path))
    assert {"day": "2024-05-01", "x": None, "tags": ["a", "b"]} == _states(rows)[599]


@contextmanager
def _standard_input(path: str) -> Generator[None]:
    source, kept = os.open(path, os.O_RDONLY), os.dup(0)
    os.dup2(source, 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(source)


def test_standard_input_is_json_lines(tmp_path: Path) -> None:
    """Another program can pipe rows in."""
    with _standard_input(_written(tmp_path, "r", '{"text": "a"}\n')):
        rows, _ = _read("-")

    assert ["a"] == _states(rows)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b'{"text": "x"', "invalid JSON at column 13", id="cut off"),
        pytest.param(b"[1]", "must be a JSON object of fields, got an array", id="array"),
        pytest.param(b'"secret"', "got a string", id="string"),
        pytest.param(b"null", "got null", id="null"),
        pytest.param(b'{"text": NaN}', "NaN is no JSON value", id="nan"),
        pytest.param(b'{"text": -Infinity}', "-Infinity is no JSON value", id="infinity"),
        pytest.param(b'{"text": 1e999}', "field 'text' must hold only JSON", id="too large"),
        pytest.param(b'{"text": "\\ud800"}', "half a surrogate pair", id="half a surrogate"),
        pytest.param(b'{"text": "secret\xff"}', "not UTF-8", id="bad bytes"),
        pytest.param(b'{"text": "a", "text": "b"}', "'text' appears twice", id="key twice"),
        pytest.param(b"[" * 100_000, "nested too deeply", id="deep"),
        pytest.param(b'{"id": 1}', "unknown field 'text': known are id", id="field missing"),
    ],
)
def test_a_bad_line_spoils_itself_and_not_the_rest(
    tmp_path: Path, line: bytes, message: str
) -> None:
    """It is reported in its place, by its line, without its text."""
    content = b'{"text": "a"}\n\n' + line + b'\n{"text": "b"}\n'

    rows, _ = _read(_written(tmp_path, "r.jsonl", content))

    assert 3 == len(rows)
    bad = rows[1]
    assert isinstance(bad, BadRow)
    assert "line 3" == bad.place
    assert message in bad.message
    assert "secret" not in bad.message
    assert ["a", "b"] == [row.state for row in rows if isinstance(row, Row)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param(b"x,1,2", "3 cells where the header has 2", id="too many"),
        pytest.param(b"x", "1 cell where the header has 2", id="too few"),
        pytest.param(b"x\xff,1", "field 'text' is not UTF-8", id="bad bytes"),
        pytest.param(b'"x"y,1', "invalid CSV", id="stray quote"),
    ],
)
def test_a_bad_csv_row_spoils_itself_and_not_the_rest(
    tmp_path: Path, line: bytes, message: str
) -> None:
    """Guessing at cells would put values into the wrong fields."""
    content = b'text,n\n"a\nb",1\n' + line + b"\nc,2\n"

    rows, _ = _read(_written(tmp_path, "r.csv", content))

    bad = rows[1]
    assert isinstance(bad, BadRow)
    assert "line 4" == bad.place
    assert message in bad.message
    assert ["a\nb", "c"] == [row.state for row in rows if isinstance(row, Row)]


def test_huge_fields_are_read(tmp_path: Path) -> None:
    """The csv module's own limit is 128 KiB."""
    rows, _ = _read(_written(tmp_path, "r.csv", f"text\n{'x' * 1_000_000}\n"))

    assert ["x" * 1_000_000] == _states(rows)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param('[{"text": "a"}, {"te xt" 1}, {"text": "b"}]', "invalid JSON", id="broken"),
        pytest.param('[{"text": "a"},, {"text": "b"}]', "a comma too many", id="comma"),
        pytest.param('[{"text": "a"}, 5, {"text": "b"}]', "got a number", id="number"),
        pytest.param('[{"text": "a"}, {"text": "b"}', "does not end", id="cut off"),
        pytest.param('[{"text": "a"}, {"text": "b"}] x', "after the end", id="text after"),
    ],
)
def test_a_broken_element_of_an_array_is_one_bad_row(
    tmp_path: Path, content: str, problem: str
) -> None:
    """Brackets and quotes tell where the next element begins."""
    rows, _ = _read(_written(tmp_path, "r.json", content))

    good = [row.state for row in rows if isinstance(row, Row)]
    bad = [row.message for row in rows if isinstance(row, BadRow)]
    assert good in (["a", "b"], ["a"])
    assert 1 == len(bad)
    assert problem in bad[0]


_json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(), _json_values, max_size=3), max_size=5), st.data())
def test_an_array_is_cut_where_json_says(
    rows: list[dict[str, object]], data: st.DataObject
) -> None:
    """However the text is divided into chunks, and whatever the strings hold."""
    indent = data.draw(st.sampled_from([None, 2]))
    text = json.dumps(rows, indent=indent, ensure_ascii=data.draw(st.booleans()))
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    pieces = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]

    found = list(read_json_array(_Chunks(pieces)))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    assert rows == [record.fields for record in found if isinstance(record, Record)]
    assert len(rows) == len(found)


class _Chunks:
    """A file that gives its text in given pieces."""

    def __init__(self, pieces: list[str]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    def read(self, size: int) -> str:
        return self._pieces.pop(0) if self._pieces else ""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        pytest.param("r.txt", "x", "no ending that tells its format", id="unknown ending"),
        pytest.param("r.csv", "a,a\n1,2\n", "column 'a' appears twice", id="column twice"),
        pytest.param("r.csv", "sep=;\r\na;b\r\n1;2\r\n", "is no header: drop it", id="separator"),
        pytest.param("r.jsonl", '{"text": "a"}'.encode("utf-16"), "is UTF-16", id="utf-16"),
        pytest.param("r.parquet", "x" * 20, "no readable Parquet", id="no parquet"),
        pytest.param("r.jsonl.gz", b"\x1f\x8b\x08\x00", "cannot be read to its end", id="cut gzip"),
    ],
)
def test_an_unusable_source_is_refused_at_once(
    tmp_path: Path, name: str, content: str | bytes, message: str
) -> None:
    """No row of it could be read."""
    with pytest.raises(InvalidInput, match=message):
        _read(_written(tmp_path, name, content))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """The message says which file and why."""
    with pytest.raises(InvalidInput, match=r"absent\.jsonl.*No such file"):
        _read(str(tmp_path / "absent.jsonl"))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        pytest.param("body", "B", id="one field"),
        pytest.param({"review": "body"}, {"review": "B"}, id="one renamed"),
        pytest.param({"title": "title", "x": "body"}, {"title": "T", "x": "B"}, id="several"),
        pytest.param(None, "B", id="usual name"),
    ],
)
def test_named_fields_make_the_state(
    tmp_path: Path, state: str | Mapping[str, str] | None, expected: object
) -> None:
    """One plain field is the state itself; several or renamed ones are an object."""
    source = _written(tmp_path, "r.csv", "title,body\nT,B\n")

    rows, _ = _read(source, FieldMap(state=state))

    assert [expected] == _states(rows)


def test_a_row_without_usual_names_is_the_state_but_for_id_and_labels(tmp_path: Path) -> None:
    """What was decided is said, because a label in the state would be the answer."""
    source = _written(tmp_path, "r.jsonl", '{"id": 7, "a": 1, "b": [2], "urgent": true}\n')

    rows, notes = _read(source)

    assert [{"a": 1, "b": [2]}] == _states(rows)
    assert any("all fields but id and labels (a, b)" in note for note in notes)
    assert any("labels: urgent" in note for note in notes)


@pytest.mark.parametrize("named", [{"topic": "t"}, {}], ids=["one named", "none wanted"])
def test_fields_named_like_questions_stay_out_of_the_state_where_labels_are_named(
    tmp_path: Path, named: dict[str, str]
) -> None:
    """They hold what people said, and were shown to the model as part of what it judges."""
    line = '{"id": 7, "a": 1, "t": "refund", "urgent": true, "mood": 2}\n'
    source = _written(tmp_path, "r.jsonl", line)

    rows, notes = _read(source, FieldMap(labels=named))

    assert [{"a": 1} if named else {"a": 1, "t": "refund"}] == _states(rows)
    told = [note for note in notes if note.startswith("labels: ")]
    assert len(told) == 1
    assert "mood" in told[0] and "urgent" in told[0] and "--label " in told[0]


def test_a_state_named_like_a_question_is_no_label_left_out(tmp_path: Path) -> None:
    source = _written(tmp_path, "r.jsonl", '{"mood": "fine", "t": "refund"}\n')

    rows, notes = _read(source, FieldMap(state="mood", labels={"topic": "t"}))

    assert (["fine"], []) == (_states(rows), notes)


def test_labels_come_from_named_fields_or_fields_named_like_questions(tmp_path: Path) -> None:
    """A label that is none is reported and costs nothing else."""
    line = '{"text": "x", "t": "refund", "urgent": "YES", "topic": "what", "mood": 1.5}\n'
    source = _written(tmp_path, "r.jsonl", line)

    (named,), _ = _read(source, FieldMap(labels={"topic": "t"}))
    (found,), _ = _read(source)

    assert isinstance(named, Row)
    assert isinstance(found, Row)
    assert {"topic": "refund"} == named.labels
    assert {"urgent": True, "mood": 1.5} == found.labels
    assert "is no option of the question (refund, delivery)" in found.label_problems["topic"]
    assert "what" not in found.label_problems["topic"]


def test_a_misspelt_label_is_told_what_it_may_mean(tmp_path: Path) -> None:
    """The option is named and not the value, which may be someone's text."""
    source = _written(tmp_path, "r.jsonl", '{"text": "x", "topic": "Refnd"}\n')

    (row,), _ = _read(source)

    assert isinstance(row, Row)
    told = row.label_problems["topic"]
    assert told == (
        "the value of field 'topic' is no option of the question (refund, delivery): "
        "did you mean 'refund'?"
    )


@pytest.mark.parametrize(
    ("question", "value", "expected"),
    [
        pytest.param("topic", " refund ", "refund", id="option"),
        pytest.param("urgent", 1, True, id="one"),
        pytest.param("urgent", "No", False, id="no"),
        pytest.param("urgent", 1.0, True, id="one in a column with gaps"),
        pytest.param("urgent", "0.0", False, id="zero in a column with gaps"),
        pytest.param("urgent", False, False, id="false"),
        pytest.param("mood", "good", 2.0, id="level's text"),
        pytest.param("mood", "1", 1.0, id="level"),
        pytest.param("mood", 0.25, 0.25, id="mean of people"),
        pytest.param("mood", None, None, id="none"),
        pytest.param("mood", "", None, id="empty cell"),
    ],
)
def test_labels_are_read_in_the_forms_that_files_have(
    question: str, value: str | float | bool | None, expected: object
) -> None:
    """CSV has only text; people write yes and 1 for true."""
    assert expected == read_label(QUESTIONS[question], value)


def test_a_levels_text_comes_before_its_number() -> None:
    """On a scale described as 1 to 5, the label 1 is the first level, whose index is 0."""
    scale = Score(criteria=["1", "2", "3", "4", "5"])

    assert (0.0, 4.0) == (read_label(scale, 1), read_label(scale, "5"))


@pytest.mark.parametrize(
    ("described", "value", "level"),
    [
        (("1", "2", "3", "4", "5"), 3.0, 2.0),
        (("1", "2", "3", "4", "5"), "5.0", 4.0),
        (("1", "2", "3", "4", "5"), 3.5, 2.5),
        (("5", "4", "3"), 4.5, 0.5),
        ((1, 2, 3), 2.5, 1.5),
        (("-0.3", "-0.2", "-0.1", "0"), -0.15, 1.5),
        (("0", "1", "2"), 0.5, 0.5),
        (("1", "2", "4"), 4.0, 2.0),
        (("1 = bad", "2", "3"), "3.0", 2.0),
        (("bad", "good"), 0.5, 0.5),
        (("bad", "nan"), "nan", 1.0),
    ],
)
def test_numbers_of_one_scale_are_read_alike(
    described: Sequence[str | int], value: str | float, level: float
) -> None:
    """3 was the third of five levels and 3.0, as columns with gaps have it, the fourth."""
    assert read_label(Score(criteria=list(described)), value) == pytest.approx(level)


@pytest.mark.parametrize(
    ("described", "value", "message"),
    [
        (("1", "2", "3"), 0, "no number from 1 to 3"),
        (("3", "2", "1"), 3.5, "no number from 3 to 1"),
        (("1", "2", "4"), 3, "is no level's description$"),
        (("bad", "good"), "nan", "no number from 0 to 1"),
    ],
)
def test_a_number_beside_its_scale_is_refused(
    described: Sequence[str], value: float, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_label(Score(criteria=list(described)), value)


@pytest.mark.parametrize(
    ("question", "value", "message"),
    [
        pytest.param("topic", "other", "is no option", id="option"),
        pytest.param("urgent", "maybe", "none of true, false", id="boolean"),
        pytest.param("mood", 3, "no number from 0 to 2", id="beyond"),
        pytest.param("mood", "nan", "no number from 0 to 2", id="nan"),
    ],
)
def test_a_label_that_is_none_is_refused(question: str, value: str | int, message: str) -> None:
    """Counting it as a mistake of the model would be wrong."""
    with pytest.raises(InvalidInput, match=message):
        read_label(QUESTIONS[question], value)


def test_ids_are_the_named_field_else_id_else_a_hash_of_the_state(tmp_path: Path) -> None:
    """The same text has the same hash in every run."""
    source = _written(tmp_path, "r.jsonl", '{"n": 5, "id": "a", "text": "x"}\n{"text": "x"}\n')

    default, _ = _read(source)
    named, _ = _read(source, FieldMap(id="n"))

    first, second = default
    assert isinstance(first, Row) and isinstance(second, Row)
    assert "a" == first.id
    assert 16 == len(second.id)
    assert isinstance(named[0], Row)
    assert "5" == named[0].id
    assert isinstance(named[1], BadRow)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        pytest.param(FieldMap(state="txet"), "'txet': did you mean 'text'", id="state"),
        pytest.param(FieldMap(id="no"), "unknown field 'no'", id="id"),
        pytest.param(FieldMap(labels={"mood": "mod"}), "unknown field 'mod'", id="label field"),
        pytest.param(FieldMap(labels={"modo": "text"}), "did you mean 'mood'", id="label question"),
    ],
)
def test_names_that_a_table_lacks_are_refused_at_once(
    tmp_path: Path, fields: FieldMap, message: str
) -> None:
    """Every row of it would fail for the same reason."""
    source = _written(tmp_path, "r.csv", "text,b\nx,1\n")

    with pytest.raises(InvalidInput, match=message):
        _read(source, fields)


def test_a_field_that_no_line_has_is_refused_at_once(tmp_path: Path) -> None:
    """A misspelt name would make every row a bad one; a row that lacks a field is one bad row."""
    source = _written(tmp_path, "r.jsonl", '{"text": "a"}\n{"note": "b"}\n')

    with pytest.raises(InvalidInput, match="unknown field 'txet': did you mean 'text'"):
        _read(source, FieldMap(state="txet"))
    rows, notes = _read(source, FieldMap(state="note", labels={"mood": "later"}))

    assert [BadRow, Row] == [type(row) for row in rows]
    assert notes == ["labels: no row has the field 'later', named for 'mood'"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param("r.jsonl", '{"text": "a"}\n{"text": "b"}\n', id="lines"),
        pytest.param("r.csv", "text\na\nb\n", id="csv"),
    ],
)
def test_a_named_pipe_is_opened_once(tmp_path: Path, name: str, content: str) -> None:
    """Its writer would be sent away by a look at it, and a second reader would wait for ever."""
    path = tmp_path / name
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(content,), daemon=True)
    writer.start()

    assert count_records(str(path)) is None
    rows, _ = _read(str(path))

    writer.join()
    assert ["a", "b"] == _states(rows)


def test_a_closed_standard_input_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its descriptor may be another file's by then."""
    monkeypatch.setattr("sys.stdin", None)

    with pytest.raises(InvalidInput, match="standard input is closed"):
        _read("-")


def test_a_table_on_standard_input_is_told_apart(
    tmp_path: Path,
) -> None:
    """The error says what is read there, and how to give a table."""
    with _standard_input(_written(tmp_path, "r", "id,text\n1,a\n")):
        with pytest.raises(InvalidInput, match=r"read as JSON Lines.*rows\.csv"):
            _read("-")


def test_limit_counts_rows_of_every_kind(tmp_path: Path) -> None:
    """A limit of two is two rows, good or bad."""
    source = _written(tmp_path, "r.jsonl", 'x\n{"text": "a"}\n{"text": "b"}\n')

    rows, _ = _read(source, limit=2)

    assert 2 == len(rows)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        pytest.param("r.jsonl", "{}\n\n{}", 2, id="lines"),
        pytest.param("r.csv", 'a\n"x\ny"\nz\n', 2, id="csv"),
        pytest.param("r.csv", 'a;b\n"x\ny";1,5\nz;2\n', 2, id="csv, semicolons"),
        pytest.param("r.json", "[{}]", None, id="array"),
    ],
)
def test_rows_are_counted_where_that_is_cheap(
    tmp_path: Path, name: str, content: str, expected: int | None
) -> None:
    """The count is for the estimate of the time left."""
    assert expected == count_records(_written(tmp_path, name, content))
