"""Policies decide alone or hand over, and carry their promise through JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from classify.calibration import confidences
from classify.calibration.abstention import (
    ConfidencePolicy,
    CostPolicy,
    SetPolicy,
    read_policy,
)
from classify.calibration.arrays import Floats, Ints
from classify.calibration.prediction_sets import fit_sets
from classify.calibration.risk_control import control_joint_risk
from classify.classifier import Classifier
from classify.errors import CalibrationError, InvalidInput
from classify.questions import Boolean
from classify.testing import ScriptedModel

SILENT = ScriptedModel(lambda request: {})


def rows(n: int) -> tuple[Floats, Ints]:
    """Return calibrated log-probabilities (n, 3), not normalised, and the true options."""
    random = np.random.default_rng(3)
    p = random.dirichlet([0.3] * 3, n)
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), 2)
    return np.log(p) + 5.0, y.astype(np.int64)


POLICIES = [
    ConfidencePolicy(threshold=0.8, guarantee="at most 5 % wrong"),
    ConfidencePolicy(threshold=math.inf, guarantee="nothing was promised", fingerprint="abc"),
    SetPolicy.from_sets(fit_sets(*rows(100))),
    SetPolicy.from_sets(fit_sets(*rows(5))),
    CostPolicy(costs=((0.0, 1.0), (4.0, 0.0)), escalation_cost=0.5),
]


@pytest.mark.parametrize(
    "policy", POLICIES, ids=["confidence", "infinite", "set", "set of all", "cost"]
)
def test_a_policy_survives_json(policy: ConfidencePolicy | SetPolicy | CostPolicy) -> None:
    """The kind says which policy to read."""
    assert read_policy(policy.model_dump_json()) == policy


def test_a_fitted_policy_decides_its_calibration_rows_as_it_counted_them() -> None:
    """The row at the threshold is on the same side, to the last bit."""
    log_p, y = rows(400)
    risk = control_joint_risk(confidences(log_p), log_p.argmax(axis=1) != y, alpha=0.1)

    policy = ConfidencePolicy.from_risk(risk)

    assert policy.decides_alone(log_p).sum() == risk.accepted


def test_the_policy_keeps_its_error_on_new_rows() -> None:
    """The first half fits, the second is counted; the promise holds for nine draws of ten."""
    log_p, y = rows(4000)
    policy = ConfidencePolicy.fit(log_p[:500], y[:500], alpha=0.1)

    options = policy.options(log_p[500:])

    alone = options >= 0
    assert 0.2 < alone.mean() < 0.9
    assert (options != y[500:])[alone].mean() <= 0.1
    assert "selective error at most 10.0% with 90% confidence" in policy.guarantee


def test_one_answer_is_decided_with_its_guarantee() -> None:
    """The sure one stands, the unsure one goes to a person."""
    policy = POLICIES[0]

    sure, unsure = policy.decide(np.log([0.1, 0.9])), policy.decide(np.log([0.4, 0.6]))

    assert (sure.option, sure.decides_alone) == (1, True)
    assert (unsure.option, unsure.decides_alone) == (None, False)
    assert sure.guarantee == "at most 5 % wrong"


def test_an_infinite_threshold_hands_over_even_certainty() -> None:
    """Nothing could be promised, so nothing is decided."""
    assert POLICIES[1].decide([0.0, -math.inf]).option is None


def test_a_set_of_one_is_decided_alone() -> None:
    """Sets of two or none are not."""
    log_p, y = rows(100)
    sets = fit_sets(log_p, y)

    options = SetPolicy.from_sets(sets).options(log_p)

    np.testing.assert_array_equal(options >= 0, sets.sets(log_p).sum(axis=1) == 1)


def test_costs_of_a_policy_are_a_matrix() -> None:
    """A policy read from JSON is checked like one that was made."""
    with pytest.raises(ValidationError, match="costs must have rows of one length"):
        CostPolicy(costs=((0.0, 1.0), (1.0,)), escalation_cost=0.1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no policy .*'kind'"),
        ("garbage", "no policy .*invalid JSON"),
        ('{"kind": "confidence", "guarantee": "g"}', "threshold: is required and missing"),
        ('{"kind": "confidence", "guarantee": "g", "threshold": "NaN"}', "got nan"),
        ('{"kind": "cost", "costs": [[0, 1], [1]], "escalation_cost": 1}', "rows of one length"),
    ],
    ids=["empty", "no JSON", "half", "nan", "costs"],
)
def test_a_text_that_is_no_policy_is_refused(text: str, message: str) -> None:
    """With one of our errors, which names what is wrong."""
    with pytest.raises(CalibrationError, match=message):
        read_policy(text)


def test_a_policy_is_frozen() -> None:
    """A promise does not change after it was made."""
    with pytest.raises(ValidationError, match="frozen"):
        POLICIES[0].guarantee = "another"


def test_a_threshold_is_a_number() -> None:
    """Nothing compares with nan, so everything would be handed over in silence."""
    with pytest.raises(ValidationError, match="threshold must be a number or inf, got nan"):
        ConfidencePolicy(threshold=math.nan, guarantee="x")


def test_one_answer_has_one_row() -> None:
    """A table goes to `options`."""
    with pytest.raises(CalibrationError, match="log_p must be one answer's options"):
        POLICIES[0].decide([[0.0, 0.0]])


def test_a_controlled_risk_is_refused_where_a_classifier_wants_a_policy() -> None:
    """A threshold alone does not say what it is compared with."""
    risk: Any = control_joint_risk([0.9] * 60, [0] * 60, alpha=0.1)

    with pytest.raises(InvalidInput, match=r"policies\['q'\] is of type RiskControl.*from_risk"):
        Classifier("c", SILENT, {"q": Boolean()}, policies={"q": risk})
