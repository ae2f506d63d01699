"""The results file of an evaluation, and how one is resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from classify.adapters.scorers.builder import create_scorer
from classify.adapters.scorers.eval_report import EvalReport
from classify.adapters.scorers.evals import run_evals_sync
from classify.adapters.scorers.result import StepContext, not_scorable
from classify.adapters.scorers.scorer_like import ScorerLike
from classify.errors import InvalidInput
from classify.json_values import is_object


class Bench:
    """A target that counts its calls, and a file."""

    def __init__(self, folder: Path) -> None:
        """Start with nothing called and no file."""
        self.path = folder / "evals.jsonl"
        self.calls: list[Any] = []
        self.broken: set[Any] = set()

    def target(self, input: Any) -> Any:
        """Give the input back, or fail where it is broken."""
        self.calls.append(input)
        if input in self.broken:
            raise OSError("down")
        return input

    def run(self, *inputs: Any, existing: Any = "resume", **settings: Any) -> EvalReport:
        """Evaluate the inputs, and forget earlier calls."""
        self.calls.clear()
        settings = {"version": "1", "scorers": [length()], **settings}
        data: list[Any] = [each if is_object(each) else {"input": each} for each in inputs]
        return run_evals_sync(self.target, data, output=self.path, existing=existing, **settings)

    def lines(self) -> list[dict[str, Any]]:
        """Return the file's lines."""
        return [json.loads(line) for line in self.path.read_text("utf-8").splitlines()]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """Lay out a bench."""
    return Bench(tmp_path)


def _analyze(context: StepContext[Any, Any, None, None]) -> dict[str, int]:
    return {"letters": len(context.run.output)}


def _score(context: StepContext[Any, Any, None, dict[str, int]]) -> Any:
    letters = context.results.analyze_step_result["letters"]
    return min(letters, 4) if letters else not_scorable("empty", no_verdict=True)


def length() -> ScorerLike:
    """Return a scorer of the output's length, up to four letters."""
    scorer = create_scorer("length", bounds=(0, 4)).analyze(_analyze).generate_score(_score)
    return scorer.generate_reason(lambda context: f"it is {context.score}")


def test_every_item_and_scorer_is_saved_once_row_126(bench: Bench) -> None:
    """We differ: the file is asked for, not found in the target; and holds the evidence."""
    bench.run("ab", "abcd", existing="error", gates=[length()])
    lines = bench.lines()
    assert [line["index"] for line in lines] == [0, 1]
    assert [list(line["scores"]) + list(line["gates"]) for line in lines] == [["length"] * 2] * 2
    assert lines[0]["scores"]["length"] == {
        "score": 0.5,
        "reason": "it is 0.5",
        "details": {"analyze_step_result": {"letters": 2}, "raw_score": 2.0},
    }


def test_a_resumed_evaluation_runs_nothing_twice(bench: Bench) -> None:
    """And reports the same figures, items that are not scorable included."""
    first = bench.run("ab", "", "abcd", existing="error", trials=2)
    again = bench.run("ab", "", "abcd", trials=2)
    assert bench.calls == []
    assert again.scores == first.scores
    assert again.scores["length"].no_verdict == 2
    assert all(item.reused for item in again.items)
    assert again.items[2].scores["length"].not_scorable == "empty"
    assert [item.output for item in again.items] == ["ab", "ab", "", "", "abcd", "abcd"]


def test_what_failed_is_run_again_and_stands_once_in_the_file(bench: Bench) -> None:
    """A failure is no result to keep."""
    bench.broken = {"b"}
    assert bench.run("a", "b", "c", existing="error").failed_targets == 1
    bench.broken = set()
    report = bench.run("a", "b", "c")
    assert bench.calls == ["b"]
    assert report.failed_targets == 0
    assert [(line["id"], line["failure"]) for line in bench.lines()] == [
        ("0", None),
        ("1", None),
        ("2", None),
    ]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"version": "2"}, id="version"),
        pytest.param({"target_options": {}}, id="target-options"),
        pytest.param({"gates": [length()]}, id="gates"),
        pytest.param({"trials": 2}, id="only-the-new-trial"),
    ],
)
def test_what_changes_the_results_runs_again(bench: Bench, change: dict[str, Any]) -> None:
    """Else old scores would be taken for those of the new judge (autorubric's EvalRunner)."""
    bench.run("a", existing="error")
    bench.run("a", **change)
    assert bench.calls == ["a"]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"ground_truth": "t"}, id="ground-truth"),
        pytest.param({"expected_trajectory": ["x"]}, id="trajectory"),
        pytest.param({"request_context": {"who": "me"}}, id="context"),
        pytest.param({"input": "A"}, id="input"),
    ],
)
def test_a_changed_item_runs_again(bench: Bench, change: dict[str, Any]) -> None:
    """Every field of an item can change its scores."""
    bench.run("a", existing="error")
    bench.run({"input": "a", **change})
    assert len(bench.calls) == 1


def test_items_that_are_the_same_are_run_each(bench: Bench) -> None:
    """Their outputs may differ, and each has its line."""
    bench.run("a", "a", existing="error")
    assert bench.calls == ["a", "a"]
    assert [line["index"] for line in bench.lines()] == [0, 1]
    bench.run("a", "a", "a")
    assert bench.calls == ["a"]


def test_moved_items_are_found_and_others_kept_behind(bench: Bench) -> None:
    """The file follows the data; nothing paid for is deleted."""
    bench.run("a", "b", "c", existing="error")
    report = bench.run("c", "a")
    assert bench.calls == []
    assert [item.output for item in report.items] == ["c", "a"]
    assert [line["output"] for line in bench.lines()] == ["c", "a", "b"]


def test_a_torn_last_line_is_cut_off_and_run_again(bench: Bench) -> None:
    """A crash ends a file anywhere."""
    bench.run("a", "b", existing="error")
    whole = bench.path.read_bytes()
    bench.path.write_bytes(whole[:-5])
    bench.run("a", "b")
    assert bench.calls == ["b"]
    assert len(bench.lines()) == 2


def test_results_that_are_there_are_not_overwritten_unasked(bench: Bench) -> None:
    """They may have cost money."""
    bench.run("a", existing="error")
    with pytest.raises(InvalidInput, match="has results already: existing='resume'"):
        bench.run("a", existing="error")
    bench.run("a", existing="overwrite")
    assert bench.calls == ["a"]


def test_a_file_of_something_else_is_refused(bench: Bench) -> None:
    """Resuming would end in a file of two kinds."""
    bench.path.write_text("one, two\n")
    with pytest.raises(InvalidInput, match="line 1: no result of an evaluation"):
        bench.run("a")


def test_resuming_needs_a_version(bench: Bench) -> None:
    """No hash sees all that a function does."""
    with pytest.raises(InvalidInput, match=r"needs version=\.\.\."):
        bench.run("a", version=None)
    assert bench.calls == []


def test_items_that_are_no_json_are_refused_where_a_file_is_kept(bench: Bench) -> None:
    """They could not be found again."""
    with pytest.raises(InvalidInput, match=r"data\[0\], to be found again in a file,"):
        bench.run(object(), existing="error")


def test_an_evaluation_that_is_cut_off_can_be_resumed(bench: Bench) -> None:
    """Each line is on its way to the disk before the next item begins."""

    def stop(result: Any) -> None:
        if result.index == 1:
            raise EOFError

    with pytest.raises(EOFError, match=r"^$"):
        bench.run("a", "b", "c", existing="error", on_item_complete=stop)
    bench.run("a", "b", "c")
    assert bench.calls == ["c"]


class Secretive:
    """An object that says nothing of itself."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


def _deep() -> list[Any]:
    found: list[Any] = []
    for _ in range(10_000):
        found = [found]
    return found


def _endless() -> list[Any]:
    found: list[Any] = [1]
    found.append(found)
    return found


@pytest.mark.parametrize(
    ("output", "kept"),
    [
        ("caf\u00e9 \ud83d", "caf\u00e9 ?"),
        ({"\ud83d": 1}, "{'\\ud83d': 1}"),
        (b"\xff", "b'\\xff'"),
        (_endless(), "[1, [...]]"),
        (_deep(), "an object of type list"),
        (10**5000, "an object of type int"),
        ([float("nan"), float("-inf")], ["NaN", "-Infinity"]),
        (Path("caf\u00e9\udcff"), "caf\u00e9?"),
        (Secretive(), "<Unserializable Secretive object>"),
    ],
    ids=["pair", "key", "bytes", "loop", "deep", "long", "not finite", "path", "secretive"],
)
def test_an_output_that_is_no_json_is_kept_as_text(bench: Bench, output: Any, kept: Any) -> None:
    """One such output ended the whole evaluation, and each that was to resume it."""
    scorer = create_scorer("whole").generate_score(lambda step: 1.0)
    settings: dict[str, Any] = {"output": bench.path, "version": "1"}

    def target(input: Any) -> Any:
        return output

    run_evals_sync(target, [{"input": 1}], [scorer], **settings)
    again = run_evals_sync(target, [{"input": 1}], [scorer], existing="resume", **settings)

    assert [line["output"] for line in bench.lines()] == [kept]
    assert [(item.reused, item.output) for item in again.items] == [(True, kept)]


def test_what_a_scorer_found_out_may_be_anything(bench: Bench) -> None:
    """Its score stands, whether or not its steps can be written down."""
    scorer = create_scorer("odd").analyze(lambda step: _endless()).generate_score(lambda step: 0.5)

    bench.run("x", scorers=[scorer])

    (line,) = bench.lines()
    assert line["scores"]["odd"]["score"] == 0.5
    assert line["scores"]["odd"]["details"]["analyze_step_result"] == "[1, [...]]"
