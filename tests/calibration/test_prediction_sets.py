"""Prediction sets keep their promise, and say how far to trust it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import beta

from classify.calibration.arrays import Floats, Ints
from classify.calibration.prediction_sets import (
    PredictionSets,
    coverage_range,
    fit_sets,
    fit_sets_by_class,
)
from classify.calibration.set_scores import ScoreName, SetScore
from classify.errors import CalibrationError

SCORES: tuple[ScoreName, ...] = ("lac", "aps", "raps", "interval")


def draw(n: int, *, k: int = 4, seed: int = 0, flatter: float = 2.0) -> tuple[Floats, Ints]:
    """Return log-probabilities (n, k) and options drawn from a flatter distribution than they say.

    The model is over-confident: the promise must not need a calibrated one. At flatter=1 it is
    calibrated.
    """
    random = np.random.default_rng(seed)
    logits = random.normal(0.0, 2.0, (n, k))
    p = np.exp(logits / flatter)
    p /= p.sum(axis=1, keepdims=True)
    y = (p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1)
    return logits, np.minimum(y, k - 1).astype(np.int64)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("n", [20, 100], ids=["20 rows", "100 rows"])
def test_sets_cover_as_promised_on_average(score: ScoreName, n: int) -> None:
    """Over 150 draws of the calibration rows: from 1 - alpha to 1 / (n + 1) above it."""
    new, truth = draw(2000, seed=1)
    covered = np.empty(150)

    for repeat in range(covered.size):
        log_p, y = draw(n, seed=100 + repeat)
        sets = fit_sets(log_p, y, alpha=0.2, score=score).sets(new)
        covered[repeat] = sets[np.arange(len(truth)), truth].mean()

    error = covered.std() / np.sqrt(covered.size) + np.sqrt(0.16 / len(truth))
    assert 0.8 - 4 * error <= covered.mean() <= 0.8 + 1 / (n + 1) + 4 * error


def test_sets_by_class_cover_the_rare_option_too() -> None:
    """Over all rows together the rare option may pay for the others; by class it may not."""
    new, truth = draw(4000, k=3, seed=2)
    rare = truth == 2
    shares = np.empty(60)

    for repeat in range(shares.size):
        log_p, y = draw(300, k=3, seed=300 + repeat)
        rule = fit_sets_by_class(log_p, y, alpha=0.2)
        shares[repeat] = rule.sets(new)[rare, 2].mean()

    error = shares.std() / np.sqrt(shares.size) + np.sqrt(0.16 / rare.sum())
    assert shares.mean() == pytest.approx(0.81, abs=0.012 + 4 * float(error))


@pytest.mark.parametrize("n", [20, 50, 100, 500])
def test_the_coverage_range_is_the_beta_distribution_of_the_rank(n: int) -> None:
    """At alpha 0.1 and 20 rows the threshold is the 19th score: Beta(19, 2)."""
    rank = int(np.ceil((n + 1) * 0.9))

    low, high = coverage_range(n, alpha=0.1)

    assert (low, high) == pytest.approx(beta.ppf([0.05, 0.95], rank, n + 1 - rank))


def test_the_coverage_range_is_printed_beside_the_promise() -> None:
    """Nobody should read 90 % without what 50 rows make of it."""
    text = str(fit_sets(*draw(50), alpha=0.1))

    assert "90.0% of rows" in text
    assert "with 50 calibration rows expect 82.6% to 96.0% (5-95 % range)" in text


@pytest.mark.parametrize(
    ("alpha", "n"), [(0.1, 9), (0.05, 19), (0.01, 99)], ids=["0.1", "0.05", "0.01"]
)
def test_one_row_too_few_puts_every_option_in_every_set(alpha: float, n: int) -> None:
    """ceil(1/alpha) - 1 rows are the fewest that can rule anything out."""
    log_p, y = draw(n)

    few, enough = (fit_sets(log_p[:m], y[:m], alpha=alpha) for m in (n - 1, n))

    assert few.sets(log_p).all()
    assert np.isinf(few.thresholds[0])
    assert "every option is in" in str(few)
    assert np.isfinite(enough.thresholds[0])


def test_no_rows_at_all_put_every_option_in() -> None:
    """Zero rows are the honest extreme, not an error."""
    rule = fit_sets(np.zeros((0, 3)), [], alpha=0.1)

    assert rule.sets(np.zeros((2, 3))).all()


def test_a_class_never_seen_is_in_every_set_by_class() -> None:
    """Options come from the question, never from the labels that happened to occur."""
    log_p, y = draw(100, k=3)
    rule = fit_sets_by_class(log_p, np.where(y == 2, 1, y), alpha=0.1)

    assert rule.counts[2] == 0
    assert rule.sets(log_p)[:, 2].all()
    assert "option 2: with 0 calibration rows nothing can be ruled out" in str(rule)


@given(st.integers(0, 10_000), st.sampled_from(SCORES))
@settings(deadline=None, max_examples=60)
def test_a_smaller_alpha_never_takes_an_option_out(seed: int, score: ScoreName) -> None:
    """Sets are nested."""
    log_p, y = draw(60, seed=seed)

    loose, strict = (fit_sets(log_p, y, alpha=alpha, score=score) for alpha in (0.3, 0.1))

    assert (strict.sets(log_p) >= loose.sets(log_p)).all()


@given(st.integers(0, 10_000), st.sampled_from(SCORES))
@settings(deadline=None, max_examples=40)
def test_the_order_of_calibration_rows_changes_nothing(seed: int, score: ScoreName) -> None:
    """A threshold is a quantile."""
    log_p, y = draw(40, seed=seed)
    shuffled = np.random.default_rng(seed).permutation(40)

    one, other = (
        fit_sets(log_p, y, score=score),
        fit_sets(log_p[shuffled], y[shuffled], score=score),
    )

    assert one.thresholds == pytest.approx(other.thresholds, abs=1e-12)


@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.1, 0.3]))
@settings(deadline=None, max_examples=60)
def test_interval_sets_have_no_gaps(seed: int, alpha: float) -> None:
    """A set of levels 2 and 4 without 3 says nothing to a reader of scores."""
    log_p, y = draw(60, k=5, seed=seed)
    rule = fit_sets(log_p, y, alpha=alpha, score="interval")

    sets, ends = rule.sets(log_p), rule.intervals(log_p)

    np.testing.assert_array_equal(sets.sum(axis=1), ends[:, 1] - ends[:, 0] + 1)
    assert sets[np.arange(60), log_p.argmax(axis=1)].all()


def test_an_interval_grows_to_the_likelier_neighbour() -> None:
    """From level 2 of (0.1, 0.15, 0.4, 0.05, 0.3): to 1 at 0.4, 0 at 0.55, 3 at 0.65, 4 at 0.7."""
    p = np.array([[0.1, 0.15, 0.4, 0.05, 0.3]])
    rule = PredictionSets(
        score=SetScore(name="interval"),
        alpha=0.1,
        thresholds=(0.6,) * 5,
        counts=(100,) * 5,
        scope="all rows",
    )

    assert rule.intervals(np.log(p)).tolist() == [[0, 2]]


@pytest.mark.parametrize("u", [0.0, 1.0], ids=["own probability left out", "counted whole"])
@pytest.mark.parametrize("score", ["aps", "raps", "interval"])
def test_mass_based_sets_hold_the_likeliest_option(score: ScoreName, u: float) -> None:
    """A row of confidence 0.999 may have a mass above any threshold, and must not become empty."""
    log_p, y = draw(50)
    sure = np.log(np.array([[0.999, 0.0005, 0.0003, 0.0002]]))

    rule = fit_sets(log_p, y, alpha=0.3, score=score, u=np.full(50, u))

    assert rule.sets(sure, u=[u])[0, 0]


def test_an_empty_lac_set_is_no_interval() -> None:
    """It says that no option is likely enough, which has no lowest level."""
    p = np.array([[0.9, 0.1]] * 30)
    rule = fit_sets(np.log(p), [0] * 30, alpha=0.1)
    unsure = np.log([[0.5, 0.5]])

    assert not rule.sets(unsure).any()
    with pytest.raises(CalibrationError, match="row 0 has an empty set, which is no interval"):
        rule.intervals(unsure)


def test_impossible_options_are_legal() -> None:
    """-inf is a probability of zero, not a fault."""
    log_p = np.log(np.array([[0.6, 0.4, 1e-300]] * 20))
    log_p[:, 2] = -np.inf

    rule = fit_sets(log_p, [0] * 20, alpha=0.1, score="aps")

    assert rule.sets(log_p).tolist() == [[True, False, False]] * 20


@pytest.mark.parametrize("score", ["lac", "aps", "raps", "interval"])
def test_one_option_is_always_in(score: ScoreName) -> None:
    """K = 1: the only answer there is, and so the coverage to expect is 1."""
    rule = fit_sets(np.zeros((30, 1)), [0] * 30, alpha=0.1, score=score)

    assert rule.sets(np.zeros((2, 1))).all()
    assert rule.coverage_ranges == ((1.0, 1.0),)


def test_leaving_out_an_options_own_probability_makes_sets_smaller() -> None:
    """The reason for the default, on 400 rows and 2000 new ones."""
    log_p, y = draw(400)
    new, _ = draw(2000, seed=1)

    ours = fit_sets(log_p, y, score="aps").sets(new)
    whole = fit_sets(log_p, y, score="aps", u=np.ones(400)).sets(new, u=np.ones(2000))

    assert ours.sum() < whole.sum()


@pytest.mark.parametrize("score", ["aps", "raps"])
@pytest.mark.parametrize("kind", ["one u per row", "u = 1"])
def test_sets_with_u_cover_as_promised_and_as_printed(score: ScoreName, kind: str) -> None:
    """99 rows at alpha 0.2: the 80th of 100 ranks, so 0.8 exactly, over draws of all the rows.

    One u per row, drawn by the caller, so that no hidden seed decides. To hold the likeliest
    option in every set without saying so to the calibration covers 0.83 and 0.87.
    """
    new, truth = draw(20_000, seed=1, flatter=1.0)
    random = np.random.default_rng(5)
    covered = np.empty(200)

    def parts(n: int) -> Floats:
        return random.random(n) if kind == "one u per row" else np.ones(n)

    for repeat in range(covered.size):
        log_p, y = draw(99, seed=1000 + repeat, flatter=1.0)
        rule = fit_sets(log_p, y, alpha=0.2, score=score, u=parts(99))
        covered[repeat] = rule.sets(new, u=parts(len(new)))[np.arange(len(new)), truth].mean()

    # The error of the draws of calibration rows, and that of the new rows they share.
    error = np.hypot(covered.std() / np.sqrt(covered.size), np.sqrt(0.16 / len(new)))
    assert covered.mean() == pytest.approx(0.8, abs=3 * float(error))
    low, high = coverage_range(99, alpha=0.2)
    held = ((low <= covered) & (covered <= high)).mean()
    assert held == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / covered.size))


@pytest.mark.parametrize("score", ["aps", "raps", "interval"])
def test_the_range_has_no_upper_end_where_the_likeliest_option_is_enough(score: ScoreName) -> None:
    """99 of 100 rows are right: sets of one option cover 99 %, not at most 94.5."""
    log_p = np.log(np.array([[0.7, 0.2, 0.1]] * 100))

    rule = fit_sets(log_p, [0] * 99 + [1], alpha=0.1, score=score)

    assert rule.sets(log_p).tolist() == [[True, False, False]] * 100
    assert rule.coverage_ranges == ((coverage_range(100, alpha=0.1)[0], 1.0),) * 3
    assert "expect 84.8% or more (5 % point), as often as the likeliest option" in str(rule)


@pytest.mark.parametrize("score", ["aps", SetScore(name="raps", penalty=0.3, free_ranks=0)])
def test_a_threshold_that_lets_every_option_in_covers_every_row(
    score: ScoreName | SetScore,
) -> None:
    """Of two options the other one counts whole with u = 1: 20 wrong rows of 100 let it in."""
    log_p = np.log(np.array([[0.7, 0.3]] * 100))

    rule = fit_sets(log_p, [0] * 80 + [1] * 20, alpha=0.1, score=score, u=np.ones(100))

    assert rule.sets(log_p, u=np.ones(100)).all()
    assert rule.coverage_ranges == ((1.0, 1.0),) * 2
    assert "so every option is in" in str(rule)


@pytest.mark.parametrize("fit", [fit_sets, fit_sets_by_class], ids=["all rows", "by class"])
def test_a_rule_survives_json(fit: Callable[..., PredictionSets]) -> None:
    """Also where a threshold is infinite."""
    made = fit(*draw(15), alpha=0.1, score="raps")

    assert PredictionSets.model_validate_json(made.model_dump_json()) == made


def test_sets_refuse_other_options_than_they_were_fitted_on() -> None:
    """Four thresholds say nothing about three options."""
    rule = fit_sets(*draw(50))

    with pytest.raises(CalibrationError, match="log_p must have 4 options, as the rule was fitted"):
        rule.sets(np.zeros((1, 3)))


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1], ids=["0", "1", "negative"])
def test_alpha_lies_between_0_and_1(alpha: float) -> None:
    """Both ends promise nothing that could be checked."""
    with pytest.raises(CalibrationError, match=r"alpha must lie strictly between 0 and 1"):
        fit_sets(*draw(50), alpha=alpha)


def test_counts_and_thresholds_go_together() -> None:
    """A rule read from JSON is checked like one that was fitted."""
    with pytest.raises(ValidationError, match="one entry per threshold, got 1 for 2"):
        PredictionSets(
            score=SetScore(name="lac"),
            alpha=0.1,
            thresholds=(0.5, 0.5),
            counts=(10,),
            scope="all rows",
        )
