"""What the calibration commands, and runs with calibrators, say of input they cannot use."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from classify.testing import Answer, Request, likely

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk

ROWS = 24
NO_MASS = Answer(positions=[likely({"Hm": 0.9, "A": 0.01})])


def _run(desk: Desk, *options: str) -> None:
    """Run rows whose answers vary."""
    desk.write_rows(ROWS)
    desk.answer = _varying
    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, *options)
    assert 0 == result.exit_code, result.stderr


def _varying(request: Request) -> Answer:
    text = json.dumps(request.body)
    number = int(text.split("row-")[1].split(".")[0]) if "row-" in text else 0
    sure = 0.6 + 0.01 * number
    return Answer(positions=[likely({"A": sure, "B": 0.98 - sure})])


def _labels(desk: Desk) -> str:
    truths = ("delivery" if n % 3 else "refund" for n in range(ROWS))
    lines = (json.dumps({"id": f"r{n}", "topic": truth}) for n, truth in enumerate(truths))
    return desk.write("good.jsonl", "\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param('{"id": "r1", "topc": "refund"}', "name its fields like", id="wrong field"),
        pytest.param(
            '{"id": "r1", "topic": "shipping"}',
            "line 1: 'topic' is 'shipping', which is no option of the question (refund, delivery)",
            id="no option",
        ),
        pytest.param('{"id": "r1", "topic": null}', "topic is empty in every row", id="empty"),
        pytest.param("", "labels.jsonl holds no rows", id="no rows"),
        pytest.param('{"topic": "refund"}', "line 1: the field 'id' is missing", id="no id"),
        pytest.param('{"id": "x1", "topic": "refund"}', "such as 'x1'", id="other ids"),
        pytest.param(
            '{"id": "r1", "topic": "refund", "weight": -1}',
            "weight must be at least 0, got -1",
            id="weight",
        ),
        pytest.param('{"id": "r1", "topic": "ref', "line 1: invalid JSON", id="torn"),
    ],
)
@pytest.mark.parametrize("command", ["metrics", "calibrate", "agree", "audit"])
def test_labels_that_cannot_be_used_are_named_with_their_place(
    desk: Desk, command: str, content: str, said: str
) -> None:
    """By every command alike, and before anything is written."""
    _run(desk)
    labels = desk.write("labels.jsonl", content)
    artefact = desk.folder / "a.json"
    options = ("-o", str(artefact)) if command == "calibrate" else ()

    result = desk.classify(command, desk.out, "--labels", labels, *options)

    assert 2 == result.exit_code
    assert said in result.stderr
    assert not artefact.exists()


@pytest.mark.parametrize("command", ["metrics", "calibrate", "agree", "audit"])
def test_an_empty_results_file_is_said_to_be_empty(desk: Desk, command: str) -> None:
    """And not to lack labels."""
    _run(desk)
    Path(desk.out).write_text("", "utf-8")
    options = ("-o", desk.out + ".a") if command == "calibrate" else ()

    result = desk.classify(command, desk.out, *options)

    assert 2 == result.exit_code
    assert "out.jsonl' holds no results: run some rows first" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        "metrics",
        "calibrate -o a.json",
        "agree",
        "audit",
        "report",
        "view",
        "show --id r1",
        "explain --id r1",
        "compare",
    ],
)
@pytest.mark.parametrize(
    ("content", "held"),
    [
        pytest.param('{"id": "r0", "text": "a"}\n{"id": "r1"}\n', "rows, not results", id="rows"),
        pytest.param('{"id": "r1", "text": "a"}', "rows, not results", id="one row"),
        pytest.param("id,text\nr1,a\n", "no results", id="csv"),
    ],
)
def test_rows_in_place_of_results_are_told_as_such(
    desk: Desk, command: str, content: str, held: str
) -> None:
    """A field that a line lacks told nobody what to do, and a page was served of nothing."""
    name, *options = command.split()
    rows = desk.write("mine.jsonl", content)

    result = desk.classify(name, rows, *([rows] if name == "compare" else options))

    assert 2 == result.exit_code
    assert f"mine.jsonl' holds {held}: `classify run SPEC ROWS -o RES" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
@pytest.mark.parametrize("command", ["metrics", "agree", "audit"])
def test_a_pipe_is_told_as_such(desk: Desk, command: str) -> None:
    """Results are read more than once: it was said to hold none."""
    reader, writer = os.pipe()
    os.close(writer)
    try:
        result = desk.classify(command, f"/dev/fd/{reader}", "--spec", desk.spec)
    finally:
        os.close(reader)

    assert 2 == result.exit_code
    assert "are a pipe, and are read more than once: write them to a file" in result.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_row_is_shown_out_of_a_pipe(desk: Desk) -> None:
    """Whose first line is there only once."""
    _run(desk)
    reader, writer = os.pipe()
    os.write(writer, Path(desk.out).read_bytes().splitlines(keepends=True)[0])
    os.close(writer)
    try:
        result = desk.classify("show", f"/dev/fd/{reader}", "--id", "r0")
    finally:
        os.close(reader)

    assert 0 == result.exit_code, result.stderr


@pytest.mark.parametrize("command", ["metrics", "calibrate", "agree", "audit"])
def test_answers_without_a_verdict_are_counted_with_their_cause_and_the_way_out(
    desk: Desk, command: str
) -> None:
    """Asking for labels would help nobody: there is nothing to label."""
    desk.write_rows(3)
    desk.answer = lambda request: NO_MASS
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)
    options = ("-o", desk.out + ".a") if command == "calibrate" else ()

    result = desk.classify(command, desk.out, *options)

    assert 1 == result.exit_code
    wanted = "verdict" if command == "agree" else "distribution"
    assert f"no answer has a {wanted} (" in result.stderr
    assert "no verdict, low_label_mass: 3: the labels got too little probability" in result.stderr
    assert "min_coverage: 0" in result.stderr
    assert "--labels" not in result.stderr


@pytest.mark.parametrize("command", ["metrics", "calibrate"])
def test_a_question_with_labels_and_no_distribution_lacks_no_labels(
    desk: Desk, command: str
) -> None:
    """Beside one that can be measured: it is told apart from one that nobody labelled."""
    questions = "".join(
        f"  {name}:\n    type: choice\n    instructions: {name}?\n"
        "    criteria: {refund: ~, delivery: ~}\n"
        for name in ("topic", "other", "bare")
    )
    desk.write("spec.yaml", f"id: s\nmodel: vllm/m\nquestions:\n{questions}")
    desk.write_rows(ROWS)
    desk.answer = lambda r: NO_MASS if "other?" in json.dumps(r.body) else _varying(r)
    run = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)
    assert 0 == run.exit_code, run.stderr
    both = ({"topic": truth, "other": truth} for truth in ("delivery", "refund") * (ROWS // 2))
    lines = (json.dumps({"id": f"r{n}", **labels}) for n, labels in enumerate(both))
    labels = desk.write("good.jsonl", "\n".join(lines) + "\n")
    options = ("-o", desk.out + ".a") if command == "calibrate" else ()

    result = desk.classify(command, desk.out, "--labels", labels, *options)

    assert 0 == result.exit_code, result.stderr
    said = {line.partition(":")[0]: line for line in result.stderr.splitlines()}
    assert "no answer has a distribution (no verdict, low_label_mass: 24" in said["other"]
    assert "min_coverage: 0" in said["other"] and "label (" not in said["other"]
    assert "no answer with a distribution has a label (0 labelled rows" in said["bare"]


@pytest.mark.parametrize("alpha", ["0", "1", "1.5", "-0.1", "nan"])
def test_an_abstention_that_is_no_share_is_refused_by_its_option(desk: Desk, alpha: str) -> None:
    """Before a model is asked."""
    _run(desk)
    artefact = str(desk.folder / "a.json")
    given = ("calibrate", desk.out, "--labels", _labels(desk), "-o", artefact)
    assert 0 == desk.classify(*given).exit_code
    asked = len(desk.asked())

    result = desk.classify(
        *("run", desk.spec, desk.rows, "-o", desk.out + ".2"),
        *("--calibrator", artefact, "--abstain", alpha),
    )

    assert 2 == result.exit_code
    assert "--abstain must be a share of wrong answers above 0 and below 1" in result.stderr
    assert f"got {float(alpha):g}" in result.stderr
    assert asked == len(desk.asked())


@pytest.mark.parametrize(
    ("calibrator", "said"),
    [
        pytest.param("nothing.json", "'nothing.json' cannot be read: No such file", id="no file"),
        pytest.param("topc=a.json", "unknown question 'topc': did you mean 'topic'", id="question"),
        pytest.param("ROWS", "so no file of calibrators: name one that", id="rows"),
    ],
)
def test_what_is_no_calibrator_is_named(desk: Desk, calibrator: str, said: str) -> None:
    """With what was looked for."""
    desk.write_rows(2)
    given = desk.rows if calibrator == "ROWS" else calibrator

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--calibrator", given)

    assert 0 != result.exit_code
    assert said in result.stderr


def test_a_folder_that_is_not_there_is_found_before_the_fit(desk: Desk) -> None:
    """For the calibrators and for the picture."""
    _run(desk)
    labels, nowhere = _labels(desk), str(desk.folder / "nowhere" / "a.json")

    for options in (("-o", nowhere), ("-o", desk.out + ".a", "--svg", nowhere)):
        result = desk.classify("calibrate", desk.out, "--labels", labels, *options)

        assert 2 == result.exit_code
        assert "nowhere' does not exist: create it first" in result.stderr
    assert not Path(desk.out + ".a").exists()


@pytest.mark.parametrize("option", ["-o", "--svg"])
@pytest.mark.parametrize("replaced", ["results", "labels", "rows"])
def test_calibrating_replaces_nothing_that_it_did_not_make(
    desk: Desk, option: str, replaced: str
) -> None:
    """The results above all; calibrators and their picture may be made again."""
    _run(desk)
    labels, artefact = _labels(desk), str(desk.folder / "a.json")
    target = {"results": desk.out, "labels": labels, "rows": desk.rows}[replaced]
    before = Path(target).read_bytes()
    options = ("-o", target) if option == "-o" else ("-o", artefact, "--svg", target)

    result = desk.classify("calibrate", desk.out, "--labels", labels, *options)

    assert 2 == result.exit_code
    assert f"was not made by this command: name another with {option}" in result.stderr
    assert before == Path(target).read_bytes()
    for _ in range(2):
        made = desk.classify("calibrate", desk.out, "--labels", labels, "-o", artefact)
        assert 0 == made.exit_code, made.stderr


def test_the_picture_does_not_take_the_place_of_the_calibrators(desk: Desk) -> None:
    """Its name is theirs with .svg, which may be theirs."""
    _run(desk)
    output = str(desk.folder / "a.svg")

    result = desk.classify("calibrate", desk.out, "--labels", _labels(desk), "-o", output)

    assert 2 == result.exit_code
    assert "a.svg' is the picture's file: name another with --svg" in result.stderr


def test_a_group_that_no_item_has_is_named(desk: Desk) -> None:
    """The field may be misspelt."""
    _run(desk)

    result = desk.classify("audit", desk.out, "--labels", _labels(desk), "--group", "chanel")

    assert 0 == result.exit_code, result.stderr
    assert "no labelled item has a field 'chanel'" in result.stdout


def test_replacing_a_person_takes_two_of_them(desk: Desk) -> None:
    """One person's labels have nobody to be compared with."""
    _run(desk)

    result = desk.classify("agree", desk.out, "--labels", _labels(desk), "--may-replace", "0.1")

    assert 0 == result.exit_code, result.stderr
    assert "it takes items that at least two people rated" in result.stdout


def test_people_without_names_are_told_apart_by_the_order_of_labels_and_that_is_said(
    desk: Desk,
) -> None:
    """A label file has no raters: the test would take different people for one."""
    _run(desk)
    lines = [f"r{n},{'refund' if n % 2 else 'delivery'}\n" for n in range(4) for _ in range(3)]
    labels = desk.write("three.csv", "id,topic\n" + "".join(lines))

    result = desk.classify("agree", desk.out, "--labels", labels, "--may-replace", "0.1")

    assert 0 == result.exit_code, result.stderr
    assert "person 1 is whoever gave the first label of an item" in result.stdout


def test_agreement_says_which_rows_it_does_not_know(desk: Desk) -> None:
    """Of rows handed over, or without a label in the reply, the judge has no verdict."""
    desk.answer = lambda request: NO_MASS if desk.row(request) in (1, 4) else _varying(request)
    desk.write_rows(6)
    assert 0 == desk.classify("run", desk.spec, desk.rows, "-o", desk.out).exit_code
    labels = "".join(f"r{n},{'refund' if n else 'delivery'}\n" for n in range(6))

    result = desk.classify(
        *("agree", desk.out, "--labels", desk.write("all.csv", f"id,topic\n{labels}"))
    )

    assert 0 == result.exit_code, result.stderr
    assert (
        "2 of 6 rows have no verdict of the judge (no verdict, low_label_mass: 2)" in result.stdout
    )
    assert "4 used of 6" in result.stdout


def test_rows_that_were_run_twice_show_the_noise(desk: Desk) -> None:
    """The same id and state is one item that was read again, and not two items."""
    spec = Path(desk.spec).read_text("utf-8") + "options: {orders: 2}\n"
    desk.write("spec.yaml", spec)
    desk.write_rows(6)
    once = Path(desk.rows).read_text("utf-8")
    Path(desk.rows).write_text(once + once, "utf-8")
    assert 0 == desk.classify("run", desk.spec, desk.rows, "-o", desk.out).exit_code

    result = desk.classify("audit", desk.out)

    assert 0 == result.exit_code, result.stderr
    assert "order: flips 1.0000" in result.stdout
    assert "noise 0.0000 [0.0000" in result.stdout
    assert "excess 1.0000 [0.6" in result.stdout
    assert "6 used of 6" in result.stdout
    assert "length: not looked at, a choice has no order" in result.stdout


RATINGS = "id,ann,bob,cem\n1,1,1,1\n2,2,3,2\n3,3,3,5\n4,2,2,2\n"


@pytest.mark.parametrize("raters", ["ann,cem", "ann,bob,cem"], ids=["two", "three"])
def test_a_rater_whose_level_is_not_declared_is_named(desk: Desk, raters: str) -> None:
    """However many raters there are, and with one exit code."""
    ratings = desk.write("ratings.csv", RATINGS)

    result = desk.classify("agree", ratings, "--raters", raters, "--levels", "1,2,3")

    assert 1 == result.exit_code
    assert "rater 'cem' holds '5', which is none of the levels ['1', '2', '3']" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--raters", "ann,bob", "--levels", "1,2,3", "--labels", "l.csv"], "--labels cannot"),
        (["--raters", "ann,bob", "--drawn", "at random"], "--drawn cannot be used with --raters"),
        (["--ordered", "--levels", "1,2"], "--levels and --ordered cannot be used without"),
    ],
    ids=["labels", "drawn", "levels"],
)
def test_options_that_would_say_nothing_are_refused(
    desk: Desk, options: list[str], message: str
) -> None:
    """A user who names labels or an order believes that they were used."""
    result = desk.classify("agree", desk.write("ratings.csv", RATINGS), *options)

    assert 2 == result.exit_code
    assert message in result.stderr


def test_ratings_of_a_json_file_are_levels_as_it_writes_them(desk: Desk) -> None:
    """And not as Python does: True."""
    lines = (json.dumps({"ann": n % 2 == 0, "bob": n % 3 == 0}) + "\n" for n in range(6))
    ratings = desk.write("ratings.jsonl", "".join(lines))

    result = desk.classify("agree", ratings, "--raters", "ann,bob", "--levels", "true,false")

    assert 0 == result.exit_code, result.stderr
    assert "6 used of 6" in result.stdout


def test_a_rater_who_is_no_field_is_named_with_those_there_are(desk: Desk) -> None:
    """Not taken for a rater who rated nothing."""
    ratings = desk.write("ratings.csv", RATINGS)

    result = desk.classify("agree", ratings, "--raters", "ann,zz", "--levels", "1,2,3,5")

    assert 2 == result.exit_code
    assert "ratings.csv has no field 'zz'; its fields are id, ann, bob, cem" in result.stderr


@pytest.mark.parametrize("raters", ["ann,bob", "ann,bob,cem"], ids=["two", "three"])
def test_raters_with_no_item_in_common_are_named_with_what_they_rated(
    desk: Desk, raters: str
) -> None:
    """However many raters there are, and with one exit code."""
    ratings = desk.write("apart.csv", "id,ann,bob,cem\n1,1,,\n2,1,,\n3,,2,\n")

    result = desk.classify("agree", ratings, "--raters", raters, "--levels", "1,2")

    assert 1 == result.exit_code
    assert "no item was rated by two raters: 'ann' rated 2, 'bob' rated 1" in result.stderr


def test_labels_of_one_item_have_one_weight_where_raters_are_compared(desk: Desk) -> None:
    """An item is what a weight repeats."""
    _run(desk)
    labels = desk.write("labels.csv", "id,topic,weight\nr1,refund,1\nr1,delivery,2\n")

    result = desk.classify("agree", desk.out, "--labels", labels)

    assert 2 == result.exit_code
    assert "the labels of 'r1' have different weights (1 and 2)" in result.stderr


def test_labels_by_an_id_that_several_states_have_are_told(desk: Desk) -> None:
    """One label was counted for all of them without a word."""
    rows = desk.write(
        "twice.jsonl", '{"id": "r", "text": "row-0."}\n{"id": "r", "text": "row-1."}\n'
    )
    assert 0 == desk.classify("run", desk.spec, rows, "-o", desk.out).exit_code
    labels = desk.write("labels.csv", "id,topic\nr,refund\n")

    result = desk.classify("metrics", desk.out, "--labels", labels)

    assert "1 of the labelled ids name several states, such as 'r'" in result.stderr
