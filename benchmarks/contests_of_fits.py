"""The fits that `calibration_speed.py` times, by us and by the libraries that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from contests import Call, Contest, Data, known, peer

from classify.calibration.bias import fit_temperature_bias, fit_vector
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.matrix import fit_matrix
from classify.calibration.ordinal import fit_isotonic_mean
from classify.calibration.temperature import fit_temperature
from classify.calibration.venn_abers import fit_venn_abers


def fits(d: Data) -> Iterator[Contest]:
    """Return every fit that some library has for this number of options."""
    yield Contest("temperature", lambda: fit_temperature(d.log_p, d.y), _temperature_peers(d))
    yield Contest("temperature + bias", lambda: fit_temperature_bias(d.log_p, d.y))
    yield from _two_options(d) if d.k == 2 else _many_options(d)
    isotonic, abers = peer("sklearn.isotonic", "IsotonicRegression"), peer("venn_abers", VENN_ABERS)
    one_vs_rest = peer("netcal.binning", "IsotonicRegression")
    given = d.p[:, 1] if d.k == 2 else d.p
    yield Contest(
        "isotonic",
        lambda: fit_isotonic(d.log_p, d.y),
        known(
            # scikit-learn's takes two options only.
            {"scikit-learn": isotonic if d.k == 2 else None},
            lambda make: make().fit(given, d.y),
        )
        | known({"netcal": one_vs_rest}, lambda make: make().fit(given, d.y)),
    )
    few = d.log_p[:1000]
    yield Contest(
        "Venn-Abers + 1000 answers",
        lambda: fit_venn_abers(d.log_p, d.y).apply(few),
        known(
            {"venn-abers": abers},
            lambda make: make().predict_proba(p_cal=d.p, y_cal=d.y, p_test=d.p[:1000]),
        ),
    )
    level = d.p @ np.arange(d.k)
    yield Contest(
        "isotonic map of the mean",
        lambda: fit_isotonic_mean(level, d.y),
        known({"scikit-learn": isotonic}, lambda make: make().fit(level, d.y)),
    )


def _temperature_peers(d: Data) -> dict[str, Call]:
    sklearn = peer("sklearn.calibration", "_TemperatureScaling")
    netcal = peer("netcal.scaling", "TemperatureScaling")
    given = d.p if d.k > 2 else d.p[:, 1]
    # Of two options scikit-learn wants the decision value.
    values = d.log_p if d.k > 2 else d.logit
    return known({"scikit-learn": sklearn}, lambda make: make().fit(values, d.y)) | known(
        {"netcal": netcal}, lambda make: make().fit(given, d.y)
    )


def _two_options(d: Data) -> Iterator[Contest]:
    sigmoid = peer("sklearn.calibration", "_sigmoid_calibration")
    logistic, beta = (peer("netcal.scaling", n) for n in ("LogisticCalibration", "BetaCalibration"))
    p = d.p[:, 1]
    yield Contest(
        "Platt",
        lambda: fit_platt(d.log_p, d.y),
        known({"scikit-learn": sigmoid}, lambda fit: fit(d.logit, d.y))
        | known({"netcal": logistic}, lambda make: make().fit(p, d.y)),
    )
    yield Contest(
        "beta",
        lambda: fit_beta(d.log_p, d.y),
        known({"netcal": beta}, lambda make: make().fit(p, d.y)),
    )


def _many_options(d: Data) -> Iterator[Contest]:
    logistic = peer("netcal.scaling", "LogisticCalibration")
    regression = peer("sklearn.linear_model", "LogisticRegression")

    def by_regression(make: Any) -> object:
        return make(C=1.0).fit(d.log_p, d.y)

    yield Contest(
        "vector scaling",
        lambda: fit_vector(d.log_p, d.y),
        known({"netcal": logistic}, lambda make: make().fit(d.p, d.y)),
    )
    yield Contest(
        "matrix scaling",
        lambda: fit_matrix(d.log_p, d.y),
        known({"scikit-learn": regression}, by_regression),
    )


VENN_ABERS = "VennAbersCalibrator"
