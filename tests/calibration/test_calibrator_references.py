"""Our calibrators against the values that other libraries gave for the same rows.

Every case of the reference file is either matched at its tolerance or listed in DIFFERENT with
the reason why we have no such value. The sources count the second of two columns as true; ours is
the first, so labels of two options are turned here.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.bias import fit_vector
from classify.calibration.binary import LogisticLoss, fit_beta, fit_platt
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.labelled import labelled
from classify.calibration.matrix import least, matrix_loss
from classify.calibration.prior import fit_batch_prior
from classify.calibration.shift import fit_bbse_shift, fit_em_shift
from classify.calibration.temperature import fit_temperature, fit_temperature_mixture
from classify.calibration.venn_abers import fit_venn_abers

# Any: the file holds numbers, lists and objects, one shape per quantity.
Case = dict[str, Any]
_FILE = Path(__file__).parents[1] / "references" / "calibration_calibrators.json"
_REFERENCE = json.loads(_FILE.read_text(encoding="utf-8"))
CASES: dict[str, Case] = {case["id"]: case for case in _REFERENCE["cases"]}
INPUTS: dict[str, dict[str, Any]] = _REFERENCE["inputs"]
GRID = [0.05, 0.2, 0.5, 0.8, 0.95]

DIFFERENT = {
    "histbin_width10_bin200_netcal": "binning is for reports: its steps turn near answers round",
    "quadratic_bin200_probmetrics": "a quadratic map is not monotone: it turns answers round",
}


def logs(p: ArrayLike) -> Floats:
    """Return log p, -inf for zero."""
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(p, dtype=np.float64))


def pair(p: ArrayLike) -> Floats:
    """Return the columns (true, false) of P(true)."""
    true = np.asarray(p, dtype=np.float64)
    return logs(np.stack([true, 1.0 - true], axis=1))


def binary(name: str) -> tuple[Floats, Ints]:
    """Return an input of two options."""
    return pair(INPUTS[name]["p"]), 1 - np.array(INPUTS[name]["y"])


def several(name: str = "multi150") -> tuple[Floats, Ints]:
    """Return an input of several options."""
    return logs(INPUTS[name]["P"]), np.array(INPUTS[name]["y"])


def without_the_last_option() -> tuple[Floats, Ints]:
    """Return the rows whose label is one of the first two options of three."""
    log_p, y = several()
    return log_p[y < 2], y[y < 2]


def hard(rows: tuple[Floats, Ints], weights: ArrayLike | None = None) -> float:
    """Return the temperature of plain maximum likelihood."""
    return fit_temperature(*rows, weights=weights, targets="hard").temperature


def true(log_p: Floats) -> list[float]:
    """Return P(true) of two columns."""
    return [float(p) for p in np.exp(log_p[:, 0])]


def platt(**settings: Any) -> list[float]:
    """Return slope and intercept on bin200."""
    found = fit_platt(*binary("bin200"), **settings)
    return [found.slope, found.intercept]


def ridge_on_slope() -> list[float]:
    """Return the logistic regression whose slope is held to zero, not to one as ours is."""
    log_p, y = binary("bin200")
    x = np.stack([log_p[:, 0] - log_p[:, 1], np.ones(200)])
    loss = LogisticLoss(
        x, (y == 0).astype(np.float64), np.ones(200), np.array([1.0, 0.0]), np.zeros(2)
    )
    slope, intercept = loss.least(np.array([1.0, 0.0]), np.ones(2, dtype=bool))
    return [float(slope), float(intercept)]


def beta(log_p: Floats) -> dict[str, Any]:
    """Return beta calibration by plain maximum likelihood."""
    found = fit_beta(*binary("bin200"), targets="hard")
    return {"a": found.a, "b": found.b, "c": found.c, "predict": true(found.apply(log_p))}


def beta_midpoint() -> dict[str, Any]:
    """Return beta calibration as a, b and the point m that it maps to one half."""
    found = beta(pair(GRID))
    m = found["predict"]
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        value = found["a"] * np.log(middle) - found["b"] * np.log1p(-middle) + found["c"]
        low, high = (middle, high) if value < 0.0 else (low, middle)
    return {"map": [found["a"], found["b"], low], "predict": m}


def beta_without_intercept() -> dict[str, Any]:
    """Return beta calibration that keeps one half, which we do not offer: c follows from a, b."""
    log_p, y = binary("bin200")
    x = np.stack([log_p[:, 0] + np.log(2.0), -log_p[:, 1] - np.log(2.0), np.ones(200)])
    loss = LogisticLoss(x, (y == 0).astype(np.float64), np.ones(200), np.zeros(3), np.ones(3))
    a, b, _ = loss.least(np.array([1.0, 1.0, 0.0]), np.array([True, True, False])).tolist()
    odds = np.array([a * np.log(2.0 * p) - b * np.log(2.0 * (1.0 - p)) for p in GRID])
    return {"map": [a, b, 0.5], "predict": (1.0 / (1.0 + np.exp(-odds))).tolist()}


def beta_one_slope() -> dict[str, Any]:
    """Return beta calibration with a = b, which is Platt scaling."""
    slope, intercept = platt(targets="hard", ridge=0.0)
    odds = slope * (np.log(GRID) - np.log1p(-np.array(GRID))) + intercept
    middle = 1.0 / (1.0 + np.exp(intercept / slope))
    return {"map": [slope, slope, middle], "predict": (1.0 / (1.0 + np.exp(-odds))).tolist()}


def plain_matrix() -> Floats:
    """Return matrix scaling held to zero, not to the identity as ours is."""
    log_p, y = several()
    data = labelled(log_p, y, weights=None, floor=1e-6)
    ridge = np.ones((3, 4))
    ridge[:, 3] = 0.0
    loss = matrix_loss(data.log_p, data, ridge=ridge, centre=np.zeros((3, 4)))
    found = least(loss)
    return np.exp(log_probabilities(log_p[:5] @ found[:, :3].T + found[:, 3]))


def isotonic_curve() -> dict[str, Any]:
    """Return plain isotonic regression on bin20: knots and values on a grid."""
    grid = CASES["isotonic_bin20_sklearn"]["expected"]["grid"]
    found = fit_isotonic(*binary("bin20"), pseudo_count=0.0)
    x, value = found.curves[0].x, found.curves[0].value
    with_the_end = [*x[:-1], 1.0]  # p = 1 was raised away from P(false) = 0 by the floor
    return {
        "x_thresholds": with_the_end,
        "y_thresholds": value,
        "predict_grid": true(found.apply(pair(grid))),
        "grid": grid,
    }


def isotonic_blocks() -> dict[str, Any]:
    """Return plain isotonic regression at every score of bin20, and where its blocks begin."""
    x = np.unique(INPUTS["bin20"]["p"])
    fit = np.array(true(fit_isotonic(*binary("bin20"), pseudo_count=0.0).apply(pair(x))))
    steps = np.flatnonzero(np.diff(fit) > 1e-9) + 1
    return {"x": x.tolist(), "fit": fit.tolist(), "blocks": [0, *steps.tolist(), len(x)]}


def isotonic_ties() -> dict[str, list[float]]:
    """Return plain isotonic regression of rows that share two scores."""
    labels = {"four_and_four": [1, 0, 1, 0, 0, 0, 1, 1], "two_and_three": [1, 0, 0, 0, 1]}
    result: dict[str, list[float]] = {}
    for name, y in labels.items():
        p = [0.5] * (len(y) // 2) + [0.6] * (len(y) - len(y) // 2)
        found = fit_isotonic(pair(p), 1 - np.array(y), pseudo_count=0.0)
        result[name] = true(found.apply(pair([0.5, 0.6])))
    return result


def bounds(name: str, at: list[float] | None = None) -> dict[str, Any]:
    """Return p0, p1 and the probability between them."""
    test = CASES[f"ivap_{name}_vennabers"]["expected"]["test"] if at is None else at
    log_p, y = binary(name if at is None else "bin200")
    found = fit_venn_abers(log_p, y if at is None else np.zeros_like(y))
    p0, p1 = found.bounds(pair(test))
    p = true(found.apply(pair(test)))
    return {"test": test, "p0": p0.tolist(), "p1": p1.tolist(), "p": p}


def bounds_only() -> dict[str, Any]:
    """Return p0 and p1 alone, as this source does."""
    found = bounds("bin20")
    return {name: found[name] for name in ("p0", "p1", "test")}


def batch_prior() -> dict[str, Any]:
    """Return the prior of a batch and the first rows it corrects."""
    log_p, _ = several()
    found = fit_batch_prior(log_p, ["a", "b", "c"])
    return {"prior": found.prior, "rows": np.exp(found.apply(log_p[:5]))}


def em_shift() -> dict[str, Any]:
    """Return the ratios of EM and the first rows it corrects."""
    source, target = INPUTS["shift"]["src_P"], logs(INPUTS["shift"]["tgt_P"])
    found = fit_em_shift(target, np.mean(source, axis=0))
    return {"weights": found.ratios, "corrected_first5": np.exp(found.apply(target[:5]))}


def bbse_shift() -> dict[str, Any]:
    """Return the ratios of hard black box shift estimation."""
    shift = INPUTS["shift"]
    found = fit_bbse_shift(logs(shift["src_P"]), shift["src_y"], logs(shift["tgt_P"]))
    return {"weights": found.ratios}


def first_five(fit: Callable[[Floats, Ints], Any]) -> Floats:
    """Return the first calibrated rows of multi150."""
    log_p, y = several()
    rows: Floats = np.exp(fit(log_p, y).apply(log_p[:5]))
    return rows


def ends_of_separable_rows() -> list[float]:
    """Return the least and the greatest probability after temperature and mixture."""
    log_p, y = binary("sep30")
    p = np.exp(fit_temperature_mixture(log_p, y).apply(log_p))
    return [float(p.min()), float(p.max())]


def separable_platt() -> list[float]:
    """Return Platt's fit of separable rows, with the signs of its source."""
    found = fit_platt(*binary("sep30"), targets="platt", ridge=0.0)
    return [-found.slope, -found.intercept]


def vector_of_an_unseen_option() -> Floats:
    """Return two rows where no label names the third option."""
    log_p, y = without_the_last_option()
    return np.exp(fit_vector(log_p, y).apply(log_p[:2]))


def in_parts(value: Any) -> Case:
    """Return a value by parts, also one that has none."""
    return value if hasattr(value, "keys") else {"": value}


OURS: dict[str, Callable[[], Any]] = {
    "temp_multi150_sklearn": lambda: hard(several()),
    "temp_multi150_weighted_sklearn": lambda: hard(several(), INPUTS["bin200"]["w"][:150]),
    "temp_bin200_sklearn": lambda: hard(binary("bin200")),
    "temp_multi150_netcal": lambda: hard(several()),
    "tsmix_multi150_probmetrics": lambda: first_five(fit_temperature_mixture),
    "temp_multi150_brier": lambda: hard(several()),
    "temp_platt_multi150_brier": lambda: fit_temperature(*several(), targets="platt").temperature,
    "temp_multi150_sys1bench": lambda: hard(several()),
    "platt_smoothed_bin200_sklearn": lambda: platt(targets="platt", ridge=0.0),
    "platt_smoothed_bin200_calikit": lambda: platt(targets="platt", ridge=0.0),
    "platt_mle_bin200_ucal": lambda: platt(ridge=0.0, targets="hard"),
    "platt_l2_bin200_sklearn": ridge_on_slope,
    "beta_abm_bin200_betacal": beta_midpoint,
    "beta_am_bin200_betacal": beta_one_slope,
    "beta_ab_bin200_betacal": beta_without_intercept,
    "matrix_l2_multi150_sklearn": plain_matrix,
    "svs_multi150_probmetrics": lambda: first_five(fit_vector),
    "isotonic_bin20_sklearn": isotonic_curve,
    "isotonic_bin20_scipy": isotonic_blocks,
    "ivap_bin20_vennabers": lambda: bounds("bin20"),
    "ivap_bin200_vennabers": lambda: bounds("bin200"),
    "ivap_bin20_cci": bounds_only,
    "ivap_multi150_ovr_vennabers": lambda: first_five(fit_venn_abers),
    "batch_prior_multi150_brier": batch_prior,
    "bbse_hard_shift_abstention": bbse_shift,
    "ccv_isotonic_multi150_sklearn": lambda: first_five(
        lambda x, y: fit_isotonic(x, y, pseudo_count=0.0)
    ),
    "ccv_temperature_multi150_sklearn": lambda: first_five(
        lambda x, y: fit_temperature(x, y, targets="hard")
    ),
    "beta_abm_bin200_sklearn_exact": lambda: beta(pair(GRID)),
    "em_shift_abstention": em_shift,
    "sep_tsmix_probmetrics": ends_of_separable_rows,
    "sep_platt_sklearn": separable_platt,
    "oneclass_vennabers": lambda: bounds("one class", [0.5]),
    "zero_temp_sys1bench": lambda: hard(several("zero6")),
    "missing_class_temp_sklearn": lambda: hard(without_the_last_option()),
    "missing_class_svs_probmetrics": vector_of_an_unseen_option,
    "isotonic_ties_sklearn": isotonic_ties,
}


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_calibrator_gives_the_value_of_another_library(name: str) -> None:
    """The tolerance says how far that library itself can be trusted."""
    case = CASES[name]

    found, expected = OURS[name](), case["expected"]

    parts, wanted = in_parts(found), in_parts(expected)
    assert parts.keys() == wanted.keys()
    for part, value in wanted.items():
        np.testing.assert_allclose(parts[part], value, rtol=0.0, atol=case["tol"])


def test_no_reference_is_left_out() -> None:
    """A case without a value of ours needs a reason."""
    assert CASES.keys() == OURS.keys() | DIFFERENT.keys()
