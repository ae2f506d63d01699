"""`classify calibrate`, `metrics`, `agree`, `audit`, and runs with calibrators, end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from classify.calibration.artefact_file import load_artefacts
from classify.testing import Answer, Request, likely

if TYPE_CHECKING:
    from tests.adapters.cli.conftest import Desk

ROWS = 60


def _labelled_run(desk: Desk, *, rows: int = ROWS, truth: str | None = None) -> str:
    """Run rows of a model that is sure at 0.98 and right in two of three; return the labels.

    All of them are `truth` where one is given.
    """
    desk.write_rows(rows)
    desk.answer = _sure
    result = desk.classify("run", desk.spec, desk.rows, "-o", desk.out)
    assert 0 == result.exit_code, result.stderr
    truths = ("delivery" if (n % 2 == 0) == (n % 3 > 0) else "refund" for n in range(rows))
    lines = (json.dumps({"id": f"r{n}", "topic": truth or each}) for n, each in enumerate(truths))
    return desk.write("labels.jsonl", "\n".join(lines) + "\n")


def _sure(request: Request) -> Answer:
    text = json.dumps(request.body)
    number = int(text.split("row-")[1].split(".")[0]) if "row-" in text else 0
    first, second = ("A", "B") if number % 2 == 0 else ("B", "A")
    return Answer(positions=[likely({first: 0.98, second: 0.02})])


def test_calibrating_writes_an_artefact_and_reports_before_and_after(desk: Desk) -> None:
    """Held out: what is printed is of rows that the fit did not see."""
    labels = _labelled_run(desk)
    artefact, picture = str(desk.folder / "a.json"), desk.folder / "p.svg"

    result = desk.classify(
        *(
            "calibrate",
            desk.out,
            "--labels",
            labels,
            "-o",
            artefact,
            "--svg",
            str(picture),
            "--json",
        )
    )

    assert 0 == result.exit_code, result.stderr
    found = json.loads(result.stdout)["topic"]
    assert found["report"]["chosen"] == "blend"
    assert found["after"]["log_loss"]["value"] < 0.7 < found["before"]["log_loss"]["value"]
    assert [30, 30] == found["report"]["label_counts"]
    assert picture.read_text("utf-8").startswith("<svg")
    (kept,) = load_artefacts(artefact)
    assert ("topic", "loopback") == (kept.name, kept.fingerprint.model)


def test_calibrated_runs_keep_raw_answers_and_hand_over_what_is_unsure(desk: Desk) -> None:
    """With two of three right no threshold keeps the error at 5 %: everything is handed over."""
    labels = _labelled_run(desk)
    artefact = str(desk.folder / "a.json")
    assert 0 == desk.classify("calibrate", desk.out, "--labels", labels, "-o", artefact).exit_code
    assert (desk.folder / "a.svg").read_text("utf-8").startswith("<svg")

    result = desk.classify(
        *("run", desk.spec, desk.rows, "-o", desk.out, "--overwrite", "--calibrator", artefact)
    )
    answer = desk.answers(0)["topic"]
    handed = desk.classify(
        *("run", desk.spec, desk.rows, "-o", desk.out, "--overwrite"),
        *("--calibrator", f"topic={artefact}", "--abstain", "0.05"),
    )

    assert 0 == result.exit_code, result.stderr
    raw, calibrated = answer["raw_probabilities"], answer["probabilities"]
    assert isinstance(raw, dict) and isinstance(calibrated, dict)
    assert raw["delivery"] == pytest.approx(0.98)
    assert 0.5 < calibrated["delivery"] < 0.8
    unsure = desk.answers(0)["topic"]
    assert ("no_verdict", raw, calibrated) == tuple(
        unsure[name] for name in ("type", "raw_probabilities", "probabilities")
    )
    assert f"uncertain {ROWS}" in handed.stdout
    assert "must hand over at least" in handed.stderr
    assert 1 == handed.exit_code  # no row has a verdict


def test_a_calibrator_of_another_question_is_refused_before_anything_is_asked(desk: Desk) -> None:
    """The parts that differ are named."""
    labels = _labelled_run(desk)
    artefact = str(desk.folder / "a.json")
    assert 0 == desk.classify("calibrate", desk.out, "--labels", labels, "-o", artefact).exit_code
    spec = Path(desk.spec).read_text("utf-8").replace("What is it about?", "What is meant?")
    other, asked = desk.write("other.yaml", spec), len(desk.asked())

    result = desk.classify("run", other, desk.rows, "-o", desk.out, "--calibrator", artefact)

    assert 1 == result.exit_code
    assert "fitted on other answers (question:" in result.stderr
    assert asked == len(desk.asked())


def test_a_run_ends_where_the_calibrator_refuses_the_first_answer(desk: Desk) -> None:
    """Which model answers is known then, and no other row would be calibrated but paid for."""
    labels = _labelled_run(desk)
    artefact = str(desk.folder / "a.json")
    assert 0 == desk.classify("calibrate", desk.out, "--labels", labels, "-o", artefact).exit_code
    spec = Path(desk.spec).read_text("utf-8") + "options: {prompt_form: completion}\n"
    other, before = desk.write("other.yaml", spec), len(desk.asked())

    result = desk.classify(
        *("run", other, desk.rows, "-o", desk.out + ".b", "--calibrator", artefact),
        *("--concurrency", "2"),
    )

    assert 1 == result.exit_code
    assert "fitted on other answers (prompt_template: fitted on" in result.stderr
    assert len(desk.asked()) - before < 10


def test_results_of_a_stopped_run_are_said_to_be_part_of_it(desk: Desk) -> None:
    """16 of 60 rows would look like all of them."""
    labels = _labelled_run(desk)
    lines = Path(desk.out).read_text("utf-8").splitlines(keepends=True)
    desk.write("out.jsonl", "".join(lines[:30]))
    some = "".join(Path(labels).read_text("utf-8").splitlines(keepends=True)[:30])

    result = desk.classify("metrics", desk.out, "--labels", desk.write("some.jsonl", some))

    assert 0 == result.exit_code, result.stderr
    assert "holds 30 of the 60 rows of its run, which was stopped or" in result.stderr
    page = str(desk.folder / "p.html")
    assert 0 == desk.classify("report", desk.out, "-o", page).exit_code
    assert "These are 30 of the 60 rows of the run" in Path(page).read_text("utf-8")


@pytest.mark.parametrize("command", ["metrics", "calibrate", "agree", "audit", "compare"])
def test_labels_of_rows_that_are_not_there_are_counted_and_said(desk: Desk, command: str) -> None:
    """One rule for all: a stopped run is measured by what it has, and nothing is hidden."""
    labels = _labelled_run(desk)
    with Path(labels).open("a", encoding="utf-8") as file:
        file.write('{"id": "later", "topic": "refund"}\n')
    options = {"calibrate": ["-o", desk.out + ".a"], "compare": [desk.out]}.get(command, [])

    result = desk.classify(command, desk.out, *options, "--labels", labels)

    assert 0 == result.exit_code, result.stderr
    said = (
        "labelled ids that name no pair: 1" if command == "compare" else "1 label names no row of"
    )
    assert said in result.stdout and "such as 'later'" in result.stdout


def test_too_few_labels_keep_the_answers_and_say_what_is_needed(desk: Desk) -> None:
    """An artefact that changes nothing, not an error: the report says why."""
    labels = _labelled_run(desk, rows=12)

    result = desk.classify("calibrate", desk.out, "--labels", labels, "-o", desk.out + ".a")

    assert 0 == result.exit_code, result.stderr
    assert "method         identity" in result.stdout
    assert (
        "the raw answers are kept (identity), nothing was fitted: "
        "12 labelled items are too few; label at least 20"
    ) in result.stdout
    assert 1 == result.stdout.count("too few")
    assert "nothing that was tried" not in result.stdout


def test_labels_of_one_option_keep_the_answers_and_name_the_option(desk: Desk) -> None:
    """A column's number would say nothing to who wrote the spec."""
    labels = _labelled_run(desk, truth="refund")

    result = desk.classify("calibrate", desk.out, "--labels", labels, "-o", desk.out + ".a")

    assert 0 == result.exit_code, result.stderr
    assert (
        "the raw answers are kept (identity), nothing was fitted: "
        "every label is option 'refund'; label items of other options too"
    ) in result.stdout
    assert "nothing that was tried" not in result.stdout


def test_states_that_were_read_again_say_which_numbers_count_readings(desk: Desk) -> None:
    """The fit takes an item once; no weights were given, and none are spoken of."""
    labels = _labelled_run(desk)
    once = Path(desk.out).read_text("utf-8").splitlines()
    again = [line for n, line in enumerate(once) for _ in range(3 if n % 2 else 1)]
    Path(desk.out).write_text("\n".join(again) + "\n", "utf-8")

    result = desk.classify("calibrate", desk.out, "--labels", labels, "-o", desk.out + ".a")

    assert 0 == result.exit_code, result.stderr
    assert "120 labelled rows (60 items) used of 120" in result.stdout
    assert "(120 used of 120, an item counts once, held out)" in result.stdout
    below = result.stdout.index("below, each reading of an item counts")
    assert result.stdout.rindex("tried  ") < below < result.stdout.index("log loss       before")
    assert "weights" not in result.stdout


def test_without_labels_nothing_is_measured(desk: Desk) -> None:
    """Exit code 1, with the way out."""
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    for command in (("metrics",), ("agree",), ("calibrate", "-o", desk.out + ".a")):
        result = desk.classify(command[0], desk.out, *command[1:])
        assert 1 == result.exit_code
        assert "--labels FILE" in result.stderr


def test_a_calibrator_needs_to_know_what_was_asked(desk: Desk) -> None:
    """Results alone show the options and not the question: --spec says it."""
    labels = _labelled_run(desk)
    Path(desk.out + ".run.json").unlink()
    artefact = str(desk.folder / "a.json")
    given = ("calibrate", desk.out, "--labels", labels, "-o", artefact)

    without, with_spec = desk.classify(*given), desk.classify(*given, "--spec", desk.spec)

    assert 2 == without.exit_code
    assert "--spec" in without.stderr
    assert 0 == with_spec.exit_code, with_spec.stderr


def test_a_calibrator_is_not_kept_under_a_question_that_was_not_asked(desk: Desk) -> None:
    """Where the record of the run is at hand, the spec must be the run's."""
    labels = _labelled_run(desk)
    artefact = desk.folder / "a.json"
    text = Path(desk.spec).read_text("utf-8")
    wording = text.replace("What is it about?", "What is meant?").replace("money back", "returns")
    given = ("calibrate", desk.out, "--labels", labels, "-o", str(artefact), "--spec")

    other = desk.classify(*given, desk.write("other.yaml", wording))
    orders = desk.classify(*given, desk.write("two.yaml", text + "options: {orders: 2}\n"))
    assert not artefact.exists()
    same = desk.classify(*given, desk.spec)

    assert (2, 2, 0) == (other.exit_code, orders.exit_code, same.exit_code), same.stderr
    assert "has other topic.instructions, topic.criteria.refund; leave out" in other.stderr
    assert "has other options.orders; leave out --spec" in orders.stderr


def test_metrics_have_a_line_each_with_its_rule_and_how_many_rows(desk: Desk) -> None:
    """And as JSON with the same numbers."""
    labels = _labelled_run(desk)

    shown = desk.classify("metrics", desk.out, "--labels", labels)
    as_json = desk.classify("metrics", desk.out, "--labels", labels, "--json")

    assert f"{ROWS} labelled rows used of {ROWS}" in shown.stdout
    accuracy = json.loads(as_json.stdout)["topic"]["metrics"]["accuracy"]
    assert accuracy["value"] == pytest.approx(2 / 3)
    assert "accuracy            0.6667" in shown.stdout


@pytest.mark.parametrize("command", ["metrics", "audit", "agree"])
def test_answers_by_different_methods_are_pooled_with_a_word(desk: Desk, command: str) -> None:
    """A logprob of 0.98 and a share of five draws are not the same kind of number."""
    labels = _labelled_run(desk)
    given = (command, desk.out, "--labels", labels)
    alike = desk.classify(*given)
    lines = Path(desk.out).read_text("utf-8").splitlines()
    sampled = [line.replace('"method":"logprobs"', '"method":"sampled"') for line in lines[:20]]
    Path(desk.out).write_text("\n".join([*sampled, *lines[20:]]) + "\n", "utf-8")

    shown, as_json = desk.classify(*given), desk.classify(*given, "--json")

    assert 0 == shown.exit_code, shown.stderr
    assert "answers by different methods: logprobs 40, sampled 20" in shown.stdout
    assert "different methods" not in alike.stdout
    assert {"logprobs": 40, "sampled": 20} == json.loads(as_json.stdout)["topic"]["methods"]


def test_all_metrics_come_in_groups_and_say_why_one_is_not_defined(desk: Desk) -> None:
    """The model is sure at 0.98 everywhere, so that no line fits its confidence."""
    labels = _labelled_run(desk)

    shown = desk.classify("metrics", desk.out, "--labels", labels, "--all")
    as_json = desk.classify("metrics", desk.out, "--labels", labels, "--all", "--json")

    assert 0 == shown.exit_code, shown.stderr
    assert "  calibration of the confidence in the answer" in shown.stdout
    assert "Kolmogorov-Smirnov  " in shown.stdout
    assert "calibration line    not defined: no calibration line fits" in shown.stdout
    groups = json.loads(as_json.stdout)["topic"]["every_metric"]["groups"]
    found = {each["name"]: each for group in groups for each in group["metrics"]}
    assert found["accuracy"]["value"]["value"] == pytest.approx(2 / 3)
    assert found["calibration line"]["value"] is None
    assert "every row has the same probability" in found["calibration line"]["undefined"]


def test_agreement_is_beyond_chance_and_counts_its_items(desk: Desk) -> None:
    """Judge against people out of results."""
    labels = _labelled_run(desk)

    result = desk.classify("agree", desk.out, "--labels", labels)

    assert 0 == result.exit_code, result.stderr
    assert "raters: judge, people" in result.stdout
    assert "0.333 [0.09" in result.stdout  # 2/3 agree where half would by chance
    assert f"{ROWS} used of {ROWS}" in result.stdout


def test_a_ratings_file_needs_its_levels_declared(desk: Desk) -> None:
    """A level that nobody used still counts, so levels are never guessed."""
    ratings = desk.write("ratings.csv", "id,ann,bob\n1,1,1\n2,2,3\n3,3,3\n4,,2\n")

    guessed = desk.classify("agree", ratings, "--raters", "ann,bob")
    declared = desk.classify(
        "agree", ratings, "--raters", "ann,bob", "--levels", "1,2,3,4", "--ordered"
    )

    assert 2 == guessed.exit_code
    assert "seen: 1,2,3" in guessed.stderr
    assert 0 == declared.exit_code, declared.stderr
    assert "quadratic weights" in declared.stdout
    assert "3 used of 4" in declared.stdout


def test_the_audit_compares_the_orders_that_were_asked(desk: Desk) -> None:
    """A model that says A whatever stands there prefers the first option, and flips."""
    spec = Path(desk.spec).read_text("utf-8") + "options: {orders: 2}\n"
    desk.write("spec.yaml", spec)
    desk.classify("run", desk.spec, desk.rows, "-o", desk.out)

    result = desk.classify("audit", desk.out)

    assert 0 == result.exit_code, result.stderr
    assert "options: 0 delivery, 1 refund" in result.stdout
    assert "order: flips 1.0000" in result.stdout
    assert "first option: 0.5556" in result.stdout  # 7/9 - 2/9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["metrics", "nothing.jsonl"], "cannot be read", id="missing file"),
        pytest.param(["run", "s", "r", "-o", "o", "--abstain", "0.1"], "need", id="abstain alone"),
    ],
)
def test_what_cannot_be_used_ends_with_2(desk: Desk, arguments: list[str], said: str) -> None:
    """As for every command."""
    result = desk.classify(*arguments)

    assert 2 == result.exit_code
    assert said in result.stderr


def test_the_audit_compares_groups_of_labelled_items(desk: Desk) -> None:
    """The group is a field of the labels; every number says how many of how many."""
    labels = Path(_labelled_run(desk)).read_text("utf-8").splitlines()
    grouped = [
        json.dumps(json.loads(line) | {"channel": "web" if n % 3 else "mail"})
        for n, line in enumerate(labels)
    ]
    given = desk.write("grouped.jsonl", "\n".join(grouped) + "\n")

    result = desk.classify("audit", desk.out, "--labels", given, "--group", "channel")

    assert 0 == result.exit_code, result.stderr
    assert f"{ROWS} answers used of {ROWS}" in result.stdout
    assert "mail: 0.000" in result.stdout  # every third row is the one that is wrong
    assert "20 used of 20" in result.stdout


def test_a_threshold_is_refused_on_labels_of_different_weights(desk: Desk) -> None:
    """Before anything is asked."""
    labels = Path(_labelled_run(desk)).read_text("utf-8").splitlines()
    weighted = [
        json.dumps(json.loads(line) | {"weight": 1 + n % 2}) for n, line in enumerate(labels)
    ]
    given = desk.write("weighted.jsonl", "\n".join(weighted) + "\n")
    artefact = str(desk.folder / "a.json")
    assert 0 == desk.classify("calibrate", desk.out, "--labels", given, "-o", artefact).exit_code
    asked = len(desk.asked())

    result = desk.classify(
        *("run", desk.spec, desk.rows, "-o", desk.out, "--overwrite"),
        *("--calibrator", artefact, "--abstain", "0.2"),
    )

    assert 1 == result.exit_code
    assert "the labels of 'topic' had different weights" in result.stderr
    assert asked == len(desk.asked())


def test_the_isotonic_mean_is_for_scores(desk: Desk) -> None:
    """The method and the question are named."""
    labels = _labelled_run(desk)

    result = desk.classify(
        *("calibrate", desk.out, "--labels", labels, "-o", desk.out + ".a"),
        *("--method", "isotonic-mean"),
    )

    assert 2 == result.exit_code
    assert "--method isotonic-mean maps scores and 'topic' is a choice" in result.stderr


def test_proportional_odds_are_for_scores(desk: Desk) -> None:
    """A choice has no order to learn levels of, and the way out is in the message."""
    labels = _labelled_run(desk)

    result = desk.classify(
        *("calibrate", desk.out, "--labels", labels, "-o", desk.out + ".a"),
        *("--method", "proportional-odds"),
    )

    assert 1 == result.exit_code
    assert "'proportional-odds' takes levels in rising order" in result.stderr
    assert "kind='score' (a score question)" in result.stderr
    assert "--method auto suits all" in result.stderr
