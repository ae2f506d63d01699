"""The results file: whole lines, one writer, and nothing lost by any crash."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.answers import BooleanAnswer
from classify.decision import ResponseInfo
from classify.errors import InvalidInput, ProviderError
from classify.evaluation import Evaluation, TotalUsage
from classify.json_values import JSON, check_json
from classify.line_file import ResultsError
from classify.results import (
    Result,
    bad_row_result,
    parse_result,
    read_results,
    result_line,
    row_result,
    state_key,
    unanswered,
)
from classify.rows import BadRow, Row
from classify.store import Store

EVALUATION = Evaluation(
    classifier_id="c",
    answers={"q": BooleanAnswer(probability=0.25)},
    usage=TotalUsage(input_tokens=3, total_tokens=3),
    response=ResponseInfo(model_id="m"),
    attempts=2,
)

_POSIX = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no such device, link or limit for everyone"
)


def _result(index: int, text: str, *, with_state: bool = True) -> Result:
    row = Row(index, f"line {index + 1}", f"r{index}", text, {"q": True})
    base = unanswered(row, key=state_key("f", text), with_state=with_state)
    return row_result(EVALUATION, base)


def _written(path: Path, *texts: str) -> list[Result]:
    results = [_result(index, text) for index, text in enumerate(texts)]
    with Store(path) as store:
        for result in results:
            store.put(result)
        store.finish()
    return results


def test_results_are_lines_that_read_back_as_they_were(tmp_path: Path) -> None:
    """The file is the record: nothing may change on the way."""
    results = _written(tmp_path / "r.jsonl", "a", "b\u2028\n")

    assert results == list(read_results(tmp_path / "r.jsonl"))
    line = json.loads((tmp_path / "r.jsonl").read_bytes().split(b"\n")[0])
    assert {"true": 0.25, "false": 0.75} == line["answers"]["q"]["probabilities"]
    assert line["error"] is None
    assert ["r.jsonl"] == sorted(file.name for file in tmp_path.iterdir())


def test_the_state_can_be_left_out(tmp_path: Path) -> None:
    """Some texts must not be copied."""
    line = result_line(_result(0, "secret", with_state=False))

    assert b"secret" not in line
    assert not parse_result(line).has_state
    assert parse_result(result_line(_result(0, "x"))).has_state


def test_an_error_keeps_what_decides_about_trying_again() -> None:
    """The type, the status and whether it may pass."""
    row = Row(0, "line 1", "a", "x")
    error = ProviderError("busy", status=503, retryable=True, code="overloaded")
    error.attempts = 3

    result = row_result(error, unanswered(row, key="k", with_state=True))

    assert result.error is not None
    assert ("ProviderError", 503, True, "overloaded") == (
        result.error.type,
        result.error.status,
        result.error.retryable,
        result.error.code,
    )
    assert 3 == result.attempts
    assert result == parse_result(result_line(result))


def test_the_key_tells_states_and_classifiers_apart() -> None:
    """Key order is no difference; everything else is."""
    key = state_key("f", {"a": 1, "b": 2})

    assert key == state_key("f", {"b": 2, "a": 1})
    assert 4 == len({key, state_key("g", {"a": 1, "b": 2}), state_key("f", "x"), state_key("f", 1)})


@pytest.mark.parametrize("bytes_cut", [1, 5, 100])
def test_a_torn_last_line_is_dropped(tmp_path: Path, bytes_cut: int) -> None:
    """A crash in the middle of a write costs that row and no other."""
    path = tmp_path / "r.jsonl"
    first, second = _written(path, "a", "b")
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - bytes_cut)

    with Store(path, existing="resume") as store:
        assert not store.left(second.key or "")
        assert store.take(first.key or "", first.id) == first
        store.put(first)
        store.put(second)
        store.finish()

    assert [first, second] == list(read_results(path))


def test_a_file_that_holds_one_torn_line_is_resumed(tmp_path: Path) -> None:
    """The crash may come during the very first write."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"i')

    with Store(path, existing="resume") as store:
        store.put(_result(0, "a"))

    assert [_result(0, "a")] == list(read_results(path))


def test_a_damaged_line_is_passed_over_and_counted(tmp_path: Path) -> None:
    """Its row is asked again; the rest is used."""
    path = tmp_path / "r.jsonl"
    first, _ = _written(path, "a", "b")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\0\0\0\n" + lines[1])

    with Store(path, existing="resume") as store:
        assert 1 == store.damaged
        assert store.left(first.key or "")


def test_the_file_is_put_into_input_order_without_duplicates(tmp_path: Path) -> None:
    """Failures and old lines of the same answers are gone."""
    path = tmp_path / "r.jsonl"
    first, second = _written(path, "a", "b")
    swapped = [second.model_copy(update={"index": 0}), first.model_copy(update={"index": 1})]

    with Store(path, existing="resume") as store:
        for result in swapped:
            assert store.take(result.key or "", result.id) is not None
            store.put(result)
        assert 0 == store.finish()

    assert swapped == list(read_results(path))


def test_answers_that_no_row_asks_for_are_put_aside_and_found_again(tmp_path: Path) -> None:
    """They cost money: a run with a limit, or of another spec, must not delete them."""
    path = tmp_path / "r.jsonl"
    first, second = _written(path, "a", "b")

    with Store(path, existing="resume") as store:
        assert first == store.take(first.key or "", first.id)
        store.put(first)
        assert 1 == store.finish()
    assert [first] == list(read_results(path))
    assert [second] == list(read_results(store.unused_path))

    with Store(path, existing="resume") as store:
        for result in (first, second):
            assert result == store.take(result.key or "", result.id)
            store.put(result)
        assert 0 == store.finish()
    assert [first, second] == list(read_results(path))
    assert not store.unused_path.exists()


def test_existing_results_are_not_touched_unasked(tmp_path: Path) -> None:
    """The way out is named; an empty file is no results."""
    path = tmp_path / "r.jsonl"
    path.touch()
    results = _written(path, "a")

    with pytest.raises(InvalidInput, match="--resume, replace them with --overwrite"):
        Store(path)

    assert results == list(read_results(path))
    with Store(path, existing="overwrite"):
        pass
    assert b"" == path.read_bytes()


def test_results_that_are_replaced_leave_no_unused_answers_behind(tmp_path: Path) -> None:
    """A later run with --resume once took the discarded answer for a row that had failed."""
    path = tmp_path / "r.jsonl"
    _written(path, "a", "b")
    with Store(path, existing="resume") as store:
        assert store.finish() == 2

    with Store(path, existing="overwrite") as store:
        assert store.finish() == 0

    with Store(path, existing="resume") as store:
        assert not store.left(state_key("f", "a"))


def test_unused_answers_are_existing_results(tmp_path: Path) -> None:
    """Of a file that was deleted: a new run neither takes nor deletes what was paid for."""
    path = tmp_path / "r.jsonl"
    results = _written(path, "a", "b")
    with Store(path, existing="resume") as store:
        store.finish()
    path.unlink()

    with pytest.raises(InvalidInput, match=r"r\.jsonl\.unused' has results already.*--resume"):
        Store(path)

    assert not path.exists()
    assert results == list(read_results(store.unused_path))


@pytest.mark.parametrize(
    "content", [b'{"text": "my rows"}\n', b"notes without end", b"\x89PNG\n"], ids=str
)
def test_a_file_of_something_else_is_never_resumed(tmp_path: Path, content: bytes) -> None:
    """Its last line would be cut and its rest replaced."""
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)

    with pytest.raises(InvalidInput, match="is no results file"):
        Store(path, existing="resume")

    assert content == path.read_bytes()


def test_a_stopped_run_leaves_one_line_of_a_row(tmp_path: Path) -> None:
    """A score of 24 rows was one of 35 where 11 had been taken over: both lines were counted."""
    path = tmp_path / "r.jsonl"
    lost = unanswered(Row(2, "line 3", "r2", "c"), key=state_key("f", "c"), with_state=True)
    failed = row_result(ProviderError("busy"), lost)
    bad = bad_row_result(BadRow(3, "line 4", "is no JSON"))
    timed = [
        _result(n, each).model_copy(update={"seconds": 1.5 + n}) for n, each in enumerate("ab")
    ]
    with Store(path) as store:
        for result in (*timed, failed, bad):
            store.put(result)
        store.finish()

    relabelled = timed[0].model_copy(update={"labels": {"q": False}})
    with Store(path, existing="resume") as store:
        assert store.take(timed[0].key or "", "r0") == timed[0]
        store.put(relabelled)
        store.put(bad)
        store.put(_result(2, "c"))

    assert [timed[1], relabelled, bad, _result(2, "c")] == list(read_results(path))
    with Store(path, existing="resume") as store:
        assert store.take(timed[0].key or "", "r0") == relabelled
        assert store.take(timed[1].key or "", "r1") == timed[1]


def test_a_crash_leaves_two_lines_of_a_row_and_the_next_stop_one(tmp_path: Path) -> None:
    """A run that is killed cannot clean up; the last line says what its row says now."""
    path = tmp_path / "r.jsonl"
    first = _result(0, "a").model_copy(update={"seconds": 1.5})
    last = first.model_copy(update={"labels": {"q": False}})
    path.write_bytes(result_line(first) + result_line(last))

    with Store(path, existing="resume"):
        pass

    assert [last] == list(read_results(path))


def test_no_line_of_another_classifier_stays_where_a_crash_left_two(tmp_path: Path) -> None:
    """The older one would count as an answer of this run."""
    path = tmp_path / "r.jsonl"
    first = _result(0, "a").model_copy(update={"seconds": 1.5})
    last = first.model_copy(update={"labels": {"q": False}})
    path.write_bytes(result_line(first) + result_line(last))

    with Store(path, existing="resume") as store:
        assert 1 == store.begin("another")

    assert [] == list(read_results(path))
    assert [last] == list(read_results(store.unused_path))


def test_answers_put_aside_at_the_end_join_those_of_the_beginning(tmp_path: Path) -> None:
    """They took the place of the other classifier's, which were gone."""
    path = tmp_path / "r.jsonl"
    first, second = _written(path, "a", "b")
    third = _result(2, "c").model_copy(update={"key": state_key("another", "c")})
    path.write_bytes(path.read_bytes() + result_line(third))

    with Store(path, existing="resume") as store:
        assert 1 == store.begin("f")
        assert first == store.take(first.key or "", first.id)
        store.put(first)
        assert 1 == store.finish()

    assert [first] == list(read_results(path))
    assert {third.id, second.id} == {found.id for found in read_results(store.unused_path)}


def test_a_file_that_another_program_continued_is_not_tidied(tmp_path: Path) -> None:
    """Where its lines are is not known any more."""
    path = tmp_path / "r.jsonl"
    _written(path, "a")
    timed = _result(0, "a").model_copy(update={"seconds": 1.5})
    path.write_bytes(result_line(timed))
    with Store(path, existing="resume") as store:
        assert store.take(timed.key or "", timed.id) is not None
        store.put(timed.model_copy(update={"labels": {"q": False}}))
        before = path.read_bytes()
        path.write_bytes(result_line(_result(1, "b")))

    assert before != path.read_bytes()
    assert [_result(1, "b")] == list(read_results(path))


@pytest.mark.parametrize("where", ["r.jsonl", "r.jsonl.unused"])
def test_fields_that_a_resumed_run_would_drop_are_refused(tmp_path: Path, where: str) -> None:
    """Scores or someone's notes were gone without a word; who puts them back may go on."""
    path = tmp_path / "r.jsonl"
    _written(path, "a", "b")
    with Store(path, existing="resume") as store:
        store.put(_result(0, "a"))
        store.finish()
    noted = tmp_path / where
    noted.write_bytes(noted.read_bytes().replace(b"}\n", b',"note":"mine"}\n'))
    before = [file.read_bytes() for file in (path, store.unused_path)]

    said = rf"{where}' has fields that a resumed run would drop \(note\): take them out of a copy"
    with pytest.raises(InvalidInput, match=said):
        Store(path, existing="resume", added=["scores"])

    assert before == [file.read_bytes() for file in (path, store.unused_path)]
    with Store(path, existing="resume", added=["note"]) as store:
        assert store.left(state_key("f", "b"))


def test_two_writers_are_kept_apart(tmp_path: Path) -> None:
    """The second is told; once the first is done, it can go on."""
    path = tmp_path / "r.jsonl"

    with Store(path), pytest.raises(InvalidInput, match="is being written by another run"):
        Store(path, existing="resume")

    with Store(path, existing="resume"):
        pass


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param(".", "is a directory", id="directory"),
        pytest.param("absent/r.jsonl", "does not exist: create it", id="no parent"),
        pytest.param(os.devnull, "is no ordinary file", id="device", marks=_POSIX),
    ],
)
def test_an_unusable_output_is_refused(tmp_path: Path, name: str, message: str) -> None:
    """Before any row is asked."""
    with pytest.raises(InvalidInput, match=message):
        Store(tmp_path / name)


@_POSIX
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    """The file that it names is replaced."""
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "r.jsonl", tmp_path / "r.jsonl"
    first, second = _written(target, "a", "b")
    link.symlink_to(target)

    with Store(link, existing="resume") as store:
        store.put(second.model_copy(update={"index": 0}))
        store.put(first.model_copy(update={"index": 1}))
        store.finish()

    assert link.is_symlink()
    assert [second.state, first.state] == [result.state for result in read_results(target)]


@_POSIX
def test_a_full_disk_leaves_whole_lines_and_says_what_to_do(tmp_path: Path) -> None:
    """What was written before is whole, and the run can be resumed."""
    import resource

    path = tmp_path / "r.jsonl"
    size = len(result_line(_result(0, "a")))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with Store(path) as store:
            store.put(_result(0, "a"))
            resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, hard))
            with pytest.raises(ResultsError, match=r"the rows so far \(1\) are kept.*--resume"):
                store.put(_result(1, "b"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert [_result(0, "a")] == list(read_results(path))
    assert size == path.stat().st_size


@_POSIX
@pytest.mark.parametrize("at", ["begin", "finish"])
def test_a_disk_that_is_full_for_a_new_file_says_so_and_lets_go(tmp_path: Path, at: str) -> None:
    """Not that an operation was on a closed file; and the same process can resume it."""
    import resource

    path = tmp_path / "r.jsonl"
    # Those of the other classifier are few, and find room beside the file.
    other = _result(0, "a").model_copy(update={"key": state_key("another", "a")})
    rows = [_result(2, "c"), _result(1, "b"), other]
    with Store(path) as store:
        for row in rows:
            store.put(row)
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with (
            pytest.raises(ResultsError, match=r"cannot be put into order.*make room"),
            Store(path, existing="resume") as store,
        ):
            if at == "finish":
                for row in sorted(rows, key=lambda row: row.index):
                    assert row.key is not None
                    assert store.take(row.key, row.id) is not None
                    store.put(row)
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(result_line(other)) + 10, hard))
            store.begin("f") if at == "begin" else store.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert path.read_bytes() == before
    with Store(path, existing="resume") as store:
        assert store.begin("f") == 1


@pytest.mark.parametrize(
    ("part", "edited"),
    [
        pytest.param(b'"answers":{', b'"answers":null,"was":{', id="no answers"),
        pytest.param(b"0.25", b'"a quarter"', id="text for a number"),
    ],
)
def test_a_result_that_someone_has_broken_is_asked_again(
    tmp_path: Path, part: bytes, edited: bytes
) -> None:
    """It is JSON with a key and answers, and no result: no run could have been resumed."""
    path = tmp_path / "r.jsonl"
    first, second = _written(path, "a", "b")
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0].replace(part, edited, 1) + lines[1])
    with Store(path, existing="resume") as store:
        assert store.damaged == 1
        assert not store.left(str(first.key))
        assert store.left(str(second.key))


def _cut(path: Path) -> None:
    os.truncate(path, 0)


def _continued(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"note")


def _replaced(path: Path) -> None:
    os.replace(shutil.copy(path, path.with_name("edited")), path)


@_POSIX
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(_cut, id="cut"),
        pytest.param(_continued, id="continued"),
        pytest.param(Path.unlink, id="deleted"),
        pytest.param(_replaced, id="replaced"),
    ],
)
def test_a_file_that_another_program_changes_ends_the_run(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    """Lines would be looked for where they are no more, or be written to a file without a name."""
    path = tmp_path / "r.jsonl"
    with Store(path) as store:
        store.put(_result(1, "b"))
        change(path)
        with pytest.raises(ResultsError, match=r"r\.jsonl' was changed by another program"):
            store.put(_result(0, "a"))
        with pytest.raises(ResultsError, match="was changed by another program"):
            store.finish()


def test_the_deepest_state_is_read_back(tmp_path: Path) -> None:
    """Readers of JSON stop at 200 levels: a deeper line would spoil the file for good."""
    state: JSON = "x"
    for _ in range(190):
        state = [state]
    check_json(state, "state")
    base = unanswered(Row(0, "line 1", "r", state), key="k", with_state=True)
    assert parse_result(result_line(row_result(EVALUATION, base))).state == state


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("st"), st.sampled_from("abc")), max_size=8),
    st.lists(
        st.tuples(st.sampled_from("st"), st.sampled_from(["a", "b", "c", "d", None])), max_size=12
    ),
)
def test_answers_are_taken_in_the_order_of_the_file(
    lines: list[tuple[str, str]], takes: list[tuple[str, str | None]]
) -> None:
    """As by looking through the whole file each time; here for rows of one state and one id."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "r.jsonl"
        with Store(path) as store:
            for index, (text, name) in enumerate(lines):
                base = unanswered(
                    Row(index, "", name, text, {}), key=state_key("f", text), with_state=True
                )
                # Each is an asking of its own.
                store.put(row_result(EVALUATION.model_copy(update={"seconds": index + 0.5}), base))
        left = list(read_results(path))

        with Store(path, existing="resume") as store:
            for text, asker in takes:
                key = state_key("f", text)
                fitting = [r for r in left if r.key == key and asker in (None, r.id)]
                assert store.take(key, asker) == (fitting[0] if fitting else None)
                if fitting:
                    left.remove(fitting[0])
                assert store.left(key) == any(r.key == key for r in left)
            assert store.finish() == len(left)
            unused = list(read_results(store.unused_path)) if left else []
        for text in "st":
            key = state_key("f", text)
            assert [r for r in unused if r.key == key] == [r for r in left if r.key == key]
