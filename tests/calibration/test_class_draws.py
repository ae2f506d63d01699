"""True options drawn from p: their sums have the law that p says, however many rows there are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from classify.calibration import class_draws as drawing
from classify.calibration.arrays import Floats, Ints
from classify.calibration.binning import EqualMass
from classify.calibration.class_draws import class_draws
from classify.calibration.classwise_error import classwise_calibration_error
from classify.calibration.outcomes import row_weights

COUNT = 4
SCHEMES = [pytest.param(None, id="row by row"), pytest.param(0, id="as normal")]


@pytest.fixture
def scheme(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int | None:
    """Draw all sums of more rows than these times draws as normal."""
    limit: int | None = request.param
    if limit is not None:
        monkeypatch.setattr(drawing, "EXACT_UP_TO", limit)
    return limit


def rows(n: int, k: int, *, seed: int = 0) -> tuple[Floats, Ints, Ints]:
    """Return probabilities (K, n), labels drawn from them, and bins of each option."""
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.full(k, 0.7), n)
    y = np.minimum((p.cumsum(axis=1) < random.random((n, 1))).sum(axis=1), k - 1)
    bins = [EqualMass(COUNT).assign(own, row_weights(None, n=n))[0] for own in p.T]
    return np.ascontiguousarray(p.T), y, np.stack(bins)


def covariance(p: Floats, w: Floats, bins: Ints) -> Floats:
    """Return that of the sums, row by row: w^2 (p_i [i = j] - p_i p_j)."""
    k, n = p.shape
    found = np.zeros((k * COUNT, k * COUNT))
    for row in range(n):
        at: Ints = bins[:, row] + COUNT * np.arange(k, dtype=np.int64)
        own = p[:, row]
        found[np.ix_(at, at)] += w[row] ** 2 * (np.diag(own) - np.outer(own, own))
    return found


@pytest.mark.parametrize("scheme", SCHEMES, indirect=True)
@pytest.mark.parametrize("k", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_have_the_means_and_covariances_of_drawn_options(
    scheme: int | None, k: int, weighted: bool
) -> None:
    """Within what 20 000 draws show."""
    p, _, bins = rows(500, k)
    w = np.random.default_rng(1).integers(1, 4, 500) / 2 if weighted else row_weights(None, n=500)

    drawn = class_draws(p, w, bins, count=COUNT, draws=20_000, random=np.random.default_rng(2))

    expected = covariance(p, w, bins)
    spread = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(drawn.mean(axis=0) / spread, 0.0, atol=0.03)
    apart = (drawn.T @ drawn / len(drawn) - expected) / np.outer(spread, spread)
    np.testing.assert_allclose(apart, 0.0, atol=0.04)


def test_a_part_of_the_rows_says_how_options_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variances are those of all rows, and correlations nearly so."""
    monkeypatch.setattr(drawing, "EXACT_UP_TO", 0)
    monkeypatch.setattr(drawing, "_MOST_PRODUCTS", 4_000)
    p, _, bins = rows(2_000, 3)
    w = np.random.default_rng(1).integers(1, 4, 2_000) / 2

    drawn = class_draws(p, w, bins, count=COUNT, draws=20_000, random=np.random.default_rng(2))

    expected = covariance(p, w, bins)
    spread = np.sqrt(np.diag(expected))
    np.testing.assert_allclose(drawn.std(axis=0) / spread, 1.0, atol=0.03)
    np.testing.assert_allclose(np.corrcoef(drawn.T), expected / np.outer(spread, spread), atol=0.15)


def test_what_one_of_two_options_gains_the_other_loses() -> None:
    """In bins from behind; where the bins are others the sums are of each option's own."""
    p, _, bins = rows(100, 2)
    w, random = row_weights(None, n=100), np.random.default_rng(0)

    drawn = class_draws(p, w, bins, count=COUNT, draws=50, random=random)
    own = class_draws(p, w, np.zeros_like(bins), count=COUNT, draws=50, random=random)

    np.testing.assert_array_equal(drawn[:, :COUNT], -drawn[:, COUNT:][:, ::-1])
    assert (own[:, 0] != 0.0).any()
    np.testing.assert_allclose(own[:, 0], -own[:, COUNT], atol=1e-9)
    assert not own[:, 1:COUNT].any()


def test_too_many_bins_for_a_common_normal_law_are_drawn_row_by_row(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So each sum is a whole number of rows less the expected number."""
    monkeypatch.setattr(drawing, "EXACT_UP_TO", 0)
    p, _, _ = rows(60, 3)
    bins = np.tile(np.arange(60), (3, 1))

    drawn = class_draws(
        p, row_weights(None, n=60), bins, count=400, draws=20, random=np.random.default_rng(0)
    )

    hits = drawn.reshape(20, 3, 400)[:, :, :60] + p
    np.testing.assert_allclose(hits, np.round(hits), atol=1e-9)
    np.testing.assert_allclose(hits.sum(axis=1), 1.0)


@pytest.mark.parametrize("scheme", SCHEMES, indirect=True)
@pytest.mark.parametrize("k", [2, 4])
def test_p_values_are_uniform_under_calibration(scheme: int | None, k: int) -> None:
    """Labels drawn from p reach their own null as often as chance says."""
    found: list[float] = []
    for seed in range(100):
        p, y, _ = rows(400, k, seed=seed)
        measured = classwise_calibration_error(np.log(p.T), y, seed=seed, draws=199)
        found.append(measured.p_value or 0.0)

    # Half a step lower: a p-value of 199 draws is a whole number of 1/200.
    assert kstest(np.array(found) - 1 / 400, "uniform").pvalue > 0.01


@pytest.mark.parametrize("scheme", SCHEMES, indirect=True)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_null_is_that_of_labels_drawn_anew(scheme: int | None, weighted: bool) -> None:
    """As somebody would simulate it: the mean value of 300 sets of labels drawn from p."""
    p, _, _ = rows(2_000, 3)
    w = np.random.default_rng(1).integers(1, 4, 2_000) / 2 if weighted else None
    log_p, random = np.log(p.T), np.random.default_rng(3)
    simulated: list[float] = []
    y = np.zeros(2_000, dtype=np.int64)
    for _ in range(300):
        y = (p.cumsum(axis=0)[:-1] < random.random(2_000)).sum(axis=0)
        simulated.append(classwise_calibration_error(log_p, y, weights=w).value)

    found = classwise_calibration_error(log_p, y, weights=w, seed=0)

    error = np.std(simulated) * np.sqrt(1 / 300 + 1 / 1000)
    assert found.null_mean == pytest.approx(np.mean(simulated), abs=3.5 * error)


@pytest.mark.parametrize("scheme", SCHEMES, indirect=True)
def test_the_order_of_rows_moves_no_null(
    scheme: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does it the part of them that says how options go together."""
    monkeypatch.setattr(drawing, "_MOST_PRODUCTS", 4_000)
    p, y, _ = rows(700, 4)
    w = np.random.default_rng(1).integers(1, 4, 700) / 2
    order = np.random.default_rng(2).permutation(700)

    first = classwise_calibration_error(np.log(p.T), y, weights=w, seed=0)
    moved = classwise_calibration_error(np.log(p.T)[order], y[order], weights=w[order], seed=0)

    assert moved.null_mean == pytest.approx(first.null_mean, abs=1e-9)
    assert moved.p_value == first.p_value
