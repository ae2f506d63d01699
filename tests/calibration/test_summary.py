"""The page of headline metrics agrees with the metrics themselves."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest

from classify.answers import BooleanAnswer
from classify.calibration import class_draws
from classify.calibration.arrays import Floats, Ints
from classify.calibration.corp import corp_brier
from classify.calibration.discrimination import accuracy, auroc
from classify.calibration.from_results import labelled_metrics
from classify.calibration.judge_items import judged_items
from classify.calibration.ordinal_scores import mean_absolute_error
from classify.calibration.proper_scores import log_loss
from classify.calibration.result_labels import labelled_results
from classify.calibration.smooth_error import smooth_calibration_error
from classify.calibration.summary import metrics
from classify.errors import CalibrationError
from classify.questions import Boolean
from classify.results import Result
from classify.run_summary import summarize


def rows(n: int, k: int) -> tuple[Floats, Ints]:
    """Return log-probabilities (n, k) and options drawn from them."""
    random = np.random.default_rng(k)
    p = random.dirichlet([0.7] * k, n)
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    return np.log(p), y.astype(np.int64)


def test_a_boolean_is_measured_by_its_probability() -> None:
    """Calibration and AUROC of P(yes), not of the confidence in whichever was likelier."""
    log_p, y = rows(120, 2)
    p, true = np.exp(log_p[:, 0]), y == 0

    found = metrics(log_p, y, seed=0, kind="boolean")

    assert found.brier_corp.miscalibration == pytest.approx(corp_brier(p, true).miscalibration)
    assert found.brier.value == pytest.approx(found.brier_corp.score)
    assert found.smooth_ece.value == pytest.approx(smooth_calibration_error(p, true).value)
    assert found.smooth_ece.p_value is not None
    assert found.auroc is not None and found.auroc.value == pytest.approx(auroc(p, true).value)
    assert found.ordinal is None


def test_a_boolean_of_one_half_says_true_as_in_every_other_place() -> None:
    """Columns are true and false: metrics took the second for P(true), and one half for false."""
    results = [
        Result(
            id=f"r{n}",
            index=n,
            key=f"k{n}",
            answers={"q": BooleanAnswer(probability=p)},
            labels={"q": truth},
        )
        for n, (p, truth) in enumerate([(0.5, True), (0.5, True), (0.5, False), (0.9, True)])
    ]
    answers = labelled_results(results, {"q": Boolean()})["q"]
    told = summarize(results, {"q": Boolean()}).questions["q"].accuracy
    (agreed,) = judged_items(results, {"q": Boolean()}).values()

    assert told is not None and told.value == 0.75
    assert labelled_metrics(answers).accuracy.value == 0.75
    assert metrics(answers.log_p, answers.y, seed=0, kind="boolean").accuracy.value == 0.75
    table = agreed.report().confusion
    assert table is not None and table.agreement == 0.75


def test_a_choice_is_measured_by_its_confidence() -> None:
    """The answer's probability against whether the answer was right."""
    log_p, y = rows(120, 4)
    confidence, right = np.exp(log_p.max(axis=1)), log_p.argmax(axis=1) == y

    found = metrics(log_p, y, seed=0)

    assert found.log_loss.value == pytest.approx(log_loss(log_p, y).value)
    assert found.smooth_ece.value == pytest.approx(
        smooth_calibration_error(confidence, right).value
    )
    assert found.accuracy == accuracy(log_p, y)
    assert found.brier.value == pytest.approx(found.brier_corp.score)
    assert found.log_loss.low is not None and found.log_loss.low < found.log_loss.value


@pytest.mark.parametrize("kind", ["choice", "score"])
def test_a_lean_that_the_confidence_hides_is_in_the_error_of_every_option(
    kind: Literal["choice", "score"],
) -> None:
    """Said with .7: the first option comes true in 9 of 10, the second in 5 of 10; in all in .7."""
    p = np.array([[0.7, 0.3]] * 100 + [[0.3, 0.7]] * 100)
    y = np.array([0] * 90 + [1] * 10 + [0] * 50 + [1] * 50)

    found = metrics(np.log(p), y, seed=0, kind=kind)

    assert found.smooth_ece.value == pytest.approx(0.0, abs=1e-9)
    assert found.debiased_error.value == 0.0
    assert found.classwise_ece is not None
    assert found.classwise_ece.value == pytest.approx(0.2)
    assert (found.classwise_ece.p_value or 1.0) < 0.01
    said = dict(found.named())
    assert "of the confidence" in str(said["smooth ECE"])
    assert "of the confidence" in str(said["debiased error"])
    assert "of the probability of every option" in str(said["ECE, classwise"])


def test_many_rows_have_the_null_of_a_thousand_draws_in_every_error() -> None:
    """Drawn as normal, they cost no more than few draws of each row."""
    random = np.random.default_rng(4)
    p = random.dirichlet([1.0, 1.0, 1.0], 51_000)
    y = np.minimum((p.cumsum(axis=1) < random.random((len(p), 1))).sum(axis=1), 2)

    found = metrics(np.log(p), y, seed=0)

    for error in (found.smooth_ece, found.debiased_error, found.classwise_ece):
        assert error is not None and error.p_value is not None
        assert error.p_value > 0.01
        assert round(error.p_value * 1001, 9) == round(error.p_value * 1001)


def test_a_boolean_has_no_confidence_in_its_rules() -> None:
    """Its errors are of P(yes), which hides no lean."""
    log_p, y = rows(60, 2)

    found = metrics(log_p, y, seed=0, kind="boolean")

    assert found.classwise_ece is None
    assert "confidence" not in found.smooth_ece.rule + found.debiased_error.rule
    assert not any(line.startswith("ECE, classwise") for line in found.lines())


def test_a_score_is_measured_in_units_of_its_levels() -> None:
    """Levels 10, 20, 30 make the error ten times that of 1, 2, 3."""
    log_p, y = rows(80, 3)
    levels = np.array([10.0, 20.0, 30.0])

    found = metrics(log_p, y, seed=0, kind="score", levels=levels).ordinal

    assert found is not None
    expected = mean_absolute_error(np.exp(log_p) @ levels, levels[y]).value
    assert found.mae.value == pytest.approx(expected)
    assert found.spearman is not None and found.tau_b is not None


def test_one_row_of_a_score_is_measured_like_any_other() -> None:
    """Squares of 0.3 - 1, 0.5, 0.2 and 0.1 beyond the levels, by 4; and a mean level of 1.5."""
    found = metrics(np.log([[0.3, 0.2, 0.3, 0.1, 0.1]]), [0], seed=0, kind="score").ordinal

    assert found is not None
    assert found.rps.value == pytest.approx((0.7**2 + 0.5**2 + 0.2**2 + 0.1**2) / 4)
    assert found.mae.value == pytest.approx(0.2 + 0.6 + 0.3 + 0.4)


def test_groups_widen_intervals() -> None:
    """Ten readings of an item are one item."""
    log_p, y = rows(60, 3)
    repeated, again, item = np.repeat(log_p, 10, 0), np.repeat(y, 10), np.repeat(np.arange(60), 10)

    grouped = metrics(repeated, again, seed=0, groups=item)
    single = metrics(log_p, y, seed=0)

    assert grouped.log_loss.low == pytest.approx(single.log_loss.low)
    assert "clusters" in grouped.accuracy.rule


def test_rows_of_weight_zero_are_left_out_with_their_groups() -> None:
    """Groups stay beside their rows."""
    log_p, y = rows(40, 3)
    w = np.r_[np.ones(30), np.zeros(10)]
    item = np.arange(40) // 2

    weighed = metrics(log_p, y, seed=0, weights=w, groups=item)
    cut = metrics(log_p[:30], y[:30], seed=0, weights=w[:30], groups=item[:30])

    assert weighed == cut
    assert weighed.n == 30


def test_zeros_on_the_truth_are_shown_beside_a_floored_value() -> None:
    """An infinite loss is the truth; a floored one is what can be compared."""
    found = metrics([[0.0, -np.inf], [0.0, -np.inf]], [0, 1], seed=0, kind="boolean")

    assert found.log_loss.value == math.inf and found.zeros == 1
    assert found.floored_log_loss is not None
    assert "1 zeros on the truth" in found.lines()[0]


@pytest.mark.parametrize(
    ("log_p", "y"),
    [
        pytest.param([[0.0]], [0], id="one-row-one-option"),
        pytest.param([[0.0, -1.0]], [1], id="one-row"),
        pytest.param([[0.0, 0.0]] * 3, [1, 1, 1], id="one-label-all-ties"),
        pytest.param([[0.0, -np.inf]] * 2, [0, 0], id="certain-and-right"),
        pytest.param([[0.0, -np.inf]] * 2, [1, 1], id="certain-and-wrong"),
    ],
)
def test_degenerate_rows_have_a_page_too(log_p: list[list[float]], y: list[int]) -> None:
    """What is not defined says so; nothing is nan."""
    page = "\n".join(metrics(log_p, y, seed=0, kind="score").lines())

    assert "nan" not in page
    assert "not defined" in page


def test_many_options_of_many_rows_have_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is drawn row by row: a thousand took 36 s for 130 options of 300 000 rows."""
    log_p, _ = rows(1000, 30)
    never = log_p.argmin(axis=1)

    found = metrics(log_p, never, kind="choice", seed=0).classwise_ece
    monkeypatch.setattr(class_draws, "EXACT_UP_TO", 0)
    as_normal = metrics(log_p, never, kind="choice", seed=0).classwise_ece
    monkeypatch.setattr(class_draws, "_MOST_CELLS", 299)
    many = metrics(log_p, never, kind="choice", seed=0).classwise_ece

    assert found is not None and as_normal is not None and many is not None
    assert (found.p_value, as_normal.p_value, many.p_value) == (1 / 667, 1 / 1001, 1 / 667)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param({"kind": "boolean"}, "needs two options, log_p has 3", id="boolean"),
        pytest.param({"kind": "score", "levels": [1, 2]}, "levels must be 3", id="levels"),
        pytest.param(
            {"groups": [1]}, "groups must hold one identifier for each of the 9 rows", id="groups"
        ),
    ],
)
def test_arguments_that_do_not_fit_are_refused(arguments: dict[str, str], message: str) -> None:
    """The message names what was seen."""
    log_p, y = rows(9, 3)

    with pytest.raises(CalibrationError, match=message):
        metrics(log_p, y, seed=0, **arguments)  # type: ignore[arg-type]  # wrong on purpose
