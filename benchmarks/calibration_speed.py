"""Time every fit and metric against the libraries that have it, on the same arrays, in one run.

    python benchmarks/calibration_speed.py -o docs/calibration-speed.md

Compares with whichever of scikit-learn, netcal, relplot, MAPIE and venn-abers can be imported, and
says which could. Each side is given the input that it works on (we log-probabilities, they
probabilities or logits), made beforehand. Times are CPU seconds of this process on one thread,
the least of several runs; a peer that would take more than --longest seconds is left out.
"""

# ruff: noqa: E402  numpy's libraries read the number of threads once, when they are imported

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import importlib
import importlib.metadata
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
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

LIBRARIES = ("scikit-learn", "netcal", "relplot", "mapie", "venn-abers")
SIZES = (1_000, 100_000, 1_000_000)
OPTIONS = (2, 5, 20)
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
    largest: int = SIZES[-1]


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
    n, k = d.log_p.shape
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
            largest=100_000 if k > 5 else SIZES[-1],
        )
    yield from metrics(d)
    if n <= 100_000:
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
            largest=100_000,
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

        classes_ = np.arange(d.p.shape[1])
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


def least_seconds(call: Call, *, budget: float) -> float:
    """Return the least CPU time of up to seven runs, as many as fit the budget (at least one)."""
    times: list[float] = []
    while len(times) < 7 and sum(times) < budget:
        started = time.process_time()
        call()
        times.append(time.process_time() - started)
    return min(times)


def main() -> None:
    """Time everything and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--longest", type=float, default=15.0, help="seconds of one call (15)")
    parser.add_argument("--options", type=int, nargs="+", default=OPTIONS, help="K (2 5 20)")
    parser.add_argument("--rows", type=int, nargs="+", default=SIZES, help="n (1e3, 1e5, 1e6)")
    parser.add_argument("--only", help="a word in the names of what is timed")
    wanted = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [HEAD.format(versions=versions())]
    last: dict[tuple[str, int, str], tuple[int, float]] = {}
    for k in wanted.options:
        for n in wanted.rows:
            data = rows(n, k)
            for contest in contests(data):
                if n > contest.largest or (wanted.only and wanted.only not in contest.name):
                    continue
                lines.append(timed(contest, n, k, last, longest=wanted.longest))
                print(lines[-1], file=sys.stderr)
            # After each block, so that a run that is cut off keeps what it has.
            wanted.output.write_text("\n".join(lines) + "\n", encoding="utf-8")


def timed(
    contest: Contest,
    n: int,
    k: int,
    last: dict[tuple[str, int, str], tuple[int, float]],
    *,
    longest: float,
) -> str:
    """Return a row of the table; `last` holds what each peer took on fewer rows."""
    ours = least_seconds(contest.ours, budget=0.5)
    found: dict[str, str] = {}
    best, bound = np.inf, ""
    for name, call in contest.peers.items():
        before, seconds = last.get((contest.name, k, name), (n, 0.0))
        if seconds * n / before > longest:
            # None of these is faster than linear, so this is the least that it would take.
            least, bound = seconds * n / before, "≥ "
            best = min(best, least)
            found[name] = f"{name} left out, at least {shown(least)}"
            continue
        try:
            theirs = least_seconds(call, budget=0.5)
        except Exception as error:  # a peer that fails is a finding
            found[name] = f"{name} fails ({type(error).__name__})"
            continue
        last[contest.name, k, name] = (n, theirs)
        best = min(best, theirs)
        found[name] = f"{name} {shown(theirs)}"
    ratio = f"{bound}{best / ours:.1f}" if np.isfinite(best) else "-"
    peers = ", ".join(found.values()) or "none has it"
    return f"| {contest.name} | {k} | {n:,} | {shown(ours)} | {peers} | {ratio} |"


def shown(seconds: float) -> str:
    """Return a time with a fitting unit."""
    if seconds < 1e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def versions() -> str:
    """Say which libraries could be imported, and which could not."""
    said: list[str] = []
    for name in LIBRARIES:
        try:
            said.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            said.append(f"{name} not installed")
    return ", ".join(said)


HEAD = """# How fast calibration is

Made by `python benchmarks/calibration_speed.py -o docs/calibration-speed.md`: CPU time on one
thread, the least of up to seven runs, all in one run on the same arrays. Compared with: {versions}.

- The last column is the fastest peer's time over ours: above 1 we are faster.
- Ours checks every input and normalises log-probabilities; that time is in it.
- Not the same work everywhere: our Platt, beta and isotonic fits have smoothed targets or pseudo
  counts, matrix scaling starts from a temperature and has a ridge, kappa has its interval, and
  LAC sets by MAPIE go through an estimator that returns its input.

| what | options | rows | ours | peers | times as fast |
|---|---|---|---|---|---|"""


if __name__ == "__main__":
    main()
