"""The checks and the normalisation that every calibrator and metric starts with."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_softmax

import classify.calibration as c
from classify.calibration.arrays import (
    class_labels,
    finite_numbers,
    identifier_numbers,
    likeliest_options,
    log_probabilities,
    numbers,
    option_rows,
    probabilities,
    sample_weights,
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


def test_probabilities_are_not_taken_for_their_logs() -> None:
    """The commonest mistake gave other numbers without a word."""
    p = [[1.0, 0.0], [0.7, 0.3], [0.2, 0.8]]
    with pytest.raises(CalibrationError, match=r"give their logarithms, np\.log\(p\)"):
        option_rows(p)


@pytest.mark.parametrize(
    "scores",
    [
        pytest.param([[0.7, 0.3], [0.2, 0.9]], id="one row adds to more"),
        pytest.param([[1.0, 0.0], [0.0, 1.0]], id="one-hot scores"),
        pytest.param([[2.0, -1.0], [0.5, 0.5]], id="beyond 1"),
        pytest.param([[0.5, 0.5]], id="one row alone"),
    ],
)
def test_scores_on_any_scale_are_taken(scores: list[list[float]]) -> None:
    """Rows need not be normalised."""
    assert option_rows(scores).tolist() == scores


def test_a_row_without_a_label_is_told_apart() -> None:
    """`LabelledAnswers.y` has -1 there."""
    with pytest.raises(CalibrationError, match="got -1: leave out rows without a label"):
        class_labels([0, -1], n=2, k=2)


def test_labels_in_words_are_told_what_they_should_be() -> None:
    with pytest.raises(CalibrationError, match="true option, its column, and not text such as 'a'"):
        class_labels(["a", "b"], n=2, k=2)


@pytest.mark.parametrize("bad", [-1e-12, 1.0 + 1e-12, np.nan, np.inf], ids=str)
def test_what_is_no_probability_is_named(bad: float) -> None:
    """One comparison for all rows, and the first wrong one in the message."""
    with pytest.raises(CalibrationError, match=r"p\[1\] must be between 0 and 1"):
        probabilities([0.0, bad, 2.0])


def in_other_dress(values: NDArray[np.generic]) -> dict[str, ArrayLike]:
    """Return the same numbers as other libraries hold them."""
    wide = np.zeros((2 * len(values), *values.shape[1:]), dtype=values.dtype)
    wide[::2] = values
    frozen = values.copy()
    frozen.setflags(write=False)
    return {
        "list": values.tolist(),
        "object": values.astype(object),
        "columns first": np.asfortranarray(values),
        "every other row": wide[::2],
        "read only": frozen,
        "other byte order": values.astype(values.dtype.newbyteorder()),
        "unmasked": np.ma.array(values),
    }


def test_the_same_numbers_give_the_same_bits_in_any_dress() -> None:
    """Lists, views, other orders of memory and of bytes, and arrays of Python's own numbers."""
    rng = np.random.default_rng(0)
    log_p, y, w = rng.normal(size=(60, 3)), rng.integers(3, size=60), rng.uniform(1, 2, size=60)
    plain = c.fit_temperature_bias(log_p, y, weights=w)

    dressed = [in_other_dress(values) for values in (log_p, y, w)]
    for name in dressed[0]:
        rows, labels, weights = (each[name] for each in dressed)
        assert c.fit_temperature_bias(rows, labels, weights=weights) == plain, name


HIDDEN: NDArray[np.float64] = np.ma.array([0.5, 0.6], mask=[False, True])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["0.5", "0.6"], "must be an array of numbers, got <U3"),
        ([0.5, "0.6", None], "must be an array of numbers, got text"),
        (np.array([0.5, 0.6j]), "must be an array of numbers, got complex128"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "must be an array of numbers, got date"),
        ([[0.5], [0.5, 0.6]], "x must be an array: "),
        ([10**400], "must be an array of numbers: "),
        (HIDDEN, "x is a masked array that hides values; leave those rows out"),
    ],
    ids=["text", "mixed", "complex", "dates", "ragged", "beyond floats", "masked"],
)
def test_what_is_no_array_of_numbers_is_refused(values: ArrayLike, message: str) -> None:
    """Numpy would read the text, cut the imaginary part off and look behind the mask."""
    with pytest.raises(CalibrationError, match=message):
        numbers(values, name="x")


@pytest.mark.parametrize("bad", [1e308, 0.5, np.nan, -1.0, 2**63], ids=str)
def test_a_label_that_is_no_option_is_refused_before_it_is_rounded(bad: float) -> None:
    """A cast of 1e308 to whole numbers is another number."""
    with pytest.raises(CalibrationError, match=r"y\[1\] must be"):
        class_labels([0.0, bad, 1.0], n=3, k=2)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 1e308], "add up to the number of rows"),
        ([1e-320, 1e-320], "add up to the number of rows"),
        ([9e18, 1.0], r"weights\[1\] is 1.0 beside 9e\+18, too little to change any sum"),
        ([1.0, np.nan], r"weights\[1\] must be finite and not negative, got nan"),
        ([1.0, -1.0], r"weights\[1\] must be finite and not negative, got -1.0"),
    ],
)
def test_weights_that_sums_cannot_hold_are_refused(weights: list[float], message: str) -> None:
    """Squares would overflow, or a sum less its largest row would be nothing."""
    with pytest.raises(CalibrationError, match=message):
        sample_weights(weights, n=2)


def test_weights_are_free_in_their_unit() -> None:
    """Only ratios matter, also far from 1."""
    log_p, y, w = np.log([[0.7, 0.3], [0.4, 0.6]]), [0, 1], np.array([1.0, 3.0])

    losses = [log_loss(log_p, y, weights=w * unit).value for unit in (1e-99, 1.0, 1e99)]

    np.testing.assert_allclose(losses, losses[1], rtol=1e-12)


def test_identifiers_are_equal_or_not() -> None:
    """A number and its text are two; text keeps the order that numpy gives it."""
    assert identifier_numbers(["b", "a", "b"], n=3, name="groups").tolist() == [1, 0, 1]
    assert identifier_numbers([1, "1", 1], n=3, name="groups").tolist() == [0, 1, 0]
    for missing in (None, np.nan):
        with pytest.raises(CalibrationError, match=r"groups\[1\] is (None|nan): every row needs"):
            identifier_numbers([3.0, missing], n=2, name="groups")


def test_numbers_are_small_enough_for_their_squares() -> None:
    """And nan is a number only where it may be missing."""
    assert finite_numbers([1e100, np.nan], name="x", nan_is_missing=True)[0] == 1e100
    for bad in (1e101, -np.inf):
        with pytest.raises(CalibrationError, match=r"x\[1\] must be finite and within ±1e\+100"):
            finite_numbers([0.0, bad], name="x")


@pytest.mark.parametrize(
    "y",
    [
        [True, False, True],
        np.array([True, False, True]),
        np.array([True, False, True], dtype=object),
    ],
    ids=["list", "array", "objects"],
)
def test_booleans_name_no_column(y: ArrayLike) -> None:
    """Of the columns (true, false) True would be the second, false: each label upside down."""
    log_p = np.log([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])
    refused = r"y must be the index of each row's true option, .* give np.where\(y, 0, 1\)"

    for function in (
        lambda: class_labels(y, n=3, k=2),
        lambda: c.calibrate(log_p, y),
        lambda: c.fit_temperature(log_p, y),
        lambda: c.fit_platt(log_p, y),
        lambda: fit_sets(log_p, y, alpha=0.5),
        lambda: log_loss(log_p, y),
        lambda: c.metrics(log_p, y, seed=0),
        lambda: c.ConfidencePolicy.fit(log_p, y, alpha=0.5),
        lambda: c.realised_cost([0, 1, 0], y, np.eye(2)),
    ):
        with pytest.raises(CalibrationError, match=refused):
            function()


def test_the_way_out_of_booleans_is_the_column_they_mean() -> None:
    """A true row that was given 0.9 for true loses -log 0.9."""
    y = np.array([True, False])

    found = log_loss(np.log([[0.9, 0.1], [0.2, 0.8]]), np.where(y, 0, 1))

    assert found.value == pytest.approx(-np.log([0.9, 0.8]).mean())


def test_binary_metrics_take_booleans() -> None:
    """Beside one probability there is nothing that they could be the index of."""
    p, y = [0.9, 0.2, 0.7, 0.4], [True, False, True, False]

    assert c.corp_brier(p, y) == c.corp_brier(p, [1, 0, 1, 0])
    assert c.auroc(p, np.array(y)) == c.auroc(p, [1, 0, 1, 0])
