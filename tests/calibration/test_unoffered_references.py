"""Statistics of other libraries that we have no function for: why, and what is near to each.

The values and their sources are in tests/references/calibration_decisions.json.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classify.calibration.agreement import confusion
from classify.calibration.discrimination import auroc
from classify.calibration.intervals import normal_quantile
from classify.calibration.prediction_powered import ppi_mean, ppi_rate
from classify.calibration.prevalence import Share, labels_only
from classify.calibration.rank_correlation import kendall_tau_b
from classify.calibration.rater_agreement import fleiss_kappa, gwet_ac

# Any: the file holds numbers, lists and tables, as JSON does.
REFERENCES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "references" / "calibration_decisions.json").read_text()
)
INPUTS = REFERENCES["inputs"]
PPI = INPUTS["ppi"]
LEVELS = (1, 2, 3, 4, 5)

_ONE_IN_K = "chance is 1 / K, though nobody used some level; see Gwet's AC"
UNOFFERED = {
    "mcc_ppi_sklearn": "of two verdicts it is tau-b, and balanced accuracy is AUROC",
    "bp_judge30_identity_irrcac": _ONE_IN_K,
    "bp_raters4x12_identity_irrcac": _ONE_IN_K,
    "conger_raters4x12_identity_irrcac": "chance by each rater's own habits: of two that is "
    "Cohen's kappa; several are exchangeable, as in Fleiss' kappa and Krippendorff's alpha",
    "ppi_pval_ppipy": "an interval tells more than a p-value against one rate",
    "classical_ci_ppipy": "Wald's interval of a rate ends beyond 1 near 1; ours is Wilson's",
    "cje_mean_ci": "an isotonic map of 80 labels has many parameters; PPI++ has one",
}
"""Cases without a function of ours, each with the reason; the tests show what is near."""


def theirs(case: str) -> Any:  # Any: see REFERENCES.
    """Return what the other library gave, for a statistic that we leave out."""
    assert UNOFFERED[case]
    return REFERENCES["cases"][case]["expected"]


def near(case: str, value: Any) -> Any:  # Any: pytest.approx has no public type.
    """Return a value of a case, compared as finely as it can be trusted."""
    return pytest.approx(value, abs=REFERENCES["cases"][case]["tol"])


def test_matthews_correlation_is_tau_b_and_balanced_accuracy_is_auroc() -> None:
    """Of verdicts, which are yes or no, both have a name already."""
    case = "mcc_ppi_sklearn"
    human, judge = PPI["y"], PPI["judge_binary"]

    ours = [kendall_tau_b(human, judge).value, auroc(judge, human).value]

    assert ours == near(case, theirs(case))


def test_brennan_and_prediger_follow_from_the_agreement_and_the_number_of_levels() -> None:
    """Gwet's AC1 of the same table takes chance from how often each was used."""
    case, judge = "bp_judge30_identity_irrcac", INPUTS["judge30"]
    kappa = theirs(case)["coefficient_value"]

    agreement = confusion(judge["human"], judge["judge"], levels=LEVELS).agreement
    gwet = gwet_ac([judge["human"], judge["judge"]], levels=LEVELS)

    assert (agreement - 1 / 5) / (1 - 1 / 5) == near(case, kappa)
    assert gwet.value != near(case, kappa)


def test_with_several_raters_ours_are_other_coefficients_near_to_theirs() -> None:
    """Within 0.003 of one another, a fiftieth of the standard error of any."""
    ratings = INPUTS["raters4x12"]["ratings"]
    conger, brennan = "conger_raters4x12_identity_irrcac", "bp_raters4x12_identity_irrcac"

    fleiss, gwet = fleiss_kappa(ratings, levels=LEVELS), gwet_ac(ratings, levels=LEVELS)

    for ours, case in ((fleiss, conger), (gwet, brennan)):
        value = theirs(case)["coefficient_value"]
        assert ours.value != near(case, value)
        assert ours.value == pytest.approx(value, abs=0.003)


def test_the_p_value_of_ppi_python_follows_from_our_two_errors_at_its_trust() -> None:
    """It rejects 0.6 at 0.029 by the normal quantile and n; our interval still holds 0.6."""
    case = "ppi_pval_ppipy"
    human, judge, pool = (np.asarray(PPI[name]) for name in ("y", "f", "f_unlabelled"))
    value = REFERENCES["cases"]["ppi_point_tuned_ppipy"]["expected"]
    trust = (value - human.mean()) / (pool.mean() - judge.mean())

    found = ppi_mean(human, judge, pool, trust=float(trust))

    error = math.hypot(
        found.labelled_error * math.sqrt(1 - 1 / human.size),
        found.pool_error * math.sqrt(1 - 1 / pool.size),
    )
    p_value = math.erfc((found.estimate.value - 0.6) / error / math.sqrt(2))
    assert p_value == near(case, theirs(case))
    ours = ppi_rate(human, judge, pool).estimate
    assert ours.low < 0.6 < ours.high


def test_the_classical_interval_of_ppi_python_is_walds() -> None:
    """Ours of the same labels lies lower at both ends, away from 1."""
    case, n = "classical_ci_ppipy", len(PPI["y"])
    rate = sum(PPI["y"]) / n
    half = normal_quantile(0.95) * math.sqrt(rate * (1 - rate) / n)

    ours = labels_only(Share(sum(PPI["y"]), n), total=n)

    assert [rate - half, rate + half] == near(case, theirs(case))
    assert ours.low < rate - half
    assert ours.high < rate + half


def test_the_mean_by_an_isotonic_map_and_ppi_lie_in_one_anothers_intervals() -> None:
    """Two ways to one rate, 0.64 and 0.67, from the same 80 labels and 500 answers."""
    found = theirs("cje_mean_ci")

    ours = ppi_rate(PPI["y"], PPI["f"], PPI["f_unlabelled"]).estimate

    assert ours.low < found["estimate"] < ours.high
    assert found["ci"][0] < ours.value < found["ci"][1]
