"""`classify report`: what it reads, what it refuses to overwrite, what it says of odd results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from typer.testing import CliRunner

from classify.adapters.cli.main import app
from classify.answers import ChoiceAnswer
from classify.decision import ResponseInfo
from classify.evaluation import TotalUsage
from classify.run_record import record_path
from tests.adapters.report.sample_results import FAILED, UNANSWERED, row, sample

if TYPE_CHECKING:
    from tests.adapters.report.conftest import Results


def overview(page: Path) -> dict[str, object]:
    """Return what the head of a page is made of."""
    text = page.read_text(encoding="utf-8").partition('id="payload-overview">')[2]
    return cast("dict[str, object]", json.loads(text.partition("</script>")[0]))


def refused(*arguments: str) -> str:
    """Return what the command says when it does not work."""
    ran = CliRunner().invoke(app, ["report", *arguments])
    assert ran.exit_code == 2
    return " ".join(ran.output.split())


def test_the_page_stands_beside_the_results_and_can_be_made_anew(results: Results) -> None:
    """The same results give the same bytes."""
    results.write(sample())

    first = results.make().read_bytes()

    assert results.make().read_bytes() == first
    assert results.path.with_suffix(".html") == results.page


def test_failures_and_no_verdicts_are_counted_beside_the_answers(results: Results) -> None:
    """Sixty rows, two failed, two without a topic."""
    results.write(sample())

    found = overview(results.make())

    assert (found["rows"], found["answered"]) == (60, 58)
    assert found["errors"] == [{"type": "ProviderError", "rows": 2, "first": "no answer"}]
    topic = cast("list[dict[str, object]]", found["questions"])[0]
    assert (topic["answered"], topic["no_verdicts"]) == (56, {"refusal": 2})


def test_a_cost_needs_both_prices(results: Results) -> None:
    """58 answered rows of 10 and 1 tokens, at 2 and 8 for a million."""
    results.write(sample())

    found = overview(results.make("--input-price", "2", "--output-price", "8"))

    assert cast("dict[str, float]", found["cost"])["amount"] == pytest.approx(58 * 28 / 1e6)
    assert "--output-price is missing" in refused(str(results.path), "--input-price", "2")


def test_tokens_that_nobody_counted_cost_an_unknown_sum(results: Results) -> None:
    """Not nothing."""
    results.write([row(index, "x", usage=None) for index in range(3)])

    found = overview(results.make("--input-price", "2", "--output-price", "8"))

    assert found["cost"] is None
    assert cast("dict[str, object]", found["usage"])["input_tokens"] is None


def test_a_cost_of_rows_that_did_not_all_tell_is_a_lower_bound(results: Results) -> None:
    """One row of 5 tokens in and 1 out, one of 5 in, two that say nothing."""
    told = [TotalUsage(input_tokens=5, output_tokens=1), TotalUsage(input_tokens=5), None, None]
    results.write([row(index, "x", usage=usage) for index, usage in enumerate(told)])

    found = overview(results.make("--input-price", "1000000", "--output-price", "1000000"))

    assert found["cost"] == {"amount": 11.0, "at_least": True, "input": 1e6, "output": 1e6}
    assert cast("dict[str, object]", found["usage"])["rows_unknown"] == 3


@pytest.mark.parametrize("of", ["results", "record", "labels", "other"])
def test_nothing_but_a_page_is_overwritten(results: Results, tmp_path: Path, of: str) -> None:
    """Neither what is read nor, without being told to, anything else."""
    results.write(sample())
    labels, other = tmp_path / "labels.jsonl", tmp_path / "other.html"
    labels.write_text('{"id": "row-1", "topic": "refund"}\n', encoding="utf-8")
    other.write_text("<!doctype html>\n<p>mine", encoding="utf-8")
    paths = {
        "results": results.path,
        "record": record_path(results.path),
        "labels": labels,
        "other": other,
    }
    before = paths[of].read_bytes()

    said = refused(str(results.path), "--labels", str(labels), "-o", str(paths[of]))

    assert ("is no page of this command" if of == "other" else "would replace") in said
    assert paths[of].read_bytes() == before


def test_overwrite_never_replaces_the_results(results: Results, tmp_path: Path) -> None:
    """Not by way of a link either; another file it does replace."""
    results.write(sample())
    link, other = tmp_path / "link", tmp_path / "other.html"
    link.symlink_to(results.path)
    other.write_text("mine", encoding="utf-8")

    said = refused(str(results.path), "--overwrite", "-o", str(link))
    results.make("--overwrite", "-o", str(other))

    assert "would replace" in said
    assert overview(other)["rows"] == 60


def notes(page: Path) -> str:
    """Return what a page says must be known."""
    return " ".join(cast("list[str]", overview(page)["notes"]))


def test_a_run_that_goes_on_has_a_page_of_what_is_there(results: Results) -> None:
    """A last line that is cut off is no error, and is told."""
    results.write(sample())
    results.path.write_bytes(results.path.read_bytes()[:-20])

    page = results.make()

    assert overview(page)["rows"] == 59
    assert "last line of the results is cut off" in notes(page)


def test_results_without_rows_have_a_page_that_says_so(results: Results) -> None:
    """A run that has only begun."""
    results.write([])

    assert "no row yet" in notes(results.make())


def test_failures_only_are_no_error_of_the_page(results: Results) -> None:
    """No question was answered, and none is measured."""
    results.write([row(index, "x", **FAILED) for index in range(3)])

    found = overview(results.make())

    assert (found["rows"], found["answered"]) == (3, 0)


def test_mixed_methods_and_models_are_told(results: Results) -> None:
    """Their numbers are not comparable, whatever they are."""
    drawn = {"refund": 1.0, "delivery": 0.0, "other": 0.0}
    sampled = ChoiceAnswer(choice="refund", probabilities=drawn, method="sampled")
    rows = [row(0, "x"), row(1, "y", response=ResponseInfo(model_id="m-2"))]
    results.write([rows[0], rows[1].model_copy(update={"answers": {"topic": sampled}})])

    said = notes(results.make())

    assert "2 models answered" in said
    assert "'topic' were obtained by 2 methods" in said


def test_without_a_record_the_questions_are_those_of_the_answers(results: Results) -> None:
    """And the page says that their texts are unknown."""
    results.write(sample())
    record_path(results.path).unlink()

    page = results.make()

    found = cast("list[dict[str, object]]", overview(page)["questions"])
    assert [question["id"] for question in found] == ["topic", "mood", "urgent"]
    assert "No record of the run" in notes(page)


def test_labels_of_a_file_take_the_place_of_the_results_own(
    results: Results, tmp_path: Path
) -> None:
    """Two people who differ count in what is measured, and name no answer as the right one."""
    results.write(sample())
    labels = tmp_path / "labels.csv"
    labels.write_text(
        "id,topic\nrow-1,delivery\nrow-1,refund\nrow-2,delivery\nrow-99,refund\n", "utf-8"
    )

    page = results.make("--labels", str(labels))

    topic, mood, _ = cast("list[dict[str, object]]", overview(page)["questions"])
    measured = cast("dict[str, str]", topic["measured"])
    accuracy = cast("dict[str, float]", topic["accuracy"])
    assert measured["used"].startswith("3 labelled rows (2 items) used of")
    assert (topic["labelled"], mood["labelled"]) == (2, 0)
    assert (accuracy["count"], accuracy["n"]) == (1, 1)
    assert "Labels are those of labels.csv" in notes(page)
    assert "Labelled ids that name no row: 1, such as 'row-99'" in notes(page)


def test_a_text_that_was_judged_twice_is_one_item_and_shows_the_noise(results: Results) -> None:
    """Rows 30 to 57 repeat the texts of 0 to 27, and rows 58 and 59 hold copies of answers."""
    again = [row(index, "x").model_copy(update={"key": f"{index % 30}"}) for index in range(58)]
    copied = [again[index].model_copy(update={"id": f"copy-{index}"}) for index in (3, 4)]
    results.write([*again, *copied])

    questions = cast("list[dict[str, object]]", overview(results.make())["questions"])

    topic, mood, urgent = questions
    repeats = cast("dict[str, dict[str, float]]", urgent["repeats"])
    # The probability of row n is .4 + .005 n: readings lie .15 apart, and those of 0 to 19 flip.
    assert repeats["distance"]["value"] == pytest.approx(0.15)
    assert repeats["flips"]["value"] == pytest.approx(20 / 28)
    assert (repeats["distance"]["n"], repeats["distance"]["total"]) == (28, 30)
    assert topic["repeats"] is not None and mood["repeats"] is not None
    used = cast("dict[str, str]", topic["measured"])["used"]
    assert used == "60 labelled rows (30 items) used of 60"


def test_texts_that_were_judged_once_show_no_noise(results: Results) -> None:
    """Nothing was asked again."""
    results.write(sample())

    questions = cast("list[dict[str, object]]", overview(results.make())["questions"])

    assert [question["repeats"] for question in questions] == [None, None, None]


def test_labels_that_cannot_be_measured_do_not_cost_the_page(
    results: Results, tmp_path: Path
) -> None:
    """Their weights are all nothing, which leaves nothing to average."""
    results.write(sample())
    labels = tmp_path / "labels.csv"
    labels.write_text("id,topic,weight\nrow-1,delivery,0\n", "utf-8")

    page = results.make("--labels", str(labels))

    assert "The labels of 'topic' could not be measured" in notes(page)


def test_the_spec_of_other_questions_is_refused(results: Results, tmp_path: Path) -> None:
    """An option that the question does not have is no bar of zero."""
    results.write([*sample(), row(60, "x", answers={"topic": UNANSWERED})])
    spec = tmp_path / "other.yaml"
    spec.write_text(
        "id: other\nquestions:\n  topic: {type: choice, criteria: {x: ~, y: ~}}\n",
        encoding="utf-8",
    )

    said = refused(str(results.path), "--spec", str(spec))

    assert "row 'row-0', question 'topic'" in said
    assert "a choice of x, y: give the run's own --spec" in said
