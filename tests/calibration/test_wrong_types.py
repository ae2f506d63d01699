"""Each argument of each public function, given what is of another type."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import classify.calibration as c
from classify.answers import AnyAnswer, BooleanAnswer, ScoreAnswer
from classify.errors import CalibrationError, ClassifyError
from classify.questions import Boolean, Question, Score
from classify.results import Result
from classify.row_labels import Label

RANDOM = np.random.default_rng(0)
N = 60
P, Q = RANDOM.random(N), RANDOM.random(N)
LOG_P, PAIR = np.log(RANDOM.dirichlet([1, 1, 1], N)), np.log(RANDOM.dirichlet([1, 1], N))
Y = np.arange(N) % 3
TRUE = (np.arange(N) * 7 % 11 < 5).astype(np.int64)
ITEM, ORDER = np.repeat(np.arange(N // 3), 3), np.tile([0, 1, 2], N // 3)
PLACES = np.tile([[0, 1, 2], [1, 2, 0], [2, 0, 1]], (N // 3, 1))
LEVELS = [0, 1, 2]
RATED = [(Y + RANDOM.integers(0, 2, N)).clip(0, 2).tolist() for _ in range(4)]
SHARE = c.Share(45, 50)
HABITS = c.bias_report(LOG_P, seed=0, item=ITEM, order=ORDER)
DIAGRAM, CURVE = c.reliability_diagram(P, TRUE, seed=0, draws=9), c.risk_coverage(P, TRUE)
QUESTIONS: dict[str, Question] = {"ok": Boolean(), "stars": Score(criteria=["a", "b", "c"])}


def _result(index: int) -> Result:
    p = float(P[index])
    answers: dict[str, AnyAnswer] = {
        "ok": BooleanAnswer(probability=p),
        "stars": ScoreAnswer(score=2 * p, probabilities={"0": 1.0 - p, "1": 0.0, "2": p}),
    }
    labels: dict[str, Label] = {"ok": bool(TRUE[index]), "stars": float(Y[index])}
    return Result(id=f"r{index}", index=index, key=str(index), answers=answers, labels=labels)


RESULTS = [_result(index) for index in range(N)]
ANSWERS = c.labelled_results(RESULTS, QUESTIONS)
CALIBRATED = c.calibrate(PAIR, TRUE, method="identity")
ARTEFACT = c.calibrate_results("ok", ANSWERS["ok"]).artefact

ROWS: dict[str, Any] = {"log_p": LOG_P, "y": Y, "weights": np.ones(N)}
OUTCOMES: dict[str, Any] = {"p": P, "y": TRUE, "weights": np.ones(N)}
SURE: dict[str, Any] = {"confidence": P, "loss": TRUE}
DRAWN: dict[str, Any] = {"seed": 0, "draws": 9}
TWO = {"log_p": PAIR, "y": TRUE, "weights": np.ones(N), "floor": 1e-6}
FIT = {**ROWS, "floor": 1e-6}
RATERS: dict[str, Any] = {"ratings": RATED, "levels": LEVELS, "weights": np.ones(N)}
COUNT: dict[str, Any] = {"successes": 3, "n": 5, "confidence": 0.95}
PAIRS: dict[str, Any] = {"first": P, "second": Q, "seed": 0, "resamples": 99}
RIDGE: dict[str, Any] = {"ridge": 1.0}
ORDERS: dict[str, Any] = {"log_p": LOG_P, "item": ITEM, "seed": 0}

CALLS: Mapping[Callable[..., object], Mapping[str, Any]] = {
    c.accuracy: {**ROWS, "confidence": 0.95},
    c.alt_test: {"judge": RATED[0], "ratings": RATED[1:], "levels": LEVELS, "epsilon": 0.1},
    c.audit: {
        "question": QUESTIONS["ok"],
        "items": c.audited_items(RESULTS, "ok", QUESTIONS["ok"]),
        "habits": c.result_bias(RESULTS, "ok", QUESTIONS["ok"]),
    },
    c.audited_items: {
        "results": RESULTS,
        "name": "ok",
        "question": QUESTIONS["ok"],
        "labels": None,
        "group": "group",
    },
    c.augrc: SURE | {"weights": np.ones(N)},
    c.aurc: SURE | {"weights": np.ones(N)},
    c.auroc: {"score": P, "y": TRUE, "weights": np.ones(N)},
    c.auroc_one_vs_one: ROWS,
    c.auroc_one_vs_rest: ROWS,
    c.before_after_figure: {"before": DIAGRAM, "after": DIAGRAM},
    c.before_after_svg: {"before": DIAGRAM, "after": DIAGRAM, "title": "t"},
    c.best_actions: {"log_p": LOG_P, "costs": np.eye(3), "escalation_cost": 0.1},
    c.bias_report: ORDERS | {"order": ORDER, "position": PLACES, "length": P, "levels": LEVELS},
    c.binary_threshold: {"false_positive": 1.0, "false_negative": 1.0},
    c.brier_score: ROWS,
    c.brier_skill: ROWS,
    c.calibrate: FIT | {"method": "auto", "kind": "choice", "groups": ITEM, "options": ["a"] * 3},
    c.calibrate_means: {
        "name": "stars",
        "answers": ANSWERS["stars"],
        "requested": "auto",
        "seed": 0,
    },
    c.calibrate_results: {"name": "ok", "answers": ANSWERS["ok"], "method": "auto", "seed": 0},
    c.calibration_line: {**OUTCOMES, "floor": 1e-6},
    c.certify_joint_risk: {**SURE, "alpha": 0.2, "delta": 0.1},
    c.chosen_calibrators: {"given": [], "questions": QUESTIONS, "orders": 1, "accept": ()},
    c.classwise_calibration_error: {**ROWS, **DRAWN, "bins": c.EqualMass()},
    c.clopper_pearson: COUNT,
    c.cohen_kappa: {"first": RATED[0], "second": RATED[1], "levels": LEVELS, "scheme": "none"},
    c.compare: {**PAIRS, "span": 1.0, "confidence": 0.95},
    c.confidence_figure: {"found": c.confidence_histogram(P, TRUE, seed=0), "title": "t"},
    c.confidences: {"log_p": LOG_P},
    c.confidence_histogram: {"confidence": P, "right": TRUE, "seed": 0, "bins": 9, "groups": ITEM},
    c.confusion: {"first": RATED[0], "second": RATED[1], "levels": LEVELS, "names": ("a", "b")},
    c.control_joint_risk: {**SURE, "alpha": 0.2},
    c.control_selective_risk: {**SURE, "alpha": 0.2, "delta": 0.1, "thresholds": [0.9, 0.5]},
    c.corp_brier: OUTCOMES,
    c.corp_brier_options: ROWS,
    c.corp_log_loss: OUTCOMES,
    c.coverage_at_risk: {**SURE, "risk": 0.2, "weights": np.ones(N)},
    c.coverage_range: {"n": 50, "alpha": 0.1},
    c.debiased_calibration_error: {**OUTCOMES, **DRAWN, "bins": c.EqualMass()},
    c.every_metric: {"answers": ANSWERS["ok"], "seed": 0},
    c.excess_aurc: SURE | {"weights": np.ones(N)},
    c.expected_calibration_error: {**OUTCOMES, **DRAWN, "bins": c.EqualMass()},
    c.expected_costs: {"log_p": LOG_P, "costs": np.eye(3)},
    c.first_option_preference: ORDERS | {"position": PLACES},
    c.fit_batch_prior: {"log_p": LOG_P, "options": ["a", "b", "c"], "weights": np.ones(N)},
    c.fit_bbse_shift: {
        "log_p": np.log(0.8 * np.eye(3)[Y] + 0.05),
        "y": Y,
        "target_log_p": LOG_P,
        "weights": np.ones(N),
        "predictions": "hard",
    },
    c.fit_beta: {**TWO, "targets": "platt"},
    c.fit_content_free_prior: {"log_p": LOG_P, "options": ["a", "b", "c"], "weights": np.ones(N)},
    c.fit_em_shift: {"log_p": LOG_P, "source_prior": [0.3, 0.3, 0.4], "weights": np.ones(N)},
    c.fit_isotonic: {**FIT, "pseudo_count": 1.0},
    c.fit_isotonic_mean: {"scores": P, "ratings": Q, "weights": np.ones(N)},
    c.fit_matrix: {**FIT, **RIDGE},
    c.fit_mean_map: {"log_p": LOG_P, "ratings": 2.0 * P, "weights": np.ones(N), "floor": 1e-6},
    c.fit_platt: {**TWO, **RIDGE, "targets": "platt"},
    c.fit_proportional_odds: {**FIT, "values": [0.0, 1.0, 2.0], "targets": "platt"},
    c.fit_sets: {"log_p": LOG_P, "y": Y, "alpha": 0.1, "score": "aps", "u": P},
    c.fit_sets_by_class: {"log_p": LOG_P, "y": Y, "alpha": 0.1, "score": "aps", "u": P},
    c.fit_temperature: {**FIT, "targets": "platt"},
    c.fit_temperature_bias: {**FIT, **RIDGE, "targets": "platt"},
    c.fit_temperature_mixture: FIT,
    c.fit_vector: {**FIT, **RIDGE},
    c.fit_venn_abers: FIT,
    c.fleiss_kappa: {**RATERS, "scheme": "none", "confidence": 0.95},
    c.gwet_ac: {**RATERS, "scheme": "none", "confidence": 0.95},
    c.half_brier_score: TWO | {"floor": None},
    c.holm: {"p_values": [0.1, 0.2]},
    c.identity: {"k": 3, "n": 0},
    c.jeffreys: COUNT,
    c.judge_report: {
        "ratings": {"judge": RATED[0], "ann": RATED[1]},
        "levels": LEVELS,
        "ordered": True,
        "epsilon": None,
        "weights": None,
        "groups": ITEM,
    },
    c.judged_items: {"results": RESULTS, "questions": QUESTIONS, "labels": None},
    c.kendall_tau_b: {"x": P, "y": Q, "weights": np.ones(N)},
    c.kolmogorov_smirnov: OUTCOMES,
    c.krippendorff_alpha: {**RATERS, "metric": "nominal", "confidence": 0.95},
    c.kuiper: OUTCOMES,
    c.labelled_confidence: {"answers": ANSWERS["ok"], "seed": 0, "bins": 9},
    c.labelled_confusion: {"answers": ANSWERS["stars"], "seed": 0},
    c.labelled_metrics: {"answers": ANSWERS["ok"], "seed": 0},
    c.labelled_reliability: {"answers": ANSWERS["ok"], "seed": 0},
    c.labelled_results: {
        "results": RESULTS,
        "questions": QUESTIONS,
        "labels": None,
        "model": "m",
        "orders": 1,
    },
    c.labelled_risk_coverage: {"answers": ANSWERS["ok"]},
    c.labelled_scores: {"answers": ANSWERS["stars"], "seed": 0},
    c.labels_for_certificate: {"alpha": 0.1, "error": 0.05, "delta": 0.1, "power": 0.8},
    c.labels_for_comparison: {"better": 0.3, "worse": 0.1, "significance": 0.05, "power": 0.8},
    c.labels_for_corrected_rate: {
        "rate": 0.5,
        "half_width": 0.05,
        "correlation": 0.5,
        "pool": 999,
        "judge_spread": 0.3,
        "confidence": 0.95,
    },
    c.labels_for_coverage: {"alpha": 0.1, "slack": 0.05},
    c.labels_for_rate: {"rate": 0.5, "half_width": 0.05, "confidence": 0.95},
    c.labels_only: {"human": SHARE, "total": 99, "confidence": 0.95},
    c.least_handed_over: {"error": 0.2, "alpha": 0.1, "risk": "joint"},
    c.length_bias: {"score": P, "length": Q, "actual": TRUE, "weights": np.ones(N)},
    c.level_use: {"log_p": LOG_P, "y": Y, "weights": np.ones(N), "items": None},
    c.log_loss: FIT,
    c.log_loss_skill: ROWS,
    c.look_ahead: {"n": 99, "loss": 20.0, "alpha": 0.1, "delta": 0.1, "risk": "joint"},
    c.make_artefact: {
        "calibrated": CALIBRATED,
        "fingerprint": ARTEFACT.fingerprint,
        "name": "ok",
        "metrics": (),
        "held_out": None,
        "created": None,
    },
    c.maximum_calibration_error: {**OUTCOMES, **DRAWN, "bins": c.EqualMass()},
    c.mcnemar_exact: {"first": TRUE, "second": 1 - TRUE},
    c.mean_absolute_error: {"predicted": P, "actual": Q, "weights": np.ones(N)},
    c.mean_interval: {"values": P, "seed": 0, "groups": ITEM, "resamples": 99},
    c.metrics: ROWS | {"seed": 0, "groups": ITEM, "kind": "score", "levels": LEVELS},
    c.order_sensitivity: ORDERS | {"order": ORDER},
    c.order_sensitivity_figure: {"report": HABITS, "title": "t"},
    c.ordinal_confusion: {"judge": RATED[0], "people": RATED[1], "levels": LEVELS, "seed": 0},
    c.ordinal_confusion_figure: {
        "found": c.ordinal_confusion(RATED[0], RATED[1], levels=LEVELS, seed=0),
        "title": "t",
        "names": ["a", "b", "c"],
    },
    c.paired_difference: {**PAIRS, "groups": ITEM, "span": 1.0, "confidence": 0.95},
    c.ppi_mean: {"human": P, "judge": Q, "pool": P, "trust": 0.5, "confidence": 0.95},
    c.ppi_rate: {"human": TRUE, "judge": Q, "pool": P, "trust": 0.5, "confidence": 0.95},
    c.ranked_probability_score: ROWS,
    c.rating_metrics: {"answers": ANSWERS["stars"], "seed": 0},
    c.realised_cost: {"actions": Y, "y": Y, "costs": np.eye(3), "escalation_cost": 0.1},
    c.reliability_diagram: OUTCOMES | DRAWN | {"bins": c.EqualMass(), "confidence": 0.9},
    c.reliability_figure: {"diagram": DIAGRAM, "title": "t"},
    c.reliability_svg: {"diagram": DIAGRAM, "title": "t"},
    c.repeat_noise: ORDERS,
    c.result_bias: {"results": RESULTS, "name": "ok", "question": QUESTIONS["ok"], "seed": 0},
    c.risk_coverage: {**SURE, "weights": np.ones(N), "points": 20},
    c.risk_coverage_figure: {"curve": CURVE, "title": "t"},
    c.risk_coverage_svg: {"curve": CURVE, "title": "t"},
    c.rogan_gladen: {"passed": SHARE, "sensitivity": SHARE, "specificity": SHARE},
    c.score_label_figure: {"found": c.scores_by_label(P, Y, seed=0), "title": "t"},
    c.scores_by_label: {"score": P, "label": Y, "seed": 0, "scale": (0.0, 2.0), "groups": ITEM},
    c.sign_flip_test: PAIRS,
    c.smooth_calibration_error: {**OUTCOMES, **DRAWN},
    c.smooth_calibration_error_at: {**OUTCOMES, "bandwidth": 0.1},
    c.spearman: {"x": P, "y": Q, "weights": np.ones(N)},
    c.spiegelhalter: OUTCOMES,
    c.stratified_rate: {"passed": SHARE, "right_if_passed": SHARE, "right_if_failed": SHARE},
    c.subgroup_bias: {"judge": P, "human": Q, "groups": ["a", "b"] * (N // 2), "span": 1.0},
    c.summed_ranked_probability_score: ROWS,
    c.sweep_calibration_error: {**OUTCOMES, **DRAWN},
    c.true_rate: {"human": TRUE, "judge": P, "pool": Q, "drawn": "at random", "name": "n"},
    c.wilson: COUNT,
}
FIVE: Any = 5
"""Any, for checkers know that it is none of these."""
FILES = {c.read_label_file, c.load_artefacts, c.save_artefacts}
OTHERWISE = {c.chain, c.read_policy}
"""Those whose argument has no name, or is a text that says what it is."""

WRONG: Mapping[str, Any] = {
    "number": 5,
    "text": "wrong",
    "None": None,
    "dict": {},
    "filled dict": {"a": 1},
    "ragged": [[1, 2], [3]],
    "nested": [["a", "b"], ["c", "d"]],
    "objects": [{}, {}, {}],
    "no value": [None] * N,
    "set": {"a", "b"},
}


def test_every_public_function_is_given_wrong_types() -> None:
    """A new one belongs into the table."""
    functions = {getattr(c, name) for name in vars(c)["__all__"]}
    functions = {each for each in functions if inspect.isfunction(each)}

    assert functions == {*CALLS, *FILES, *OTHERWISE}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_a_wrong_type_is_refused_by_the_name_of_its_argument(
    function: Callable[..., object],
) -> None:
    """Never an error of Python from somewhere inside."""
    good = {name: value for name, value in CALLS[function].items() if name != "floor" or value}
    function(**good)

    for name in good:
        for wrong in WRONG.values():
            try:
                function(**{**good, name: wrong})
            except ClassifyError as error:
                # A list may be of the right type: what it makes impossible is said instead.
                fits = isinstance(wrong, list | type(good[name]))
                assert name in str(error) or fits, error


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_files_are_named_by_paths(wrong: Any, tmp_path: Path) -> None:
    """5 would be an open file of the process."""
    labels, good = tmp_path / "labels.jsonl", tmp_path / "artefact.json"
    labels.write_text('{"id": "r1", "ok": true}\n', encoding="utf-8")
    c.save_artefacts(good, [ARTEFACT])
    calls: list[tuple[Callable[..., object], dict[str, Any]]] = [
        (c.read_label_file, {"path": str(labels), "questions": QUESTIONS, "group": "group"}),
        (c.load_artefacts, {"path": good}),
        (c.save_artefacts, {"path": good, "artefacts": [ARTEFACT]}),
    ]

    for function, arguments in calls:
        function(**arguments)
        for name in arguments:
            if isinstance(wrong, str):  # of a file that is not there, or another field
                continue
            with pytest.raises((CalibrationError, ClassifyError)):
                function(**{**arguments, name: wrong})
    assert c.load_artefacts(good) == (ARTEFACT,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: c.calibrate(LOG_P, Y, options=FIVE), "options must name each of the 3 columns"),
        (lambda: c.fit_content_free_prior(LOG_P, FIVE), "options must be the 3 different texts"),
        (lambda: c.judge_report(FIVE, levels=LEVELS, ordered=True), "ratings must be a mapping of"),
        (lambda: c.rogan_gladen(passed=FIVE, sensitivity=SHARE, specificity=SHARE), "passed must"),
        (lambda: c.labelled_metrics(FIVE), "answers must be the LabelledAnswers of one question"),
        (lambda: c.labelled_results(FIVE, QUESTIONS), "results must be Result rows, as read_res"),
        (lambda: c.result_bias(RESULTS, "ok", FIVE), "question must be a Boolean, a Choice or a"),
        (
            lambda: c.reliability_diagram(P, TRUE, seed=0, bins=FIVE),
            r"bins must be EqualWidth\(5\)",
        ),
        (lambda: c.risk_coverage_svg(FIVE), "curve must be what risk_coverage"),
        (lambda: c.reliability_svg(DIAGRAM, title=FIVE), "title must be a text"),
        (lambda: c.chain(FIVE), r"steps\[0\] must be a calibrator"),
    ],
)
def test_the_message_says_what_to_give(call: Callable[[], object], message: str) -> None:
    """And shows what was given."""
    with pytest.raises(CalibrationError, match=f"{message}.*got 5"):
        call()


def test_a_text_is_no_list_of_its_letters() -> None:
    """Three letters would have named three options."""
    with pytest.raises(
        CalibrationError, match="options must name each of the 3 columns, got 'abc'"
    ):
        c.calibrate(LOG_P, Y, options="abc")


def test_a_rater_holds_a_list() -> None:
    """The message names the rater."""
    ratings: Any = {"judge": 1, "ann": [1, 2]}

    with pytest.raises(CalibrationError, match="rater 'judge' must hold a list of ratings, got 1"):
        c.judge_report(ratings, levels=LEVELS, ordered=True)


def test_the_answers_of_all_questions_are_not_those_of_one() -> None:
    """The likeliest slip with labelled_results, which returns one per question."""
    everything: Any = ANSWERS

    with pytest.raises(CalibrationError, match=r"as labelled_results\(\)\[question id\], got"):
        c.labelled_metrics(everything)


def test_nobody_belongs_to_no_group() -> None:
    """None would be a group of that name."""
    groups: Any = [*["a"] * (N - 1), None]

    with pytest.raises(CalibrationError, match=r"groups\[59\] is None: every row needs an"):
        c.subgroup_bias(P, Q, groups)
