"""Results and labels as arrays: canonical columns, people, weights, and what is left out."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from classify.answers import AnyAnswer, BooleanAnswer, ChoiceAnswer, NoVerdict, ScoreAnswer
from classify.calibration.audit_items import audited_items
from classify.calibration.from_results import calibrate_results, labelled_metrics
from classify.calibration.judge_items import JudgedItems, judged_items
from classify.calibration.label_file import RowLabels, read_label_file
from classify.calibration.rated_results import calibrate_means
from classify.calibration.result_labels import labelled_results, seen_questions
from classify.errors import CalibrationError, InvalidInput
from classify.evidence import Evidence
from classify.questions import Boolean, Choice, Question, Score
from classify.results import Result
from classify.row_labels import Label

TOPIC = Choice(criteria={"b": None, "a": None})
STARS = Score(criteria=["bad", "fair", "good"])
QUESTIONS: dict[str, Question] = {"ok": Boolean(), "topic": TOPIC, "stars": STARS}


def result(index: int, p: float, labels: dict[str, Label] | None = None) -> Result:
    """Return a row in which yes, "b" and the best level have the probability p."""
    answers: dict[str, AnyAnswer] = {
        "ok": BooleanAnswer(probability=p),
        "topic": ChoiceAnswer(choice="b", probabilities={"b": p, "a": 1.0 - p}),
        "stars": ScoreAnswer(score=2 * p, probabilities={"0": 1.0 - p, "1": 0.0, "2": p}),
    }
    return Result(
        id=f"r{index}", index=index, key=f"k{index}", answers=answers, labels=labels or {}
    )


def test_columns_are_in_canonical_order_and_labels_name_them() -> None:
    """True first, options sorted by name, levels by value; whatever order was declared."""
    found = labelled_results([result(0, 0.8, {"ok": True, "topic": "b", "stars": 2.0})], QUESTIONS)

    assert {name: each.y.tolist() for name, each in found.items()} == {
        "ok": [0],
        "topic": [1],
        "stars": [2],
    }
    np.testing.assert_allclose(np.exp(found["ok"].log_p), [[0.8, 0.2]])
    np.testing.assert_allclose(np.exp(found["topic"].log_p), [[0.2, 0.8]])
    np.testing.assert_allclose(np.exp(found["stars"].log_p), [[0.2, 0.0, 0.8]], atol=1e-15)


def test_every_row_that_is_not_used_is_counted_with_its_reason() -> None:
    """So that "n used of N" is never silent about the others."""
    rows = [
        result(0, 0.8, {"stars": 1.0}),
        result(1, 0.8, {"stars": 1.5}),
        result(2, 0.8),
        Result(id="r3", index=3, key="k3"),
        result(4, 0.8).model_copy(
            update={"answers": {"stars": NoVerdict(kind="score", cause="refusal", message="m")}}
        ),
        result(5, 0.8).model_copy(update={"answers": {"stars": ScoreAnswer(score=1.0)}}),
    ]

    found = labelled_results(rows, {"stars": STARS})["stars"]

    assert found.left_out == {
        "label between two levels": 1,
        "no label": 1,
        "failed": 1,
        "no verdict, refusal": 1,
        "no distribution": 1,
    }
    assert found.used.startswith("1 labelled rows used of 6 (")


def test_labels_of_weight_zero_are_not_among_those_used() -> None:
    """The head of the numbers and their lines count the same rows, and items."""
    rows = [result(index, 0.1 + 0.2 * index) for index in range(5)]
    labels = {
        f"r{index}": (RowLabels({"ok": index > 2}, weight=weight), RowLabels({"ok": True}, 0.0))
        for index, weight in enumerate([1.0, 1.0, 0.0, 1.0, 0.0])
    }

    found = labelled_results(rows, {"ok": Boolean()}, labels=labels)["ok"]

    assert found.used == "3 labelled rows (3 items) used of 10 (label of weight 0: 7)"
    measured = labelled_metrics(found)
    assert (measured.n, measured.accuracy.n, measured.accuracy.total) == (3, 3, 10)


def test_several_people_on_one_item_are_rows_of_one_group(tmp_path: Path) -> None:
    """Their rows are not independent: they stay together in folds and resamples."""
    path = tmp_path / "labels.csv"
    path.write_text("id,topic,weight,group\nr0,a,2,\nr0,b,,\nr1,b,0.5,story\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"row 3: weight must be at least 0, got ''|line 3"):
        read_label_file(str(path), {"topic": TOPIC})
    path.write_text("id,topic,weight,group\nr0,a,2,\nr0,b,1,\nr1,b,0.5,story\n", encoding="utf-8")

    labels = read_label_file(str(path), {"topic": TOPIC})
    found = labelled_results([result(0, 0.8), result(1, 0.7)], {"topic": TOPIC}, labels=labels)

    assert found["topic"].y.tolist() == [0, 1, 1]
    assert found["topic"].weights.tolist() == [2.0, 1.0, 0.5]
    assert found["topic"].groups == ("k0", "k0", "story")


def test_labels_of_rows_that_were_not_run_are_counted() -> None:
    """A run may be stopped: what it has is measured, and each number says of how many labels."""
    labels = {
        "r0": [RowLabels({"topic": "a", "other": "a"})],
        "r7": [RowLabels({"topic": "a"}), RowLabels({"topic": "b"}), RowLabels({"other": "b"})],
    }
    rows = [result(0, 0.8), result(1, 0.7)]

    found = labelled_results(rows, {"topic": TOPIC, "other": TOPIC}, labels=labels)

    assert found["topic"].used == (
        "1 labelled rows used of 4 (no label: 1; 2 labels name no row of the results, such as 'r7')"
    )
    assert (found["topic"].given, found["topic"].total, found["topic"].unanswered) == (4, 2, 0)
    assert found["topic"].of_no_row == ("r7", "r7")
    assert found["other"].of_no_row == ("r7",)


@pytest.mark.parametrize("gather", ["metrics", "agree", "audit"])
def test_labels_of_other_ids_are_refused(gather: str) -> None:
    """A file of other ids would label nothing, silently."""
    labels = {"other": [RowLabels({"topic": "a"})]}
    rows, questions = [result(0, 0.8)], {"topic": TOPIC}

    with pytest.raises(InvalidInput, match=r"labelled id .*'other'\) names a .* 'r0'"):
        if gather == "metrics":
            labelled_results(rows, questions, labels=labels)
        elif gather == "agree":
            judged_items(rows, questions, labels=labels)
        else:
            audited_items(rows, "topic", TOPIC, labels=labels)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param("id,topic\nr0,c\n", r"'topic' is 'c', which is no option", id="no option"),
        pytest.param("id,topic\nr0,\n", r"topic is empty in every row", id="empty labels"),
        pytest.param("id,topic\n", r"holds no rows", id="no rows"),
        pytest.param("topic\na\n", r"'id' is missing", id="no id"),
        pytest.param("id,other\nr0,a\n", r"labels nothing", id="no label"),
        pytest.param(
            "id,topic,label\nr0,,delivery\n",
            r"topic is empty in every row, and 'label' is read only where that field is not",
            id="label beside the question",
        ),
    ],
)
def test_a_label_file_that_cannot_be_used_says_where(
    tmp_path: Path, content: str, said: str
) -> None:
    """A label that is skipped would bias what is left."""
    path = tmp_path / "labels.csv"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(InvalidInput, match=said):
        read_label_file(str(path), {"topic": TOPIC})


def test_the_only_question_may_be_labelled_by_a_field_called_label(tmp_path: Path) -> None:
    """As most data sets call it."""
    path = tmp_path / "labels.jsonl"
    path.write_text('{"id": 7, "label": "a"}\n', encoding="utf-8")

    assert read_label_file(str(path), {"topic": TOPIC})["7"][0].labels == {"topic": "a"}


def test_a_field_called_label_is_no_label_of_several_questions(tmp_path: Path) -> None:
    """It is not said to be empty where it is filled, and both ways out work."""
    path = tmp_path / "labels.csv"
    path.write_text("id,label\nr0,a\nr1,b\n", encoding="utf-8")
    questions = {"topic": TOPIC, "mood": TOPIC, "tone": TOPIC}
    ways_out = r"3: name the field after .*\(topic, mood, tone\), or choose .*\(--question NAME\)"

    with pytest.raises(InvalidInput, match=rf"labels nothing: 'label' is read only .*{ways_out}"):
        read_label_file(str(path), questions)
    alone = read_label_file(str(path), {"mood": TOPIC})
    path.write_text("id,mood\nr0,a\nr1,b\n", encoding="utf-8")

    assert alone["r0"][0].labels == {"mood": "a"}
    assert read_label_file(str(path), questions) == alone
    path.write_text("id,label\nr0,\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="label is empty in every row"):
        read_label_file(str(path), questions)


def test_questions_can_be_told_from_their_answers() -> None:
    """For metrics of results whose spec is not at hand."""
    found = seen_questions([result(0, 0.8)])

    assert {name: (q.type, q.options) for name, q in found.items()} == {
        "ok": ("boolean", ("true", "false")),
        "topic": ("choice", ("b", "a")),
        "stars": ("score", ("0", "1", "2")),
    }


@pytest.mark.parametrize(
    ("evidence", "parts"),
    [
        (Evidence(reported_model="other"), "model"),
        (Evidence(state_name="Mail"), "prompt_template"),
        (Evidence(reported_model="other", readout="words"), "model or readout"),
    ],
    ids=["model", "prompt", "both"],
)
def test_only_answers_made_in_the_commonest_way_are_calibrated(
    evidence: Evidence, parts: str
) -> None:
    """A calibrator of two models' answers holds for neither; what differs is named."""
    rows = [result(n, 0.9, {"ok": n % 4 > 0}) for n in range(45)]
    for n in range(5):
        answer = BooleanAnswer(probability=0.1, evidence=evidence)
        rows[n] = rows[n].model_copy(update={"answers": {"ok": answer}})

    found = calibrate_results("ok", labelled_results(rows, {"ok": Boolean()}, model="m")["ok"])

    assert found.answers.left_out == {f"made with another {parts}": 5}
    assert found.artefact.report.n == 40
    assert found.artefact.fingerprint.model == "m"


def test_calibrated_answers_are_not_calibrated_again() -> None:
    """The artefact would be of answers that no run without a calibrator gives."""
    answer = BooleanAnswer(probability=0.6, evidence=Evidence(calibrator="abc"))
    row = result(0, 0.6, {"ok": True}).model_copy(update={"answers": {"ok": answer}})

    with pytest.raises(CalibrationError, match="calibrated already"):
        calibrate_results("ok", labelled_results([row], {"ok": Boolean()})["ok"])


def test_booleans_are_measured_by_the_probability_of_true() -> None:
    """AUROC 1 where every yes is above every no."""
    rows = [result(n, n / 10, {"ok": n > 5}) for n in range(1, 10)]

    found = labelled_metrics(labelled_results(rows, {"ok": Boolean()})["ok"])

    assert found.auroc is not None and found.auroc.value == 1.0
    truth = [math.log(n / 10 if n > 5 else 1 - n / 10) for n in range(1, 10)]
    assert found.log_loss.value == pytest.approx(-sum(truth) / 9)


def test_the_judges_score_is_its_nearest_level_and_people_are_raters() -> None:
    """What `classify agree` compares."""
    labels = {"r0": (RowLabels({"stars": 2.0}), RowLabels({"stars": 1.0})), "r1": ()}
    rows = [result(0, 0.8), result(1, 0.3)]

    found = judged_items(rows, {"stars": STARS}, labels=labels)["stars"]

    assert found.judge == (2, 1)
    assert found.people == ((2, 1), ())
    assert found.levels == (0, 1, 2)
    assert "the level nearest to the mean of its probabilities" in found.rule


def yes_or_no(said: list[list[bool]], *, weights: list[float] | None = None) -> JudgedItems:
    """Return a run over a boolean at 0.6, and the people who labelled each row."""
    w = weights or [1.0] * len(said)
    labels = {
        f"r{n}": tuple(RowLabels({"ok": label}, weight=w[n]) for label in people)
        for n, people in enumerate(said)
    }
    rows = [result(n, 0.6) for n in range(len(said))]
    return judged_items(rows, {"ok": Boolean()}, labels=labels)["ok"]


def test_items_whose_people_tie_stay_among_the_labelled() -> None:
    """They were drawn like the others: 20 rows labelled by two, of which 8 tie."""
    said = [[True, True]] * 9 + [[True, False]] * 8 + [[False, False]] * 3 + [[]] * 30

    report = yes_or_no(said).report(drawn="at random")

    assert report.rate is not None
    assert report.rate.estimate.value == pytest.approx((9 + 4) / 20)
    assert (report.rate.estimate.n, report.rate.estimate.total) == (20, 50)
    assert "share of its people who said yes, 8 without a majority" in str(report.rate)
    assert "judge: yes where P(true) is at least 0.5" in report.lines()


def test_weights_of_labels_repeat_items_in_agreement_and_are_refused_by_the_rate() -> None:
    """An item of weight 3 is one that is there three times; a rate counts items drawn."""
    said = [[True], [False], [True], [True], [False]]
    weighted = yes_or_no([*said, [], []], weights=[1, 3, 1, 1, 2, 1, 1]).report()
    repeated = yes_or_no([said[n] for n in (0, 1, 1, 1, 2, 3, 4, 4)] + [[], []]).report()

    assert weighted.ac is not None and repeated.ac is not None
    assert weighted.ac.value == pytest.approx(repeated.ac.value)
    assert weighted.ac.low == pytest.approx(repeated.ac.low)
    assert weighted.alpha is not None and repeated.alpha is not None
    assert weighted.alpha.value == pytest.approx(repeated.alpha.value)
    assert weighted.confusion is not None and repeated.confusion is not None
    assert weighted.confusion.counts == repeated.confusion.counts
    assert weighted.rate is None and repeated.rate is not None
    assert any("labels have different weights" in note for note in weighted.notes)


def test_a_replacement_is_not_tested_on_labels_of_different_weights() -> None:
    """It was asked for, so it is an error and no note."""
    people = yes_or_no([[True, True], [False, True]] * 5, weights=[1.0, 2.0] * 5)

    with pytest.raises(CalibrationError, match=r"items have different weights \(1 to 2\)"):
        people.report(epsilon=0.1)


def test_levels_are_in_order_whatever_order_a_file_has() -> None:
    """Tools that sort the fields of a file put "10" before "2"."""
    scale = Score(criteria=[f"level {n}" for n in range(12)])
    p = np.arange(1.0, 13.0) / 78
    as_text = {str(n): float(p[n]) for n in sorted(range(12), key=str)}
    answer = ScoreAnswer(score=8.0, probabilities=as_text)
    row = Result(id="r0", index=0, key="k", answers={"stars": answer}, labels={"stars": 2.0})

    found = labelled_results([row], {"stars": scale})["stars"]

    np.testing.assert_allclose(np.exp(found.log_p), [p])


def test_answers_to_another_question_are_refused() -> None:
    """Three options of a run are no columns for two, nor are two of other names."""
    for criteria in ({"a": None, "b": None, "c": None}, {"a": None, "x": None}):
        with pytest.raises(InvalidInput, match="row 'r0' answers with the options b, a and the"):
            labelled_results([result(0, 0.8)], {"topic": Choice(criteria=criteria)})


def again(rows: list[Result], times: int = 5) -> list[Result]:
    """Return the rows several times under new ids, as a file that repeats them is run."""
    return [row.model_copy(update={"id": f"{row.id}, {n}"}) for n in range(times) for row in rows]


def overconfident(n: int) -> list[Result]:
    """Return rows twice as sure as they should be, with labels of their own."""
    random = np.random.default_rng(5)
    logits = random.normal(0.0, 1.5, n)
    true = random.random(n) < 1.0 / (1.0 + np.exp(-logits))
    p = 1.0 / (1.0 + np.exp(-2.0 * logits))
    return [result(k, float(p[k]), {"ok": bool(true[k])}) for k in range(n)]


def test_repeated_rows_are_calibrated_as_the_items_they_are() -> None:
    """Copies in different folds would be known to the fit that they are to test."""
    rows = overconfident(60)
    once, five = (
        calibrate_results("ok", labelled_results(each, {"ok": Boolean()}, model="m")["ok"])
        for each in (rows, again(rows))
    )

    assert five.artefact.report.items == once.artefact.report.items == 60
    assert five.artefact.report.chosen == once.artefact.report.chosen
    assert five.after.log_loss.value == pytest.approx(once.after.log_loss.value)
    assert five.artefact.report.candidates[-1].gain_error == pytest.approx(
        once.artefact.report.candidates[-1].gain_error
    )
    for five_m, once_m in ((five.before, once.before), (five.after, once.after)):
        assert (five_m.smooth_ece.value, five_m.smooth_ece.p_value) == pytest.approx(
            (once_m.smooth_ece.value, once_m.smooth_ece.p_value)
        )
        assert five_m.debiased_error.null_mean == pytest.approx(once_m.debiased_error.null_mean)
        assert five_m.debiased_error.n == 60
    assert five.before.log_loss.value == pytest.approx(once.before.log_loss.value)
    assert five.before.log_loss.low == pytest.approx(once.before.log_loss.low, abs=0.02)
    assert five.used == "300 labelled rows (60 items) used of 300"


def test_means_of_raters_are_calibrated_by_items_too() -> None:
    """Scores with labels between two levels: the map, its error and the rank p-values."""
    random = np.random.default_rng(8)
    rows = [
        result(n, float(p), {"stars": round(4 * min(1.0, p + 0.1 * random.random())) / 2})
        for n, p in enumerate(random.random(60))
    ]

    once, five = (
        calibrate_means("stars", labelled_results(each, {"stars": STARS}, model="m")["stars"])
        for each in (rows, again(rows))
    )

    assert five.artefact.report.chosen == once.artefact.report.chosen == "isotonic-mean"
    assert five.after.mae.value == pytest.approx(once.after.mae.value)
    assert once.after.spearman is not None and five.after.spearman is not None
    assert five.after.spearman.p_value == pytest.approx(once.after.spearman.p_value)
    assert (five.after.spearman.n, five.after.spearman.total) == (60, 300)


def test_several_raters_of_one_answer_stay_rows_where_chance_is_told() -> None:
    """Only other answers to the state are left out there, and the note says both."""
    labels = {f"r{n}": (RowLabels({"ok": True}), RowLabels({"ok": n % 2 == 0})) for n in range(30)}
    rows = [result(n, 0.3 + 0.02 * n) for n in range(30)]
    copied = {f"{name}, {n}": said for name, said in labels.items() for n in range(2)}

    answers = labelled_results(again(rows, 2), {"ok": Boolean()}, labels=copied)["ok"]
    found = labelled_metrics(answers)

    assert (found.n, found.smooth_ece.n) == (120, 60)
    assert answers.dependence == (
        "null values and p-values are of the first answer to each item; null values, p-values and "
        "intervals that do not say clusters take 60 rows of 30 items for independent"
    )


@pytest.mark.parametrize("question", ["ok", "stars"])
def test_repeated_rows_add_nothing_to_the_agreement(question: str) -> None:
    """The ends of the intervals and the true rate are those of the single rows."""
    ask: Question = STARS if question == "stars" else Boolean()
    random = np.random.default_rng(6)
    rows = [
        result(n, float(random.random()), {"ok": True, "stars": 2} if n % 3 else {})
        for n in range(90)
    ]
    rows = [
        row if n % 2 else row.model_copy(update={"labels": dict.fromkeys(row.labels, 0)})
        for n, row in enumerate(rows)
    ]

    once, five = (
        judged_items(each, {question: ask})[question].report(drawn="at random")
        for each in (rows, again(rows))
    )

    assert once.rate is None or five.rate is not None
    pairs = [(once.kappa, five.kappa), (once.alpha, five.alpha), (once.ac, five.ac)]
    if once.rate is not None and five.rate is not None:
        pairs.append((once.rate.estimate, five.rate.estimate))
    for one, many in pairs:
        assert one is not None and many is not None
        assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high))
        assert (many.n, many.total) == (one.n, one.total) == (60, 90)
    assert once.confusion is not None and five.confusion is not None
    np.testing.assert_allclose(five.confusion.counts, once.confusion.counts)
    assert "360 rows read an item again" in five.lines()[-1]


def test_a_replacement_is_tested_on_items_and_not_on_their_copies() -> None:
    """Thirty items that were read five times are thirty items."""
    random = np.random.default_rng(7)
    rows = [result(n, float(random.random())) for n in range(30)]
    labels = {
        row.id: tuple(RowLabels({"ok": bool(random.random() < 0.5)}) for _ in range(3))
        for row in rows
    }
    copies = {f"{name}, {n}": said for name, said in labels.items() for n in range(5)}

    once, five = (
        judged_items(each, {"ok": Boolean()}, labels=given)["ok"].report(epsilon=0.1).replacing
        for each, given in ((rows, labels), (again(rows), copies))
    )

    assert once is not None and five is not None
    assert (five.n, five.total) == (30, 30)
    assert [trial.p_value for trial in five.trials] == pytest.approx(
        [trial.p_value for trial in once.trials]
    )
