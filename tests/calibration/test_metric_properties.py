"""What must hold for every metric, whatever the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import EqualMass, EqualWidth, default_bins
from classify.calibration.calibration_error import (
    debiased_calibration_error,
    expected_calibration_error,
    maximum_calibration_error,
)
from classify.calibration.classwise_error import (
    classwise_calibration_error,
    sweep_calibration_error,
)
from classify.calibration.corp import corp_brier, corp_brier_options, corp_log_loss
from classify.calibration.cumulative import kolmogorov_smirnov, kuiper, spiegelhalter
from classify.calibration.discrimination import (
    accuracy,
    augrc,
    aurc,
    auroc,
    auroc_one_vs_one,
    auroc_one_vs_rest,
    excess_aurc,
)
from classify.calibration.ordinal_scores import mean_absolute_error, ranked_probability_score
from classify.calibration.proper_scores import (
    brier_score,
    brier_skill,
    half_brier_score,
    log_loss,
    log_loss_skill,
)
from classify.calibration.rank_correlation import kendall_tau_b, spearman
from classify.calibration.reliability import coverage_at_risk
from classify.calibration.reliability_regression import calibration_line
from classify.calibration.smooth_error import smooth_calibration_error
from classify.errors import CalibrationError

Metric = Callable[[Floats, Ints, Floats | None], float]


def log_options(p: Floats) -> Floats:
    """Return the log-probabilities of "no" and "yes"."""
    with np.errstate(divide="ignore"):
        return np.log(np.stack([1 - p, p], axis=1))


METRICS: dict[str, Metric] = {
    "ece-mass": lambda p, y, w: (
        expected_calibration_error(p, y, weights=w, bins=EqualMass(3)).value
    ),
    "ece-width": lambda p, y, w: (
        expected_calibration_error(p, y, weights=w, bins=EqualWidth(4)).value
    ),
    "mce": lambda p, y, w: maximum_calibration_error(p, y, weights=w, bins=EqualMass(3)).value,
    "debiased": lambda p, y, w: (
        debiased_calibration_error(p, y, weights=w, bins=EqualMass(3)).value
    ),
    "sweep": lambda p, y, w: sweep_calibration_error(p, y, weights=w).value,
    "classwise": lambda p, y, w: (
        classwise_calibration_error(log_options(p), y, weights=w, bins=EqualWidth(4)).value
    ),
    "smooth": lambda p, y, w: smooth_calibration_error(p, y, weights=w).value,
    "ks": lambda p, y, w: kolmogorov_smirnov(p, y, weights=w).value,
    "kuiper": lambda p, y, w: kuiper(p, y, weights=w).value,
    "spiegelhalter": lambda p, y, w: spiegelhalter(p, y, weights=w).value,
    "corp-brier": lambda p, y, w: corp_brier(p, y, weights=w).miscalibration,
    "corp-log": lambda p, y, w: corp_log_loss(p, y, weights=w).discrimination,
    "corp-options": lambda p, y, w: corp_brier_options(log_options(p), y, weights=w).miscalibration,
    "log-loss": lambda p, y, w: log_loss(log_options(p), y, weights=w, floor=1e-6).value,
    "brier": lambda p, y, w: brier_score(log_options(p), y, weights=w).value,
    "half-brier": lambda p, y, w: half_brier_score(log_options(p), y, weights=w).value,
    "brier-skill": lambda p, y, w: brier_skill(log_options(p), y, weights=w).value,
    "log-skill": lambda p, y, w: log_loss_skill(log_options(p), y, weights=w).value,
    "accuracy": lambda p, y, w: accuracy(log_options(p), y, weights=w).value,
    "auroc": lambda p, y, w: auroc(p, y, weights=w).value,
    "auroc-ovr": lambda p, y, w: auroc_one_vs_rest(log_options(p), y, weights=w).value,
    "auroc-ovo": lambda p, y, w: auroc_one_vs_one(log_options(p), y, weights=w).value,
    "aurc": lambda p, y, w: aurc(p, y, weights=w).value,
    "excess-aurc": lambda p, y, w: excess_aurc(p, y, weights=w).value,
    "augrc": lambda p, y, w: augrc(p, y, weights=w).value,
    "coverage-at-risk": lambda p, y, w: coverage_at_risk(p, y, risk=0.3, weights=w),
    "rps": lambda p, y, w: ranked_probability_score(log_options(p), y, weights=w).value,
    "mae": lambda p, y, w: mean_absolute_error(p, y, weights=w).value,
    "spearman": lambda p, y, w: spearman(p, y, weights=w).value,
    "tau-b": lambda p, y, w: kendall_tau_b(p, y, weights=w).value,
    "slope": lambda p, y, w: calibration_line(p, y, weights=w).slope,
}
SAMPLING = {"debiased", "ks", "kuiper", "spiegelhalter"}
"""These weigh the value against its sampling error, and two equal rows are more than one of 2."""
COUNTING = {"aurc", "excess-aurc"}
"""These average over k = 1 … n, so the number of rows is part of the definition."""
ALL = [pytest.param(name, id=name) for name in METRICS]


@st.composite
def labelled(draw: st.DrawFn) -> tuple[Floats, Ints]:
    """Draw rows with many ties, probabilities on bin edges, and labels of both kinds."""
    eighths = draw(st.lists(st.integers(1, 7), min_size=2, max_size=24))
    # These keep every metric defined: both labels, and no threshold that parts them.
    p = np.array([2, 6, 3, 5, *eighths]) / 8
    y = [1, 0, 0, 1, *draw(st.lists(st.integers(0, 1), min_size=p.size - 4, max_size=p.size - 4))]
    return p, np.array(y, dtype=np.int64)


def counts(n: int) -> Ints:
    """Return whole weights 1, 2, 3 that do not follow the rows' order."""
    return np.random.default_rng(n).integers(1, 4, n)


@pytest.mark.parametrize("name", ALL)
@given(rows=labelled(), seed=st.integers(0, 99))
@settings(max_examples=15, deadline=None)
def test_the_order_of_rows_does_not_matter(name: str, rows: tuple[Floats, Ints], seed: int) -> None:
    """Rows have no order; ties must not be broken by it."""
    p, y = rows
    w = counts(p.size).astype(np.float64)
    order = np.random.default_rng(seed).permutation(p.size)

    moved = METRICS[name](p[order], y[order], w[order])

    assert moved == pytest.approx(METRICS[name](p, y, w), abs=1e-9)


@pytest.mark.parametrize("name", [n for n in METRICS if n not in SAMPLING])
@given(rows=labelled())
@settings(max_examples=15, deadline=None)
def test_a_weight_of_two_is_as_two_rows(name: str, rows: tuple[Floats, Ints]) -> None:
    """Pooled data and the rows it was pooled from must give one answer."""
    p, y = rows
    times = counts(p.size)

    repeated = METRICS[name](np.repeat(p, times), np.repeat(y, times), None)

    assert METRICS[name](p, y, times.astype(np.float64)) == pytest.approx(repeated, abs=1e-9)


@given(rows=labelled())
@settings(max_examples=15, deadline=None)
def test_a_row_of_weight_two_was_still_drawn_once(rows: tuple[Floats, Ints]) -> None:
    """So two equal rows of half the weight say more, and chance, errors and bins go by rows."""
    p, y = rows
    halved = (np.tile(p, 2), np.tile(y, 2), np.full(2 * p.size, 0.5))

    for name in SAMPLING - {"debiased"}:  # times the root of two
        value = METRICS[name](p, y, None)
        assert METRICS[name](*halved) == pytest.approx(np.sqrt(2) * value, abs=1e-9)
    assert METRICS["debiased"](*halved) >= METRICS["debiased"](p, y, None) - 1e-12
    line, twice = calibration_line(p, y), calibration_line(*halved[:2], weights=halved[2])
    assert line.slope_error == pytest.approx(np.sqrt(2) * twice.slope_error)
    assert (line.slope, line.intercept) == pytest.approx((twice.slope, twice.intercept), abs=1e-6)
    bins = [EqualMass().assign(one, np.ones(one.size))[1] for one in (p, np.tile(p, 30))]
    assert bins == [default_bins(p.size), default_bins(30 * p.size)]
    assert bins[0] == EqualMass().assign(p, np.full(p.size, 30.0))[1]


@pytest.mark.parametrize("name", [n for n in METRICS if n not in COUNTING])
@given(rows=labelled(), factor=st.sampled_from([0.01, 0.3, 7.0]))
@settings(max_examples=10, deadline=None)
def test_only_ratios_of_weights_matter(name: str, rows: tuple[Floats, Ints], factor: float) -> None:
    """Weights that sum to 1 and weights that sum to n say the same."""
    p, y = rows
    w = counts(p.size).astype(np.float64)

    assert METRICS[name](p, y, factor * w) == pytest.approx(METRICS[name](p, y, w), abs=1e-9)


@pytest.mark.parametrize("name", [n for n in METRICS if n not in SAMPLING | COUNTING])
@given(rows=labelled())
@settings(max_examples=10, deadline=None)
def test_the_same_rows_twice_give_the_same_value(name: str, rows: tuple[Floats, Ints]) -> None:
    """A value describes the rows, not how many there are."""
    p, y = rows

    twice = METRICS[name](np.tile(p, 2), np.tile(y, 2), None)

    assert twice == pytest.approx(METRICS[name](p, y, None), abs=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_a_row_of_weight_zero_is_not_there(name: str) -> None:
    """Otherwise leaving a row out would still move bins, ranks and counts."""
    p, y = np.array([0.2, 0.4, 0.4, 0.7, 0.6, 0.3]), np.array([0, 1, 0, 1, 0, 1])
    extended = np.append(p, 0.95), np.append(y, 0), np.append(np.ones(6), 0.0)

    assert METRICS[name](*extended) == pytest.approx(METRICS[name](p, y, np.ones(6)), abs=1e-12)


DEGENERATE: dict[str, tuple[Sequence[float], Sequence[int]]] = {
    "one-row": ([0.3], [1]),
    "one-certain-row": ([1.0], [1]),
    "one-label": ([0.2, 0.6, 0.9], [1, 1, 1]),
    "all-ties": ([0.5, 0.5, 0.5, 0.5], [0, 1, 1, 0]),
    "certain-and-right": ([0.0, 1.0, 1.0], [0, 1, 1]),
    "certain-and-wrong": ([0.0, 1.0, 1.0], [1, 0, 0]),
    "separable": ([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]),
}


@pytest.mark.parametrize("rows", [pytest.param(r, id=name) for name, r in DEGENERATE.items()])
@pytest.mark.parametrize("name", ALL)
def test_degenerate_rows_give_a_value_or_a_reason(
    name: str, rows: tuple[Sequence[float], Sequence[int]]
) -> None:
    """Nan in silence is the one answer nobody can use; infinity is a value, and only of skill."""
    try:
        value = METRICS[name](np.array(rows[0]), np.array(rows[1]), None)
    except CalibrationError as error:
        assert len(str(error)) > 20
    else:
        assert np.isfinite(value) or (name == "log-skill" and value == -np.inf)


@pytest.mark.parametrize("name", ALL)
def test_no_rows_are_refused(name: str) -> None:
    """A mean over nothing has no value."""
    with pytest.raises(CalibrationError, match=r"no rows|not empty"):
        METRICS[name](np.zeros(0), np.zeros(0, dtype=np.int64), None)
