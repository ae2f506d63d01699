"""Judges against people: values that other libraries computed on the same inputs.

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
from classify.calibration.comparison import mcnemar_exact, sign_flip_test
from classify.calibration.estimate import student_quantile, wilson_ends
from classify.calibration.prediction_powered import ppi_mean
from classify.calibration.prevalence import Share, mover_ends, rogan_gladen, stratified_rate
from classify.calibration.rater_agreement import (
    Metric,
    fleiss_kappa,
    gwet_ac,
    krippendorff_alpha,
)
from classify.calibration.ratings import Scheme

# Any: the file holds numbers, lists and tables, as JSON does.
REFERENCES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "references" / "calibration_decisions.json").read_text()
)
INPUTS = REFERENCES["inputs"]
LEVELS = (1, 2, 3, 4, 5)


def expected(case: str) -> Any:  # Any: see REFERENCES.
    """Return what the other library gave."""
    return REFERENCES["cases"][case]["expected"]


def near(case: str, *, part: str | None = None) -> Any:  # Any: pytest.approx has no public type.
    """Return what the other library gave, compared as finely as it can be trusted."""
    value = expected(case) if part is None else expected(case)[part]
    return pytest.approx(value, abs=REFERENCES["cases"][case]["tol"])


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
    """The linearised variance with Student's t; irrCAC rounds to five decimals.

    Of the twelve items one has one rating, which irrCAC takes for full disagreement when it looks
    for the variance: its error is larger, and above that of leaving items out.
    """
    ratings = ratings_of(name)
    if case.startswith("krippendorff"):
        found = krippendorff_alpha(ratings, levels=LEVELS)
    else:
        coefficient = gwet_ac if case.startswith("gwet") else fleiss_kappa
        found = coefficient(ratings, levels=LEVELS, scheme=scheme)

    assert found.value == near(case, part="coefficient_value")
    # Its interval is made of the rounded error, and so is off by more than its error is.
    error = (found.value - found.low) / student_quantile(0.95, degrees=found.n - 1.0)
    once_rated = sum(
        sum(mark is not None for mark in item) == 1 for item in zip(*ratings, strict=True)
    )
    if once_rated:
        assert error < expected(case)["se"] < 1.2 * error
    else:
        assert error == near(case, part="se")


def test_fleiss_kappa_of_complete_units_equals_that_of_statsmodels() -> None:
    """Units that all four rated, among the first nine, as the case says."""
    ratings = np.asarray(INPUTS["raters4x12"]["ratings"], dtype=np.float64)[:, :9]
    complete = ratings[:, ~np.isnan(ratings).any(axis=0)]

    found = fleiss_kappa(complete, levels=LEVELS)

    assert found.value == near("fleiss_raters_complete_statsmodels")


def test_rogan_gladen_equals_that_of_rubricon_from_counts() -> None:
    """Sensitivity 0.9 of 120 and specificity 0.75 of 80 as whole counts.

    Rubricon's interval is of the delta method, even around the rate. Ours bends to the side on
    which the judge errs more, and holds rates near 0 and 1 as often as it says (test_prevalence).
    """
    case = "rogan_gladen_fixed_rubricon"

    found = rogan_gladen(
        passed=Share(800, 1000), sensitivity=Share(108, 120), specificity=Share(60, 80)
    )

    assert found.value == near(case, part="value")
    theirs = expected(case)
    assert theirs["low"] < found.low < theirs["low"] + 0.02
    assert theirs["high"] < found.high < theirs["high"] + 0.02


def test_rogan_gladen_equals_that_of_rubricon_on_verdicts() -> None:
    """The judge of `ppi` as verdicts; the ends differ as above."""
    case, data = "rogan_gladen_ppi_rubricon", INPUTS["ppi"]
    y, judge = np.asarray(data["y"]), np.asarray(data["judge_binary"])
    pool = np.asarray(data["judge_binary_unlabelled"])

    found = rogan_gladen(
        passed=Share(int(pool.sum()), pool.size),
        sensitivity=Share(int(judge[y == 1].sum()), int((y == 1).sum())),
        specificity=Share(int((1 - judge[y == 0]).sum()), int((y == 0).sum())),
    )

    assert found.value == near(case, part="value")
    theirs = expected(case)
    assert theirs["low"] - 0.07 < found.low < theirs["low"]
    assert theirs["high"] - 0.02 < found.high < theirs["high"]


def test_mover_equals_that_of_rubricon_for_its_parts() -> None:
    """Rubricon puts Wilson's ends together and takes the judge's pass rate as known.

    Ours puts mid-P ends together, which hold the truth more often (test_prevalence), and counts
    that the pass rate comes from a pool.
    """
    case = "mover_fixed_rubricon"

    found = stratified_rate(
        passed=Share(800, 1000), right_if_passed=Share(92, 100), right_if_failed=Share(30, 50)
    )
    of_wilson = mover_ends(
        found.value,
        [
            (0.8, 0.92, *wilson_ends(92, 100, confidence=0.95)),
            (0.2, 0.4, *wilson_ends(20, 50, confidence=0.95)),
        ],
    )

    assert [found.value, *of_wilson] == [near(case, part=part) for part in ("value", "low", "high")]
    assert (found.low, found.high) == pytest.approx(of_wilson, abs=0.01)


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
