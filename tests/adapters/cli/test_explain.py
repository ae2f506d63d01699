"""`classify explain`, and `show` of stored rows: what was sent and seen, offline."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from classify.adapters.cli.model_note import tell_model
from classify.adapters.models import eight_bits
from classify.adapters.models.weights import MODEL
from classify.classifier import Classifier
from classify.testing import Answer, ScriptedLanguageModel, likely

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk

LEVELS = """\
id: s
model: vllm/m
questions:
  tone: {type: score, criteria: [cross, calm, glad]}
"""


def run(desk: Desk, *more: str) -> None:
    """Classify the rows into the results file."""
    assert 0 == desk.classify("run", desk.spec, desk.rows, "-o", desk.out, *more).exit_code


def test_the_messages_are_those_that_the_endpoint_got(desk: Desk) -> None:
    """Role by role, to the letter."""
    result = desk.classify("explain", desk.spec, "--state", "row-1.\n <b>", "--json")

    assert 0 == result.exit_code, result.stderr
    (asked,) = json.loads(result.stdout)["explanations"]["topic"]["asked"]
    assert desk.server.requests[-1].body["messages"] == asked["sent"]["prompt"]["messages"]
    assert asked["sent"]["matches"] is True


def test_a_stored_row_is_explained_without_asking(desk: Desk) -> None:
    """From the results and the record beside them."""
    run(desk)
    before = len(desk.server.requests)

    result = desk.classify("explain", desk.out, "--id", "r3")

    assert 0 == result.exit_code, result.stderr
    assert "rebuilt; matches the hash of what was sent" in " ".join(result.stdout.split())
    assert "  │ row-3." in result.stdout.splitlines()
    assert before == len(desk.server.requests)


def test_a_row_without_its_state_can_be_given_it(desk: Desk) -> None:
    """The hash says whether it is the one that was judged."""
    run(desk, "--no-state")

    without = desk.classify("explain", desk.out, "--id", "r3")
    right = desk.classify("explain", desk.out, "--id", "r3", "--state", "row-3.")
    wrong = desk.classify("explain", desk.out, "--id", "r3", "--state", "row-4.")

    assert "the state was not kept" in " ".join(without.stdout.split())
    assert "rebuilt; matches the hash" in " ".join(right.stdout.split())
    assert "does NOT match the hash" in " ".join(wrong.stdout.split())


def test_results_without_a_record_need_the_spec(desk: Desk) -> None:
    """To be explained; to be shown they do not."""
    run(desk)
    Path(f"{desk.out}.run.json").unlink()

    refused = desk.classify("explain", desk.out, "--id", "r0")
    explained = desk.classify("explain", desk.out, "--id", "r0", "--spec", desk.spec)
    shown = desk.classify("show", desk.out, "--id", "r0")

    assert (2, 0, 0) == (refused.exit_code, explained.exit_code, shown.exit_code)
    assert "--spec SPEC" in refused.stderr
    assert "topic (choice): delivery" == shown.stdout.splitlines()[0]


def test_a_stored_row_is_shown_as_it_was_printed(desk: Desk) -> None:
    """With the levels' descriptions, which the results do not hold."""
    desk.write("spec.yaml", LEVELS)
    desk.answer = lambda request: Answer(positions=[likely({"0": 0.2, "2": 0.7})])
    run(desk)

    result = desk.classify("show", desk.out, "--id", "r0")

    assert "tone (score): " in result.stdout
    assert "  2 glad" in result.stdout


def test_every_row_with_the_id_is_explained(desk: Desk) -> None:
    """Ids may repeat, and none of them is the right one."""
    desk.write("rows.jsonl", '{"id": "r", "text": "row-1."}\n{"id": "r", "text": "row-2."}\n')
    run(desk)

    result = desk.classify("explain", desk.out, "--id", "r", "--json")

    texts = [json.dumps(json.loads(line)) for line in result.stdout.splitlines()]
    assert ["row-1." in texts[0], "row-2." in texts[1]] == [True, True]
    assert "2 rows have the id 'r'" in result.stderr


def test_a_row_that_failed_says_why_and_exits_with_1(desk: Desk) -> None:
    """There is no answer to explain."""
    desk.answer = lambda request: Answer(status=400, body=b"{}")
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    for command in ("show", "explain"):
        result = desk.classify(command, desk.out, "--id", "r0")

        assert 1 == result.exit_code
        assert "row 'r0' has no answers: " in result.stderr
        assert "" == result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param([], "or a row of a results file by --id", id="neither"),
        pytest.param(["--id", "x"], "has no row with the id 'x': the first row's is 'r0'", id="id"),
        pytest.param(["--id", "r0", "--state", "a"], "leave --state out", id="state twice"),
        pytest.param(["--id", "r0", "--model", "vllm/m"], "--model has no effect", id="model"),
        pytest.param(["--id", "r0", "--timeout", "1"], "--timeout has no effect", id="timeout"),
        pytest.param(["--id", "r0", "--calibrator", "f"], "--calibrator has no", id="calibrator"),
        pytest.param(["--id", "r0", "--question", "q"], "unknown question 'q'", id="question"),
        pytest.param(["--state", "a", "--spec", "s"], "--spec is for a row", id="spec"),
        pytest.param(["--state", "a", "--abstain", "0.1"], "need --calibrator", id="abstain"),
    ],
)
def test_what_has_no_effect_is_refused(desk: Desk, arguments: list[str], message: str) -> None:
    """With the way out."""
    run(desk)
    source = desk.out if "--id" in arguments else desk.spec

    result = desk.classify("explain", source, *arguments)

    assert 2 == result.exit_code
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize("command", ["show", "explain"])
def test_another_spec_is_found_out(desk: Desk, command: str) -> None:
    """It does not ask what the row answers; its descriptions would stand at foreign levels."""
    run(desk)
    spec = desk.write("other.yaml", LEVELS)

    result = desk.classify(command, desk.out, "--id", "r0", "--spec", spec)

    assert 2 == result.exit_code
    assert "the answers are to other questions: unknown question 'topic'" in result.stderr


@pytest.mark.parametrize("command", ["show", "explain"])
def test_a_record_of_the_same_question_with_other_options_is_found_out(
    desk: Desk, command: str
) -> None:
    """Results copied over another run's keep its record."""
    run(desk)
    record = Path(f"{desk.out}.run.json")
    record.write_text(record.read_text("utf-8").replace('"delivery"', '"other"'), "utf-8")

    result = desk.classify(command, desk.out, "--id", "r0")

    assert 2 == result.exit_code
    assert "it was another question" in result.stderr


def test_a_file_of_one_torn_line_is_not_called_empty(desk: Desk) -> None:
    """A crash came while its first line was written."""
    Path(desk.out).write_text('{"id":"r0","in', "utf-8")

    result = desk.classify("show", desk.out, "--id", "r0")

    assert 2 == result.exit_code
    assert "has no row with the id 'r0': it has no whole line" in result.stderr


@pytest.mark.parametrize("number", ["NaN", "7.0", "-0.5", "1e999"])
def test_a_number_that_is_no_probability_is_no_answer(desk: Desk, number: str) -> None:
    """Someone has edited the line: it is named, and no bar is drawn of it."""
    run(desk)
    line = json.loads(Path(desk.out).read_text("utf-8").splitlines()[0])
    line["answers"]["topic"]["probabilities"]["refund"] = "here"
    Path(desk.out).write_text(json.dumps(line).replace('"here"', number) + "\n", "utf-8")

    result = desk.classify("show", desk.out, "--id", "r0")

    assert 2 == result.exit_code
    assert "out.jsonl:1: no line of results: answers.topic" in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param(
            {"choice": "other"}, "choice 'other' is none of ['refund', 'delivery']", id="choice"
        ),
        pytest.param(
            {
                "evidence": {
                    "orders": [
                        {
                            "labels": {},
                            "probabilities": {"refund": 1.0},
                            "label_mass": 1.0,
                            "prompt_hash": "",
                        }
                    ]
                }
            },
            "the labels' options are not those that have a probability",
            id="labels",
        ),
    ],
)
def test_an_answer_whose_parts_do_not_fit_is_no_answer(
    desk: Desk, change: dict[str, object], message: str
) -> None:
    """Someone has edited the line: it is named, and nothing is told of it."""
    run(desk)
    line = json.loads(Path(desk.out).read_text("utf-8").splitlines()[0])
    line["answers"]["topic"].update(change)
    Path(desk.out).write_text(json.dumps(line) + "\n", "utf-8")

    result = desk.classify("explain", desk.out, "--id", "r0")

    assert 2 == result.exit_code
    assert message in result.stderr


def test_the_first_conversion_is_said_before_it_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It takes some seconds, in which nothing else is seen."""
    model = ScriptedLanguageModel(lambda _, __: {})
    model.provider, model.model_id = "local", MODEL
    monkeypatch.setattr(eight_bits, "to_be_made", lambda: True)

    tell_model(Classifier("c", model), named="local")

    assert "the first start stores its weights at 8 bits" in capsys.readouterr().err


def started(desk: Desk, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start the command as a program, with its output in a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", "classify", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
        encoding="utf-8",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no file that is always full here")
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("command", ["show", "explain"])
def test_output_that_cannot_be_written_is_one_line(
    desk: Desk, command: str, more: list[str]
) -> None:
    """And an exit code, in place of a traceback."""
    run(desk)

    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "classify", command, desk.out, "--id", "r0", *more],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )

    assert (1, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert "error: output cannot be written: " in done.stderr


def test_a_reader_that_has_gone_away_is_no_error_to_tell(desk: Desk) -> None:
    """It has seen what it wanted."""
    run(desk)
    reader, writer = os.pipe()
    os.close(reader)

    done = subprocess.run(
        [sys.executable, "-m", "classify", "explain", desk.out, "--id", "r0"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)

    assert "" == done.stderr


def test_json_is_json_in_any_encoding(desk: Desk) -> None:
    """What a stream writes for characters that it lacks is no JSON."""
    desk.write("rows.jsonl", json.dumps({"id": "é👩", "text": "row-1. é👩"}) + "\n")
    run(desk)

    process = started(desk, "explain", desk.out, "--id", "é👩", "--json", PYTHONIOENCODING="ascii")
    out, _ = process.communicate()

    assert "é👩" == json.loads(out)["id"]
