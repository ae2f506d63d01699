"""Decisions and agreement against values that other libraries computed on the same inputs.

The values and their sources are in tests/references/calibration_decisions.json. Where our
definition differs on purpose, the test says why and checks what must still hold.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classify.calibration.agreement import cohen_kappa
from classify.calibration.arrays import Floats
from classify.calibration.comparison import mcnemar_exact, sign_flip_test
from classify.calibration.estimate import student_quantile
from classify.calibration.prediction_powered import ppi_mean
from classify.calibration.prediction_sets import PredictionSets, fit_sets, fit_sets_by_class
from classify.calibration.prevalence import Share, rogan_gladen, stratified_rate
from classify.calibration.rater_agreement import (
    Metric,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from classify.calibration.ratings import Scheme
from classify.calibration.risk_control import (
    RiskControl,
    certify_joint_risk,
    control_joint_risk,
    control_selective_risk,
)
from classify.calibration.risk_tests import binomial_p_values, hoeffding_bentkus_p_values
from classify.calibration.set_scores import ScoreName, SetScore
from classify.calibration.thresholds import best_actions, realised_cost

# Any: the file holds numbers, lists and tables, as JSON does.
REFERENCES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "references" / "calibration_decisions.json").read_text()
)
INPUTS = REFERENCES["inputs"]
LEVELS = (1, 2, 3, 4, 5)
RAPS = SetScore(name="raps", penalty=0.01, free_ranks=1)


def expected(case: str) -> Any:  # Any: see REFERENCES.
    """Return what the other library gave."""
    return REFERENCES["cases"][case]["expected"]


def near(case: str, *, part: str | None = None) -> Any:  # Any: pytest.approx has no public type.
    """Return what the other library gave, compared as finely as it can be trusted."""
    value = expected(case) if part is None else expected(case)[part]
    return pytest.approx(value, abs=REFERENCES["cases"][case]["tol"])


def log_p(name: str, column: str = "P") -> Floats:
    """Return the logs of an input's probabilities."""
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(np.asarray(INPUTS[name][column], dtype=np.float64))
    return logs


def conf_sets(score: ScoreName | SetScore, alpha: float, u: Floats | None = None) -> PredictionSets:
    """Return sets fitted on the 99 calibration rows of `conf`."""
    return fit_sets(log_p("conf", "cal_P"), INPUTS["conf"]["cal_y"], alpha=alpha, score=score, u=u)


@pytest.mark.parametrize(
    ("case", "alpha"),
    [("lac_0.9_conf_mapie", 0.1), ("lac_0.8_conf_mapie", 0.2)],
    ids=["alpha 0.1", "alpha 0.2"],
)
def test_lac_sets_equal_those_of_mapie(case: str, alpha: float) -> None:
    """The threshold is the ceil((n + 1)(1 - alpha))-th smallest score, on 99 rows an exact one."""
    rule = conf_sets("lac", alpha)

    sets = rule.sets(log_p("conf", "test_P"))

    assert rule.thresholds[0] == near(case, part="threshold")
    np.testing.assert_array_equal(sets, np.asarray(expected(case)["sets"], dtype=bool))


@pytest.mark.parametrize(
    ("case", "alpha"),
    [("lac_0.1_conf_cci", 0.1), ("lac_0.05_conf_cci", 0.05)],
    ids=["alpha 0.1", "alpha 0.05"],
)
def test_the_lac_threshold_equals_that_of_cci(case: str, alpha: float) -> None:
    """A second library agrees on the rank."""
    assert conf_sets("lac", alpha).thresholds[0] == near(case)


@pytest.mark.parametrize("alpha", [0.2, 0.1, 0.05], ids=["alpha 0.2", "alpha 0.1", "alpha 0.05"])
@pytest.mark.parametrize("score", ["aps", RAPS], ids=["aps", "raps"])
def test_aps_thresholds_equal_those_of_cci_and_sets_are_theirs_without_the_crossing_option(
    score: ScoreName | SetScore, alpha: float
) -> None:
    """Their sets add the option that crosses the threshold, on top of the promised coverage.

    Ours keep the options whose own score is within it, which is all that the promise needs, and
    the likeliest option. So theirs are ours plus the next option in rank, if it starts below.
    """
    name = score if isinstance(score, str) else score.name
    case = f"{name}_{alpha}_conf_cci"
    rule = conf_sets(score, alpha)

    ours = rule.sets(log_p("conf", "test_P"))

    assert rule.thresholds[0] == near(case, part="threshold")
    for row, mine, theirs in zip(
        INPUTS["conf"]["test_P"], ours, expected(case)["sets"], strict=True
    ):
        ranked = np.argsort(-np.asarray(row), kind="stable").tolist()
        kept = int(mine.sum())
        assert set(np.flatnonzero(mine)) == set(ranked[:kept])
        assert set(theirs) in (set(ranked[:kept]), set(ranked[: kept + 1]))


def test_randomised_aps_has_the_threshold_of_mapie() -> None:
    """MAPIE subtracts u · p from the cumulative mass, which is our u counted from the other end."""
    rule = conf_sets("aps", 0.1, u=1.0 - np.asarray(INPUTS["conf"]["u_seed0"]))

    assert rule.thresholds[0] == near("aps_0.9_conf_mapie_seed0", part="threshold")


def test_sets_hold_the_options_whose_conformal_p_value_exceeds_alpha() -> None:
    """The two definitions are one; crepes keeps p = alpha too, one option more than needed."""
    p_values = np.asarray(expected("hinge_p_conf_crepes")["p_values"])

    sets = conf_sets("lac", 0.1).sets(log_p("conf", "test_P"))

    np.testing.assert_array_equal(sets, p_values > 0.1 + 1e-9)


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3], ids=["alpha 0.1", "alpha 0.2", "alpha 0.3"])
def test_sets_by_class_hold_the_options_whose_own_p_value_exceeds_alpha(alpha: float) -> None:
    """Mondrian: every option is compared with calibration rows of that option alone."""
    p_values = np.asarray(expected("hinge_p_classcond_conf_crepes"))
    rule = fit_sets_by_class(log_p("conf", "cal_P"), INPUTS["conf"]["cal_y"], alpha=alpha)

    sets = rule.sets(log_p("conf", "test_P"))

    np.testing.assert_array_equal(sets[: len(p_values)], p_values > alpha + 1e-9)


def test_hoeffding_bentkus_p_values_equal_those_of_mapie() -> None:
    """From sums of losses, where MAPIE takes rates: 0.02 of 100 is 2."""
    pairs = REFERENCES["cases"]["hb_p_alpha0.1_mapie"]["params"]["pairs"]
    n = np.array([pair[1] for pair in pairs])
    losses = np.array([pair[0] * pair[1] for pair in pairs])

    assert hoeffding_bentkus_p_values(losses, n, alpha=0.1) == near("hb_p_alpha0.1_mapie")
    assert binomial_p_values(np.round(losses), n, alpha=0.1) == near("hb_p_binary_alpha0.1_mapie")


@pytest.mark.parametrize("alpha", [0.1, 0.2], ids=["alpha 0.1", "alpha 0.2"])
def test_the_joint_risk_threshold_equals_that_of_cci(alpha: float) -> None:
    """The lowest confidence at which (errors + 1) / (n + 1) <= alpha."""
    assert controlled(alpha).threshold == near(f"crc_{alpha}_multi150_cci")


def controlled(alpha: float) -> RiskControl:
    """Return the joint risk of `multi150` under control on average."""
    p = np.asarray(INPUTS["multi150"]["P"])
    return control_joint_risk(p.max(axis=1), wrong(p), alpha=alpha)


def wrong(p: Floats) -> Floats:
    """Return 1.0 where the likeliest option of `multi150` is not the true one."""
    mistaken: Floats = (p.argmax(axis=1) != np.asarray(INPUTS["multi150"]["y"])).astype(np.float64)
    return mistaken


@pytest.mark.parametrize("alpha", [0.1, 0.2], ids=["alpha 0.1", "alpha 0.2"])
def test_bounded_losses_certify_the_threshold_of_cci_and_errors_an_exact_lower_one(
    alpha: float,
) -> None:
    """Cci bounds errors as if they were any loss; the exact tail keeps more rows at no cost.

    A single loss a hair below 1 makes ours take the bound for bounded losses, too.
    """
    p = np.asarray(INPUTS["multi150"]["P"])
    loss = wrong(p)
    nearly = loss.copy()
    nearly[np.argmax(loss)] = 1.0 - 1e-12

    bounded = certify_joint_risk(p.max(axis=1), nearly, alpha=alpha, delta=0.1)
    exact = certify_joint_risk(p.max(axis=1), loss, alpha=alpha, delta=0.1)

    assert bounded.threshold == near(f"rcps_{alpha}_multi150_cci")
    assert exact.threshold < bounded.threshold


def test_a_fixed_sequence_goes_one_step_beyond_mapie_where_rates_lose_an_integer() -> None:
    """Precision 0.6 at 90 % is an error of at most 0.4 with delta 0.1.

    At 0.60 there are 40 errors in 120. MAPIE turns them into the rate 1 - 80/120 and back, by
    ceil(0.33333333333333337 · 120), into 41 errors, and stops; from counts the p-value is 0.08.
    """
    case = "ltt_precision0.6_fixed_sequence_multi150_mapie"
    p = np.asarray(INPUTS["multi150"]["P"])

    found = control_selective_risk(
        p.max(axis=1), wrong(p), alpha=0.4, delta=0.1, thresholds=np.linspace(0.9, 0.0, 46)
    )

    passed = [step for step in found.steps if step.p_value <= 0.1]
    assert passed[-2].threshold == near(case, part="smallest_valid")
    assert len(passed) == expected(case)["n_valid"] + 1
    assert (passed[-1].accepted, passed[-1].loss) == (120, 40)
    assert math.ceil((1 - 80 / 120) * 120) == 41
    assert binomial_p_values(40, 120, alpha=0.4) < 0.1 < binomial_p_values(41, 120, alpha=0.4)


@pytest.mark.parametrize(
    ("case", "alpha"),
    [
        ("ltt_precision0.6_bonferroni_multi150_mapie", 0.4),
        ("ltt_precision0.7_bonferroni_multi150_mapie", 0.3),
        ("ltt_precision0.7_bonferroni_holm_multi150_mapie", 0.3),
    ],
    ids=["0.6 Bonferroni", "0.7 Bonferroni", "0.7 Holm"],
)
def test_a_fixed_sequence_certifies_where_bonferroni_does_not(case: str, alpha: float) -> None:
    """We offer no Bonferroni: on the same rows and at the same delta it keeps less or nothing."""
    p = np.asarray(INPUTS["multi150"]["P"])

    found = control_selective_risk(
        p.max(axis=1), wrong(p), alpha=alpha, delta=0.1, thresholds=np.linspace(0.9, 0.0, 46)
    )

    theirs = expected(case)["smallest_valid"]
    assert found.threshold < (math.inf if theirs is None else theirs)


def test_actions_of_least_expected_cost_pay_what_sys1bench_computed() -> None:
    """The argmax pays more than the action that weighs the costs."""
    case = "bayes_cost_multi150_sys1bench"
    costs = REFERENCES["cases"][case]["params"]["cost[true,pred]"]
    x, y = log_p("multi150"), INPUTS["multi150"]["y"]

    assert realised_cost(x.argmax(axis=1), y, costs) == near(case, part="argmax")
    assert realised_cost(best_actions(x, costs), y, costs) == near(case, part="bayes")


@pytest.mark.parametrize(
    ("scheme", "case"),
    [("linear", "kappa_linear_judge30_sklearn"), ("quadratic", "kappa_quadratic_judge30_sklearn")],
    ids=["linear", "quadratic"],
)
def test_weighted_kappa_equals_that_of_scikit_learn(scheme: Scheme, case: str) -> None:
    """All five levels occur, so observed and declared levels are the same here."""
    judge = INPUTS["judge30"]

    found = cohen_kappa(judge["human"], judge["judge"], levels=LEVELS, scheme=scheme)

    assert found.value == near(case)


def test_the_interval_of_kappa_equals_that_of_statsmodels() -> None:
    """The large-sample variance, not the one under independence."""
    judge = INPUTS["judge30"]

    found = cohen_kappa(judge["human"], judge["judge"], levels=LEVELS)

    case = "kappa_se_judge30_statsmodels"
    assert [found.value, found.low, found.high] == [
        near(case, part=part) for part in ("kappa", "low", "upp")
    ]


def test_quadratic_kappa_of_two_raters_is_also_congers() -> None:
    """Conger's kappa of two raters is Cohen's; irrCAC computes it another way."""
    judge = INPUTS["judge30"]

    found = cohen_kappa(judge["human"], judge["judge"], levels=LEVELS, scheme="quadratic")

    assert found.value == near("conger_judge30_quadratic_irrcac", part="coefficient_value")


def ratings_of(name: str) -> list[list[float | None]]:
    """Return an input as (raters, items)."""
    data = INPUTS[name]
    return data["ratings"] if "ratings" in data else [data["human"], data["judge"]]


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("raters4x12", "nominal"),
        ("raters4x12", "ordinal"),
        ("judge30", "interval"),
        ("judge30", "ratio"),
    ],
    ids=["nominal", "ordinal", "interval", "ratio"],
)
def test_alpha_equals_that_of_krippendorff(name: str, metric: Metric) -> None:
    """With ratings missing, an item rated once, and levels that a metric orders."""
    found = krippendorff_alpha(ratings_of(name), levels=LEVELS, metric=metric)

    assert found.value == near(f"alpha_{metric}_{name}_krippendorff")


@pytest.mark.parametrize(
    ("case", "name", "scheme"),
    [
        ("gwet_judge30_quadratic_irrcac", "judge30", "quadratic"),
        ("gwet_raters4x12_identity_irrcac", "raters4x12", "none"),
        ("fleiss_judge30_quadratic_irrcac", "judge30", "quadratic"),
        ("fleiss_raters4x12_identity_irrcac", "raters4x12", "none"),
        ("krippendorff_judge30_identity_irrcac", "judge30", "none"),
    ],
    ids=["AC2", "AC1 missing", "Fleiss weighted", "Fleiss missing", "alpha"],
)
def test_coefficients_and_their_intervals_equal_those_of_irrcac(
    case: str, name: str, scheme: Scheme
) -> None:
    """The linearised variance with Student's t; irrCAC rounds to five decimals."""
    ratings = ratings_of(name)
    if case.startswith("krippendorff"):
        found = krippendorff_alpha(ratings, levels=LEVELS)
    else:
        coefficient = gwet_ac if case.startswith("gwet") else fleiss_kappa
        found = coefficient(ratings, levels=LEVELS, scheme=scheme)

    assert found.value == near(case, part="coefficient_value")
    # Its interval is made of the rounded error, and so is off by more than its error is.
    error = (found.value - found.low) / student_quantile(0.95, degrees=found.total - 1.0)
    assert error == near(case, part="se")


def test_fleiss_kappa_of_complete_units_equals_that_of_statsmodels() -> None:
    """Units that all four rated, among the first nine, as the case says."""
    ratings = np.asarray(INPUTS["raters4x12"]["ratings"], dtype=np.float64)[:, :9]
    complete = ratings[:, ~np.isnan(ratings).any(axis=0)]

    found = fleiss_kappa(complete, levels=LEVELS)

    assert found.value == near("fleiss_raters_complete_statsmodels")


def test_rogan_gladen_equals_that_of_rubricon_from_counts() -> None:
    """Sensitivity 0.9 of 120 and specificity 0.75 of 80 as whole counts."""
    case = "rogan_gladen_fixed_rubricon"

    found = rogan_gladen(
        passed=Share(800, 1000), sensitivity=Share(108, 120), specificity=Share(60, 80)
    )

    assert [found.value, found.low, found.high] == [
        near(case, part=part) for part in ("value", "low", "high")
    ]


def test_rogan_gladen_equals_that_of_rubricon_on_verdicts() -> None:
    """The judge of `ppi` as verdicts."""
    case, data = "rogan_gladen_ppi_rubricon", INPUTS["ppi"]
    y, judge = np.asarray(data["y"]), np.asarray(data["judge_binary"])
    pool = np.asarray(data["judge_binary_unlabelled"])

    found = rogan_gladen(
        passed=Share(int(pool.sum()), pool.size),
        sensitivity=Share(int(judge[y == 1].sum()), int((y == 1).sum())),
        specificity=Share(int((1 - judge[y == 0]).sum()), int((y == 0).sum())),
    )

    assert [found.value, found.low, found.high] == [
        near(case, part=part) for part in ("value", "low", "high")
    ]


def test_mover_equals_that_of_rubricon_for_a_pool_without_end() -> None:
    """Rubricon takes the judge's pass rate as known; ours counts that it comes from a pool."""
    case = "mover_fixed_rubricon"
    yes, no = Share(92, 100), Share(30, 50)

    endless = stratified_rate(
        passed=Share(8 * 10**11, 10**12), right_if_passed=yes, right_if_failed=no
    )
    pool = stratified_rate(passed=Share(800, 1000), right_if_passed=yes, right_if_failed=no)

    assert [endless.value, endless.low, endless.high] == [
        near(case, part=part) for part in ("value", "low", "high")
    ]
    assert pool.low < endless.low < endless.high < pool.high


def test_ppi_equals_that_of_ppi_python_up_to_its_choice_of_spread_and_quantile() -> None:
    """ppi-python divides by n, not n - 1, and takes 1.96 where we take Student's t(n - 2)."""
    data = INPUTS["ppi"]
    n, size = len(data["y"]), len(data["f_unlabelled"])

    found = ppi_mean(data["y"], data["f"], data["f_unlabelled"], trust=1.0)

    assert found.estimate.value == near("ppi_point_lam1_ppipy")
    error = math.hypot(
        found.labelled_error * math.sqrt((n - 1) / n),
        found.pool_error * math.sqrt((size - 1) / size),
    )
    ends = [found.estimate.value + sign * 1.959963984540054 * error for sign in (-1, 1)]
    assert ends == near("ppi_ci_lam1_ppipy")
    assert found.estimate.low < ends[0] < ends[1] < found.estimate.high


def test_ppi_with_the_tuning_of_rubricon_equals_it_up_to_the_quantile() -> None:
    """Given its lambda, our value and standard error are rubricon's."""
    case, data = "ppi_tuned_rubricon", INPUTS["ppi"]

    found = ppi_mean(data["y"], data["f"], data["f_unlabelled"], trust=expected(case)["lambda"])

    error = math.hypot(found.labelled_error, found.pool_error)
    value = found.estimate.value
    ends = [value - 1.959963984540054 * error, value + 1.959963984540054 * error]
    assert [value, *ends] == [near(case, part=part) for part in ("value", "low", "high")]


def test_our_tuning_leaves_each_label_out_and_lands_beside_rubricon() -> None:
    """Theirs lets a label choose its own weight; 80 labels make that 0.0005 of difference.

    ppi-python pools the variance over both sets and is further off: 0.6793 against 0.6726.
    """
    data = INPUTS["ppi"]

    found = ppi_mean(data["y"], data["f"], data["f_unlabelled"])

    ours = found.estimate.value
    assert ours == pytest.approx(expected("ppi_tuned_rubricon")["value"], abs=1e-3)
    assert found.trust == pytest.approx(expected("ppi_tuned_rubricon")["lambda"], abs=1e-3)
    assert abs(ours - expected("ppi_point_tuned_ppipy")) > 1e-3


def test_mcnemar_equals_that_of_statsmodels() -> None:
    """Eight against one."""
    data = INPUTS["paired30"]

    found = mcnemar_exact(data["a"], data["b"])

    assert found.p_value == near("mcnemar_exact_paired30_statsmodels")
    assert (found.differing, found.n) == (9, 30)


def test_exact_sign_flips_equal_the_permutation_test_of_scipy() -> None:
    """All 2^12 flips; the seed is not used."""
    data = INPUTS["paired30"]

    found = sign_flip_test(data["a"][:12], data["b"][:12], seed=0)

    assert found.p_value == near("perm_exact_paired12_scipy")
