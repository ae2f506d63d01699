"""Corrections without labels: a model's lean, and a target of other frequencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classify.calibration.arrays import Floats, Ints, log_probabilities
from classify.calibration.calibrators import CALIBRATORS
from classify.calibration.prior import fit_batch_prior, fit_content_free_prior
from classify.calibration.shift import fit_bbse_shift, fit_em_shift
from classify.errors import CalibrationError

NAMES = ["a", "b", "c"]


def answers(n: int, *, prior: list[float], seed: int) -> tuple[Floats, Ints]:
    """Return answers that expect even frequencies, for rows of other frequencies, with labels."""
    random = np.random.default_rng(seed)
    y = random.choice(3, n, p=prior)
    evidence = random.normal(0.0, 1.0, (n, 3)) + 1.5 * np.eye(3)[y]
    return log_probabilities(1.5 * evidence), y.astype(np.int64)


@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3))
def test_a_content_free_answer_becomes_even(lean: list[float]) -> None:
    """What the model says of nothing is taken out whole."""
    found = fit_content_free_prior([lean], NAMES)

    np.testing.assert_allclose(found.apply([lean]), np.log(1.0 / 3.0), atol=1e-4)


def test_a_batch_prior_is_the_mean_answer() -> None:
    """Dividing by it undoes a lean that a balanced batch shows."""
    log_p, y = answers(3000, prior=[1 / 3, 1 / 3, 1 / 3], seed=1)
    leaning = log_probabilities(log_p + np.array([1.0, 0.0, -1.0]))

    found = fit_batch_prior(leaning, NAMES)
    right = (found.apply(leaning).argmax(axis=1) == y).mean()

    np.testing.assert_allclose(found.prior, np.exp(leaning).mean(axis=0))
    assert right > (leaning.argmax(axis=1) == y).mean() + 0.03


def test_zeros_stay_zeros() -> None:
    """An option ruled out is not brought back by a prior; nor does one never seen divide by 0."""
    found = fit_content_free_prior([[0.0, 0.0, -np.inf]], NAMES)

    assert np.isneginf(found.apply([[0.0, -np.inf, -1.0]])[0, 1])
    assert np.isfinite(found.prior).all() and min(found.prior) > 0.0


def test_few_inputs_make_no_batch() -> None:
    """Below 32 the mean is mostly chance."""
    with pytest.raises(CalibrationError, match="needs 32"):
        fit_batch_prior(np.zeros((31, 3)), NAMES)
    with pytest.raises(CalibrationError, match="log_p has 31 rows"):
        fit_batch_prior(np.zeros((40, 3)), NAMES, weights=[1.0] * 31 + [0.0] * 9)


@pytest.mark.parametrize("options", [["c", "b", "a"], ["a", "b"], ["a", "a", "b"]], ids=str)
def test_options_out_of_canonical_order_are_refused(options: list[str]) -> None:
    """The prior is kept by canonical order, so that listing options otherwise is safe."""
    with pytest.raises(CalibrationError, match="canonical"):
        fit_content_free_prior(np.zeros((1, 3)), options)


def test_no_content_free_input_is_refused() -> None:
    """There is nothing to take the mean of."""
    with pytest.raises(CalibrationError, match="no rows"):
        fit_content_free_prior(np.zeros((0, 3)), NAMES)


@pytest.mark.parametrize("method", ["em", "hard", "soft"])
def test_the_frequencies_of_a_target_are_found(method: str) -> None:
    """The ratios times the source's frequencies are the target's, without its labels."""
    source, y = answers(20_000, prior=[1 / 3, 1 / 3, 1 / 3], seed=2)
    target, _ = answers(20_000, prior=[0.6, 0.3, 0.1], seed=3)

    if method == "em":
        found = fit_em_shift(target, [1.0, 1.0, 1.0])
    elif method == "hard":
        found = fit_bbse_shift(source, y, target)
    else:
        found = fit_bbse_shift(source, y, target, predictions="soft")

    np.testing.assert_allclose(np.array(found.ratios) / 3.0, [0.6, 0.3, 0.1], atol=0.02)
    assert CALIBRATORS.validate_json(found.model_dump_json()) == found


def test_a_target_like_the_source_is_left_alone() -> None:
    """EM on the rows themselves finds ratios of one."""
    log_p, _ = answers(500, prior=[0.5, 0.3, 0.2], seed=4)

    found = fit_em_shift(log_p, np.exp(log_p).mean(axis=0))

    np.testing.assert_allclose(found.ratios, 1.0, atol=1e-6)


def test_an_option_that_left_the_target_is_nearly_ruled_out() -> None:
    """A negative estimate is raised to nearly none, and said."""
    source, y = answers(300, prior=[1 / 3, 1 / 3, 1 / 3], seed=5)
    target = source[y == 0][:20]

    found = fit_bbse_shift(source, y, log_probabilities(target + np.array([9.0, 0.0, 0.0])))

    assert found.at_bound and 0.0 < min(found.ratios) < 1e-5
    assert np.isfinite(found.apply(target)).all()


def test_a_confusion_matrix_without_inverse_is_refused() -> None:
    """An option that is never the answer cannot be told from the others."""
    log_p = np.log([[0.6, 0.3, 0.1], [0.3, 0.6, 0.1]])

    with pytest.raises(CalibrationError, match="has no inverse"):
        fit_bbse_shift(log_p, [0, 1], log_p)


@pytest.mark.parametrize("prior", [[0.5, 0.5], [1.0, 0.0, 0.0], [0.5, np.nan, 0.5]], ids=str)
def test_a_source_prior_that_rules_options_out_is_refused(prior: list[float]) -> None:
    """The ratio to nothing is nothing."""
    with pytest.raises(
        CalibrationError, match=r"source_prior(\[1\])? must be (3 positive numbers|finite)"
    ):
        fit_em_shift(np.zeros((4, 3)), prior)


def test_an_empty_target_is_refused() -> None:
    """A shift is learned from the target."""
    with pytest.raises(CalibrationError, match="no rows"):
        fit_em_shift(np.zeros((0, 3)), [1.0, 1.0, 1.0])
    with pytest.raises(CalibrationError, match="must have rows, and one K"):
        fit_bbse_shift(np.zeros((3, 3)), [0, 1, 2], np.zeros((0, 3)))


def test_a_source_prior_of_nearly_nothing_is_refused() -> None:
    """The ratio to 1e-300 says nothing and could not be saved."""
    with pytest.raises(CalibrationError, match=r"source_prior\[1\] is a share of 1e-300"):
        fit_em_shift(np.zeros((4, 2)), [1.0, 1e-300])
