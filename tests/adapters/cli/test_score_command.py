"""`classify score`: scores, gates and thresholds of a file's rows, and the exit codes of CI."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import jsonschema
import pytest
import yaml

from classify.adapters.scorers.reprojection import reproject
from classify.adapters.scorers.score_spec import load_score_spec, score_spec_schema
from classify.errors import InvalidInput
from classify.testing import Answer, Request, likely
from tests.adapters.cli.conftest import SPEC, Desk

SCORERS = """\
scorers:
  kind:
    question: topic
    scores: {delivery: 1.0, refund: 0.25}
"""


def spec_with(desk: Desk, scorers: str) -> str:
    """Write a score spec with these scorers, and return its path."""
    return desk.write("score.yaml", SPEC + scorers)


def score(desk: Desk, scorers: str, *options: str) -> Any:
    """Run the command."""
    return desk.classify("score", spec_with(desk, scorers), desk.rows, "-o", desk.out, *options)


def scores(desk: Desk) -> list[float | None]:
    """Return the scores in the results file."""
    lines: list[Any] = desk.results()
    return [line["scores"]["kind"].get("score") for line in lines]


def test_every_row_gets_its_scores(desk: Desk) -> None:
    """A stands for delivery: it has 0.7, refund 0.2 of the mass."""
    done = score(desk, SCORERS)
    assert done.exit_code == 0, done.output
    assert scores(desk) == [1.0] * 5
    assert "kind                    1.000 [0.566, 1.000] (5 of 5)" in done.stdout


def test_the_expected_score_is_named_with_its_bounds(desk: Desk) -> None:
    """Sum of p * scores over the options."""
    score(desk, SCORERS + "    projection: expected\n")
    found: Any = desk.results()[0]["scores"]
    low, high = found["kind"]["score_bounds"]
    assert found["kind"]["score"] == pytest.approx(7 / 9 + 0.25 * 2 / 9)
    assert low <= found["kind"]["score"] <= high


@pytest.mark.parametrize(
    ("rule", "code", "verdict"),
    [
        pytest.param("threshold: 0.5", 0, "passed", id="threshold-held"),
        pytest.param("threshold: {max: 0.9}", 1, "scored", id="threshold-missed"),
        pytest.param("gate: true", 0, "passed", id="gate-held"),
        pytest.param("gate: {max: 0.5}", 1, "failed", id="gate-failed"),
        pytest.param("gate: false", 0, None, id="no-gate"),
    ],
)
def test_the_exit_code_says_whether_it_is_good_enough(
    desk: Desk, rule: str, code: int, verdict: str | None
) -> None:
    """0 and 1 are what CI reads; the JSON says the same."""
    done = score(desk, SCORERS + f"    {rule}\n", "--json")
    assert done.exit_code == code, done.output
    report = json.loads(done.stdout)
    assert (report["verdict"], report["exit_code"]) == (verdict, code)
    assert report["scores"]["kind"]["n"] == 5


def test_rows_without_an_answer_are_an_error_and_no_verdict(desk: Desk) -> None:
    """Three of five scored is no passed run, however good the three are."""
    desk.answer = lambda request: _refused_above(desk, request, 2)
    rule = SCORERS + "    threshold: 0.5\n"
    done = score(desk, rule, "--json")
    assert done.exit_code == 2
    report = json.loads(done.stdout)
    assert report["summary"] == {"rows": 5, "failed": 2}
    assert (report["scores"]["kind"]["n"], report["scores"]["kind"]["failed"]) == (3, 2)
    assert "2 of 5 rows have no answer" in done.stderr
    allowed = score(desk, rule, "--max-failures", "2", "--resume")
    assert allowed.exit_code == 0, allowed.output


def _refused_above(desk: Desk, request: Request, last: int) -> Answer:
    row = desk.row(request)
    if row is not None and row > last:
        return Answer(status=400)
    return Answer(positions=[likely({"A": 0.7, "B": 0.2, "x": 0.1})])


def test_a_row_without_a_verdict_is_not_scored_and_no_error(desk: Desk) -> None:
    """It counts apart, is never 0, and the mean of the others does not speak for it."""

    def answer(request: Request) -> Answer:
        label = "x" if desk.row(request) == 0 else "A"
        return Answer(positions=[likely({label: 0.9, "y": 0.1})])

    desk.answer = answer
    rule = SCORERS + "    threshold: 0.9\n"
    done = score(desk, rule)
    assert done.exit_code == 1, done.output
    assert "(4 of 5), 1 without a verdict" in done.stdout
    assert "average >= 0.9; 1 of 5 without a verdict: FAILED" in done.stdout
    first: Any = desk.results()[0]["scores"]
    assert list(first["kind"]) == ["not_scorable"]
    allowed = score(desk, rule, "--max-failures", "1", "--resume")
    assert allowed.exit_code == 0, allowed.output


def test_a_gate_is_not_passed_by_rows_without_a_verdict(desk: Desk) -> None:
    """One good row of five says nothing of the four that nobody could judge."""

    def answer(request: Request) -> Answer:
        label = "A" if desk.row(request) == 0 else "x"
        return Answer(positions=[likely({label: 0.9, "y": 0.1})])

    desk.answer = answer
    done = score(desk, SCORERS + "    gate: true\n", "--max-failures", "5")
    assert done.exit_code == 1, done.output
    assert "gate kind: each >= 1; 4 of 5 without a verdict: FAILED" in done.stdout
    assert "verdict: failed" in done.stdout


def test_a_failed_gate_says_how_many_rows_failed_it(desk: Desk) -> None:
    """One row of thousands and all of them were told alike."""

    def answer(request: Request) -> Answer:
        likely_one = "A" if desk.row(request) else "B"
        return Answer(positions=[likely({likely_one: 0.98, "y": 0.02})])

    desk.answer = answer
    done = score(desk, SCORERS + "    gate: {min: 0.5}\n")
    assert done.exit_code == 1, done.output
    assert "gate kind: each >= 0.5; 1 of 5 are not: FAILED" in done.stdout


def test_no_score_at_all_is_an_error(desk: Desk) -> None:
    """A run that measured nothing has not passed."""
    desk.answer = lambda request: Answer(positions=[likely({"x": 0.9, "y": 0.1})])
    done = score(desk, SCORERS)
    assert done.exit_code == 2
    assert "no score (0 of 5), 5 without a verdict" in done.stdout
    assert "error: no row has a score" in done.stderr


def test_a_missed_threshold_over_nothing_is_a_missed_threshold(desk: Desk) -> None:
    """The reference takes 0 for the average, which would hold a maximum."""
    desk.answer = lambda request: Answer(positions=[likely({"x": 0.9, "y": 0.1})])
    assert score(desk, SCORERS + "    threshold: {max: 0.5}\n").exit_code == 1


def test_a_row_that_cannot_be_read_counts_as_one_without_an_answer(desk: Desk) -> None:
    """It is in the file that was to be held to the gate."""
    desk.write("rows.jsonl", '{"text": "row-0."}\nno json\n')
    done = score(desk, SCORERS + "    gate: true\n", "--max-failures", "1")
    assert done.exit_code == 1, done.output
    assert "gate kind: each >= 1; 1 of 2 failed: FAILED" in done.stdout
    assert score(desk, SCORERS, "--overwrite").exit_code == 2
    assert score(desk, SCORERS, "--overwrite", "--strict").exit_code == 2


def test_other_scores_are_read_from_the_same_answers(desk: Desk) -> None:
    """A resumed run asks nothing twice, and its file stays a results file for all commands."""
    score(desk, SCORERS)
    asked = len(desk.asked())
    changed = SCORERS.replace("delivery: 1.0", "delivery: 0.5")
    done = score(desk, changed, "--resume")
    assert done.exit_code == 0, done.output
    assert len(desk.asked()) == asked == 5
    assert scores(desk) == [0.5] * 5
    rows = list(reproject(desk.out, "topic", scores={"delivery": 1.0, "refund": 0.0}))
    assert [row.score for row in rows] == [1.0] * 5


def test_a_run_without_scorers_does_not_drop_the_scores(desk: Desk) -> None:
    """`classify run --resume` took them out of every line without a word."""
    score(desk, SCORERS)
    before = desk.results()

    done = desk.classify("run", desk.spec, desk.rows, "-o", desk.out, "--resume")

    assert done.exit_code == 2
    assert "would drop (scores): continue with `classify score --resume`" in done.stderr
    assert desk.results() == before


def test_a_classifier_s_own_spec_can_be_named(desk: Desk) -> None:
    """Its path is from the score spec's folder."""
    path = desk.write("score.yaml", "classifier: spec.yaml\n" + SCORERS)
    done = desk.classify("score", path, desk.rows, "-o", desk.out)
    assert done.exit_code == 0, done.output


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends signals in another way")
def test_a_stopped_run_has_no_verdict_and_is_resumed(desk: Desk) -> None:
    """Half of the rows must not pass a gate; together both runs ask about each row once."""
    rule = SCORERS + "    threshold: 0.5\n"
    usual = desk.answer

    def answer(request: Request) -> Answer:
        if desk.row(request) == 2:
            desk.server.hold()
        return usual(request)

    desk.answer = answer
    options = [desk.rows, "-o", desk.out, "--concurrency", "1"]
    command = [sys.executable, "-m", "classify", "score", spec_with(desk, rule), *options]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        try:
            desk.server.wait_in_flight(1)
            process.send_signal(signal.SIGINT)
            said = ""
            while "stopping" not in said:
                said += process.stderr.readline()
        finally:
            desk.answer = usual
            desk.server.release()
        assert process.wait() == 130
        assert "verdict" not in process.stdout.read()
        assert "classify score" in process.stderr.read()

    done = score(desk, rule, "--resume")

    assert done.exit_code == 0, done.output
    assert scores(desk) == [1.0] * 5
    assert sorted(desk.asked()) == list(range(5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            SPEC + SCORERS.replace("topic", "topc"),
            r"score.yaml:9: scorers: scorer 'kind': unknown question 'topc': did you mean 'topic'",
            id="question",
        ),
        pytest.param(
            SPEC + SCORERS.replace(", refund: 0.25", ""),
            r"score.yaml:9: .*Missing: refund",
            id="scores",
        ),
        pytest.param(
            SPEC + SCORERS + "    treshold: 1\n",
            r"score.yaml:12: scorers\.kind.*'treshold': did you mean 'threshold'",
            id="field",
        ),
        pytest.param(
            SPEC + SCORERS + "    threshold: 1.5\n",
            r"score.yaml:12: scorers.kind.threshold.min: .*less than or equal to 1, got 1.5",
            id="threshold",
        ),
        pytest.param(
            SPEC + SCORERS + "    threshold: {min: 0.8, max: 0.2}\n",
            r"score.yaml:12: scorers.kind.threshold: min 0.8 is above max 0.2",
            id="threshold-crossed",
        ),
        pytest.param(
            SPEC + SCORERS + "    direction: lower\n    threshold: 0.2\n",
            r"score.yaml:13: .*less is better here, so say which side it is on: \{max: 0.2\}",
            id="threshold-side",
        ),
        pytest.param(
            SPEC + SCORERS + "    gate: {mn: 0.2}\n",
            r"score.yaml:12: scorers.kind.gate: unknown field 'mn'",
            id="gate-field",
        ),
        pytest.param(SPEC, r"score.yaml:1: scorers: is required and missing", id="no-scorers"),
        pytest.param(
            "classifier: spec.yaml\nmodel: local\n" + SCORERS,
            r"score.yaml:2: model: stands in the classifier's own file",
            id="both-forms",
        ),
        pytest.param(
            "classifier: 3\n" + SCORERS, r"score.yaml:1: classifier: must be the path", id="no-path"
        ),
        pytest.param(
            "classifier: gone.yaml\n" + SCORERS, r"gone.yaml cannot be read", id="no-such-file"
        ),
    ],
)
def test_a_broken_spec_is_refused_by_line_and_field(desk: Desk, text: str, message: str) -> None:
    """Nothing is asked, and the exit code is that of unusable input."""
    path = desk.write("score.yaml", text)
    with pytest.raises(InvalidInput, match=message):
        load_score_spec(path)
    assert desk.classify("score", path, desk.rows, "-o", desk.out).exit_code == 2
    assert desk.asked() == []


def test_results_that_are_there_are_left_alone(desk: Desk) -> None:
    """As `classify run` does: 2, and nothing changed."""
    score(desk, SCORERS)
    before = desk.results()
    done = score(desk, SCORERS)
    assert done.exit_code == 2
    assert "--resume" in done.stderr
    assert desk.results() == before


def test_the_schema_takes_what_the_command_takes(desk: Desk) -> None:
    """Both forms, and nothing without scorers."""
    schema = json.loads(desk.classify("schema", "--score").stdout)
    assert schema == score_spec_schema()
    for rule in ("", "    threshold: 0.5\n", "    gate: true\n", "    gate: {min: 0.5}\n"):
        jsonschema.validate(yaml.safe_load(SPEC + SCORERS + rule), schema)
    jsonschema.validate(yaml.safe_load("classifier: a.yaml\n" + SCORERS), schema)
    with pytest.raises(jsonschema.ValidationError, match="'scorers' is a required property"):
        jsonschema.validate(yaml.safe_load(SPEC), schema)
