"""The checks and the normalisation that every calibrator and metric starts with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax

from classify.calibration.arrays import (
    class_labels,
    likeliest_options,
    log_probabilities,
    probabilities,
)
from classify.calibration.discrimination import accuracy
from classify.calibration.prediction_sets import fit_sets
from classify.calibration.proper_scores import brier_score, log_loss
from classify.errors import CalibrationError

logs = st.one_of(st.sampled_from([-np.inf, -9999.0, 0.0, 800.0]), st.floats(-60.0, 60.0))
a_row = st.lists(logs, min_size=3, max_size=3).filter(lambda row: max(row) > -np.inf)


@given(st.lists(a_row, min_size=1, max_size=8))
def test_rows_are_normalised_as_scipy_does(rows: list[list[float]]) -> None:
    """From certain to impossible, and from raw logits of any size."""
    with np.errstate(invalid="ignore"):  # scipy's own -inf - -inf
        theirs = log_softmax(np.array(rows), axis=1)

    np.testing.assert_allclose(log_probabilities(rows), theirs, rtol=1e-13, atol=1e-13)


@given(st.lists(a_row, min_size=2, max_size=8))
def test_a_row_does_not_depend_on_its_neighbours(rows: list[list[float]]) -> None:
    """Ties are pooled by equality, so one answer alone must get the bits it gets among others."""
    together = log_probabilities(rows)

    alone = np.concatenate([log_probabilities([row]) for row in rows])

    assert together.tobytes() == alone.tobytes()


@pytest.mark.parametrize("k", [2, 5, 7, 20, 100])
def test_equal_rows_are_equal_wherever_they_stand(k: int) -> None:
    """A matrix product would add them up in another order at the end of an array."""
    row = np.random.default_rng(k).normal(size=k)

    found = log_probabilities(np.tile(row, (1003, 1)))

    assert len(np.unique(found, axis=0)) == 1


@given(a_row)
def test_no_probability_is_above_one(row: list[float]) -> None:
    """Rounding the log of a sum must not make a probability that the next check refuses."""
    assert log_probabilities([row]).max() <= 0.0


@pytest.mark.parametrize("bad", [np.nan, np.inf], ids=str)
def test_the_bad_row_is_named_among_many(bad: float) -> None:
    """Rows are read a block at a time; the message counts from the first."""
    log_p = np.log(np.full((70_001, 2), 0.5))
    log_p[70_000, 1] = bad
    y = np.zeros(len(log_p), dtype=np.int64)

    for use in (
        lambda: log_probabilities(log_p),
        lambda: log_loss(log_p, y),
        lambda: brier_score(log_p, y),
        lambda: fit_sets(log_p, y),
        lambda: accuracy(log_p, y),
    ):
        with pytest.raises(CalibrationError, match="row 70000 holds nan or"):
            use()


def test_the_likeliest_option_needs_no_normalised_rows() -> None:
    """Of equals it is the first; a row without any mass has none."""
    rows = [[-np.inf, -700.0], [800.0, -9999.0], [3.0, 3.0]]

    assert likeliest_options(np.array(rows)).tolist() == [1, 0, 0]
    with pytest.raises(CalibrationError, match="row 1 gives no option any probability"):
        likeliest_options(np.array([[0.0, 0.0], [-np.inf, -np.inf]]))


def test_a_negative_zero_is_zero() -> None:
    """Its bits are not, and the check reads bits."""
    assert [0.0, 1.0, 0.5] == np.abs(probabilities([-0.0, 1.0, 0.5])).tolist()


@pytest.mark.parametrize("bad", [-1, 2, -(2**63)], ids=str)
def test_a_label_that_names_no_option_is_named(bad: int) -> None:
    """One comparison for both ends."""
    with pytest.raises(CalibrationError, match=rf"y\[1\] must be in 0 … 1, got {bad}"):
        class_labels([0, bad, 1], n=3, k=2)


@pytest.mark.parametrize("bad", [-1e-12, 1.0 + 1e-12, np.nan, np.inf], ids=str)
def test_what_is_no_probability_is_named(bad: float) -> None:
    """One comparison for all rows, and the first wrong one in the message."""
    with pytest.raises(CalibrationError, match=r"p\[1\] must be between 0 and 1"):
        probabilities([0.0, bad, 2.0])
