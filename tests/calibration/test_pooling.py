"""Ties taken together, the same by either way of sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from classify.calibration.pooling import pooled, pooled_labels


@given(st.lists(st.tuples(st.integers(0, 2**40), st.booleans()), min_size=1, max_size=30))
def test_labels_sorted_as_last_digits_are_pooled_as_targets_are(
    drawn: list[tuple[int, bool]],
) -> None:
    """Scores, weights and sums of rows of weight 1 are those that an order of the rows gives."""
    drawn = [*drawn, drawn[0]]
    steps, true = (np.array(column) for column in zip(*drawn, strict=True))
    p, weights = steps * 2.0**-40, np.ones(len(drawn))

    found = pooled_labels(p, true, weights)
    expected = pooled(p, true.astype(np.float64), weights)

    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.weights, expected.weights)
    np.testing.assert_array_equal(found.sums, expected.sums)


def test_pooled_labels_of_a_few_rows() -> None:
    """Two rows at a half, one true, and -0 is 0; weights other than 1 are summed as they are."""
    p, true = np.array([0.5, 0.0, 0.5, -0.0]), np.array([True, False, False, False])

    of_ones = pooled_labels(p, true, np.ones(4))
    weighted = pooled_labels(p, true, np.array([3.0, 1.0, 0.5, 0.5]))

    assert of_ones.scores.tolist() == weighted.scores.tolist() == [0.0, 0.5]
    assert (of_ones.weights.tolist(), of_ones.sums.tolist()) == ([2.0, 2.0], [0.0, 1.0])
    assert (weighted.weights.tolist(), weighted.sums.tolist()) == ([1.5, 3.5], [0.0, 3.0])
