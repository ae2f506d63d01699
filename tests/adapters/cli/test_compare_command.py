"""`classify compare` end to end: two runs of an endpoint on this machine."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from classify.answers import AnyAnswer, ChoiceAnswer
from classify.results import Result, result_line
from classify.testing import Answer, Request, likely

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk

ROWS = 12
HOSTILE = Path(__file__).parents[2] / "references" / "hostile_texts.json"


def _run(desk: Desk, name: str, *, sure: float, spec: str | None = None) -> str:
    """Run the rows with a model that says "refund" of even and of odd rows by turns."""
    desk.write_rows(ROWS)

    def answer(request: Request) -> Answer:
        number = desk.row(request) or 0
        first, second = ("B", "A") if number % 3 == 0 else ("A", "B")
        return Answer(positions=[likely({first: sure, second: 1 - sure})])

    desk.answer = answer
    out = str(desk.folder / name)
    ran = desk.classify("run", spec or desk.spec, desk.rows, "-o", out)
    assert 0 == ran.exit_code, ran.stderr
    return out


def _labels(desk: Desk) -> str:
    lines = (json.dumps({"id": f"r{n}", "topic": "delivery"}) for n in range(ROWS))
    return desk.write("labels.jsonl", "\n".join(lines) + "\n")


def test_two_runs_are_told_apart_by_what_differs_in_their_records(desk: Desk) -> None:
    """The wording of a question is named, the model is the same."""
    a = _run(desk, "a.jsonl", sure=0.9)
    text = Path(desk.spec).read_text("utf-8").replace("What is it about?", "What is meant?")
    b = _run(desk, "b.jsonl", sure=0.6, spec=desk.write("other.yaml", text))

    found = desk.classify("compare", a, b)

    assert 0 == found.exit_code, found.stderr
    assert "What is it about? -> What is meant?" in found.stdout
    assert "vllm/m" in found.stdout and "model  " not in found.stdout
    assert "12 pairs of rows, by id" in found.stdout
    assert "total variation  mean 0.300" in found.stdout


def test_every_number_says_how_many_pairs_it_stands_on(desk: Desk) -> None:
    """Of twelve pairs two have no answer in B, and one label names no pair that both answered."""
    a, whole = _run(desk, "a.jsonl", sure=0.9), Path(_run(desk, "whole.jsonl", sure=0.6))
    rows = [json.loads(line) for line in whole.read_text("utf-8").splitlines()]
    for row in rows[:2]:
        row |= {"answers": {}, "error": {"type": "ProviderError", "message": "no"}}
    b = desk.write("b.jsonl", "".join(json.dumps(row) + "\n" for row in rows))

    found = desk.classify("compare", a, b, "--labels", _labels(desk))

    assert 0 == found.exit_code, found.stderr
    told = " ".join(found.stdout.split())
    for number in ("changed", "total variation", "Gwet's AC", "accuracy", "McNemar", "log loss"):
        after = told[told.index(number) : told.index(number) + 130]
        assert "10 used of 12" in after, number


def test_the_json_holds_every_changed_row_and_the_tests_against_labels(desk: Desk) -> None:
    """A model that was right of some is now right of the others."""
    a = _run(desk, "a.jsonl", sure=0.9)
    b = _run(desk, "b.jsonl", sure=0.2)

    found = desk.classify("compare", a, b, "--labels", _labels(desk), "--json")

    assert 0 == found.exit_code, found.stderr
    topic = json.loads(found.stdout)["questions"]["topic"]
    assert 12 == topic["n"] == len(topic["changed_rows"])
    assert {"r0", "r11"} < {row["id"] for row in topic["changed_rows"]}
    assert all(row["total_variation"] == pytest.approx(0.7) for row in topic["changed_rows"])
    labelled = topic["labelled"]
    assert 12 == labelled["only_first"] + labelled["only_second"]
    assert labelled["accuracy"]["difference"]["value"] == pytest.approx(
        (labelled["only_second"] - labelled["only_first"]) / 12
    )


def test_a_file_against_itself_says_why_intervals_are_wide(desk: Desk) -> None:
    """Nothing differed, which is not to say that nothing could: and it was asked once only."""
    a, labels = _run(desk, "a.jsonl", sure=0.9), _labels(desk)

    found = desk.classify("compare", a, a, "--labels", labels)

    said = " ".join(found.stdout.split())
    assert 0 == found.exit_code, found.stderr
    assert "12 rows asked once for both files" in said
    assert "accuracy A 0.667, B 0.667: +0.000 (95% -0.242 to +0.242: no pair differed)" in said
    assert "to 1.000: no pair differed), 12 used of 12 labels" in said


def test_questions_that_are_not_comparable_are_named_with_the_reason(desk: Desk) -> None:
    """Other options, or asked by one run only: nothing is compared in silence."""
    a = _run(desk, "a.jsonl", sure=0.9)
    text = Path(desk.spec).read_text("utf-8").replace("delivery: ~", "parcel: ~")
    b = _run(desk, "b.jsonl", sure=0.9, spec=desk.write("other.yaml", text))

    found = desk.classify("compare", a, b)
    named = desk.classify("compare", a, b, "--question", "topic")

    assert 2 == found.exit_code
    assert "only in A: delivery; only in B: parcel" in found.stderr
    assert 2 == named.exit_code
    assert "--question 'topic' cannot be compared" in named.stderr


def test_results_without_a_record_are_compared_and_that_is_said(desk: Desk) -> None:
    """The questions are taken from the answers; what differs is not known."""
    a, b = _run(desk, "a.jsonl", sure=0.9), _run(desk, "b.jsonl", sure=0.9)
    Path(f"{b}.run.json").unlink()

    found = desk.classify("compare", a, b)

    assert 0 == found.exit_code, found.stderr
    assert "the questions of B are taken from its answers" in found.stderr
    assert "unknown: a run has no .run.json" in found.stdout


def test_a_file_that_is_not_there_is_named(desk: Desk) -> None:
    """As by every command that reads results."""
    a = _run(desk, "a.jsonl", sure=0.9)

    found = desk.classify("compare", a, str(desk.folder / "none.jsonl"))

    assert 2 == found.exit_code
    assert "none.jsonl' cannot be read" in found.stderr


def test_more_options_than_fit_are_listed_by_their_commonest_changes(desk: Desk) -> None:
    """A table of twenty columns is read by nobody."""
    options = "\n".join(f"      option-{n:02}: ~" for n in range(20))
    spec = desk.write(
        "many.yaml",
        f"id: s\nmodel: vllm/m\nquestions:\n  topic:\n    type: choice\n    criteria:\n{options}\n",
    )
    a = _run(desk, "a.jsonl", sure=0.9, spec=spec)
    b = _run(desk, "b.jsonl", sure=0.2, spec=spec)

    found = desk.classify("compare", a, b)

    assert 0 == found.exit_code, found.stderr
    assert "from A to B" in found.stdout
    assert "option-00 -> option-01" in found.stdout
    # The head has the files' paths, as long as they are.
    assert max(map(len, found.stdout.splitlines()[2:])) <= 80


def _hostile_result(texts: list[str], row: int, *, best: int) -> Result:
    p = {text: 0.5 if text == texts[best] else 0.5 / (len(texts) - 1) for text in texts}
    answer = ChoiceAnswer(choice=texts[best], probabilities=p)
    answers: dict[str, AnyAnswer] = {texts[0]: answer, "topic": answer}
    return Result(id=texts[row], index=row, key="k", state=texts[row], answers=answers)


def test_hostile_ids_and_options_are_shown_as_text(desk: Desk) -> None:
    """Nothing of them reaches the terminal but escapes."""
    texts = [*json.loads(HOSTILE.read_text("utf-8"))["texts"].values()]
    paths = [str(desk.folder / name) for name in ("a.jsonl", "b.jsonl")]
    for side, path in enumerate(paths):
        rows = (_hostile_result(texts, n, best=n - side) for n in range(len(texts)))
        Path(path).write_bytes(b"".join(map(result_line, rows)))

    found = desk.classify("compare", *paths)

    assert 0 == found.exit_code, found.stderr
    kept = set(found.stdout) - {"\n", "\u2068", "\u2069", "\u200d"}
    assert not {unicodedata.category(character) for character in kept} & {"Cc", "Cf", "Cs", "Zl"}


def test_the_page_is_written_beside_and_never_over_what_was_read(desk: Desk) -> None:
    """Nor over a file that is no page, unless that is wanted."""
    a, b = _run(desk, "a.jsonl", sure=0.9), _run(desk, "b.jsonl", sure=0.6)
    page, note = str(desk.folder / "page.html"), desk.write("note.html", "mine")
    before = Path(a).read_bytes()

    written = [desk.classify("compare", a, b, "-o", page).exit_code for _ in range(2)]
    over_results = desk.classify("compare", a, b, "-o", a, "--overwrite")
    over_record = desk.classify("compare", a, b, "-o", f"{b}.run.json", "--overwrite")
    over_note = desk.classify("compare", a, b, "-o", note)

    assert [0, 0] == written
    assert Path(page).read_text("utf-8").startswith("<!doctype html>")
    assert [2, 2, 2] == [each.exit_code for each in (over_results, over_record, over_note)]
    assert "the page would replace" in over_results.stderr
    assert before == Path(a).read_bytes()
    assert "mine" == Path(note).read_text("utf-8")


def test_an_empty_file_is_named(desk: Desk) -> None:
    """It is not said that the two have no question in common."""
    empty = desk.write("empty.jsonl", "")
    found = desk.classify("compare", _run(desk, "a.jsonl", sure=0.9), empty)

    assert 2 == found.exit_code
    assert "empty.jsonl' holds no results: there is nothing to compare" in found.stderr
