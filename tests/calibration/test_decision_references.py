"""Sets, risk control and costs against values that other libraries computed on the same inputs.

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

from classify.calibration.arrays import Floats
from classify.calibration.prediction_sets import PredictionSets, fit_sets, fit_sets_by_class
from classify.calibration.risk_control import (
    RiskControl,
    certify_joint_risk,
    control_joint_risk,
    control_selective_risk,
)
from classify.calibration.risk_tests import binomial_p_values, hoeffding_bentkus_p_values
from classify.calibration.set_scores import ScoreName, SetScore, truth_scores
from classify.calibration.thresholds import best_actions, realised_cost

# Any: the file holds numbers, lists and tables, as JSON does.
REFERENCES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "references" / "calibration_decisions.json").read_text()
)
INPUTS = REFERENCES["inputs"]

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


def threshold_counting_the_likeliest(rule: PredictionSets, *, u: Floats) -> float:
    """Return the threshold of a rule for `conf` if u·p were counted of the likeliest option too."""
    logs, y = log_p("conf", "cal_P"), np.asarray(INPUTS["conf"]["cal_y"])
    scores = truth_scores(logs, y, score=rule.score, u=u)
    top = logs.argmax(axis=1) == y
    scores[top] += u[top] * np.exp(logs[top, y[top]])
    rank = math.ceil(100 * (1 - rule.alpha) - 1e-9)
    return float(np.sort(scores)[rank - 1])


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
def test_aps_that_counts_an_options_own_probability_has_the_threshold_of_cci(
    score: ScoreName | SetScore, alpha: float
) -> None:
    """With u = 1, as they do; our default leaves it out, and its sets are no larger than theirs.

    They count the likeliest option's own probability too, as if it could be missing from a set;
    it never is, so ours counts nothing there, and our threshold may be lower. Their sets add the
    option that crosses the threshold on top of what the promise needs.
    """
    name = score if isinstance(score, str) else score.name
    case = f"{name}_{alpha}_conf_cci"
    theirs = np.zeros((12, 4), dtype=bool)
    for row, options in enumerate(expected(case)["sets"]):
        theirs[row, options] = True

    whole = conf_sets(score, alpha, u=np.ones(99))
    ours = conf_sets(score, alpha)

    counted = threshold_counting_the_likeliest(whole, u=np.ones(99))
    assert counted == near(case, part="threshold")
    assert whole.thresholds[0] <= counted
    assert (whole.sets(log_p("conf", "test_P"), u=np.ones(12)) <= theirs).all()
    assert (ours.sets(log_p("conf", "test_P")) <= theirs).all()


def test_randomised_aps_has_the_threshold_of_mapie() -> None:
    """MAPIE subtracts u · p from the cumulative mass, which is our u counted from the other end."""
    rule = conf_sets("aps", 0.1, u=1.0 - np.asarray(INPUTS["conf"]["u_seed0"]))

    assert rule.thresholds[0] == near("aps_0.9_conf_mapie_seed0", part="threshold")


@pytest.mark.parametrize(
    ("case", "alpha"),
    [("aps_0.8_conf_mapie_randomized", 0.2), ("aps_0.5_conf_mapie_randomized", 0.5)],
    ids=["alpha 0.2", "alpha 0.5"],
)
def test_randomised_sets_equal_those_of_mapie_at_its_threshold(case: str, alpha: float) -> None:
    """MAPIE counts part of the likeliest option's own probability too, as its sets may be empty.

    So its threshold is no lower than ours. None of these twelve sets of it is empty.
    """
    u = 1.0 - np.asarray(INPUTS["conf"]["u_seed0"])
    ours = conf_sets("aps", alpha, u=u)
    theirs = threshold_counting_the_likeliest(ours, u=u)

    assert theirs == near(case, part="threshold")
    assert ours.thresholds[0] <= theirs
    sets = ours.model_copy(update={"thresholds": (theirs,) * 4}).sets(
        log_p("conf", "test_P"), u=u[:12]
    )
    np.testing.assert_array_equal(sets, np.asarray(expected(case)["sets"], dtype=bool))


def test_top_k_sets_of_mapie_are_raps_whose_penalty_drowns_the_probabilities() -> None:
    """Rank alone makes sets of one size, that of the hard rows; so we have no score for it."""
    case, penalty = "topk_0.9_conf_mapie", 2.0**60
    rule = conf_sets(SetScore(name="raps", penalty=penalty, free_ranks=0), 0.1)

    sets = rule.sets(log_p("conf", "test_P"))

    first = 1  # our rank of the likeliest option, theirs is 0
    assert rule.thresholds[0] / penalty - first == near(case, part="threshold")
    np.testing.assert_array_equal(sets, np.asarray(expected(case)["sets"], dtype=bool))


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
        *(p.max(axis=1), wrong(p)),
        alpha=0.4,
        delta=0.1,
        thresholds=np.linspace(0.9, 0.0, 46),
        starts=1,
    )

    passed = [step for step in found.steps if step.passed]
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
        *(p.max(axis=1), wrong(p)),
        alpha=alpha,
        delta=0.1,
        thresholds=np.linspace(0.9, 0.0, 46),
        starts=1,
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
