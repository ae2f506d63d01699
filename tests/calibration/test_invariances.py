"""What changes nothing: the order of rows and of options, and rows told twice or by weights.

Of every public function of rows that takes weights; metrics of one probability are measured in
test_metric_properties.py, and fits of two options in test_calibrators.py.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, get_args

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

import classify.calibration as c
from classify.calibration.arrays import Floats, Ints
from classify.calibration.set_scores import ScoreName
from classify.errors import CalibrationError

K = 3
LEVELS = range(K)
COSTS = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [3.0, 2.0, 0.0]])
NAMES = ["a", "b", "c"]
MEANS = np.linspace(0.0, 2.0, 9)


@dataclass(frozen=True)
class Rows:
    """Rows with ties, on bin edges too, and three raters of each."""

    log_p: Floats
    y: Ints
    second: Ints
    third: Ints
    p: Floats
    true: Ints
    x: Floats
    w: Floats | None = None
    options: tuple[int, ...] = (0, 1, 2)
    """Which option each column is of."""

    def at(self, index: Ints, w: Floats | None) -> Rows:
        """Return these rows in this order, with these weights."""
        return replace(
            self,
            log_p=self.log_p[index],
            y=self.y[index],
            second=self.second[index],
            third=self.third[index],
            p=self.p[index],
            true=self.true[index],
            x=self.x[index],
            w=w,
        )

    def turned(self, options: tuple[int, ...]) -> Rows:
        """Return the same rows with the options in another order."""
        new = np.argsort(options)
        return replace(
            self,
            log_p=self.log_p[:, options],
            y=new[self.y],
            second=new[self.second],
            third=new[self.third],
            options=options,
        )


def rows(n: int = 60, *, seed: int = 0, decimals: int = 1) -> Rows:
    """Return rows that are neither separated nor without a label of some option."""
    random = np.random.default_rng(seed)
    log_p = np.round(1.5 * random.normal(size=(n, K)), decimals)
    y = (0.7 * log_p + random.gumbel(size=(n, K))).argmax(axis=1)
    p = random.integers(1, 16, n) / 16
    second, third = (np.where(random.random(n) < 0.6, y, random.integers(0, K, n)) for _ in "ab")
    true = (random.random(n) < p).astype(np.int64)
    return Rows(log_p, y, second, third, p, true, random.integers(0, 9, n) / 4)


class Applied(Protocol):
    """A calibrator."""

    def apply(self, log_p: ArrayLike) -> Floats:
        """Return calibrated log-probabilities."""
        ...


PROBE = rows(40, seed=9, decimals=9).log_p


def answers(found: Applied, r: Rows) -> Floats:
    """Return calibrated probabilities of rows that nothing was learned from, options in order."""
    back = np.argsort(r.options)
    return np.exp(found.apply(PROBE[:, r.options]))[:, back]


def parts(found: c.Decomposition) -> list[float]:
    """Return the numbers of a decomposition."""
    return [found.score, found.miscalibration, found.discrimination, found.uncertainty]


def headline(r: Rows) -> list[float | None]:
    """Return what `metrics` says of a choice; bins and AURC go by the number of rows."""
    m = c.metrics(r.log_p, r.y, weights=r.w, seed=1)
    found = [m.log_loss, m.brier, m.brier_skill, m.accuracy, m.auroc, m.augrc, m.smooth_ece]
    return [*parts(m.brier_corp), *(None if each is None else each.value for each in found)]


def ordinal(r: Rows) -> list[float | None]:
    """Return what `metrics` says of a score alone."""
    m = c.metrics(r.log_p, r.y, weights=r.w, seed=1, kind="score").ordinal
    assert m is not None
    found = [m.rps, m.mae, m.spearman, m.tau_b]
    return [None if each is None else each.value for each in found]


def level_shares(r: Rows) -> list[float]:
    """Return the shares of the options, in order."""
    use = c.level_use(r.log_p, r.y, weights=r.w)
    assert use.actual is not None
    back = np.argsort(r.options)
    columns = (use.likeliest, use.probability, use.actual)
    return np.array(columns)[:, back].ravel().tolist()


def table(r: Rows) -> Floats:
    """Return a confusion, options in order."""
    back = np.argsort(r.options)
    counts = c.confusion(r.y, r.second, levels=LEVELS, weights=r.w).counts
    return np.array(counts)[np.ix_(back, back)]


def judged(r: Rows, *, ordered: bool) -> list[float | None]:
    """Return the agreement of two raters."""
    ratings = {"judge": r.second.tolist(), "people": r.y.tolist()}
    found = c.judge_report(ratings, levels=LEVELS, ordered=ordered, weights=r.w)
    return [None if each is None else each.value for each in (found.kappa, found.alpha, found.ac)]


def histogram(r: Rows) -> list[float]:
    """Return what a histogram says of the rows that count; its bars are of all."""
    found = c.confidence_histogram(r.p, r.true, seed=0, weights=r.w)
    assert found.accuracy is not None
    return [found.mean_confidence, found.accuracy.value]


def sets(fit: Callable[..., c.PredictionSets], score: ScoreName, r: Rows) -> NDArray[np.bool_]:
    """Return prediction sets of rows that nothing was learned from, options in order."""
    found = fit(r.log_p, r.y, alpha=0.3, score=score)
    return found.sets(PROBE[:, r.options])[:, np.argsort(r.options)]


def diagram(r: Rows) -> list[float]:
    """Return the points of a reliability diagram and its curve, without the band."""
    found = c.reliability_diagram(r.p, r.true, weights=r.w, seed=0, draws=2, bins=c.EqualWidth(4))
    points = [(point.probability, point.rate) for point in found.points]
    return np.array([*points, *found.curve]).ravel().tolist()


def curve(r: Rows) -> list[float]:
    """Return the points of a risk-coverage curve."""
    found = c.risk_coverage(r.p, r.true, weights=r.w)
    return [*found.coverage, *found.risk, *found.threshold, found.base_risk]


OF_OPTIONS: dict[str, Callable[[Rows], object]] = {
    "accuracy": lambda r: c.accuracy(r.log_p, r.y, weights=r.w).value,
    "brier": lambda r: c.brier_score(r.log_p, r.y, weights=r.w).value,
    "half-brier": lambda r: c.half_brier_score(r.log_p, r.y, weights=r.w).value,
    "brier-skill": lambda r: c.brier_skill(r.log_p, r.y, weights=r.w).value,
    "log-loss": lambda r: c.log_loss(r.log_p, r.y, weights=r.w).value,
    "log-skill": lambda r: c.log_loss_skill(r.log_p, r.y, weights=r.w).value,
    "classwise": lambda r: (
        c.classwise_calibration_error(r.log_p, r.y, weights=r.w, bins=c.EqualWidth(4)).value
    ),
    "corp-options": lambda r: parts(c.corp_brier_options(r.log_p, r.y, weights=r.w)),
    "metrics": headline,
    "level-use": level_shares,
    "auroc-ovr": lambda r: c.auroc_one_vs_rest(r.log_p, r.y, weights=r.w).value,
    "auroc-ovo": lambda r: c.auroc_one_vs_one(r.log_p, r.y, weights=r.w).value,
    "confusion": table,
    "judge report": lambda r: judged(r, ordered=False),
    "kappa": lambda r: c.cohen_kappa(r.y, r.second, levels=LEVELS, weights=r.w).value,
    "fleiss": lambda r: c.fleiss_kappa([r.y, r.second, r.third], levels=LEVELS, weights=r.w).value,
    "gwet": lambda r: c.gwet_ac([r.y, r.second, r.third], levels=LEVELS, weights=r.w).value,
    "alpha": lambda r: (
        c.krippendorff_alpha([r.y, r.second, r.third], levels=LEVELS, weights=r.w).value
    ),
    "fit-isotonic": lambda r: answers(c.fit_isotonic(r.log_p, r.y, weights=r.w), r),
    "fit-matrix": lambda r: answers(c.fit_matrix(r.log_p, r.y, weights=r.w), r),
    "fit-temperature": lambda r: answers(c.fit_temperature(r.log_p, r.y, weights=r.w), r),
    "fit-temperature-bias": lambda r: answers(c.fit_temperature_bias(r.log_p, r.y, weights=r.w), r),
    "fit-temperature-mixture": lambda r: answers(
        c.fit_temperature_mixture(r.log_p, r.y, weights=r.w), r
    ),
    "fit-vector": lambda r: answers(c.fit_vector(r.log_p, r.y, weights=r.w), r),
    "fit-venn-abers": lambda r: answers(c.fit_venn_abers(r.log_p, r.y, weights=r.w), r),
    "batch-prior": lambda r: answers(c.fit_batch_prior(r.log_p, NAMES, weights=r.w), r),
    "content-free-prior": lambda r: answers(
        c.fit_content_free_prior(r.log_p, NAMES, weights=r.w), r
    ),
    "em-shift": lambda r: answers(
        c.fit_em_shift(r.log_p, np.array([0.5, 0.3, 0.2])[list(r.options)], weights=r.w), r
    ),
    "bbse-shift": lambda r: answers(
        c.fit_bbse_shift(r.log_p, r.y, PROBE[:, r.options], weights=r.w), r
    ),
    "soft bbse-shift": lambda r: answers(
        c.fit_bbse_shift(r.log_p, r.y, PROBE[:, r.options], weights=r.w, predictions="soft"), r
    ),
    "realised-cost": lambda r: c.realised_cost(
        r.second, r.y, COSTS[np.ix_(r.options, r.options)], weights=r.w
    ),
}
"""Of options without an order among them."""
IN_ORDER: dict[str, Callable[[Rows], object]] = {
    "rps": lambda r: c.ranked_probability_score(r.log_p, r.y, weights=r.w).value,
    "summed-rps": lambda r: c.summed_ranked_probability_score(r.log_p, r.y, weights=r.w).value,
    "score metrics": ordinal,
    "judge report of levels": lambda r: judged(r, ordered=True),
    "quadratic kappa": lambda r: (
        c.cohen_kappa(r.y, r.second, levels=LEVELS, scheme="quadratic", weights=r.w).value
    ),
    "interval alpha": lambda r: (
        c.krippendorff_alpha(
            [r.y, r.second, r.third], levels=LEVELS, metric="interval", weights=r.w
        ).value
    ),
    "fit-proportional-odds": lambda r: answers(
        c.fit_proportional_odds(r.log_p, r.y, weights=r.w), r
    ),
    "fit-mean-map": lambda r: answers(c.fit_mean_map(r.log_p, r.x, weights=r.w), r),
    "fit-isotonic-mean": lambda r: c.fit_isotonic_mean(r.x, r.y, weights=r.w).apply(MEANS),
    "length-bias": lambda r: c.length_bias(r.p, r.x, actual=r.y, weights=r.w).value,
    "smooth-at": lambda r: (
        c.smooth_calibration_error_at(r.p, r.true, bandwidth=0.1, weights=r.w).value
    ),
    "mean": lambda r: c.mean_interval(r.x, seed=0, weights=r.w, resamples=2).value,
    "reliability": diagram,
    "histogram": histogram,
    "risk-coverage": curve,
}
"""Of levels, and of numbers that have nothing to do with options."""
ALL = OF_OPTIONS | IN_ORDER
of_all = pytest.mark.parametrize("name", ALL)


def close(found: object, expected: object, *, fit: bool = False) -> None:
    """Check that all numbers are the same, of fits as far as a search finds them."""
    np.testing.assert_allclose(
        np.array(found, dtype=np.float64),
        np.array(expected, dtype=np.float64),
        rtol=0.0,
        atol=1e-8 if fit else 1e-11,
    )


@of_all
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_changes_nothing(name: str, seed: int) -> None:
    """Rows have no order; ties must not be broken by it."""
    r, random = rows(seed=seed), np.random.default_rng(seed)
    w, order = random.integers(1, 4, len(r.y)) / 2, random.permutation(len(r.y))

    moved = ALL[name](r.at(order, w[order]))

    close(moved, ALL[name](replace(r, w=w)), fit=name.startswith("fit"))


@of_all
@pytest.mark.parametrize("seed", range(3))
def test_a_weight_of_two_is_as_two_rows(name: str, seed: int) -> None:
    """And a weight of 0 is no row."""
    r = rows(seed=seed)
    times = np.random.default_rng(seed).integers(0, 4, len(r.y))

    repeated = ALL[name](r.at(np.repeat(np.arange(len(r.y)), times), None))

    close(ALL[name](replace(r, w=times.astype(np.float64))), repeated, fit=name.startswith("fit"))


@of_all
def test_two_halves_of_a_row_are_one(name: str) -> None:
    """However often a row is written down."""
    r = rows()
    both = np.tile(np.arange(len(r.y)), 2)

    halves = ALL[name](r.at(both, np.full(len(both), 0.5)))

    close(halves, ALL[name](r), fit=name.startswith("fit"))


@pytest.mark.parametrize("name", OF_OPTIONS)
@pytest.mark.parametrize("options", [(2, 1, 0), (1, 2, 0)])
def test_the_order_of_options_changes_nothing(name: str, options: tuple[int, ...]) -> None:
    """But where two are likeliest, of which the first is the answer."""
    r = rows(decimals=9)

    close(OF_OPTIONS[name](r.turned(options)), OF_OPTIONS[name](r), fit=name.startswith("fit"))


@pytest.mark.parametrize("fit", [c.fit_sets, c.fit_sets_by_class])
@pytest.mark.parametrize("score", get_args(ScoreName))
def test_sets_know_neither_the_order_of_rows_nor_that_of_options(
    fit: Callable[..., c.PredictionSets], score: ScoreName
) -> None:
    """They take no weights: each row is one draw."""
    r = rows(decimals=9)
    order = np.random.default_rng(0).permutation(len(r.y))

    found = sets(fit, score, r)

    np.testing.assert_array_equal(sets(fit, score, r.at(order, None)), found)
    if score != "interval":  # of levels
        np.testing.assert_array_equal(sets(fit, score, r.turned((1, 2, 0))), found)


def test_no_public_function_of_weighted_rows_is_left_out() -> None:
    """A new one is to stand in one of the tables; `calibrate` deals folds, see test_auto.py."""
    files = ("test_invariances.py", "test_metric_properties.py", "test_calibrators.py")
    told = "".join(Path(__file__).with_name(name).read_text(encoding="utf-8") for name in files)
    public: list[str] = vars(c)["__all__"]
    weighted = [
        name
        for name in public
        if inspect.isfunction(found := getattr(c, name))
        and "weights" in inspect.signature(found).parameters
    ]

    assert len(weighted) > 40
    assert [name for name in weighted if not re.search(rf"\b{name}\b", told)] == []


def degenerate(kind: str) -> Rows:
    """Return rows on which much is not defined."""
    r = rows()
    if kind == "one row":
        return r.at(np.array([3]), None)
    if kind == "no rows":
        return r.at(np.zeros(0, dtype=np.int64), None)
    if kind == "one label":
        r = r.at(np.flatnonzero((r.y == 1) & (r.true == 1)), None)
        return replace(r, second=r.y, third=r.y)
    if kind == "all ties":
        return replace(r, log_p=np.zeros_like(r.log_p), p=np.full(60, 0.5), x=np.ones(60))
    right = kind == "certain and right"
    said = r.y if right else r.third
    sure = np.where(np.arange(K) == said[:, None], 0.0, -np.inf)
    came_true = r.true if right else 1 - r.true
    return replace(r, log_p=sure, p=came_true.astype(np.float64))


@of_all
@pytest.mark.parametrize(
    "kind",
    [
        "one row",
        "no rows",
        "one label",
        "all ties",
        "certain and right",
        "certain and not always right",
    ],
)
def test_degenerate_rows_give_a_value_or_a_reason(name: str, kind: str) -> None:
    """Nan in silence is the one answer nobody can use; only a loss of certainty is endless."""
    try:
        found = ALL[name](degenerate(kind))
    except CalibrationError as error:
        assert len(str(error)) > 20
    else:
        values = [value for value in np.array(found, dtype=object).ravel() if value is not None]
        assert not np.isnan(np.array(values, dtype=np.float64)).any()
        assert kind != "no rows"
        assert np.isfinite(np.array(values, dtype=np.float64)).all() or "not always" in kind


ONE_OPTION: dict[str, float | list[float]] = {
    "accuracy": 1.0,
    "brier": 0.0,
    "half-brier": 0.0,
    "log-loss": 0.0,
    "classwise": 0.0,
    "corp-options": [0.0, 0.0, 0.0, 0.0],
    "rps": 0.0,
    "summed-rps": 0.0,
}


@pytest.mark.parametrize("name", ONE_OPTION)
def test_one_option_is_always_right(name: str) -> None:
    """Whatever its logarithm says, its probability is 1."""
    r = rows()
    alone = replace(r, log_p=r.log_p[:, :1], y=np.zeros_like(r.y), options=(0,))

    close(ALL[name](alone), ONE_OPTION[name])
