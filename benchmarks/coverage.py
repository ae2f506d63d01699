"""Draw data many times and count how often each promise of `classify.calibration` is kept.

About two CPU minutes:

    python benchmarks/coverage.py [-o docs/coverage.md]

Every cell is a mean over draws with twice its standard error. Seeds are fixed: the same
versions of numpy and scipy write the same table.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.comparison import paired_difference
from classify.calibration.estimate import Estimate
from classify.calibration.intervals import clopper_pearson, mean_interval, weighted_wilson, wilson
from classify.calibration.measurement import Measurement
from classify.calibration.prediction_powered import PredictionPowered, ppi_mean, ppi_rate
from classify.calibration.prediction_sets import PredictionSets, fit_sets, fit_sets_by_class
from classify.calibration.prevalence import Share, rogan_gladen, stratified_rate
from classify.calibration.risk_control import (
    certify_joint_risk,
    control_joint_risk,
    control_selective_risk,
)
from classify.calibration.set_scores import ScoreName

SIZES = (50, 200, 1000)
DRAWS = 2000
TABLE = Path(__file__).parents[1] / "docs" / "coverage.md"

Draw = Callable[[int, np.random.Generator], float]
"""One draw with n labels: 1.0 where the promise was kept, or the quantity it is about."""


@dataclass(frozen=True, slots=True)
class Promise:
    """What is promised, and one draw of it."""

    name: str
    nominal: float
    direction: Literal["equal", "at least", "at most", "none"]
    """How the mean over draws should lie to `nominal`; "none" is shown for comparison only."""
    draw: Draw
    draws: int = DRAWS


def choice_rows(n: int, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Return log-probabilities (n, 4) of an over-confident model, and the true options."""
    logits = random.normal(0.0, 2.0, (n, 4))
    p = np.exp(logits / 2.0)
    p /= p.sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return logits, np.minimum(y, 3).astype(np.int64)


def boolean_rows(n: int, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return confidences of a calibrated boolean model, and which answers were wrong."""
    confidence = 1.0 / (1.0 + np.exp(-np.abs(random.normal(0.0, 3.0, n))))
    return confidence, (random.random(n) > confidence).astype(np.float64)


def judged_rows(n: int, rate: float, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Return human labels, and the scores of a judge who is too kind and often wrong."""
    truth = (random.random(n) < rate).astype(np.float64)
    return truth, np.clip(0.35 + 0.45 * truth + random.normal(0.0, 0.3, n), 0.0, 1.0)


_NEW_P, _NEW_Y = choice_rows(400_000, np.random.default_rng(1))
NEW_LAC_SCORES = np.sort(1.0 - np.exp(log_probabilities(_NEW_P))[np.arange(_NEW_Y.size), _NEW_Y])
CONFIDENCE, WRONG = boolean_rows(200_000, np.random.default_rng(2))


def set_coverage(fit: Callable[..., PredictionSets], score: ScoreName = "lac") -> Draw:
    """Return a draw of the share of new truths inside sets fitted on n rows."""

    def draw(n: int, random: np.random.Generator) -> float:
        log_p, y = choice_rows(n, random)
        new, truth = choice_rows(2000, random)
        sets = fit(log_p, y, alpha=0.1, score=score).sets(new)
        return float(sets[np.arange(2000), truth].mean())

    return draw


def drawn_set_coverage(score: ScoreName) -> Draw:
    """Return such a draw for sets that count a random part of an option's own probability."""

    def draw(n: int, random: np.random.Generator) -> float:
        log_p, y = choice_rows(n, random)
        new, truth = choice_rows(2000, random)
        rule = fit_sets(log_p, y, alpha=0.1, score=score, u=random.random(n))
        return float(rule.sets(new, u=random.random(2000))[np.arange(2000), truth].mean())

    return draw


def below_expected_range(n: int, random: np.random.Generator) -> float:
    """Return whether the coverage over all new rows lies below the 5 % end that was printed."""
    rule = fit_sets(*choice_rows(n, random), alpha=0.1)
    covered = np.searchsorted(NEW_LAC_SCORES, rule.thresholds[0]) / NEW_LAC_SCORES.size
    return float(covered < rule.coverage_ranges[0][0])


def joint_risk(threshold: float) -> float:
    """Return the share of all new rows that are decided alone and wrong."""
    return float((WRONG * (CONFIDENCE >= threshold)).mean())


def selective_risk(threshold: float) -> float:
    """Return the share of wrong ones among the new rows decided alone."""
    accepted = CONFIDENCE >= threshold
    return float(WRONG[accepted].mean()) if accepted.any() else 0.0


def averaged_joint_risk(n: int, random: np.random.Generator) -> float:
    """Return the joint risk of a threshold from conformal risk control at 0.08."""
    return joint_risk(control_joint_risk(*boolean_rows(n, random), alpha=0.08).threshold)


def joint_broken(n: int, random: np.random.Generator) -> float:
    """Return whether a certified joint risk of 0.08 is above it."""
    found = certify_joint_risk(*boolean_rows(n, random), alpha=0.08, delta=0.1)
    return float(joint_risk(found.threshold) > 0.08)


def selective_broken(n: int, random: np.random.Generator) -> float:
    """Return whether a certified selective risk of 0.1 is above it."""
    found = control_selective_risk(*boolean_rows(n, random), alpha=0.1, delta=0.1)
    return float(selective_risk(found.threshold) > 0.1)


def held(found: Estimate | Measurement, truth: float) -> float:
    """Return whether an interval holds the truth."""
    if found.low is None or found.high is None:
        raise AssertionError(f"an interval was asked for, got {found!r}")
    return float(found.low <= truth <= found.high)


def some_rate(random: np.random.Generator) -> float:
    """Return a rate from the range that is met in practice."""
    return float(random.uniform(0.05, 0.95))


def rate_interval(interval: Callable[[float, float], Measurement]) -> Draw:
    """Return a draw of an interval for k of n."""

    def draw(n: int, random: np.random.Generator) -> float:
        rate = some_rate(random)
        return held(interval(float(random.binomial(n, rate)), float(n)), rate)

    return draw


def bca(losses: Callable[[int, np.random.Generator], Floats], mean: float) -> Draw:
    """Return a draw of the interval for a mean of n losses."""

    def draw(n: int, random: np.random.Generator) -> float:
        # A seed of its own: one for all would give each draw the same resamples of its ranks.
        seed = int(random.integers(2**32))
        return held(mean_interval(losses(n, random), seed=seed), mean)

    return draw


def share_of(outcomes: Callable[[int, np.random.Generator], Floats], rate: float) -> Draw:
    """Return a draw of the interval for how often outcomes are 1."""

    def draw(n: int, random: np.random.Generator) -> float:
        return held(weighted_wilson(outcomes(n, random)), rate)

    return draw


def exponential(n: int, random: np.random.Generator) -> Floats:
    """Return skewed losses with the mean 1."""
    return random.exponential(1.0, n)


def heavy(n: int, random: np.random.Generator) -> Floats:
    """Return log-normal losses: the mean of many small and few large ones is exp(1/2)."""
    return random.lognormal(0.0, 1.0, n)


def log_losses(n: int, random: np.random.Generator) -> Floats:
    """Return the log losses of `boolean_rows`."""
    confidence, wrong = boolean_rows(n, random)
    return -np.log(np.where(wrong == 1.0, 1.0 - confidence, confidence))


def mean_log_loss() -> float:
    """Return the mean of `log_losses`: the entropy of an answer, over normal logits."""
    logit = np.linspace(-40.0, 40.0, 80_001)
    density = np.exp(-((logit / 3.0) ** 2) / 2.0)
    p = 1.0 / (1.0 + np.exp(-logit))
    entropy = p * np.logaddexp(0.0, -logit) + (1.0 - p) * np.logaddexp(0.0, logit)
    return float(entropy @ density / density.sum())


def paired(n: int, random: np.random.Generator) -> Floats:
    """Return which of two systems was right alone, 1 or -1, or 0 for neither; the mean is 0.1."""
    return random.choice([-1.0, 0.0, 1.0], n, p=[0.05, 0.8, 0.15])


def rights_apart(first: float, second: float) -> Draw:
    """Return a draw of the difference of two systems, each right alone in this share of rows."""

    def draw(n: int, random: np.random.Generator) -> float:
        alone = random.choice([1.0, -1.0, 0.0], n, p=[first, second, 1.0 - first - second])
        return held(paired_difference(alone > 0.0, alone < 0.0, seed=0), first - second)

    return draw


def rare(n: int, random: np.random.Generator) -> Floats:
    """Return which answers were wrong: 5 %."""
    return (random.random(n) < 0.05).astype(np.float64)


def powered(estimator: Callable[..., PredictionPowered], rate: float | None) -> Draw:
    """Return a draw of PPI++ with n random labels and 2000 judged items."""

    def draw(n: int, random: np.random.Generator) -> float:
        true = some_rate(random) if rate is None else rate
        human, judge = judged_rows(n + 2000, true, random)
        return held(estimator(human[:n], judge[:n], judge[n:]).estimate, true)

    return draw


def mover(rate: float | None, *, by_verdict: bool) -> Draw:
    """Return a draw of the verdict-stratified rate with n labels among n + 2000 items."""

    def draw(n: int, random: np.random.Generator) -> float:
        true = some_rate(random) if rate is None else rate
        human, judge = judged_rows(n + 2000, true, random)
        verdict = judge >= 0.5
        yes, no = human[verdict], human[~verdict]
        on_yes = n // 2 if by_verdict else int(verdict[:n].sum())
        on_no = n - on_yes
        if min(yes.size, no.size, on_yes, on_no) == 0:
            # `true_rate` would use the labels alone.
            return held(wilson(float(human[:n].sum()), n), true)
        yes, no = yes[:on_yes], no[:on_no]
        found = stratified_rate(
            passed=Share(int(verdict.sum()), verdict.size),
            right_if_passed=Share(int(yes.sum()), yes.size),
            right_if_failed=Share(int((1 - no).sum()), no.size),
        )
        return held(found, true)

    return draw


def from_elsewhere(rate: float) -> Draw:
    """Return a draw of Rogan-Gladen with n labels from items of which half are yes."""

    def draw(n: int, random: np.random.Generator) -> float:
        human, judge = judged_rows(n, 0.5, random)
        verdict, yes = judge >= 0.5, human == 1.0
        pool = judged_rows(2000, rate, random)[1] >= 0.5
        found = rogan_gladen(
            passed=Share(int(pool.sum()), pool.size),
            sensitivity=Share(int(verdict[yes].sum()), int(yes.sum())),
            specificity=Share(int((~verdict)[~yes].sum()), int((~yes).sum())),
        )
        return held(found, rate)

    return draw


PROMISES = (
    Promise("LAC sets 90 %: coverage", 0.9, "equal", set_coverage(fit_sets, "lac")),
    Promise("APS sets 90 %: coverage", 0.9, "equal", set_coverage(fit_sets, "aps")),
    Promise("RAPS sets 90 %: coverage", 0.9, "equal", set_coverage(fit_sets, "raps")),
    Promise("Level intervals 90 %: coverage", 0.9, "equal", set_coverage(fit_sets, "interval")),
    Promise("LAC by class 90 %: coverage", 0.9, "at least", set_coverage(fit_sets_by_class, "lac")),
    Promise("Coverage below its 5 % point", 0.05, "equal", below_expected_range),
    Promise("Joint risk at 0.08, on average", 0.08, "at most", averaged_joint_risk),
    Promise("Joint risk at 0.08 broken (delta 0.1)", 0.1, "at most", joint_broken),
    Promise("Selective risk at 0.1 broken (delta 0.1)", 0.1, "at most", selective_broken),
    Promise("Wilson 95 %", 0.95, "equal", rate_interval(wilson)),
    Promise("Clopper-Pearson 95 %", 0.95, "at least", rate_interval(clopper_pearson)),
    Promise("BCa 95 %, exponential losses", 0.95, "equal", bca(exponential, 1.0)),
    Promise("BCa 95 %, log losses", 0.95, "equal", bca(log_losses, mean_log_loss())),
    Promise("BCa 95 %, paired differences", 0.95, "equal", bca(paired, 0.1)),
    Promise("BCa 95 %, log-normal losses", 0.95, "equal", bca(heavy, math.exp(0.5))),
    Promise("BCa 95 %, errors at 5 %", 0.95, "none", bca(rare, 0.05)),
    Promise("PPI++ rate 95 %", 0.95, "equal", powered(ppi_rate, None)),
    Promise("PPI++ rate 95 %, true rate 0.97", 0.95, "equal", powered(ppi_rate, 0.97)),
    Promise("PPI++ mean 95 % (t), true rate 0.97", 0.95, "none", powered(ppi_mean, 0.97)),
    Promise("MOVER 95 %, labels at random", 0.95, "equal", mover(None, by_verdict=False)),
    Promise("MOVER 95 %, labels by verdict", 0.95, "equal", mover(None, by_verdict=True)),
    Promise("MOVER 95 %, by verdict, rate 0.97", 0.95, "equal", mover(0.97, by_verdict=True)),
    Promise("MOVER 95 %, by verdict, rate 0.03", 0.95, "equal", mover(0.03, by_verdict=True)),
    Promise("MOVER 95 %, at random, rate 0.97", 0.95, "equal", mover(0.97, by_verdict=False)),
    Promise("Rogan-Gladen 95 %, rate 0.8", 0.95, "equal", from_elsewhere(0.8)),
    Promise("Rogan-Gladen 95 %, rate 0.97", 0.95, "equal", from_elsewhere(0.97)),
    Promise("Wilson 95 %, errors at 5 %", 0.95, "equal", share_of(rare, 0.05)),
    Promise("Tango 95 %, one right alone in 4 %, 1 %", 0.95, "at least", rights_apart(0.04, 0.01)),
    Promise("APS sets 90 %, u drawn: coverage", 0.9, "equal", drawn_set_coverage("aps")),
    Promise("RAPS sets 90 %, u drawn: coverage", 0.9, "equal", drawn_set_coverage("raps")),
)


NOTES = (
    "Means: plain BCa holds 50 exponential losses in 93 % of draws, since it takes their spread",
    "for known. `mean_interval` takes its levels from Student's t, with fewer degrees of freedom",
    "the heavier the tails, and is 4 % wider than plain BCa on 50 normal values, 8 % on",
    "exponential ones. Two things no resampling can see: a loss that is too rare to be in the",
    "rows, so 50 log-normal losses stay up to two points short; and what never varied: 8 % of",
    "draws of 50 answers with 5 % errors hold no error at all, and their interval is the point 0.",
    "A rate has Wilson's interval (last row but one), so BCa has no promise there, and the",
    "difference of two paired rates has Tango's (last row): over all tables of 50 pairs it holds",
    "4 % against 1 % in 98.9 %, where BCa holds it in 84 % of draws.",
    "",
    "True rates: `stratified_rate` and `rogan_gladen` put mid-P intervals together. With Wilson's",
    "ends MOVER holds a rate of 0.97 in 93 % of draws at n = 50 and is no shorter; the delta",
    "method for Rogan-Gladen can fall to 84 %. Counts have no interval of exactly 95 % at every",
    "rate, and an estimate beyond 0 or 1 is moved back before its interval is made, so some cells",
    "near 0 and 1 lie above.",
)


def cell(promise: Promise, n: int, *, seed: int) -> str:
    """Return the mean over draws with twice its error, marked where the promise is broken."""
    random = np.random.default_rng([seed, n])
    values = np.array([promise.draw(n, random) for _ in range(promise.draws)])
    mean = float(values.mean())
    error = 2.0 * float(values.std(ddof=1)) / math.sqrt(values.size)
    # Two standard errors would mark one good cell in twenty; three mark one in four hundred.
    # Sets may cover 1 / (n + 1) more than promised, as their definition says.
    slack, rounding = 1.5 * error + 1e-9, 1.0 / (n + 1) if "coverage" in promise.name else 0.0
    low_is_bad = promise.direction in ("equal", "at least") and mean < promise.nominal - slack
    high_is_bad = (
        promise.direction in ("equal", "at most") and mean > promise.nominal + slack + rounding
    )
    mark = " ↓" if low_is_bad else " ↑" if high_is_bad else ""
    return f"{mean:.3f} ± {error:.3f}{mark}"


def table() -> str:
    """Return the page: what was drawn, and a row per promise."""
    heads = " | ".join(f"n = {n}" for n in SIZES)
    lines = [
        "# Are the promises kept?",
        "",
        f"Written by `python benchmarks/coverage.py`: {DRAWS} draws per cell, mean ± two standard",
        "errors. ↓ and ↑ mark means more than three standard errors beyond what was promised. True",
        "rates are uniform in 0.05 to 0.95 unless one is named; judged pools have 2000 items more",
        "than labels. Two rows have no promise: they show why rates do not have BCa intervals, and",
        "`ppi_rate` none of Student's t around the mean.",
        "",
        f"| What | Promised | {heads} |",
        "| --- | --- |" + " --- |" * len(SIZES),
    ]
    for seed, promise in enumerate(PROMISES):
        wanted = {"equal": "", "at least": "≥ ", "at most": "≤ ", "none": "(none) "}
        cells = " | ".join(cell(promise, n, seed=seed) for n in SIZES)
        lines.append(
            f"| {promise.name} | {wanted[promise.direction]}{promise.nominal:g} | {cells} |"
        )
    return "\n".join([*lines, "", *NOTES, ""])


def main() -> None:
    """Draw, print the page and write it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument(
        "-o", "--output", type=Path, default=TABLE, help="page to write (docs/coverage.md)"
    )
    wanted = parser.parse_args()
    started = time.process_time()
    page = table()
    wanted.output.write_text(page, encoding="utf-8")
    print(page)
    print(f"{time.process_time() - started:.0f} CPU seconds")


if __name__ == "__main__":
    main()
