"""`classify run`: results, messages and exit codes."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from classify.adapters.cli.field_options import chosen_fields
from classify.rows import FieldMap
from classify.run_record import read_record, record_path
from classify.testing import Answer, Request, error

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk


def _fails_for(desk: Desk, *rows: int, message: str = "no") -> None:
    usual = desk.answer

    def answer(request: Request) -> Answer:
        return error(400, message) if desk.row(request) in rows else usual(request)

    desk.answer = answer


def _lines(desk: Desk) -> int:
    out = Path(desk.out)
    return out.read_bytes().count(b"\n") if out.exists() else 0


def test_rows_become_lines_with_answers_errors_and_labels(desk: Desk) -> None:
    """One object per row, in input order."""
    rows = desk.write("rows.csv", "text,kind\nrow-0.,delivery\nrow-1.,refund\n")

    result = desk.classify("run", desk.spec, rows, "-o", desk.out, "--label", "topic=kind")

    assert 0 == result.exit_code, result.stderr
    first, second = desk.results()
    topic = desk.answers(0)["topic"]
    assert ("choice", "delivery") == (topic["type"], topic["choice"])
    assert {"delivery": pytest.approx(7 / 9), "refund": pytest.approx(2 / 9)} == topic[
        "probabilities"
    ]
    assert topic["label_mass"] == pytest.approx(0.9)
    assert (None, None) == (first["error"], second["error"])
    assert [{"topic": "delivery"}, {"topic": "refund"}] == [first["labels"], second["labels"]]
    assert "accuracy      0.500" in result.stdout
    assert "1 of 2" in result.stdout


def test_json_is_one_object_on_standard_output_and_messages_go_elsewhere(desk: Desk) -> None:
    """Programs read the one, people the other."""
    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--json")

    summary = json.loads(result.stdout)
    assert (5, 5, 0) == (summary["rows"], summary["answered"], summary["failed"])
    assert {"refund": 0, "delivery": 5} == summary["questions"]["topic"]["distribution"]
    assert 5 == summary["run"]["answered"]
    assert "model: vllm/m" in result.stderr
    assert "state: field 'text'" in result.stderr


def test_rows_too_few_for_a_batch_prior_are_refused_before_any_is_asked(desk: Desk) -> None:
    """They were asked and paid for, and then refused."""
    desk.write("spec.yaml", Path(desk.spec).read_text("utf-8") + "options: {prior: batch}\n")

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    assert 2 == result.exit_code
    assert 'prior="batch" needs at least 32 states, got 5' in result.stderr
    assert [] == desk.asked()


def test_failed_rows_make_the_exit_code_1_and_lose_nothing(desk: Desk) -> None:
    """The others are answered, the summary counts, and the text is in no message."""
    _fails_for(desk, 2)

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    assert 1 == result.exit_code
    assert "rows answered   4 of 5" in result.stdout
    assert "1 row failed: ProviderError" in result.stdout
    assert "row-2" not in result.stdout + result.stderr
    failed = desk.results()[2]["error"]
    assert isinstance(failed, dict)
    assert ("ProviderError", 400, False) == (
        failed["type"],
        failed["status"],
        failed["retryable"],
    )


def test_resuming_asks_only_for_what_failed(desk: Desk) -> None:
    """And says so."""
    _fails_for(desk, 2)
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)
    desk.answer = lambda request: Answer(text="A", positions=[[("A", 0.0)]])

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--resume")

    assert 0 == result.exit_code, result.stderr
    assert [0, 1, 2, 3, 4, 2] == [*sorted(desk.asked()[:5]), *desk.asked()[5:]]
    assert "resumed: 4 rows reused, 1 retried, 0 new" in result.stderr
    assert ["r0", "r1", "r2", "r3", "r4"] == [line["id"] for line in desk.results()]


def test_resuming_without_the_labels_of_before_says_that_they_go(desk: Desk) -> None:
    """A result has what its row says now; with --label again they are back."""
    lines = (json.dumps({"id": f"r{n}", "text": f"row-{n}.", "kind": "refund"}) for n in range(3))
    rows = desk.write("labelled.jsonl", "\n".join(lines))
    run = ("run", desk.spec, rows, "-o", desk.out)
    desk.classify(*run, "--label", "topic=kind")

    result = desk.classify(*run, "--resume")

    assert 0 == result.exit_code, result.stderr
    assert "3 of them had labels, which this run does not read: give --label" in result.stderr
    again = desk.classify(*run, "--resume", "--label", "topic=kind")
    assert "had labels" not in again.stderr
    assert [{"topic": "refund"}] * 3 == [line["labels"] for line in desk.results()]


def test_existing_results_are_an_error_with_the_way_out(desk: Desk) -> None:
    """Nothing is asked and nothing replaced."""
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)
    before = Path(desk.out).read_bytes()

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    assert 2 == result.exit_code
    assert "--resume" in result.stderr and "--overwrite" in result.stderr
    assert before == Path(desk.out).read_bytes()
    assert 5 == len(desk.asked())
    assert 0 == desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--overwrite").exit_code


def test_another_model_never_reuses_answers(desk: Desk) -> None:
    """The old ones are kept beside the results."""
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    result = desk.classify(
        "run", desk.spec, desk.rows, "-o", desk.out, "--resume", "--model", "vllm/other"
    )

    assert 10 == len(desk.asked())
    assert "5 answers belong to another spec, model or input" in result.stderr
    assert 5 == len(Path(desk.out + ".unused").read_text().splitlines())


@pytest.mark.parametrize("strict", [False, True], ids=["going on", "strict"])
def test_a_bad_row_is_reported_and_stops_a_strict_run(desk: Desk, strict: bool) -> None:
    """Its number and its trouble, not its text."""
    rows = desk.write("rows.jsonl", '{"text": "row-0."}\nsecret\n{"text": "row-2."}\n')

    result = desk.classify(
        "run", desk.spec, rows, "-o", desk.out, *(["--strict"] if strict else [])
    )

    assert 1 == result.exit_code
    assert "line 2: invalid JSON" in result.stdout
    assert "secret" not in result.stdout + result.stderr + Path(desk.out).read_text()
    assert (2 if strict else 3) == len(desk.results())
    assert strict == ("stopped by --strict at line 2" in result.stderr)


def test_standard_input_is_read_as_lines(desk: Desk) -> None:
    """Rows can come from another program."""
    import subprocess
    import sys

    command = [sys.executable, "-m", "classify", "run", desk.spec, "-", "-o", desk.out]
    lines = "".join(json.dumps({"text": f"row-{n}."}) + "\n" for n in range(100))

    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False)

    assert 0 == done.returncode, done.stderr
    assert 100 == len(desk.results())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_an_answer_is_in_the_file_before_a_named_pipe_gives_the_next_row(desk: Desk) -> None:
    """Whoever writes the rows may wait for their answers."""
    pipe = desk.folder / "pipe.jsonl"
    os.mkfifo(pipe)
    seen: list[int] = []

    def feed() -> None:
        with pipe.open("w", encoding="utf-8") as rows:
            for number in range(3):
                print(json.dumps({"text": f"row-{number}."}), file=rows, flush=True)
                ended = time.monotonic() + 30.0
                while not _lines(desk) > number and time.monotonic() < ended:
                    pass
                seen.append(_lines(desk))

    feeding = threading.Thread(target=feed, daemon=True)
    feeding.start()

    result = desk.classify("run", desk.spec, str(pipe), "-o", desk.out)

    feeding.join()
    assert (result.exit_code, seen) == (0, [1, 2, 3]), result.stderr


def test_fields_and_limits_come_from_the_command_line(desk: Desk) -> None:
    """What is said there wins over the spec."""
    desk.write("spec.yaml", Path(desk.spec).read_text() + "state: absent\n")
    rows = desk.write("rows.csv", "a,b,key\nrow-0.,x,k0\nrow-1.,y,k1\n")

    result = desk.classify(
        *("run", desk.spec, rows, "-o", desk.out, "--limit", "1", "--id-field", "key"),
        *("--state-field", "review=a", "--state-field", "b"),
    )

    assert 0 == result.exit_code, result.stderr
    (line,) = desk.results()
    assert ("k0", {"review": "row-0.", "b": "x"}) == (line["id"], line["state"])
    record = read_record(desk.out)
    assert record is not None and record.rows == 1


def test_the_state_can_be_left_out(desk: Desk) -> None:
    """Texts that must not be copied are not."""
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--no-state")

    assert "row-" not in Path(desk.out).read_text()


def test_concurrency_bounds_what_is_in_flight(desk: Desk) -> None:
    """Over rows and questions together."""
    desk.write_rows(20)

    desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--concurrency", "2")

    assert desk.server.most_in_flight <= 2
    assert 20 == len(desk.results())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--state-field", "="], "FIELD or NAME=FIELD, got '='", id="state field"),
        pytest.param(["--state-field", "a", "--state-field", "a"], "'a' twice", id="state twice"),
        pytest.param(["--label", "topic"], "QUESTION=FIELD, got 'topic'", id="label"),
        pytest.param(["--label", "tpoic=x"], "did you mean 'topic'", id="label's question"),
        pytest.param(["--resume", "--overwrite"], "exclude each other", id="both"),
        pytest.param(["--model", "nope/x"], "unknown provider 'nope'", id="model"),
        pytest.param(["--concurrency", "0"], "--concurrency", id="concurrency"),
        pytest.param(["--limit", "x"], "--limit", id="limit"),
        pytest.param(["--timeout", "-1"], "timeout must be a positive", id="timeout"),
        pytest.param(["--colour"], "--colour", id="unknown option"),
    ],
)
def test_unusable_options_exit_with_2_and_say_why(
    desk: Desk, arguments: list[str], message: str
) -> None:
    """Nothing is asked."""
    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, *arguments)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert [] == desk.asked()


@pytest.mark.parametrize(
    ("name", "output", "message"),
    [
        pytest.param("absent.jsonl", "out.jsonl", "No such file", id="no rows file"),
        pytest.param("empty.jsonl", "out.jsonl", "has no rows", id="no rows"),
        pytest.param("rows.jsonl", "rows.jsonl", "would replace the rows", id="rows as output"),
        pytest.param("rows.jsonl", ".", "is a directory", id="directory as output"),
    ],
)
def test_unusable_files_exit_with_2_and_say_why(
    desk: Desk, name: str, output: str, message: str
) -> None:
    """Rows and results are checked before the model is asked."""
    desk.write("empty.jsonl", "\n\n")

    result = desk.classify(
        "run", desk.spec, str(desk.folder / name), "-o", str(desk.folder / output), "--overwrite"
    )

    assert 2 == result.exit_code
    assert message in result.stderr
    assert 5 == len(Path(desk.rows).read_text().splitlines())


def test_a_wrong_spec_is_shown_with_its_line_and_as_plain_text(desk: Desk) -> None:
    """Markup in a file stays text, and control characters are made visible."""
    desk.write("spec.yaml", 'id: s\nmodel: "[bold]x\\e[31m"\nquestions: {}\n"[red]k\\e": 1\n')

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    assert 2 == result.exit_code
    assert "spec.yaml:4: unknown field '[red]k\\x1b'" in result.stderr
    assert "\x1b" not in result.stderr
    assert "Traceback" not in result.stderr


def test_no_verdict_on_any_row_is_a_failure_to_answer(desk: Desk) -> None:
    """Exit code 1, and the cause is counted."""
    desk.answer = lambda request: Answer(text="maybe", positions=[[("maybe", 0.0)]])

    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    assert 1 == result.exit_code
    assert "no verdict    no_label 5" in result.stdout
    assert "answered      0 of 5" in result.stdout


def test_results_never_replace_the_spec(desk: Desk) -> None:
    """--overwrite is about results: the spec would be gone before anything is asked."""
    spec = Path(desk.spec).read_bytes()
    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.spec, "--overwrite")

    assert 2 == result.exit_code
    assert "results would replace the spec" in result.stderr
    assert spec == Path(desk.spec).read_bytes()


_OWN_MODEL = """
class Model:
    provider, supported_question_types = "mine", None

    def __init__(self, model_id):
        self.model_id, self.client = model_id, object()

    async def decide(self, request):
        from classify import DecisionResponse

        answer = {"type": "choice", "choice": "refund"}
        return DecisionResponse(dict.fromkeys(request.questions, answer))
"""


def test_a_model_that_does_not_say_what_it_is_is_named_before_the_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a resumed run asks it nothing and changes nothing: it would ask every row again."""
    desk.write("own_model_of_a_test.py", _OWN_MODEL)
    info = desk.folder / "own_model_of_a_test-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-model-of-a-test\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[classify.models]\nmine = own_model_of_a_test:Model\n")
    monkeypatch.setattr("sys.path", [str(desk.folder), *sys.path])
    arguments = ("run", desk.spec, desk.rows, "-o", desk.out, "--model", "mine/m")

    begun = desk.classify(*arguments)
    kept = [path.read_bytes() for path in (Path(desk.out), record_path(desk.out))]
    resumed = desk.classify(*arguments, "--resume")

    assert 0 == begun.exit_code, begun.stderr
    assert "cannot be resumed once it stops: the model holds client and has no" in begun.stderr
    assert 2 == resumed.exit_code
    assert "cannot be resumed, as nothing tells whether they are" in resumed.stderr
    assert kept == [path.read_bytes() for path in (Path(desk.out), record_path(desk.out))]


def test_a_label_takes_the_place_of_that_questions_alone() -> None:
    """The spec's other labels stay labels, and out of a state that is the whole row."""
    spec = FieldMap(labels={"topic": "kind", "urgent": "soon"})

    chosen = chosen_fields(spec, None, ["topic=said"], None)

    assert chosen.labels == {"topic": "said", "urgent": "soon"}
