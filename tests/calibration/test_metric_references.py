"""Our metrics against the values that other libraries gave for the same rows.

Every case of the reference file is either matched at its tolerance or listed in DIFFERENT with
the reason why our definition is another one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from classify.calibration.arrays import Floats
from classify.calibration.binning import EqualMass, EqualWidth
from classify.calibration.calibration_error import (
    debiased_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from classify.calibration.classwise_error import classwise_calibration_error
from classify.calibration.corp import corp_brier
from classify.calibration.cumulative import kolmogorov_smirnov, kuiper, spiegelhalter
from classify.calibration.discrimination import (
    aurc,
    auroc,
    auroc_one_vs_one,
    auroc_one_vs_rest,
    excess_aurc,
)
from classify.calibration.intervals import clopper_pearson, jeffreys, wilson
from classify.calibration.measurement import Measurement
from classify.calibration.ordinal_scores import (
    mean_absolute_error,
    ranked_probability_score,
    summed_ranked_probability_score,
)
from classify.calibration.proper_scores import (
    brier_score,
    brier_skill,
    half_brier_score,
    log_loss,
)
from classify.calibration.rank_correlation import kendall_tau_b, spearman
from classify.calibration.reliability import (
    ReliabilityPoint,
    coverage_at_risk,
    reliability_diagram,
)
from classify.calibration.reliability_regression import calibration_line
from classify.calibration.smooth_error import (
    smooth_calibration_error,
    smooth_calibration_error_at,
)

# Any: the file holds numbers, lists and objects, one shape per quantity.
Case = dict[str, Any]
_FILE = Path(__file__).parents[1] / "references" / "calibration_metrics.json"
_REFERENCE = json.loads(_FILE.read_text(encoding="utf-8"))
CASES: dict[str, Case] = {case["id"]: case for case in _REFERENCE["cases"]}
INPUTS: dict[str, dict[str, Any]] = _REFERENCE["inputs"]

_EDGES = "a float edge decides its bins; ours are exact, (lo, hi]"
DIFFERENT: dict[str, str] = {
    "ece_width10_bin20_jevcal": "bins are [lo, hi) there",
    "ece_width10_bin20_calikit": "bins are [lo, hi) there",
    "ece_width10_bin20_typed_gguf": "bins are [lo, hi) there",
    "ece_width10_bin20_relplot": _EDGES,
    "ece_width10_bin20_sys1bench": _EDGES,
    "mce_width10_bin20_netcal": _EDGES,
    "ece_l1_10_bin20_torchmetrics": _EDGES,
    "ece_max_10_bin20_torchmetrics": _EDGES,
    "ace_width10_bin20_netcal": _EDGES,
    "boot_pct_ece_multi150_brier": "resampling adds to an ECE; ours has a null and a p-value",
    "kendall_c_judge30_scipy": "corrects for the shape of the table; ours, tau-b, for the ties",
    "ece_uniform10_multi150_mapie": "ten edges, so nine bins, under the name of ten",
    "spiegelhalter_p_bin200_mapie": "one-sided there: under-confidence would pass unseen",
    "aurc_multi150_brier": "ties are split in the order of the data there; ours are averaged",
    "aurc_trapz_multi150_sys1bench": "a trapezoid over coverage; ours is the mean over k",
    "eaurc_multi150_sys1bench": "a trapezoid over coverage; ours is the mean over k",
}
"""Cases whose library measures something else, each checked to differ."""


def _binary(name: str) -> tuple[Any, Any]:
    rows = INPUTS[name]
    return (rows["top_confidence"], rows["top_correct"]) if "P" in rows else (rows["p"], rows["y"])


def _options(name: str) -> tuple[Floats, Any]:
    rows = INPUTS[name]
    p = np.array(rows["P"]) if "P" in rows else np.stack([1 - np.array(rows["p"]), rows["p"]], 1)
    with np.errstate(divide="ignore"):
        return np.log(p), rows["y"]


def _width(case: Case) -> EqualWidth:
    return EqualWidth(case["params"]["bins"])


def _weights(case: Case) -> Any:
    return INPUTS[case["input"]]["w"] if "weighted" in case["id"] else None


def _ordinal_summary(case: Case) -> dict[str, float]:
    log_p, y = _options(case["input"])
    expected: Floats = np.exp(log_p) @ np.arange(5.0)
    return {
        "mae_expected": mean_absolute_error(expected, y).value,
        "mae_argmax": mean_absolute_error(log_p.argmax(axis=1), y).value,
        "rps": ranked_probability_score(log_p, y).value,
        "spearman_expected": spearman(expected, y).value,
    }


def _corp(case: Case) -> dict[str, float]:
    found = corp_brier(*_binary(case["input"]))
    return {name: getattr(found, name) for name in case["expected"]}


def _kendall(case: Case) -> list[float | None]:
    rows = INPUTS[case["input"]]
    found = kendall_tau_b(rows["human"], rows["judge"])
    return [found.value, found.p_value]


def _points(bins: EqualMass | EqualWidth, case: Case) -> tuple[ReliabilityPoint, ...]:
    return reliability_diagram(*_binary(case["input"]), seed=0, bins=bins, draws=10).points


def _curve(bins: EqualMass | EqualWidth, case: Case) -> list[list[float]]:
    points = _points(bins, case)
    return [[point.rate for point in points], [point.probability for point in points]]


def _unweighted_error(case: Case) -> float:
    """Return the mean gap of our bins; no function of ours, for a bin of one row counts as much."""
    rates, probabilities = np.array(_curve(_width(case), case))
    return float(np.abs(rates - probabilities).mean())


def _plug_in_error(case: Case) -> float:
    """Return the root mean squared gap; ours is debiased, for chance alone adds to each square."""
    points = _points(EqualMass(case["params"]["bins"]), case)
    gaps = np.array([point.rate - point.probability for point in points])
    return float(np.sqrt(np.average(gaps**2, weights=[point.rows for point in points])))


def _murphy(case: Case) -> dict[str, float]:
    """Return the parts by bins; ours are CORP's, for these do not add up to the score."""
    points = _points(_width(case), case)
    base = float(np.array(_binary(case["input"])[1], dtype=np.float64).mean())
    rates = np.array([each.rate for each in points])
    probabilities = np.array([each.probability for each in points])
    rows = [each.rows for each in points]
    return {
        "reliability": float(np.average((rates - probabilities) ** 2, weights=rows)),
        "resolution": float(np.average((rates - base) ** 2, weights=rows)),
        "uncertainty": base * (1.0 - base),
        "brier_top": corp_brier(*_binary(case["input"])).score,
    }


def _resampled(case: Case) -> list[float | None]:
    bins = EqualMass(case["params"]["bins"])
    found = expected_calibration_error(*_binary(case["input"]), bins=bins)
    return [found.value, *_ends(found)]


def _ends(measured: Measurement) -> list[float | None]:
    return [measured.low, measured.high]


def _intervals(case: Case) -> dict[str, list[float | None]]:
    k, n = case["params"]["k"], case["params"]["n"]
    ours = {
        "wilson": _ends(wilson(k, n)),
        "exact": _ends(clopper_pearson(k, n)),
        "beta": _ends(clopper_pearson(k, n)),
        "jeffreys": _ends(jeffreys(k, n)),
    }
    return {name: ours[name] for name in case["expected"] if name in ours}


def _line(case: Case) -> list[float]:
    found = calibration_line(*_binary(case["input"]))
    if case["id"].startswith("citl"):
        return [found.in_the_large, found.in_the_large_error]
    return [found.slope, found.intercept]


def _wrong(name: str) -> tuple[Any, Floats]:
    confidence, correct = _binary(name)
    return confidence, 1.0 - np.array(correct)


# By the start of the case's id, longest match first.
OURS: dict[str, Callable[[Case], Any]] = {
    "ece_mass": lambda c: (
        expected_calibration_error(*_binary(c["input"]), bins=EqualMass(c["params"]["bins"])).value
    ),
    "ece_max": lambda c: maximum_calibration_error(*_binary(c["input"]), bins=_width(c)).value,
    "ece_": lambda c: expected_calibration_error(*_binary(c["input"]), bins=_width(c)).value,
    "ece_classwise": lambda c: (
        classwise_calibration_error(*_options(c["input"]), bins=_width(c)).value
    ),
    "ace_": _unweighted_error,
    "boot_pct_ece": _resampled,
    "l2ce_plugin": _plug_in_error,
    "murphy": _murphy,
    "mce": lambda c: maximum_calibration_error(*_binary(c["input"]), bins=_width(c)).value,
    "l2ce_debiased": lambda c: (
        debiased_calibration_error(*_binary(c["input"]), bins=EqualMass(c["params"]["bins"])).value
    ),
    "curve_uniform": lambda c: _curve(_width(c), c),
    "curve_quantile": lambda c: _curve(EqualMass(c["params"]["bins"]), c),
    "smece_": lambda c: [smooth_calibration_error(*_binary(c["input"])).value] * 2,
    "smece_sigma": lambda c: (
        smooth_calibration_error_at(*_binary(c["input"]), bandwidth=c["params"]["sigma"]).value
    ),
    "ks_stat": lambda c: kolmogorov_smirnov(*_binary(c["input"])).value,
    "kuiper_p": lambda c: kuiper(*_binary(c["input"])).p_value,
    "spiegelhalter": lambda c: spiegelhalter(*_binary(c["input"])).value,
    "spiegelhalter_p": lambda c: spiegelhalter(*_binary(c["input"])).p_value,
    "brier_bin": lambda c: half_brier_score(*_options(c["input"]), weights=_weights(c)).value,
    "brier_multi": lambda c: brier_score(*_options(c["input"])).value,
    "d2_brier": lambda c: brier_skill(*_options(c["input"])).value,
    "logloss": lambda c: log_loss(*_options(c["input"]), weights=_weights(c)).value,
    "zero_logloss": lambda c: (
        log_loss(*_options(c["input"]), floor=float(np.finfo(np.float64).eps)).value
    ),
    "auroc_bin": lambda c: auroc(*_binary(c["input"]), weights=_weights(c)).value,
    "auroc_ovr": lambda c: auroc_one_vs_rest(*_options(c["input"])).value,
    "auroc_ovo": lambda c: auroc_one_vs_one(*_options(c["input"])).value,
    "aurc": lambda c: aurc(*_wrong(c["input"])).value,
    "eaurc": lambda c: excess_aurc(*_wrong(c["input"])).value,
    "cov_at_risk": lambda c: coverage_at_risk(*_wrong(c["input"]), risk=c["params"]["risk"]),
    "rps_ord120_brier": lambda c: ranked_probability_score(*_options(c["input"])).value,
    "rps_ord120_scoringrules": lambda c: (
        summed_ranked_probability_score(*_options(c["input"])).value
    ),
    "ordinal_summary": _ordinal_summary,
    "corp_brier": _corp,
    "kendall": _kendall,
    "wilson": _intervals,
    "citl": _line,
    "platt_mle": _line,
}


def _ours(case: Case) -> Any:
    start = max((start for start in OURS if case["id"].startswith(start)), key=len)
    return OURS[start](case)


def _flat(ours: Any, expected: Any) -> tuple[Floats, Floats]:
    """Return both as arrays; of objects only what we have too."""
    if isinstance(expected, dict):
        names: list[str] = list(ours)
        ours, expected = [ours[name] for name in names], [expected[name] for name in names]
    return np.asarray(ours, dtype=np.float64), np.asarray(expected, dtype=np.float64)


def _tolerance(case: Case) -> float:
    # relplot smooths on 200 points and stops after 10 halvings: it is right to 2e-3.
    return 2e-3 if case["id"].startswith("smece") else float(case["tol"])


@pytest.mark.parametrize("name", [pytest.param(n, id=n) for n in CASES if n not in DIFFERENT])
def test_it_matches_the_other_library(name: str) -> None:
    """A number someone else computed is the only proof that the formula was understood."""
    case = CASES[name]
    ours, expected = _flat(_ours(case), case["expected"])

    assert ours.size > 0
    np.testing.assert_allclose(ours, expected, rtol=0, atol=_tolerance(case))


@pytest.mark.parametrize("name", [pytest.param(n, id=n) for n in DIFFERENT])
def test_it_differs_where_the_definition_does(name: str) -> None:
    """The reasons in DIFFERENT would be excuses if the numbers agreed."""
    case = CASES[name]

    same = np.allclose(*_flat(_ours(case), case["expected"]), rtol=0, atol=1e-7)
    assert not same, DIFFERENT[name]


def test_nine_bins_explain_the_ten_of_mapie() -> None:
    """The off-by-one is theirs: nine of our bins give their number."""
    theirs = CASES["ece_uniform10_multi150_mapie"]["expected"]

    ours = expected_calibration_error(*_binary("multi150"), bins=EqualWidth(9)).value

    assert ours == pytest.approx(theirs, abs=1e-6)


def test_half_of_the_two_sided_p_value_explains_mapie() -> None:
    """Their p-value is one tail of the same z."""
    theirs = CASES["spiegelhalter_p_bin200_mapie"]["expected"]

    ours = spiegelhalter(*_binary("bin200")).p_value

    assert ours is not None
    assert ours / 2 == pytest.approx(theirs, rel=1e-6)


def test_a_percentile_interval_of_an_ece_leans_upwards_from_the_same_value() -> None:
    """Its upper end is over twice as far away as its lower one; what chance makes is not said."""
    value, low, high = CASES["boot_pct_ece_multi150_brier"]["expected"]

    found = expected_calibration_error(*_binary("multi150"), bins=EqualMass(15), seed=0)

    assert found.value == pytest.approx(value, abs=1e-6)
    assert high - value > 2 * (value - low)
    assert (found.low, found.high) == (None, None)
    assert found.p_value is not None


def test_the_parts_by_bins_do_not_add_up_and_ours_do() -> None:
    """What lies within a bin is in none of the three parts."""
    theirs = CASES["murphy15_multi150_sys1bench"]["expected"]

    ours = corp_brier(*_binary("multi150"))

    added = theirs["reliability"] - theirs["resolution"] + theirs["uncertainty"]
    assert abs(added - theirs["brier_top"]) > 1e-3
    assert ours.miscalibration - ours.discrimination + ours.uncertainty == pytest.approx(ours.score)
