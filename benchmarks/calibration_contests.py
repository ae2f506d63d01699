"""What `calibration_speed.py` times: each fit and metric, by us and by the libraries that have it.

Each side is given the input that it works on (we log-probabilities, they probabilities or logits),
made beforehand. A library that cannot be imported is left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from classify.calibration.agreement import cohen_kappa
from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.bias import fit_temperature_bias, fit_vector
from classify.calibration.binary import fit_beta, fit_platt
from classify.calibration.binning import EqualMass, EqualWidth
from classify.calibration.calibration_error import expected_calibration_error
from classify.calibration.cumulative import kolmogorov_smirnov, kuiper, spiegelhalter
from classify.calibration.discrimination import auroc, auroc_one_vs_rest
from classify.calibration.isotonic import fit_isotonic
from classify.calibration.matrix import fit_matrix
from classify.calibration.prediction_sets import fit_sets
from classify.calibration.proper_scores import brier_score, log_loss
from classify.calibration.smooth_error import smooth_calibration_error
from classify.calibration.temperature import fit_temperature
from classify.calibration.venn_abers import fit_venn_abers

Call = Callable[[], object]


@dataclass(frozen=True)
class Data:
    """The same rows in every form that somebody wants."""

    log_p: Floats
    p: Floats
    y: Ints
    top: Floats
    """Confidence in the likeliest option."""
    right: Ints
    guess: Ints

    @property
    def logit(self) -> Floats:
        """Log-odds of the second of two options."""
        odds: Floats = self.log_p[:, 1] - self.log_p[:, 0]
        return odds


@dataclass(frozen=True)
class Contest:
    """One quantity, and how each side computes it; built anew for each size."""

    name: str
    ours: Call
    peers: dict[str, Call] = field(default_factory=dict[str, Call])


def rows(n: int, k: int) -> Data:
    """Return n answers to a question with k options by a model that is too sure."""
    random = np.random.default_rng(k)
    truth = random.normal(0.0, 1.5, (n, k))
    p = np.exp(truth)
    p /= p.sum(axis=1, keepdims=True)
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    log_p = log_probabilities(2.0 * truth)
    sharp = np.exp(log_p)
    guess = log_p.argmax(axis=1)
    return Data(log_p, sharp, y, sharp.max(axis=1), (guess == y).astype(np.int64), guess)


def peer(module: str, name: str) -> Any:
    """Return something of a library that may be missing; None where it is."""
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError):
        return None


def contests(d: Data) -> Iterator[Contest]:
    """Return what is timed on these rows."""
    k = d.log_p.shape[1]
    yield Contest("temperature", lambda: fit_temperature(d.log_p, d.y), temperature_peers(d))
    yield Contest("temperature + bias", lambda: fit_temperature_bias(d.log_p, d.y))
    if k == 2:
        yield from binary_fits(d)
    else:
        yield Contest("vector scaling", lambda: fit_vector(d.log_p, d.y))
        regression = peer("sklearn.linear_model", "LogisticRegression")
        yield Contest(
            "matrix scaling",
            lambda: fit_matrix(d.log_p, d.y),
            known({"scikit-learn": regression}, lambda make: make(C=1.0).fit(d.log_p, d.y)),
        )
    yield from metrics(d)
    yield Contest("LAC threshold", lambda: fit_sets(d.log_p, d.y, alpha=0.1), mapie_sets(d))


def temperature_peers(d: Data) -> dict[str, Call]:
    """Return temperature scaling by others."""
    sklearn = peer("sklearn.calibration", "_TemperatureScaling")
    netcal = peer("netcal.scaling", "TemperatureScaling")
    given = d.p if d.p.shape[1] > 2 else d.p[:, 1]
    # Of two options scikit-learn wants the decision value.
    values = d.log_p if d.p.shape[1] > 2 else d.logit
    return known({"scikit-learn": sklearn}, lambda make: make().fit(values, d.y)) | known(
        {"netcal": netcal}, lambda make: make().fit(given, d.y)
    )


def binary_fits(d: Data) -> Iterator[Contest]:
    """Return the fits that exist for two options."""
    sigmoid = peer("sklearn.calibration", "_sigmoid_calibration")
    logistic, beta = (peer("netcal.scaling", n) for n in ("LogisticCalibration", "BetaCalibration"))
    isotonic = peer("sklearn.isotonic", "IsotonicRegression")
    abers = peer("venn_abers", "VennAbers")
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
    yield Contest(
        "isotonic",
        lambda: fit_isotonic(d.log_p, d.y),
        known({"scikit-learn": isotonic}, lambda make: make().fit(p, d.y)),
    )
    few = d.log_p[:1000]

    def by_venn_abers(make: Any) -> object:
        fitted = make()
        fitted.fit(d.p, d.y)
        return fitted.predict_proba(d.p[:1000])

    yield Contest(
        "Venn-Abers + 1000 answers",
        lambda: fit_venn_abers(d.log_p, d.y).apply(few),
        known({"venn-abers": abers}, by_venn_abers),
    )


def metrics(d: Data) -> Iterator[Contest]:
    """Return the metrics."""
    k = d.p.shape[1]
    skl = {name: peer("sklearn.metrics", name) for name in SKLEARN_METRICS}
    ece, binned = peer("netcal.metrics", "ECE"), peer("relplot.metrics", "binnedECE")
    mapie_ece = peer("mapie.metrics.calibration", "expected_calibration_error")
    yield Contest(
        "ECE, 15 equal widths",
        lambda: expected_calibration_error(d.top, d.right, bins=EqualWidth(15)),
        known({"netcal": ece}, lambda make: make(15).measure(d.top, d.right))
        | known({"relplot": binned}, lambda call: call(d.top, d.right, nbins=15))
        | known({"MAPIE": mapie_ece}, lambda c: c(d.right, d.top, num_bins=16)),
    )
    bins = EqualWidth(15).over(d.top, np.ones(1)).index(d.top)
    yield Contest(
        "only np.bincount, the bins and gaps given",
        lambda: np.bincount(bins, d.top, minlength=15),
    )
    yield Contest(
        "ECE, 15 equal masses",
        lambda: expected_calibration_error(d.top, d.right, bins=EqualMass(15)),
        known(
            {"MAPIE": mapie_ece},
            lambda c: c(d.right, d.top, num_bins=16, split_strategy="quantile"),
        ),
    )
    yield Contest(
        "smooth ECE",
        lambda: smooth_calibration_error(d.top, d.right),
        known({"relplot": peer("relplot", "smECE")}, lambda call: call(d.top, d.right)),
    )
    names = list(range(k))
    yield Contest(
        "log loss",
        lambda: log_loss(d.log_p, d.y),
        known({"scikit-learn": skl["log_loss"]}, lambda call: call(d.y, d.p, labels=names)),
    )
    yield Contest(
        "Brier",
        lambda: brier_score(d.log_p, d.y),
        known({"scikit-learn": skl["brier_score_loss"]}, lambda call: call(d.y, d.p, labels=names)),
    )
    yield Contest(
        "quadratic kappa",
        lambda: cohen_kappa(d.guess, d.y, levels=names, scheme="quadratic"),
        known(
            {"scikit-learn": skl["cohen_kappa_score"]},
            lambda call: call(d.guess, d.y, weights="quadratic"),
        ),
    )
    yield from ranking(d, skl["roc_auc_score"])


def ranking(d: Data, area: Any) -> Iterator[Contest]:
    """Return AUROC, and for two options the cumulative tests."""
    if d.p.shape[1] > 2:
        yield Contest(
            "AUROC, one against rest",
            lambda: auroc_one_vs_rest(d.log_p, d.y),
            known({"scikit-learn": area}, lambda call: call(d.y, d.p, multi_class="ovr")),
        )
        return
    p = d.p[:, 1]
    yield Contest(
        "AUROC",
        lambda: auroc(p, d.y),
        known({"scikit-learn": area}, lambda call: call(d.y, p)),
    )
    for name, ours, theirs in (
        ("Kolmogorov-Smirnov", kolmogorov_smirnov, "kolmogorov_smirnov_p_value"),
        ("Kuiper", kuiper, "kuiper_p_value"),
        ("Spiegelhalter", spiegelhalter, "spiegelhalter_p_value"),
    ):
        call = peer("mapie.metrics.calibration", theirs)
        yield Contest(
            name,
            lambda ours=ours: ours(p, d.y),
            known({"MAPIE": call}, lambda call: call(d.y, p)),
        )


SKLEARN_METRICS = ("log_loss", "brier_score_loss", "cohen_kappa_score", "roc_auc_score")


def mapie_sets(d: Data) -> dict[str, Call]:
    """Return MAPIE's LAC sets, conformalised on these rows."""
    classifier = peer("mapie.classification", "SplitConformalClassifier")
    base, mixin = peer("sklearn.base", "BaseEstimator"), peer("sklearn.base", "ClassifierMixin")
    if classifier is None:
        return {}

    class Given(mixin, base):  # type: ignore[misc, valid-type]  # the bases are found at run time
        """A classifier whose input is its output."""

        classes_: Ints = np.arange(d.p.shape[1], dtype=np.int64)
        fitted_ = True

        def fit(self, x: Floats, y: Ints) -> Given:
            return self

        def predict(self, x: Floats) -> Ints:
            return x.argmax(axis=1)

        def predict_proba(self, x: Floats) -> Floats:
            return x

    def run() -> object:
        made = classifier(
            Given(), confidence_level=0.9, conformity_score="lac", prefit=True, random_state=0
        )
        return made.conformalize(d.p, d.y)

    return {"MAPIE": run}


def known(found: dict[str, Any], use: Callable[[Any], object]) -> dict[str, Call]:
    """Return calls of those that could be imported."""
    return {name: (lambda thing=thing: use(thing)) for name, thing in found.items() if thing}
