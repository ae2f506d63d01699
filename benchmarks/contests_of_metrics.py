"""The metrics that `calibration_speed.py` times, by us and by the libraries that have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from contests import Contest, Data, known, peer

from classify.calibration.agreement import Scheme, cohen_kappa, confusion
from classify.calibration.binning import EqualMass, EqualWidth
from classify.calibration.calibration_error import (
    expected_calibration_error,
    maximum_calibration_error,
)
from classify.calibration.cumulative import kolmogorov_smirnov, kuiper, spiegelhalter
from classify.calibration.discrimination import (
    accuracy,
    auroc,
    auroc_one_vs_one,
    auroc_one_vs_rest,
)
from classify.calibration.ordinal_scores import mean_absolute_error
from classify.calibration.proper_scores import brier_score, brier_skill, log_loss, log_loss_skill
from classify.calibration.smooth_error import smooth_calibration_error, smooth_calibration_error_at

WIDE, MASS = EqualWidth(15), EqualMass(15)
WIDTHS = "ECE, 15 equal widths"


def metrics(d: Data) -> Iterator[Contest]:
    """Return every metric that some library has for this number of options."""
    yield from _calibration_errors(d)
    yield from _scores(d)
    yield from _ranking(d) if d.k == 2 else _ranking_of_many(d)
    yield from _agreement(d)


def _calibration_errors(d: Data) -> Iterator[Contest]:
    ece, mce = (peer("netcal.metrics", name) for name in ("ECE", "MCE"))
    binned = peer("relplot.metrics", "binnedECE")
    mapie = peer("mapie.metrics.calibration", "expected_calibration_error")

    def wide(call: Any) -> object:
        return call(d.top, d.right, nbins=15)

    yield Contest(
        WIDTHS,
        lambda: expected_calibration_error(d.top, d.right, bins=WIDE),
        known({"netcal": ece}, lambda make: make(15).measure(d.top, d.right))
        | known({"relplot": binned}, wide)
        | known({"MAPIE": mapie}, lambda call: call(d.right, d.top, num_bins=16)),
    )
    bins = WIDE.over(d.top, np.ones(1)).index(d.top)
    # What whoever bins arrays cannot do without.
    sums, gaps = np.zeros(15), d.right - d.top
    yield Contest(
        "of that only np.add.at, the bins and gaps given",
        lambda: np.add.at(sums, bins, gaps),
        known({"relplot": binned}, wide),
    )
    yield Contest(
        "ECE, 15 equal masses",
        lambda: expected_calibration_error(d.top, d.right, bins=MASS),
        known(
            {"MAPIE": mapie},
            lambda call: call(d.right, d.top, num_bins=16, split_strategy="quantile"),
        ),
    )
    yield Contest(
        "MCE, 15 equal widths",
        lambda: maximum_calibration_error(d.top, d.right, bins=WIDE),
        known({"netcal": mce}, lambda make: make(15).measure(d.top, d.right)),
    )
    yield Contest(
        "smooth ECE",
        lambda: smooth_calibration_error(d.top, d.right),
        known({"relplot": peer("relplot", "smECE")}, lambda call: call(d.top, d.right)),
    )
    yield Contest(
        "smooth ECE, bandwidth 0.05",
        lambda: smooth_calibration_error_at(d.top, d.right, bandwidth=0.05),
        known({"relplot": peer("relplot", "smECE_sigma")}, lambda c: c(d.top, d.right, sigma=0.05)),
    )


def _scores(d: Data) -> Iterator[Contest]:
    for name, ours, theirs in (
        ("log loss", log_loss, "log_loss"),
        ("log loss skill", log_loss_skill, "d2_log_loss_score"),
        ("Brier", brier_score, "brier_score_loss"),
        ("Brier skill", brier_skill, "d2_brier_score"),
    ):
        yield Contest(
            name,
            lambda ours=ours: ours(d.log_p, d.y),
            known(
                {"scikit-learn": peer("sklearn.metrics", theirs)},
                lambda call: call(d.y, d.p, labels=d.names),
            ),
        )
    yield Contest(
        "accuracy",
        lambda: accuracy(d.log_p, d.y),
        known(
            {"scikit-learn": peer("sklearn.metrics", "accuracy_score")},
            lambda call: call(d.y, d.p.argmax(axis=1)),
        ),
    )
    level = d.p @ np.arange(d.k)
    yield Contest(
        "mean absolute error",
        lambda: mean_absolute_error(level, d.y),
        known(
            {"scikit-learn": peer("sklearn.metrics", "mean_absolute_error")},
            lambda call: call(d.y, level),
        ),
    )


def _ranking(d: Data) -> Iterator[Contest]:
    p = d.p[:, 1]
    yield Contest(
        "AUROC",
        lambda: auroc(p, d.y),
        known(
            {"scikit-learn": peer("sklearn.metrics", "roc_auc_score")}, lambda call: call(d.y, p)
        ),
    )
    for name, ours, theirs in (
        ("Kolmogorov-Smirnov", kolmogorov_smirnov, "kolmogorov_smirnov_p_value"),
        ("Kuiper", kuiper, "kuiper_p_value"),
        ("Spiegelhalter", spiegelhalter, "spiegelhalter_p_value"),
    ):
        yield Contest(
            name,
            lambda ours=ours: ours(p, d.y),
            known({"MAPIE": peer("mapie.metrics.calibration", theirs)}, lambda call: call(d.y, p)),
        )


def _ranking_of_many(d: Data) -> Iterator[Contest]:
    area = {"scikit-learn": peer("sklearn.metrics", "roc_auc_score")}
    for name, ours, kind in (
        ("AUROC, one against rest", auroc_one_vs_rest, "ovr"),
        ("AUROC, one against one", auroc_one_vs_one, "ovo"),
    ):
        yield Contest(
            name,
            lambda ours=ours: ours(d.log_p, d.y),
            known(area, lambda call, kind=kind: call(d.y, d.p, multi_class=kind)),
        )


def _agreement(d: Data) -> Iterator[Contest]:
    yield Contest(
        "confusion",
        lambda: confusion(d.guess, d.y, levels=d.names),
        known(
            {"scikit-learn": peer("sklearn.metrics", "confusion_matrix")},
            lambda call: call(d.guess, d.y, labels=d.names),
        ),
    )
    schemes: tuple[tuple[str, Scheme, str | None], ...] = (
        ("kappa", "none", None),
        ("quadratic kappa", "quadratic", "quadratic"),
    )
    for name, scheme, weights in schemes:
        yield Contest(
            name,
            lambda scheme=scheme: cohen_kappa(d.guess, d.y, levels=d.names, scheme=scheme),
            known(
                {"scikit-learn": peer("sklearn.metrics", "cohen_kappa_score")},
                lambda call, weights=weights: call(d.guess, d.y, weights=weights),
            ),
        )
